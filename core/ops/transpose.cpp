// Operators that change the order of elements in memory.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// Output axis i is input axis order[i]; reversed when not given.
std::vector<std::size_t> order_of(const OperatorUse& use) {
  const std::size_t rank = input(use, 0).shape.size();
  std::vector<std::int64_t> reversed;
  for (std::size_t i = rank; i-- > 0;) reversed.push_back(static_cast<std::int64_t>(i));
  const auto given = ints_attribute(use, "perm", reversed);
  if (given.size() != rank) {
    refuse(use, "shape_mismatch", "perm " + shape_text(given) + " of a tensor of rank " + std::to_string(rank));
  }
  axes_within(use, given, rank);
  std::vector<std::size_t> order;
  for (std::int64_t axis : given) order.push_back(axis_within(use, axis, rank));
  return order;
}

std::vector<Operand> infer_transpose(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  const auto order = order_of(use);
  Operand out;
  out.type = in.type;
  out.fill = in.fill;
  for (std::size_t axis : order) out.shape.push_back(in.shape[axis]);
  if (!in.value) return {out};
  const auto strides = strides_of(in.shape);
  out.value = pick(*in.value, out.shape, [&](std::span<const std::int64_t> index) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < order.size(); ++i) from += index[i] * strides[order[i]];
    return from;
  });
  return {out};
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
    refuse(use, "unsupported_attribute",
           "blocksize " + std::to_string(block) + " on " + shape_text(input(use, 0).shape));
  }
  return block;
}

std::vector<Operand> infer_depth_to_space(const OperatorUse& use) {
  const std::int64_t block = block_of(use);
  const Shape& in = input(use, 0).shape;
  if (in[1] % (block * block) != 0) refuse(use, "shape_mismatch", "blocksize does not divide " + shape_text(in));
  Operand out;
  out.type = input(use, 0).type;
  out.shape = {in[0], in[1] / (block * block), in[2] * block, in[3] * block};
  return {out};
}

std::vector<Operand> infer_space_to_depth(const OperatorUse& use) {
  const std::int64_t block = block_of(use);
  const Shape& in = input(use, 0).shape;
  if (in[2] % block != 0 || in[3] % block != 0) {
    refuse(use, "shape_mismatch", "blocksize does not divide " + shape_text(in));
  }
  Operand out;
  out.type = input(use, 0).type;
  out.shape = {in[0], in[1] * block * block, in[2] / block, in[3] / block};
  return {out};
}

constexpr Operator rows[] = {
    {"", "DepthToSpace", "transpose", 1, 1, "blocksize mode", infer_depth_to_space, reorder_work},
    {"", "SpaceToDepth", "transpose", 1, 1, "blocksize", infer_space_to_depth, reorder_work},
    {"", "Transpose", "transpose", 1, 1, "perm", infer_transpose, transpose_work},
};

}  // namespace

std::span<const Operator> transpose_rows() { return rows; }

}  // namespace sdip
