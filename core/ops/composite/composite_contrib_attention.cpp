// Attention as onnxruntime's optimiser makes it (com.microsoft): Attention with one projection for q, k and v;
// MultiHeadAttention of projected ones; QAttention, the first of them in integers.
#include "core/ops/attention_body.h"
#include "core/ops/families.h"

namespace sdip {
namespace {

/// The bias that a mask of integers gives: [batch] lengths, [2 batch] ends and starts, [batch, columns] or
/// [batch, rows, columns] of 1 and 0; what is masked gets mask_filter_value.
int padding_bias(BodyWriter& w, std::size_t i, const AttentionShape& shape, ElementType type) {
  const OperatorUse& use = w.use;
  const Shape& mask = input(use, i).shape;
  const double hidden = float_attribute(use, "mask_filter_value", -10000.0);
  int kept = static_cast<int>(i);
  if (mask.size() == 1) {
    const int places = w.range(0, shape.columns, input(use, i).type);
    const bool both = mask[0] == 2 * shape.batch;
    require(use, both || mask[0] == shape.batch, "a mask_index of this length is not supported");
    const int ends = both ? w.slice(kept, 0, 0, shape.batch) : kept;
    const int before = w.node("Less", {places, w.reshape(ends, {shape.batch, 1, 1, 1})});
    if (!both) return bias_of_mask(w, before, type, hidden);
    const int starts = w.reshape(w.slice(kept, 0, shape.batch, 2 * shape.batch), {shape.batch, 1, 1, 1});
    const int after = w.node("Not", {w.node("Less", {places, starts})});
    return bias_of_mask(w, w.node("And", {before, after}), type, hidden);
  }
  require(use, mask.size() == 2 || mask.size() == 3, "a mask of this rank is not supported");
  require(use, mask[0] == shape.batch && mask.back() == shape.columns, "the mask does not fit the keys");
  require(use, mask.size() == 2 || mask[1] == shape.rows, "the mask does not fit the queries");
  if (mask.size() == 2) kept = w.reshape(kept, {mask[0], 1, 1, mask[1]});
  if (mask.size() == 3) kept = w.reshape(kept, {mask[0], 1, mask[1], mask[2]});
  return bias_of_mask(w, kept, type, hidden);
}

/// Widths of q, k and v side by side in the columns of the weights, which are input 1.
std::vector<std::int64_t> projected_widths(const OperatorUse& use) {
  const Shape& weights = shape_of_rank(use, 1, 2);
  std::vector<std::int64_t> widths(3, weights[1] / 3);
  widths = ints_attribute(use, "qkv_hidden_sizes", widths);
  if (widths.size() != 3 || widths[0] < 1 || widths[1] != widths[0] || widths[2] < 1 || widths[2] > weights[1] ||
      widths[0] > weights[1] || widths[0] + widths[1] + widths[2] != weights[1]) {
    refuse(use, "shape_mismatch", "the widths of q, k and v do not make " + shape_text(weights));
  }
  return widths;
}

/// Where an operator has its optional inputs.
struct ContribInputs {
  std::size_t mask, past, bias;
};

/// Attention of q, k and v side by side in the columns of `all`, [batch, rows, q + k + v].
std::vector<int> attention_of_projection(BodyWriter& w, int all, ElementType type, const ContribInputs& at) {
  const OperatorUse& use = w.use;
  const Shape& x = shape_of_rank(use, 0, 3);
  require(use, int_attribute(use, "do_rotary", 0) == 0, "do_rotary is not supported");
  require(use, int_attribute(use, "past_present_share_buffer", 0) == 0, "a shared buffer is not supported");
  const std::vector<std::int64_t> widths = projected_widths(use);
  AttentionShape s;
  s.batch = x[0], s.rows = s.columns = x[1], s.heads = s.kv_heads = heads_of(use, "num_heads");
  s.depth = depth_of(use, widths[0], s.heads), s.value_depth = depth_of(use, widths[2], s.heads);
  const auto parts = w.nodes("Split", {all, w.ints(widths)}, {{"axis", std::int64_t{2}}}, 3);
  const int q = split_heads(w, parts[0], s.batch, s.rows, s.heads, s.depth);
  int k = split_heads(w, parts[1], s.batch, s.rows, s.heads, s.depth);
  int v = split_heads(w, parts[2], s.batch, s.rows, s.heads, s.value_depth);
  std::int64_t past = 0;
  if (w.given(at.past) >= 0) {  // [2, batch, heads, past, depth]
    const Shape& cache = shape_of_rank(use, at.past, 5);
    if (cache[0] != 2 || s.depth != s.value_depth) refuse(use, "shape_mismatch", "past does not fit");
    past = cache[3];
    const auto half = [&](std::int64_t i) {
      return w.node("Squeeze", {w.slice(static_cast<int>(at.past), 0, i, i + 1), w.ints({0})});
    };
    k = w.concat({half(0), k}, 2);
    v = w.concat({half(1), v}, 2);
    s.columns += past;
  }
  AttentionOptions options;
  options.type = type;
  options.scale = float_attribute(use, "scale", 0);
  if (int_attribute(use, "unidirectional", 0) != 0) options.causal_past = past;
  if (w.given(at.mask) >= 0) options.biases.push_back(padding_bias(w, at.mask, s, type));
  if (w.given(at.bias) >= 0) options.biases.push_back(static_cast<int>(at.bias));
  const AttentionBody made = write_attention(w, q, k, v, s, options);
  int present = -1;
  if (use.output_count > 1 && s.depth == s.value_depth) {
    const auto apart = [&](int part) { return w.node("Unsqueeze", {part, w.ints({0})}); };
    present = w.concat({apart(k), apart(v)}, 0);
  }
  return {join_heads(w, made.result, s.batch, s.rows, widths[2]), present};
}

/// input [batch, rows, width], weights [width, q + k + v], bias?, mask_index?, past?, attention_bias?.
std::vector<int> expand_contrib_attention(BodyWriter& w, const OperatorUse& use) {
  require(use, w.given(6) < 0, "past_sequence_length is not supported");
  shape_of_rank(use, 0, 3);
  int all = w.node("MatMul", {0, 1});
  if (w.given(2) >= 0) all = w.node("Add", {all, 2});
  return attention_of_projection(w, all, input(use, 0).type, {3, 4, 5});
}

/// input and weights in integers, bias, their scales, mask_index?, their zero points?, past?. The weights may have
/// a scale and a zero point a column.
std::vector<int> expand_quantised_attention(BodyWriter& w, const OperatorUse& use) {
  shape_of_rank(use, 0, 3);
  const int product = w.node("sdip.QuantizedMatMul", {0, 1, -1, 3, w.given(6), 4, w.given(7)});
  constexpr std::size_t none_such = 9;
  return attention_of_projection(w, w.node("Add", {product, 2}), input(use, 3).type, {5, 8, none_such});
}

/// q, k and v of a MultiHeadAttention, heads split, before bias.
struct Projected {
  AttentionShape shape;
  int q = -1, k = -1, v = -1;  // [batch, rows, heads, depth]
  bool keys_by_head = false;   // k and v are [batch, heads, columns, depth] already
};

/// query [batch, rows, heads, 3, depth] alone; or with key [batch, columns, heads, 2, depth]; or all three, of rank
/// 3; or key and value by head, of rank 4.
Projected projected(BodyWriter& w) {
  const OperatorUse& use = w.use;
  Projected p;
  AttentionShape& s = p.shape;
  s.heads = s.kv_heads = heads_of(use, "num_heads");
  const auto pick = [&](int from, std::int64_t i, std::int64_t rows) {
    return w.reshape(w.slice(from, 3, i, i + 1), {s.batch, rows, s.heads, s.depth});
  };
  const Shape& q = input(use, 0).shape;
  if (q.size() == 5) {
    require(use, w.given(1) < 0 && w.given(2) < 0, "key and value stand in the packed query");
    s.batch = q[0], s.rows = s.columns = q[1], s.depth = s.value_depth = q[4];
    if (q[2] != s.heads || q[3] != 3) refuse(use, "shape_mismatch", "the packed query " + shape_text(q));
    p.q = pick(0, 0, s.rows), p.k = pick(0, 1, s.rows), p.v = pick(0, 2, s.rows);
    return p;
  }
  shape_of_rank(use, 0, 3);
  s.batch = q[0], s.rows = q[1], s.depth = depth_of(use, q[2], s.heads);
  p.q = w.reshape(0, {s.batch, s.rows, s.heads, s.depth});
  const Shape& k = input(use, 1).shape;
  if (k.size() == 5) {
    require(use, w.given(2) < 0, "value stands in the packed key");
    s.columns = k[1], s.value_depth = s.depth;
    if (k[0] != s.batch || k[2] != s.heads || k[3] != 2 || k[4] != s.depth)
      refuse(use, "shape_mismatch", "the packed key " + shape_text(k));
    p.k = pick(1, 0, s.columns), p.v = pick(1, 1, s.columns);
    return p;
  }
  const Shape& v = input(use, 2).shape;
  p.keys_by_head = k.size() == 4;
  if (k.size() != v.size() || (k.size() != 3 && k.size() != 4)) refuse(use, "shape_mismatch", "key and value");
  s.columns = k[p.keys_by_head ? 2 : 1];
  s.value_depth = p.keys_by_head ? v[3] : depth_of(use, v[2], s.heads);
  p.k = 1, p.v = 2;
  if (!p.keys_by_head) {
    if (k[0] != s.batch || v[0] != s.batch || v[1] != k[1] || k[2] != q[2])
      refuse(use, "shape_mismatch", "key " + shape_text(k) + " and value " + shape_text(v));
    p.k = w.reshape(1, {s.batch, s.columns, s.heads, s.depth});
    p.v = w.reshape(2, {s.batch, s.columns, s.heads, s.value_depth});
  } else if (k != Shape{s.batch, s.heads, s.columns, s.depth} ||
             v != Shape{s.batch, s.heads, s.columns, s.value_depth}) {
    refuse(use, "shape_mismatch", "key " + shape_text(k) + " and value " + shape_text(v));
  }
  return p;
}

/// query, key?, value?, bias?, key_padding_mask?, attention_bias?, past_key?, past_value?.
std::vector<int> expand_multi_head(BodyWriter& w, const OperatorUse& use) {
  require(use, w.given(8) < 0 && w.given(9) < 0, "past_sequence_length and cache_indirection are not supported");
  Projected p = projected(w);
  AttentionShape& s = p.shape;
  if (w.given(3) >= 0) {  // [q, k, v], one after the other
    const std::int64_t width = product({s.heads, s.depth}), value = product({s.heads, s.value_depth});
    if (shape_of_rank(use, 3, 1)[0] != 2 * width + value) refuse(use, "shape_mismatch", "bias of another width");
    require(use, !p.keys_by_head, "a bias with keys by head is not supported");
    const auto part = [&](std::int64_t from, std::int64_t depth) {
      return w.reshape(w.slice(3, 0, from, from + s.heads * depth), {s.heads, depth});
    };
    p.q = w.node("Add", {p.q, part(0, s.depth)});
    p.k = w.node("Add", {p.k, part(width, s.depth)});
    p.v = w.node("Add", {p.v, part(2 * width, s.value_depth)});
  }
  const auto by_head = [&](int x) { return w.transpose(x, {0, 2, 1, 3}); };
  const int q = by_head(p.q);
  int k = p.keys_by_head ? p.k : by_head(p.k), v = p.keys_by_head ? p.v : by_head(p.v);
  const std::int64_t past = put_behind_past(w, 6, s, k, v);
  AttentionOptions options;
  options.scale = float_attribute(use, "scale", 0);
  if (int_attribute(use, "unidirectional", 0) != 0) options.causal_past = past;
  if (w.given(4) >= 0) options.biases.push_back(padding_bias(w, 4, s, input(use, 0).type));
  if (w.given(5) >= 0) options.biases.push_back(5);
  const AttentionBody made = write_attention(w, q, k, v, s, options);
  const int y = join_heads(w, made.result, s.batch, s.rows, product({s.heads, s.value_depth}));
  return {y, k, v, -1};
}

constexpr Operator composite_contrib_attention_operators[] = {
    composite<expand_contrib_attention>("com.microsoft", "Attention", "attention", 2, 7,
                                        "do_rotary mask_filter_value num_heads past_present_share_buffer "
                                        "qkv_hidden_sizes rotary_embedding_dim scale "
                                        "unidirectional"),
    composite<expand_multi_head>("com.microsoft", "MultiHeadAttention", "attention", 1, 10,
                                 "mask_filter_value num_heads scale unidirectional"),
    composite<expand_quantised_attention>(
        "com.microsoft", "QAttention", "attention", 5, 9,
        "do_rotary mask_filter_value num_heads past_present_share_buffer scale unidirectional"),
};

}  // namespace

std::span<const Operator> composite_contrib_attention_rows() { return composite_contrib_attention_operators; }

}  // namespace sdip
