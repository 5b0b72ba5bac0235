// The weights of a program as its circuits get them.
#pragma once

#include "core/exec/chip.h"
#include "core/program/weight_scales.h"

namespace sdip::exec {

/// What an instruction's weight number `index` is to it.
struct WeightRole {
  NodeId node = none;       // the nest whose second operand it is; else `none`
  WeightChannels channels;  // with scales by channel
  bool pruned = false;      // only a share of it is not zero
};
WeightRole weight_role(const Chip& chip, std::size_t index);

/// A weight as the model has it: stored, a small constant, or computed from others. Throws
/// Error("not_computable", ...) when its values are not there.
const Tensor& constant_of(Chip& chip, ValueId v);

/// A weight in weight_format, after pruning to weight_density where the machine uses sparsity. Integers stay what
/// they are. Scales as `.weight` has them: largest magnitude over largest number of the format; they are left in
/// `steps` where the format has codes.
Tensor held_weight(Chip& chip, ValueId v, const WeightRole& role, WeightSteps& steps);

}  // namespace sdip::exec
