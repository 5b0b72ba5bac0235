// The weights of a program as its circuits get them.
#pragma once

#include "core/exec/chip/chip.h"

namespace sdip::exec {

/// A weight as the model has it: stored, a small constant, or computed from others. Throws
/// Error("not_computable", ...) when its values are not there.
const Tensor& constant_of(Chip& chip, ValueId v);

/// Weight number `index` of the current instruction as `.weight` has it (docs/formats.md): read from there, or
/// pruned and rounded alike; what is mapped and loses nothing is not copied. Integers stay what they are, but for
/// pruning.
const HeldWeight& held_weight(Chip& chip, std::size_t index);

/// Elements `at` of a weight that single precision holds, which has no floats but codes in one scale.
void decode_weight(const HeldWeight& weight, const Elements& at, float* to);

/// All its floats, decoded now and kept where it had none. Requires the caller's thread alone to use weights.
std::span<const float> whole_floats(Chip& chip, ValueId v);

/// Lets go of the weights that no instruction behind the current one reads. Requires last_use.
void drop_weights(Chip& chip);

}  // namespace sdip::exec
