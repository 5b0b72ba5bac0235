// A small machine with a program, or with a network to compile, as a few lines of text; and what a pass takes. For
// tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/cost/price/estimate.h"

namespace sdip {

/// "machine conv_lanes_in=4 ..." as the ones of docs/model/diagrams.md have it (all else one wide, int8, a byte
/// of DRAM a cycle), then either instructions as these have them, "i0 linear rows=2 ...", or one line "network
/// 4x8x8 | conv 8 3 | relu | add 0": an input of channels x height x width, then operators, each upon the value
/// before; a number counts values from the input, 0. conv: channels, kernel, perhaps groups; linear: features of
/// the last axis; add, mul, concat, matmul: another value; softmax, transpose, relu, silu, norm: nothing; "from 2":
/// the next one is upon value 2. A machine of which `steps` are said runs it as a core's step, else it is a network
/// of one pass a frame.
Application example_of(const std::string& text, Machine& machine);

/// A steady pass, and the time of a frame in a saturated stream.
struct Measured {
  bool feasible = false;
  std::int64_t cycles = 0, dram_bytes = 0;
  double frame_ns = 0;
};
/// Throws std::runtime_error or Error for what cannot be read or is no machine.
Measured measure(const std::string& text);

/// The text with `setting`, "name=value", in its machine's line, in place of what was said of that name.
std::string with_setting(const std::string& text, std::string_view setting);

}  // namespace sdip
