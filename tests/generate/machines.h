// Machines for generated models.
#pragma once

#include <string>

#include "core/machine/machine.h"

namespace sdip::generate {

/// The machine of a seed: one with small memories in fp32, a preset with options of its own, or one with every row
/// drawn.
Machine drawn_machine(std::uint64_t seed);

/// A preset with so many options that can change a program drawn.
Machine changed_preset(std::string_view preset, std::uint64_t seed, std::int64_t changes);

/// What a machine has other than the default or the nearest preset, as arguments of the command: " --set
/// fusion=norm --set cores=2".
std::string settings_text(const Machine& machine);

}  // namespace sdip::generate
