// More that is worse: the smallest counterexamples that the search has found (tests/more/find_worse.cpp).
#pragma once

#include <span>
#include <string_view>

namespace sdip {

/// `on`: a machine with a program or a network (tests/core/cost/explain/example.h), lines with "; " between.
/// `less`, `more`: settings with commas between. `worse`: "cycles" of a steady pass, "bytes" through DRAM in it,
/// "time" of a frame.
struct MoreRow {
  std::string_view more, worse, less_settings, more_settings, on, why;
};
std::span<const MoreRow> more_rows();

/// Parameters of which more (of the last ones less) was never found to be worse, whatever is drawn.
struct NeverRow {
  std::string_view name, why;
};
std::span<const NeverRow> never_rows();

/// Parameters of the design that have no better end, and why.
std::span<const NeverRow> no_more_rows();

}  // namespace sdip
