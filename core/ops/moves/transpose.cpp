// Operators that change the order of elements in memory.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

/// Output axis i is input axis order[i]; reversed when not given.
std::vector<std::size_t> order_of(const OperatorUse& use) {
  const std::size_t rank = input(use, 0).shape.size();
  std::vector<std::int64_t> reversed;
  for (std::size_t i = rank; i-- > 0;) reversed.push_back(static_cast<std::int64_t>(i));
  const auto given = ints_attribute(use, "perm", reversed);
  if (given.size() != rank) {
    refuse(use, "shape_mismatch", fmt::format("perm {} of a tensor of rank {}", shape_text(given), rank));
  }
  axes_within(use, given, rank);
  std::vector<std::size_t> order;
  for (std::int64_t axis : given) order.push_back(axis_within(use, axis, rank));
  return order;
}

/// The elements of a tensor seen as `shape`, axes in another order: output axis i is axis order[i].
Tensor permuted(const Tensor& in, const Shape& shape, const std::vector<std::size_t>& order, Shape out) {
  const Offsets offsets = offsets_of(shape);
  Offsets moved;
  for (std::size_t axis : order) moved.push_back(offsets[axis]);
  return gathered_elements(in, std::move(out), positions(moved));
}

std::vector<Operand> infer_transpose(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  Operand out = typed(in.type, {});
  out.fill = in.fill;
  for (std::size_t axis : order_of(use)) out.shape.push_back(in.shape[axis]);
  return {out};
}

void compute_transpose(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  outputs[0].value = permuted(in, in.shape, order_of(use), outputs[0].shape);
}

Work reorder_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = copy_work(use, outputs);
  work.family = Family::transpose;
  return work;
}

/// Moving only axes of size 1 leaves the elements in order: [1,8,64] to [8,1,64] is a view.
Work transpose_work(const OperatorUse& use, std::span<const Operand> outputs) {
  std::vector<std::size_t> moved = order_of(use);
  std::erase_if(moved, [&](std::size_t axis) { return input(use, 0).shape[axis] == 1; });
  return std::is_sorted(moved.begin(), moved.end()) ? view_work(use, outputs) : reorder_work(use, outputs);
}

std::int64_t block_of(const OperatorUse& use) {
  const std::int64_t block = int_attribute(use, "blocksize", 0);
  if (block < 1 || block > 65536 || input(use, 0).shape.size() != 4) {
    refuse(use, "unsupported_attribute", fmt::format("blocksize {} on {}", block, shape_text(input(use, 0).shape)));
  }
  return block;
}

bool columns_first(const OperatorUse& use) { return choice_attribute(use, "mode", "DCR", {"DCR", "CRD"}) == "CRD"; }

std::vector<Operand> infer_depth_to_space(const OperatorUse& use) {
  const std::int64_t block = block_of(use);
  const Shape& in = input(use, 0).shape;
  columns_first(use);
  if (in[1] % (block * block) != 0) refuse(use, "shape_mismatch", "blocksize does not divide " + shape_text(in));
  return {typed(input(use, 0).type,
                {in[0], in[1] / (block * block), element_count({in[2], block}), element_count({in[3], block})})};
}

/// A pixel's channels become a block of pixels. DCR: channels are [block row, block column, depth]; CRD (from opset
/// 11 on): [depth, block row, block column].
void compute_depth_to_space(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  const std::int64_t block = block_of(use), n = in.shape[0], h = in.shape[2], w = in.shape[3];
  const std::int64_t depth = in.shape[1] / (block * block);
  outputs[0].value = columns_first(use)
                         ? permuted(in, {n, depth, block, block, h, w}, {0, 1, 4, 2, 5, 3}, outputs[0].shape)
                         : permuted(in, {n, block, block, depth, h, w}, {0, 3, 4, 1, 5, 2}, outputs[0].shape);
}

std::vector<Operand> infer_space_to_depth(const OperatorUse& use) {
  const std::int64_t block = block_of(use);
  const Shape& in = input(use, 0).shape;
  if (in[2] % block != 0 || in[3] % block != 0) {
    refuse(use, "shape_mismatch", "blocksize does not divide " + shape_text(in));
  }
  return {typed(input(use, 0).type, {in[0], element_count({in[1], block, block}), in[2] / block, in[3] / block})};
}

/// The inverse of DepthToSpace's DCR.
void compute_space_to_depth(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  const std::int64_t block = block_of(use), n = in.shape[0], c = in.shape[1];
  outputs[0].value = permuted(in, {n, c, in.shape[2] / block, block, in.shape[3] / block, block},
                              {0, 3, 5, 1, 2, 4}, outputs[0].shape);
}

/// Batch and time are the first two axes, in either order.
std::vector<Operand> infer_reverse(const OperatorUse& use) {
  const Operand &in = input(use, 0), &lengths = input(use, 1);
  const std::int64_t batch = int_attribute(use, "batch_axis", 1), time = int_attribute(use, "time_axis", 0);
  const bool both = (batch == 0 && time == 1) || (batch == 1 && time == 0);
  if (in.shape.size() < 2 || !both) {
    refuse(use, "shape_mismatch", "batch_axis and time_axis must be 0 and 1 of " + shape_text(in.shape));
  }
  require_type(use, 1, is_integer, "an integer");
  if (lengths.shape != Shape{in.shape[at(batch)]}) {
    refuse(use, "shape_mismatch", "sequence lengths " + shape_text(lengths.shape) + " of " + shape_text(in.shape));
  }
  return {like_first(use)};
}

/// The first `length` steps of each sequence the other way round: 0 1 2 3 of length 3 becomes 2 1 0 3.
void compute_reverse(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor &in = value_of(use, 0), &lengths = value_of(use, 1);
  const bool time_first = int_attribute(use, "time_axis", 0) == 0;
  const std::int64_t steps = in.shape[time_first ? 0 : 1];
  const std::int64_t inner = count_between(in.shape, 2, in.shape.size());
  std::vector<std::int64_t> from;
  for (std::int64_t row = 0; row < in.shape[0]; ++row) {
    for (std::int64_t column = 0; column < in.shape[1]; ++column) {
      const std::int64_t length = lengths.ints[at(time_first ? column : row)];
      if (length < 0 || length > steps) {
        refuse(use, "shape_mismatch", fmt::format("a sequence of length {} in {} steps", length, steps));
      }
      std::int64_t at_row = row, at_column = column;
      std::int64_t& step = time_first ? at_row : at_column;
      if (step < length) step = length - 1 - step;
      for (std::int64_t i = 0; i < inner; ++i) from.push_back((at_row * in.shape[1] + at_column) * inner + i);
    }
  }
  outputs[0].value = gathered_elements(in, in.shape, from);
}

constexpr Operator transpose_operators[] = {
    {"", "DepthToSpace", "transpose", 1, 1, "blocksize mode", infer_depth_to_space, reorder_work,
     compute_depth_to_space, "7 11 13"},
    {"", "ReverseSequence", "transpose", 2, 2, "batch_axis time_axis", infer_reverse, reorder_work, compute_reverse,
     "10"},
    {"", "SpaceToDepth", "transpose", 1, 1, "blocksize", infer_space_to_depth, reorder_work, compute_space_to_depth,
     "7 13"},
    {"", "Transpose", "transpose", 1, 1, "perm", infer_transpose, transpose_work, compute_transpose,
     "7 13 21 23 24 25"},
};

}  // namespace

std::span<const Operator> transpose_rows() { return transpose_operators; }

}  // namespace sdip
