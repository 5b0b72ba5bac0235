// A compilation as text for people: what `sdip compile --print-after=PASS` shows.
#pragma once

#include <string>

#include "core/program/compile/passes.h"

namespace sdip {

/// A line a draft as far as passes have run: nodes, operands and their lives, then place and mapping; once there is
/// a program, a line an instruction.
std::string compilation_text(const Compilation& c);

}  // namespace sdip
