// Rotary embedding: of ai.onnx 23, and onnxruntime's. Pairs of elements of each head turn by an angle that grows
// with the position: (a, b) becomes (a cos - b sin, b cos + a sin).
#include "core/ops/attention_body.h"
#include "core/ops/families.h"

namespace sdip {
namespace {

/// x as [batch, rows, heads, depth].
struct Rotary {
  int x = 0;
  Shape shape;
  bool heads_second = false;
  std::int64_t turned = 0;
};

Rotary rotary_of(BodyWriter& w, std::size_t cos_input) {
  const OperatorUse& use = w.use;
  const Shape& x = input(use, 0).shape;
  Rotary r;
  r.heads_second = x.size() == 4;
  if (r.heads_second) {
    r.shape = {x[0], x[2], x[1], x[3]};
    r.x = w.transpose(0, {0, 2, 1, 3});
  } else {
    shape_of_rank(use, 0, 3);
    std::int64_t heads = int_attribute(use, "num_heads", 0);
    const Shape& cache = input(use, cos_input).shape;
    const std::int64_t turned = int_attribute(use, "rotary_embedding_dim", 0);
    if (heads == 0 && turned == 0 && !cache.empty() && cache.back() > 0) heads = x[2] / product({2, cache.back()});
    require(use, heads > 0 && x[2] % heads == 0, "num_heads does not divide the width of the input");
    r.shape = {x[0], x[1], heads, x[2] / heads};
    r.x = w.reshape(0, r.shape);
  }
  r.turned = int_attribute(use, "rotary_embedding_dim", 0);
  if (r.turned == 0) r.turned = r.shape[3];
  require(use, r.turned > 0 && r.turned <= r.shape[3] && r.turned % 2 == 0, "rotary_embedding_dim is out of range");
  return r;
}

int rotated(BodyWriter& w, const Rotary& r, int cos, int sin) {
  const int y = write_rotary(w, r.x, cos, sin, r.shape, r.turned, int_attribute(w.use, "interleaved", 0) != 0);
  if (r.heads_second) return w.transpose(y, {0, 2, 1, 3});
  return w.reshape(y, input(w.use, 0).shape);
}

/// X, cos, sin, position ids?: of a table with ids, [batch, rows, turned / 2] without.
std::vector<int> expand_rotary(BodyWriter& w, const OperatorUse& use) {
  const Rotary r = rotary_of(w, 1);
  const auto angle = [&](std::size_t i) {
    const int table = static_cast<int>(i);
    const Shape& shape = input(use, i).shape;
    if (shape.empty() || shape.back() != r.turned / 2)
      refuse(use, "shape_mismatch", "cos and sin must have half as many columns as elements turn");
    int rows = table;
    if (w.given(3) >= 0) {
      shape_of_rank(use, i, 2);
      rows = w.node("Gather", {table, 3}, {{"axis", std::int64_t{0}}});
    } else {
      shape_of_rank(use, i, 3);
    }
    return w.node("Unsqueeze", {rows, w.ints({2})});
  };
  const int cos = angle(1), sin = angle(2);
  return {rotated(w, r, cos, sin)};
}

/// input, position ids ([1], the first position, or [batch, rows]), cos table, sin table.
std::vector<int> expand_contrib_rotary(BodyWriter& w, const OperatorUse& use) {
  require(use, float_attribute(use, "scale", 1.0) == 1.0, "a scale other than 1 is not supported");
  require(use, int_attribute(use, "is_packed_batching", 0) == 0, "packed batches are not supported");
  const Rotary r = rotary_of(w, 2);
  const auto angle = [&](std::size_t i) {
    if (shape_of_rank(use, i, 2)[1] != r.turned / 2)
      refuse(use, "shape_mismatch", "cos and sin must have half as many columns as elements turn");
    int places = 1;
    if (input(use, 1).shape.size() == 1) {
      places = w.reshape(w.node("Add", {w.range(0, r.shape[1]), 1}), {1, r.shape[1]});
    }
    const int rows = w.node("Gather", {static_cast<int>(i), places}, {{"axis", std::int64_t{0}}});
    return w.node("Unsqueeze", {rows, w.ints({2})});
  };
  const int cos = angle(2), sin = angle(3);
  return {rotated(w, r, cos, sin)};
}

constexpr Operator composite_rotary_operators[] = {
    composite<expand_rotary>("", "RotaryEmbedding", "rotary", 3, 4, "interleaved num_heads rotary_embedding_dim",
                             "23"),
    composite<expand_contrib_rotary>("com.microsoft", "RotaryEmbedding", "rotary", 4, 4,
                                     "interleaved is_packed_batching num_heads rotary_embedding_dim scale"),
};

}  // namespace

std::span<const Operator> composite_rotary_rows() { return composite_rotary_operators; }

}  // namespace sdip
