// An explanation as text for people: no wider than 100 columns.
#pragma once

#include <ostream>

#include "core/cost/explain/explain.h"
#include "server/json/report_json.h"

namespace sdip {

/// Prints what limits, in total and in the worst layers, with every formula filled in.
void print_explanation(std::ostream& out, const Analysis& analysis, const Explanation& explanation, bool colour);

/// "compute: " and a text behind it, broken at its commas and plus signs where a line would be longer than `width`;
/// later lines are indented by `indent`. Example: "a + bb" at width 4, indent 2 is "a +\n  bb".
std::string broken_text(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace sdip
