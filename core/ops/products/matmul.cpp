// Matrix products. A product with a weight is family linear, one of two activations family matmul.
#include "core/ops/products/matmul.h"

#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {

Product product_of(const OperatorUse& use, const Shape& a, const Shape& b, bool trans_a, bool trans_b) {
  if (a.empty() || b.empty()) refuse(use, "shape_mismatch", "an operand of a matrix product is a scalar");
  Product p;
  p.trans_a = trans_a && a.size() > 1;
  p.trans_b = trans_b && b.size() > 1;
  const std::size_t last_a = a.size() - 1, last_b = b.size() - 1;
  std::int64_t k_b = b[last_b];
  p.k = a[last_a];
  if (a.size() > 1) {
    p.m = a[last_a - 1];
    if (p.trans_a) std::swap(p.m, p.k);
  }
  if (b.size() > 1) {
    p.n = b[last_b];
    k_b = b[last_b - 1];
    if (p.trans_b) std::swap(p.n, k_b);
  }
  if (p.k != k_b) {
    refuse(use, "shape_mismatch",
           "operands " + shape_text(a) + " and " + shape_text(b) + " do not agree in the dimension summed over");
  }
  p.batch_a = Shape(a.begin(), a.end() - std::min<std::ptrdiff_t>(2, std::ssize(a)));
  p.batch_b = Shape(b.begin(), b.end() - std::min<std::ptrdiff_t>(2, std::ssize(b)));
  p.batch = broadcast(use, p.batch_a, p.batch_b);
  return p;
}

Shape shape_of(const Product& product, const Shape& a, const Shape& b) {
  Shape shape = product.batch;
  if (a.size() > 1) shape.push_back(product.m);
  if (b.size() > 1) shape.push_back(product.n);
  return shape;
}

/// How many of a product's leading axes, from the front, repeat the weight: it has the axes behind them, whole, and
/// the other operand all of those in front, or none. Example: x [2,3,4,5] by W [3,5,6]: 1, two frames of 3
/// products.
std::size_t repeated_axes(const Shape& batch, const Shape& weight, const Shape& other) {
  const auto first = std::ranges::find_if(weight, [](std::int64_t size) { return size != 1; });
  const Shape own(first, weight.end());
  const std::size_t axes = batch.size() - own.size();
  Shape all(axes, 1);
  for (std::size_t i = 0; i < other.size(); ++i)
    if (const std::size_t axis = batch.size() - other.size() + i; axis < axes) all[axis] = other[i];
  const bool whole = std::equal(own.begin(), own.end(), batch.begin() + static_cast<std::ptrdiff_t>(axes));
  const bool each = std::equal(all.begin(), all.end(), batch.begin());
  const bool none = std::ranges::all_of(all, [](std::int64_t size) { return size == 1; });
  return whole && (each || none) ? axes : 0;
}

/// The second operand a weight: its columns are the output channels, all rows that meet the same matrix are out_h.
/// The first a weight: y^T = x^T W^T, so that its rows are the output channels.
Work product_work(const Product& p, bool weight_a, bool weight_b) {
  const std::int64_t batch = element_count(p.batch);
  Work work;
  work.family = weight_a || weight_b ? Family::linear : Family::matmul;
  LoopNest& nest = work.nest;
  const bool first_is_weight = weight_a && !weight_b;
  const std::int64_t matrices = element_count(first_is_weight ? p.batch_a : p.batch_b);
  nest.groups = work.family == Family::linear && matrices == 1 ? 1 : batch;
  if (weight_b && matrices > 1) {
    const auto behind = p.batch.begin() + static_cast<std::ptrdiff_t>(repeated_axes(p.batch, p.batch_b, p.batch_a));
    nest.batch = element_count(Shape(p.batch.begin(), behind));
    nest.groups = element_count(Shape(behind, p.batch.end()));
  }
  nest.out_h = element_count({first_is_weight ? p.n : p.m, nest.groups == 1 ? batch : 1});
  nest.out_channels = first_is_weight ? p.m : p.n;
  nest.in_channels = p.k;
  nest.in_h = nest.out_h;
  return work;
}

namespace {

Product product_of(const OperatorUse& use) {
  return product_of(use, input(use, 0).shape, input(use, 1).shape, int_attribute(use, "transA", 0) != 0,
                    int_attribute(use, "transB", 0) != 0 || int_attribute(use, "trans_b", 0) != 0);
}

std::vector<Operand> infer_matmul(const OperatorUse& use) {
  const Shape shape = shape_of(product_of(use), input(use, 0).shape, input(use, 1).shape);
  return {typed(input(use, 0).type, shape)};
}

void require_bias(const OperatorUse& use, const Shape& out) {
  const Operand* bias = optional_input(use, 2);
  if (bias != nullptr && broadcast(use, bias->shape, out) != out) {
    refuse(use, "shape_mismatch",
           "bias " + shape_text(bias->shape) + " does not fit the result " + shape_text(out));
  }
}

std::vector<Operand> infer_gemm(const OperatorUse& use) {
  if (input(use, 0).shape.size() != 2 || input(use, 1).shape.size() != 2) {
    refuse(use, "shape_mismatch",
           "operands of Gemm must be matrices, but are " + shape_text(input(use, 0).shape) + " and " +
               shape_text(input(use, 1).shape));
  }
  std::vector<Operand> outputs = infer_matmul(use);
  require_bias(use, outputs[0].shape);
  return outputs;
}

std::vector<Operand> infer_linear(const OperatorUse& use) {
  const std::size_t rank = input(use, 1).shape.size();
  if (use.type == "Linear" ? rank != 2 : rank < 3) {
    refuse(use, "shape_mismatch", "a weight of shape " + shape_text(input(use, 1).shape));
  }
  std::vector<Operand> outputs = infer_matmul(use);
  require_bias(use, outputs[0].shape);
  return outputs;
}

/// The scores of attention, which rewrites make: scale * q k^T. q [2,8,64,40] and k [2,8,77,40] with trans_b 1 make
/// [2,8,64,77].
std::vector<Operand> infer_scores(const OperatorUse& use) {
  const Operand &q = input(use, 0), &k = input(use, 1);
  if (!is_floating(q.type) || !is_floating(k.type)) refuse(use, "shape_mismatch", "operands must be floats");
  if (q.shape.size() < 2 || k.shape.size() < 2) refuse(use, "shape_mismatch", "operands must be matrices");
  return infer_matmul(use);
}

/// The scale is one multiplication of each result as it leaves the array, no pass of its own.
Work scores_work(const OperatorUse& use, std::span<const Operand>) {
  return product_work(product_of(use), false, false);
}

Work matmul_work(const OperatorUse& use, std::span<const Operand>) {
  return product_work(product_of(use), input(use, 0).weight, input(use, 1).weight);
}

/// Integers exactly, wrapping, by way of their 64 bits.
std::vector<std::uint64_t> bits_of_input(const OperatorUse& use, std::size_t i) {
  doubles_of(use, i);  // that there are as many as the shape says
  const std::vector<std::int64_t>& ints = use.inputs[i]->value->ints;
  return {ints.begin(), ints.end()};
}

bool of_integers(const OperatorUse& use) {
  return !is_floating(input(use, 0).type) && !is_floating(input(use, 1).type);
}

/// The sums of products as numbers. Those of integers wrap as the type does, as numpy has it, whatever factors
/// come.
std::vector<double> product_numbers(const OperatorUse& use, const Product& p, const Operand& output) {
  if (!of_integers(use)) return multiplied(p, doubles_of(use, 0), doubles_of(use, 1), use.stop);
  Operand sums = output;
  const auto bits = multiplied(p, bits_of_input(use, 0), bits_of_input(use, 1), use.stop);
  set_ints(sums, {bits.begin(), bits.end()});
  return doubles_of(*sums.value);
}

/// alpha and beta are 1 but in Gemm, and in scores their scale; the bias is broadcast to the result.
void compute_product(const OperatorUse& use, std::span<Operand> outputs) {
  const double alpha = float_attribute(use, use.type == "Scores" ? "scale" : "alpha", 1.0),
               beta = float_attribute(use, "beta", 1.0);
  const Product p = product_of(use);
  const Operand* bias = optional_input(use, 2);
  const bool plain = alpha == 1.0 && (bias == nullptr || (beta == 1.0 && !is_floating(bias->type)));
  if (of_integers(use) && plain) {
    std::vector<std::uint64_t> sums = multiplied(p, bits_of_input(use, 0), bits_of_input(use, 1), use.stop);
    if (bias != nullptr) {
      const std::vector<std::uint64_t> more = bits_of_input(use, 2);
      const BroadcastIndex from = broadcast_index(bias->shape, outputs[0].shape);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[from[i]];
    }
    return set_ints(outputs[0], {sums.begin(), sums.end()});
  }
  std::vector<double> sums = product_numbers(use, p, outputs[0]);
  for (double& sum : sums) sum *= alpha;
  if (bias != nullptr) {
    const std::vector<double> more = broadcast_doubles(doubles_of(use, 2), bias->shape, outputs[0].shape);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += beta * more[i];
  }
  set_doubles(outputs[0], sums);
}

constexpr Operator matmul_operators[] = {
    {"", "Gemm", "linear", 2, 3, "alpha beta transA transB", infer_gemm, matmul_work, compute_product, "7 9 11 13"},
    {"", "MatMul", "matmul", 2, 2, "", infer_matmul, matmul_work, compute_product, "7 9 13"},
    {"sdip", "Linear", "linear", 2, 3, "trans_b", infer_linear, matmul_work, compute_product},
    {"sdip", "LinearBatch", "linear_batch", 2, 3, "", infer_linear, matmul_work, compute_product},
    {"sdip", "Scores", "matmul", 2, 2, "scale trans_b", infer_scores, scores_work, compute_product, "1"},
};

}  // namespace

std::span<const Operator> matmul_rows() { return matmul_operators; }

}  // namespace sdip
