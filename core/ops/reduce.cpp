// Operators that look along an axis: sums and means, arg max, running sums, the k greatest.
#include <algorithm>
#include <numeric>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// Axes by attribute, or by input (ReduceSum from opset 13, the others from 18); all of them when none is given.
std::vector<std::size_t> reduced_axes(const OperatorUse& use) {
  const std::size_t rank = input(use, 0).shape.size();
  std::vector<std::int64_t> axes = ints_attribute(use, "axes", {});
  if (optional_input(use, 1) != nullptr) axes = ints_of_input(use, 1);
  if (axes.empty() && int_attribute(use, "noop_with_empty_axes", 0) == 0) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes_within(use, axes, rank);
}

/// [2,3,4] over axis 1: [2,1,4], or [2,4] when sizes of 1 are not kept.
Shape without(const Shape& in, const std::vector<std::size_t>& axes, bool keep) {
  Shape out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), i);
    if (!reduced || keep) out.push_back(reduced ? 1 : in[i]);
  }
  return out;
}

std::optional<Tensor> fold_product(const OperatorUse& use, const Operand& in, const Operand& out) {
  if (use.type != "ReduceProd" || !in.value || is_floating(in.type) || element_count(out.shape) != 1) return {};
  std::int64_t product = 1;
  for (std::int64_t factor : in.value->ints) {
    if (__builtin_mul_overflow(product, factor, &product)) return {};
  }
  return int_constant(out.type, out.shape, {product});
}

std::vector<Operand> infer_reduce(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  Operand out;
  out.type = in.type;
  out.shape = without(in.shape, reduced_axes(use), int_attribute(use, "keepdims", 1) != 0);
  out.value = fold_product(use, in, out);
  return {out};
}

std::vector<Operand> infer_arg(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  Operand out;
  out.type = ElementType::int64;
  const std::size_t axis = axis_within(use, int_attribute(use, "axis", 0), in.shape.size());
  out.shape = without(in.shape, {axis}, int_attribute(use, "keepdims", 1) != 0);
  return {out};
}

/// One pass over the input; results leave as they are done.
Work reduce_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work;
  work.row_length = element_count(input(use, 0).shape);
  work.read_elements.assign(use.inputs.size(), 0);
  work.read_elements[0] = work.row_length;
  for (const Operand& output : outputs) work.write_elements += element_count(output.shape);
  return work;
}

std::vector<Operand> infer_cumsum(const OperatorUse& use) {
  Operand out;
  out.type = input(use, 0).type;
  out.shape = input(use, 0).shape;
  return {out};
}

std::vector<Operand> infer_top_k(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  const auto k = use.opset < 10 ? std::vector<std::int64_t>{int_attribute(use, "k", 0)} : ints_of_input(use, 1);
  const std::size_t axis = axis_within(use, int_attribute(use, "axis", -1), in.shape.size());
  if (k.size() != 1 || k[0] < 0 || k[0] > in.shape[axis]) refuse(use, "shape_mismatch", "k is out of range");
  Operand values;
  values.type = in.type;
  values.shape = in.shape;
  values.shape[axis] = k[0];
  Operand indices = values;
  indices.type = ElementType::int64;
  return {values, indices};
}

constexpr std::string_view reduce_attributes = "axes keepdims noop_with_empty_axes";
constexpr Operator rows[] = {
    {"", "ArgMax", "arg_max", 1, 1, "axis keepdims select_last_index", infer_arg, reduce_work},
    {"", "ArgMin", "arg_min", 1, 1, "axis keepdims select_last_index", infer_arg, reduce_work},
    {"", "CumSum", "cumsum", 2, 2, "exclusive reverse", infer_cumsum, reduce_work},
    {"", "ReduceL1", "reduce_l1", 1, 2, reduce_attributes, infer_reduce, reduce_work},
    {"", "ReduceL2", "reduce_l2", 1, 2, reduce_attributes, infer_reduce, reduce_work},
    {"", "ReduceLogSum", "reduce_log_sum", 1, 2, reduce_attributes, infer_reduce, reduce_work},
    {"", "ReduceLogSumExp", "reduce_log_sum_exp", 1, 2, reduce_attributes, infer_reduce, reduce_work},
    {"", "ReduceMax", "reduce_max", 1, 2, reduce_attributes, infer_reduce, reduce_work},
    {"", "ReduceMean", "reduce_mean", 1, 2, reduce_attributes, infer_reduce, reduce_work},
    {"", "ReduceMin", "reduce_min", 1, 2, reduce_attributes, infer_reduce, reduce_work},
    {"", "ReduceProd", "reduce_prod", 1, 2, reduce_attributes, infer_reduce, reduce_work},
    {"", "ReduceSum", "reduce_sum", 1, 2, reduce_attributes, infer_reduce, reduce_work},
    {"", "ReduceSumSquare", "reduce_sum_square", 1, 2, reduce_attributes, infer_reduce, reduce_work},
    {"", "TopK", "top_k", 1, 2, "axis k largest sorted", infer_top_k, reduce_work},
};

}  // namespace

std::span<const Operator> reduce_rows() { return rows; }

}  // namespace sdip
