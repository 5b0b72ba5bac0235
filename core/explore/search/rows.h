// The rows that a search for the best machine varies: those of parameters.def that act on the machine, with values
// of each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/explore/space/space.h"

namespace sdip {

/// A row that is searched unless it is fixed, and its values as text: "least:most:n" for n values an octave (1: the
/// powers of two; 2: those and the halves between them), "a,b,c", or "all" for every value of a choice or flag.
struct SearchedRow {
  std::string_view name, values;
};
/// Rows of the task, of assumptions and of what the model leaves unpriced are none of them, nor number formats
/// below 8 bits, FeFET memories, and options whose results differ.
std::span<const SearchedRow> searched_rows();

/// An axis of each of these rows with at least two values, in the order of parameters.def: its values ascending,
/// those of choices in their order; the base's own is among them; behind them figures of the technology that are
/// asked for, and then what is asked for under a condition, as it is asked. `fixed` are names that are left out;
/// `asked` are axes in place of the table's; `narrow`: with formats below 8 bits.
std::vector<Axis> searched_axes(const Machine& base, std::span<const std::string_view> fixed,
                                std::span<const Axis> asked, bool narrow = false);

/// The machine itself where it keeps the rules between rows (check_machine); else one that does, with other values
/// of few of these axes that have no condition, one after the other. Linked rows follow. Throws what follow() and
/// check_machine do where none was found.
Machine mended(const Machine& base, std::span<const Axis> axes, std::span<const Link> links = {});

/// Values below 8 bits that a search adds to those of a row where what formats do is measured.
std::span<const SearchedRow> narrow_formats();

/// The values of a row of the table, as text; `narrow`: with those of narrow_formats().
std::string searched_text(const SearchedRow& row, bool narrow);

/// The values of such a text, ascending. Requires a text of the table's form.
std::vector<std::int64_t> searched_values(const ParameterRow& row, std::string_view text);

}  // namespace sdip
