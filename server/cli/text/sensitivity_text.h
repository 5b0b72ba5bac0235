// Single changes of a machine as text for people: no wider than 100 columns.
#pragma once

#include <ostream>

#include "core/explore/sensitivity.h"

namespace sdip {

/// The cheapest changes that move the bottleneck, and that better the frame rate; then what each change does.
void print_sensitivities(std::ostream& out, const Sensitivities& sensitivities, bool colour);

}  // namespace sdip
