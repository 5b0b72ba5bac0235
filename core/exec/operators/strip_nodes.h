// The operators of a chain that is carried in strips, and which part each belongs to. Internal to its room.
//
// Example: parts conv2d (one fused operator) and conv2d of nodes Conv, Relu, GroupNorm, Silu, Conv: the first part
// has Conv and behind it Relu, the second one's prologue are GroupNorm and Silu.
#pragma once

#include <optional>
#include <vector>

#include "core/exec/chip/chip.h"
#include "core/exec/walk/nest_map.h"
#include "core/exec/walk/tile_loops.h"

namespace sdip::exec {

/// An operator of the chain.
struct StripNode {
  const Node* node = nullptr;
  std::size_t part = 0;
  bool reads_a = false;               // its part works on operand A
  bool before = false, main = false;  // of its part; else fused behind
  std::optional<NestMap> map{};
  std::optional<NormRule> norm{};
  std::vector<Extent> reads{};      // of pools and resizes, by row of the result
  std::int64_t softmax_length = 0;  // of a row of softmax; 0: it is none
  bool two_activations = false;     // a product of them
};

/// The current instruction's operators `ids`, in order. Throws Error("not_computable", node, ...) for one that is
/// not done row by row. Notes pools and enlargements whose rows are not those of their parts (TransferLog).
std::vector<StripNode> strip_nodes(Chip& chip, const std::vector<NodeId>& ids);

/// The norm whose sums alone an instruction makes, or nullptr; adds to `nodes` those before it, which a later
/// instruction has, too.
const Node* summed_norm(const Chip& chip, std::vector<NodeId>& nodes);

}  // namespace sdip::exec
