// The text of a formula to its steps. Internal to its room. core/explore/space/formula.h says what a formula may
// say.
#pragma once

#include "core/explore/space/formula.h"

namespace sdip {

bool names_function(std::string_view name);

/// Fills inputs, steps and depth of a formula that has its name and text. Throws as parse_formula does.
void parse_steps(Formula& formula, const std::string& where);

}  // namespace sdip
