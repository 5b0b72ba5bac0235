// One of several parts of a work that are done apart.
#pragma once

#include <cstdint>
#include <string>

namespace sdip {

/// The k-th of n, 1 <= k <= n.
struct WorkPart {
  std::int64_t part = 1, parts = 1;
  friend bool operator==(const WorkPart&, const WorkPart&) = default;
};
inline constexpr std::int64_t most_parts = 1'000'000;

/// "2/8". Throws Error value_invalid.
WorkPart work_part(const std::string& text, const std::string& where);
std::string work_part_text(const WorkPart& part);

}  // namespace sdip
