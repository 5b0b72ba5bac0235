// A network with what a machine's number formats do to it written out as nodes and weights.
#pragma once

#include "core/exec/chip/execute.h"
#include "tests/core/exec/random_graph.h"

namespace sdip {

/// `network` with a cast to activation_format and back (or QuantizeLinear and DequantizeLinear with the value's
/// scale) behind every value that `stage` keeps in memory, and with every weight of `.weight` in weight_format,
/// those of products pruned to weight_density when the machine uses sparsity. Its own arithmetic: nothing of the
/// executor's.
MadeNetwork written_out(const MadeNetwork& network, const CompiledStage& stage, const Machine& machine,
                        const ActivationScales& scales);

/// Weight `index` of an instruction with the same losses; nothing for weights made of others.
std::optional<Tensor> written_weight(const MadeNetwork& network, const CompiledStage& stage,
                                     const Instruction& instruction, std::size_t index, const Machine& machine);

}  // namespace sdip
