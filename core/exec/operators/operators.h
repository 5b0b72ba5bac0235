// The operators of an instruction, and what they share: whole operands, ends of tiles. Internal to its room.
#pragma once

#include <map>
#include <vector>

#include "core/exec/chip/chip.h"
#include "core/exec/operators/pointwise.h"

namespace sdip::exec {

/// The operators before the main one, itself, and those fused behind it, each in graph order.
struct Operators {
  std::vector<const Node*> before, behind;
  const Node* main = nullptr;
};

/// The operators of the current instruction; the main one is that of its name.
Operators operators_of(const Chip& chip);

/// Values made on chip, whole.
using Whole = std::map<ValueId, Tensor>;

/// An operand from what was made on chip, through views, or from where it lies.
Tensor whole_operand(Chip& chip, const Whole& made, ValueId v);

/// Whether only type and shape of a node's input count: its work reads none of it, and it is in no register.
/// Requires that the input is there.
bool is_unread(const Chip& chip, const Node& node, std::size_t i);

/// A node on whole operands. One that is unread is zeros.
std::vector<Tensor> compute_whole(Chip& chip, const Node& node, const Whole& made);

/// Applies the operators behind the main one to elements `at` of its result `value`, and writes the instruction's.
/// `make` makes its numbers, in pieces of `size`.
void end_tile(Chip& chip, const Operators& operators, ValueId value, const Elements& at, const PieceMaker& make,
              std::int64_t size = piece_elements);

/// Compound instructions. Attention: softmax(scale q k^T, masked) v over tiles of rows and keys, with a running
/// maximum and sum for each row. Strips: rows of the last result, each operator making the rows that the next one
/// reads.
void run_attention(Chip& chip);
void run_strips(Chip& chip);

}  // namespace sdip::exec
