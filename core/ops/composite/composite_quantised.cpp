// Operators on quantised numbers (com.microsoft): sums and products of two quantised tensors, and the product with
// a matrix of 2, 4 or 8-bit weights in blocks.
#include "core/base/units.h"
#include "core/ops/body.h"
#include "core/ops/families.h"

namespace sdip {
namespace {

/// The numbers that the quantised tensor at input `i` stands for; its scale and zero point follow it.
int dequantised(BodyWriter& w, std::size_t i) {
  return w.node("DequantizeLinear", {w.given(i), w.given(i + 1), w.given(i + 2)});
}

/// `x` quantised by the scale at input `i` and the zero point behind it, in the type of input 0.
std::vector<int> requantised(BodyWriter& w, int x, std::size_t i) {
  int zero = w.given(i + 1);
  if (zero < 0) zero = w.ints({0}, input(w.use, 0).type, true);
  return {w.node("QuantizeLinear", {x, w.given(i), zero})};
}

/// a, its scale, its zero point?, b, its scale, its zero point?, scale and zero point? of the result.
std::vector<int> expand_pair(BodyWriter& w, const OperatorUse& use, std::string_view type) {
  for (const std::size_t i : {0U, 1U, 3U, 4U, 6U}) input(use, i);
  return requantised(w, w.node(type, {dequantised(w, 0), dequantised(w, 3)}), 6);
}

std::vector<int> expand_quantised_add(BodyWriter& w, const OperatorUse& use) { return expand_pair(w, use, "Add"); }
std::vector<int> expand_quantised_mul(BodyWriter& w, const OperatorUse& use) { return expand_pair(w, use, "Mul"); }

/// x, its scale, its zero point?, scale and zero point? of the result.
std::vector<int> expand_single(BodyWriter& w, const OperatorUse& use, std::string_view type,
                               Attributes attributes) {
  for (const std::size_t i : {0U, 1U, 3U}) input(use, i);
  return requantised(w, w.node(type, {dequantised(w, 0)}, std::move(attributes)), 3);
}

std::vector<int> expand_quantised_sigmoid(BodyWriter& w, const OperatorUse& use) {
  return expand_single(w, use, "Sigmoid", {});
}
std::vector<int> expand_quantised_leaky(BodyWriter& w, const OperatorUse& use) {
  return expand_single(w, use, "LeakyRelu", {{"alpha", float_attribute(use, "alpha", 0.01)}});
}

/// The integers in bytes, `bits` each.
int unpacked(BodyWriter& w, int bytes, std::int64_t bits) {
  return bits == 8 ? bytes : w.node("sdip.Unpack", {bytes}, {{"bits", bits}});
}

struct Blocks {
  std::int64_t inner = 0, outer = 0, size = 0, count = 0, bits = 4;  // K, N, elements of a block, blocks of a row
};

Blocks blocks_of(const OperatorUse& use) {
  Blocks b;
  b.inner = int_attribute(use, "K", 0), b.outer = int_attribute(use, "N", 0);
  b.size = int_attribute(use, "block_size", 0), b.bits = int_attribute(use, "bits", 4);
  constexpr std::int64_t most = std::int64_t{1} << 31;
  require(use, b.inner > 0 && b.outer > 0 && b.inner < most && b.outer < most, "K or N is missing or out of range");
  require(use, b.size >= 16 && b.size < most && (b.size & (b.size - 1)) == 0,
          "block_size is no power of 2 from 16");
  require(use, b.bits == 2 || b.bits == 4 || b.bits == 8, "bits must be 2, 4 or 8");
  require(use, int_attribute(use, "weight_prepacked", 0) == 0, "weights packed for one device are not supported");
  b.count = ceil_div(b.inner, b.size);
  return b;
}

void require_count(const OperatorUse& use, std::size_t i, std::int64_t expected) {
  if (element_count(input(use, i).shape) == expected) return;
  refuse(use, "shape_mismatch",
         fmt::format("input {} of shape {} has not {} elements", i, shape_text(input(use, i).shape), expected));
}

/// The zero point of each block, [N, blocks]; half of the range where none is given.
int block_zeros(BodyWriter& w, const Blocks& b) {
  const OperatorUse& use = w.use;
  const Shape whole = {b.outer, b.count};
  if (w.given(3) < 0) {
    const ElementType type = b.bits == 8   ? ElementType::uint8
                             : b.bits == 4 ? ElementType::uint4
                                           : ElementType::uint2;
    return w.node("Expand", {w.ints({std::int64_t{1} << (b.bits - 1)}, type, true), w.ints(whole)});
  }
  if (is_floating(input(use, 3).type)) {
    require_count(use, 3, product({b.outer, b.count}));
    return w.reshape(3, whole);
  }
  const std::int64_t bytes = ceil_div(b.count * b.bits, 8);
  require_count(use, 3, product({b.outer, bytes}));
  return w.slice(unpacked(w, w.reshape(3, {b.outer, bytes}), b.bits), 1, 0, b.count);
}

/// A, B [N, blocks, bytes of a block], scales [N, blocks], zero points?, -, bias [N]? Weights that are constants
/// are made at compile time: to the machine the product is one with weights in its own format.
std::vector<int> expand_matmul_bits(BodyWriter& w, const OperatorUse& use) {
  const Blocks b = blocks_of(use);
  require(use, w.given(4) < 0, "g_idx is not supported: onnxruntime takes it back");
  const Shape& a = input(use, 0).shape;
  if (a.empty() || a.back() != b.inner) refuse(use, "shape_mismatch", "A " + shape_text(a) + " has not K columns");
  const std::int64_t bytes = b.count * (b.size * b.bits / 8);
  require_count(use, 1, product({b.outer, bytes}));
  require_count(use, 2, product({b.outer, b.count}));
  int weights = unpacked(w, w.reshape(1, {b.outer, bytes}), b.bits);
  weights = w.node("DequantizeLinear", {weights, w.reshape(2, {b.outer, b.count}), block_zeros(w, b)},
                   {{"axis", std::int64_t{1}}, {"block_size", b.size}});
  if (b.count * b.size != b.inner) weights = w.slice(weights, 1, 0, b.inner);
  int y = w.node("MatMul", {0, w.transpose(weights, {1, 0})});
  if (w.given(5) >= 0) y = w.node("Add", {y, 5});
  return {y};
}

constexpr Operator composite_quantised_operators[] = {
    composite<expand_matmul_bits>("com.microsoft", "MatMulNBits", "linear", 3, 6,
                                  "K N accuracy_level bits block_size weight_prepacked"),
    composite<expand_quantised_add>("com.microsoft", "QLinearAdd", "add", 7, 8, ""),
    composite<expand_quantised_leaky>("com.microsoft", "QLinearLeakyRelu", "leaky_relu", 4, 5, "alpha"),
    composite<expand_quantised_mul>("com.microsoft", "QLinearMul", "mul", 7, 8, ""),
    composite<expand_quantised_sigmoid>("com.microsoft", "QLinearSigmoid", "sigmoid", 4, 5, ""),
};

}  // namespace

std::span<const Operator> composite_quantised_rows() { return composite_quantised_operators; }

}  // namespace sdip
