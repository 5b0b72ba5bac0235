// Rows of what carries something on from token to token: caches of keys and values, states, convolutions that look
// back; and attention with graphs of its own or in integers.
#include <algorithm>

#include "tests/generate/rows/rows.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;

/// Sizes of an attention that has seen `past` tokens and sees `rows` more.
struct Tokens {
  std::int64_t batch, rows, past, heads, kv_heads, depth;
  std::int64_t total() const { return past + rows; }
};

Tokens drawn_tokens(Making& m) {
  Tokens t{m.draw.between(1, 2), m.draw.between(1, 4), 0, 0, m.draw.between(1, 2), 2 * m.draw.between(1, 3)};
  if (maybe(m)) t.past = m.draw.between(1, 4);
  t.heads = t.kv_heads * m.draw.between(1, 2);
  return t;
}

/// The last key of each text: of one batch the longest is as long as is said, and others may be shorter.
int last_keys(Making& m, const Tokens& t) {
  std::vector<std::int64_t> last{t.total() - 1};
  if (t.batch > 1) last.push_back(t.past > 0 && maybe(m) ? m.draw.between(t.rows - 1, t.total() - 1) : last[0]);
  const double most = static_cast<double>(t.total() - 1);
  if (t.past > 0 && m.draw.one_in(4)) return m.input(ElementType::int32, {t.batch}, {most, most});
  return m.ints(last, ElementType::int32);
}

Made group_query(Making& m, const Row& row, ElementType type) {
  const Tokens t = drawn_tokens(m);
  AttributeList attributes{{"num_heads", t.heads}, {"kv_num_heads", t.kv_heads}};
  const bool packed = m.draw.one_in(3), turned = maybe(m), cached = t.past > 0 || m.draw.one_in(4);
  const std::int64_t wide = t.heads * t.depth, narrow = t.kv_heads * t.depth;
  if (m.draw.one_in(4)) attributes.emplace_back("softcap", 2.0);
  if (m.draw.one_in(4)) attributes.emplace_back("scale", 0.5);
  if (m.draw.one_in(4)) attributes.emplace_back("local_window_size", m.draw.between(1, 4));
  if (m.draw.one_in(6)) attributes.emplace_back("smooth_softmax", 1);
  const Shape cache{t.batch, t.kv_heads, std::max<std::int64_t>(1, t.past + m.draw.between(0, 2)), t.depth};
  const Shape rows{t.batch, t.rows, narrow};
  Made operands{m.like(type, {t.batch, t.rows, packed ? wide + 2 * narrow : wide}),
                packed ? absent : m.like(type, rows),
                packed ? absent : m.like(type, rows),
                cached ? m.like(type, cache) : absent,
                cached ? m.like(type, cache) : absent,
                last_keys(m, t),
                m.scalar(ElementType::int32, static_cast<double>(t.total())),
                absent,
                absent,
                absent,
                absent,
                absent};
  if (turned) {
    attributes.emplace_back("do_rotary", 1);
    if (maybe(m)) attributes.emplace_back("rotary_interleaved", 1);
    for (const std::size_t table : {7U, 8U}) operands[table] = m.constant(type, {12, t.depth / 2}, {-1, 1});
    if (m.draw.one_in(4)) operands[9] = m.constant(ElementType::int64, {t.batch, t.rows}, {0, 7});
  }
  if (m.draw.one_in(4)) operands[10] = m.like(type, {1, t.heads, t.rows, t.total()});
  if (m.draw.one_in(5)) operands[11] = m.weight(type, {t.heads});
  return put(m, row, operands, attributes, maybe(m) ? 3 : 1);
}

/// Each batch and head has one state of key by value.
Made linear_attention(Making& m, const Row& row, ElementType type) {
  const Tokens t = drawn_tokens(m);
  const std::int64_t width = m.draw.between(1, 4);
  const std::string rule = m.draw.of(std::vector<std::string>{"linear", "gated", "delta", "gated_delta"});
  AttributeList attributes{{"q_num_heads", t.heads}, {"kv_num_heads", t.kv_heads}};
  if (rule != "gated_delta" || maybe(m)) attributes.emplace_back("update_rule", rule);
  if (m.draw.one_in(3)) attributes.emplace_back("scale", 0.5);
  if (m.draw.one_in(3)) attributes.emplace_back("chunk_size", m.draw.between(1, 64));
  const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
  const std::int64_t decays = maybe(m) ? t.kv_heads : t.kv_heads * t.depth;
  const Made operands{m.like(type, {t.batch, t.rows, t.heads * t.depth}, {-1, 1}),
                      m.like(type, {t.batch, t.rows, t.kv_heads * t.depth}, {-1, 1}),
                      m.like(type, {t.batch, t.rows, t.kv_heads * width}),
                      maybe(m) ? m.like(type, {t.batch, t.kv_heads, t.depth, width}) : absent,
                      gated ? m.like(type, {t.batch, t.rows, decays}, {-1, 0}) : absent,
                      delta ? m.like(type, {t.batch, t.rows, maybe(m) ? t.kv_heads : 1}, {0, 1}) : absent};
  return put(m, row, operands, attributes, maybe(m) ? 2 : 1);
}

Made causal_conv(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 3, 3);
  const Shape s = m.shape(x);
  const bool contrib = *row.domain != '\0';
  const std::int64_t kernel = m.draw.between(1, 4), dilation = contrib && m.draw.one_in(3) ? 2 : 1;
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("activation", m.draw.of(std::vector{"silu", "swish", "none"}));
  if (dilation > 1) attributes.emplace_back("dilation", dilation);
  const Made operands{x, m.weight(type, {s[1], 1, kernel}), maybe(m) ? m.weight(type, {s[1]}) : absent,
                      maybe(m) ? m.like(type, {s[0], s[1], (kernel - 1) * dilation}) : absent};
  return put(m, row, operands, attributes, maybe(m) ? 2 : 1);
}

/// Input and weights in integers: what becomes of dynamic quantisation of an Attention.
Made quantised_attention(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 3, 3);
  const Shape s = m.shape(x);
  const ElementType other = maybe(m) ? ElementType::int8 : ElementType::uint8;
  const std::int64_t heads = m.draw.between(1, 2), depth = m.draw.between(1, 4), width = 3 * heads * depth;
  const bool by_column = m.draw.one_in(4), past = m.draw.one_in(4);
  const Shape each = by_column ? Shape{width} : Shape{};
  AttributeList attributes{{"num_heads", heads}};
  if (m.draw.one_in(3)) attributes.emplace_back("unidirectional", 1);
  Made operands{x,
                m.weight(other, {s[2], width}, {-50, 50}),
                m.weight(ElementType::float32, {width}),
                m.constant(ElementType::float32, {}, {0.02, 0.1}),
                m.constant(ElementType::float32, each, {0.01, 0.05}),
                absent,
                maybe(m) ? m.constant(type, {}, {0, 5}) : absent,
                maybe(m) ? m.constant(other, each, {0, 3}) : absent};
  if (!past && m.draw.one_in(3) && s[0] > 0 && s[1] > 0)
    operands[5] = m.constant(ElementType::int32, {s[0]}, {1, static_cast<double>(s[1])});
  if (past) operands.push_back(m.like(ElementType::float32, {2, s[0], heads, m.draw.between(1, 3), depth}));
  return put(m, row, operands, attributes, past || m.draw.one_in(4) ? 2 : 1);
}

/// Scores and probabilities that graphs change: more, less, capped.
Made flex_attention(Making& m, const Row& row, ElementType type) {
  const Tokens t = drawn_tokens(m);
  const std::int64_t columns = m.draw.between(1, 5);
  const ElementType precise = type == ElementType::float64 ? type : ElementType::float32;
  const auto changed = [&](double by) {
    return m.body([&](onnx::GraphProto& graph) {
      const int x = m.body_input(graph, precise, {t.batch, t.heads, t.rows, columns});
      if (m.draw.one_in(3)) return Made{m.op("Tanh", {x})};
      return Made{m.op(maybe(m) ? "Mul" : "Add",
                       {x, maybe(m) ? m.scalar(precise, by) : m.like(precise, {1, 1, t.rows, columns}, {0, by})})};
    });
  };
  AttributeList attributes;
  if (!m.draw.one_in(3)) attributes.emplace_back("score_mod", changed(2));
  if (m.draw.one_in(3)) attributes.emplace_back("prob_mod", changed(0.5));
  if (m.draw.one_in(3)) attributes.emplace_back("scale", 0.5);
  return put(
      m, row,
      {m.like(type, {t.batch, t.heads, t.rows, t.depth}), m.like(type, {t.batch, t.kv_heads, columns, t.depth}),
       m.like(type, {t.batch, t.kv_heads, columns, m.draw.between(1, 4)})},
      attributes);
}

constexpr Row state_table[] = {
    {"", "CausalConvWithState", floats, causal_conv},
    {"", "LinearAttention", floats, linear_attention},
    {"ai.onnx.preview", "FlexAttention", floats, flex_attention},
    {"com.microsoft", "CausalConvWithState", half_floats, causal_conv},
    {"com.microsoft", "GroupQueryAttention", half_floats, group_query},
    {"com.microsoft", "LinearAttention", half_floats, linear_attention},
    {"com.microsoft", "QAttention", bytes_types, quantised_attention},
};

}  // namespace

std::span<const Row> state_rows() { return state_table; }

}  // namespace sdip::generate
