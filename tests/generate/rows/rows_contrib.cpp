// Rows of attention, and of what onnxruntime's optimiser makes (com.microsoft).
#include <algorithm>

#include "tests/generate/rows/rows.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;
using Ints = std::vector<std::int64_t>;

/// Sizes of an attention.
struct Heads {
  std::int64_t batch, rows, columns, heads, kv_heads, depth, value_depth;
};

Heads drawn_heads(Making& m) {
  Heads h{m.draw.between(1, 2), m.draw.between(1, 5), 0, 0, m.draw.between(1, 2), 2 * m.draw.between(1, 3), 0};
  h.columns = maybe(m) ? h.rows : m.draw.between(1, 5);
  h.heads = h.kv_heads * m.draw.between(1, 2);
  h.value_depth = m.draw.one_in(3) ? m.draw.between(1, 4) : h.depth;
  return h;
}

Made attention(Making& m, const Row& row, ElementType type) {
  const Heads h = drawn_heads(m);
  const bool flat = maybe(m);
  AttributeList attributes;
  Made operands;
  if (flat) {
    attributes.emplace_back("q_num_heads", h.heads);
    attributes.emplace_back("kv_num_heads", h.kv_heads);
    operands = {m.like(type, {h.batch, h.rows, h.heads * h.depth}),
                m.like(type, {h.batch, h.columns, h.kv_heads * h.depth}),
                m.like(type, {h.batch, h.columns, h.kv_heads * h.value_depth})};
  } else {
    operands = {m.like(type, {h.batch, h.heads, h.rows, h.depth}),
                m.like(type, {h.batch, h.kv_heads, h.columns, h.depth}),
                m.like(type, {h.batch, h.kv_heads, h.columns, h.value_depth})};
  }
  const bool past = m.draw.one_in(4);
  const std::int64_t before = m.draw.between(1, 3), columns = h.columns + (past ? before : 0);
  operands.push_back(m.draw.one_in(3)
                         ? m.like(maybe(m) ? type : ElementType::boolean,
                                  maybe(m) ? Shape{h.rows, columns} : Shape{h.batch, 1, h.rows, columns})
                         : absent);
  if (past) {
    operands.push_back(m.like(type, {h.batch, h.kv_heads, before, h.depth}));
    operands.push_back(m.like(type, {h.batch, h.kv_heads, before, h.value_depth}));
  }
  if (m.opset >= 24 && m.draw.one_in(4)) {
    operands.resize(6, absent);
    const Range lengths{0, static_cast<double>(columns)};
    operands.push_back(maybe(m) ? m.input(ElementType::int64, {h.batch}, lengths)
                                : m.constant(ElementType::int64, {h.batch}, lengths));
  }
  if (m.draw.one_in(3)) attributes.emplace_back("is_causal", 1);
  if (m.draw.one_in(4)) attributes.emplace_back("softcap", 2.0);
  if (m.draw.one_in(4)) attributes.emplace_back("scale", 0.5);
  const int outputs = past ? 3 : 1;
  return put(m, row, operands, attributes, outputs);
}

Made rotary(Making& m, const Row& row, ElementType type) {
  const bool contrib = *row.domain != '\0';
  const std::int64_t batch = m.draw.between(1, 2), rows = m.draw.between(1, 4), heads = m.draw.between(1, 2),
                     depth = 2 * m.draw.between(1, 3);
  const bool by_head = maybe(m);
  const int x = m.like(type, by_head ? Shape{batch, heads, rows, depth} : Shape{batch, rows, heads * depth});
  const Shape table{8, depth / 2};
  AttributeList attributes;
  if (!by_head) attributes.emplace_back("num_heads", heads);
  if (maybe(m)) attributes.emplace_back("interleaved", m.draw.between(0, 1));
  if (contrib) {
    const int at = maybe(m) ? m.constant(ElementType::int64, {1}, {0, 3})
                            : m.constant(ElementType::int64, {batch, rows}, {0, 7});
    return put(m, row, {x, at, m.constant(type, table, {-1, 1}), m.constant(type, table, {-1, 1})}, attributes);
  }
  if (maybe(m))
    return put(m, row,
               {x, m.constant(type, table, {-1, 1}), m.constant(type, table, {-1, 1}),
                m.constant(ElementType::int64, {batch, rows}, {0, 7})},
               attributes);
  const Shape whole{batch, rows, depth / 2};
  return put(m, row, {x, m.like(type, whole), m.like(type, whole)}, attributes);
}

Made contrib_attention(Making& m, const Row& row, ElementType type) {
  const Heads h = drawn_heads(m);
  const std::int64_t width = h.heads * h.depth;
  const int x = m.any(type, 3, 3);
  const Shape s = m.shape(x);
  AttributeList attributes{{"num_heads", h.heads}};
  if (m.draw.one_in(3)) attributes.emplace_back("unidirectional", 1);
  if (m.draw.one_in(4)) attributes.emplace_back("scale", 0.5);
  Made operands{x, m.weight(type, {s[2], 3 * width}), maybe(m) ? m.weight(type, {3 * width}) : absent};
  if (m.draw.one_in(3) && s[0] > 0 && s[1] > 0)
    operands.push_back(maybe(m) ? m.constant(ElementType::int32, {s[0]}, {1, static_cast<double>(s[1])})
                                : m.constant(ElementType::int32, {s[0], s[1]}, {0, 1}));
  return put(m, row, operands, attributes, 1);
}

Made multi_head(Making& m, const Row& row, ElementType type) {
  const Heads h = drawn_heads(m);
  AttributeList attributes{{"num_heads", h.heads}};
  const std::int64_t kind = m.draw.between(0, 3);
  if (m.draw.one_in(3)) attributes.emplace_back("scale", 0.5);
  if (kind == 0) return put(m, row, {m.like(type, {h.batch, h.rows, h.heads, 3, h.depth})}, attributes);
  const int q = m.like(type, {h.batch, h.rows, h.heads * h.depth});
  if (kind == 1) return put(m, row, {q, m.like(type, {h.batch, h.columns, h.heads, 2, h.depth})}, attributes);
  if (kind == 2)
    return put(m, row,
               {q, m.like(type, {h.batch, h.heads, h.columns, h.depth}),
                m.like(type, {h.batch, h.heads, h.columns, h.value_depth})},
               attributes);
  Made operands{q, m.like(type, {h.batch, h.columns, h.heads * h.depth}),
                m.like(type, {h.batch, h.columns, h.heads * h.value_depth}),
                maybe(m) ? m.weight(type, {2 * h.heads * h.depth + h.heads * h.value_depth}) : absent};
  if (m.draw.one_in(3)) {
    operands.push_back(absent);
    operands.push_back(m.like(type, {h.batch, h.heads, h.rows, h.columns}));
  }
  return put(m, row, operands, attributes);
}

Made of_one(Making& m, const Row& row, ElementType type) {
  AttributeList attributes;
  if (std::string_view(row.type) == "QuickGelu" && maybe(m)) attributes.emplace_back("alpha", 1.5);
  return put(m, row, {m.any(type, 1, 4)}, attributes);
}

Made biased(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  const int bias = m.weight(type, {m.shape(x).back()});
  return put(m, row, {x, std::string_view(row.type) == "FastGelu" && maybe(m) ? absent : bias});
}

Made bias_add(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 3, 3);
  const Shape s = m.shape(x);
  return put(m, row, {x, m.weight(type, {s[2]}), m.like(type, s)});
}

Made bias_split(Making& m, const Row& row, ElementType type) {
  const int x = m.like(type, {m.size(), m.size(), 2 * m.draw.between(1, 4)});
  return put(m, row, {x, m.weight(type, {m.shape(x)[2]})});
}

Made norm(Making& m, const Row& row, ElementType type) {
  const std::string name = row.type;
  const bool skip = name.starts_with("Skip");
  const int x = m.any(type, skip ? 3 : 2, 3);
  const Shape affine{m.shape(x).back()};
  AttributeList attributes{{"epsilon", 0.01}};
  Made operands{x};
  if (skip) operands.push_back(m.like(type, m.shape(x)));
  operands.push_back(m.weight(type, affine));
  if (name == "SkipLayerNormalization") operands.push_back(maybe(m) ? m.weight(type, affine) : absent);
  if (skip && maybe(m)) operands.push_back(m.weight(type, affine));
  const bool sum = skip && maybe(m);
  return put(m, row, operands, attributes, sum ? 4 : 1, {false, sum, sum, false});
}

Made contrib_group_norm(Making& m, const Row& row, ElementType type) {
  const bool skip = std::string_view(row.type) == "SkipGroupNorm";
  const std::int64_t groups = m.draw.between(1, 2), channels = groups * m.draw.between(1, 3);
  const bool last = skip || maybe(m);
  const Shape s =
      last ? Shape{m.size(), m.size(), m.size(), channels} : Shape{m.size(), channels, m.size(), m.size()};
  const int x = m.like(type, s);
  AttributeList attributes{{"groups", groups}, {"epsilon", 0.01}, {"activation", m.draw.between(0, 1)}};
  if (!last || maybe(m)) attributes.emplace_back("channels_last", last ? 1 : 0);
  Made operands{x, m.weight(ElementType::float32, {channels}), m.weight(ElementType::float32, {channels})};
  if (skip) operands.push_back(maybe(m) ? m.like(type, s) : m.like(type, {s[0], channels}));
  if (skip && maybe(m)) operands.push_back(m.weight(type, {channels}));
  return put(m, row, operands, attributes, skip && maybe(m) ? 2 : 1);
}

Made embed(Making& m, const Row& row, ElementType type) {
  const std::int64_t words = 6, batch = m.draw.between(1, 2), rows = m.draw.between(1, 4),
                     hidden = m.draw.between(1, 6);
  const int ids = m.input(ElementType::int32, {batch, rows}, {0, 5});
  const bool segments = maybe(m);
  Made operands{ids,
                segments ? m.input(ElementType::int32, {batch, rows}, {0, 1}) : absent,
                m.weight(type, {words, hidden}),
                m.weight(type, {rows + 2, hidden}),
                segments ? m.weight(type, {2, hidden}) : absent,
                m.weight(type, {hidden}),
                m.weight(type, {hidden})};
  return put(m, row, operands, {{"epsilon", 0.01}}, maybe(m) ? 2 : 1);
}

Made fused_matmul(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 2, 3);
  const Shape s = m.shape(x);
  const bool trans_a = maybe(m), trans_b = maybe(m);
  Shape other(s.begin(), s.end() - 2);
  const std::int64_t summed = trans_a ? s[s.size() - 2] : s.back(), out = m.size();
  other.insert(other.end(), {trans_b ? out : summed, trans_b ? summed : out});
  AttributeList attributes;
  if (trans_a) attributes.emplace_back("transA", 1);
  if (trans_b) attributes.emplace_back("transB", 1);
  if (maybe(m)) attributes.emplace_back("alpha", 0.5);
  return put(m, row, {x, maybe(m) ? m.like(type, other) : m.weight(type, other)}, attributes);
}

Made fused_gemm(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 2, 2);
  const std::int64_t out = m.size();
  AttributeList attributes{{"activation", m.draw.of(std::vector{"Relu", "Tanh", "Sigmoid", "LeakyRelu"})}};
  return put(m, row, {x, m.weight(type, {m.shape(x)[1], out}), maybe(m) ? m.weight(type, {out}) : absent},
             attributes);
}

Made nhwc_conv(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 4, 4);
  const Shape s = m.shape(x);
  const std::int64_t out = m.draw.between(1, 4),
                     kernel = std::max<std::int64_t>(1, std::min<std::int64_t>(2, std::min(s[1], s[2])));
  return put(m, row, {x, m.weight(type, {out, kernel, kernel, s[3]}), maybe(m) ? m.weight(type, {out}) : absent});
}

Made shift_quantize(Making& m, const Row& row, ElementType type) { return put(m, row, {m.any(type, 1, 4)}); }

Made temperature_softmax(Making& m, const Row& row, ElementType type) {
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("temperature", 4.0);
  if (maybe(m)) attributes.emplace_back("axis", -1);
  return put(m, row, {m.any(type, 1, 4)}, attributes);
}

constexpr Row contrib_table[] = {
    {"", "Attention", floats, attention},
    {"", "RotaryEmbedding", half_floats, rotary},
    {"", "SimplifiedLayerNormalization", common_floats, norm},
    {"com.microsoft", "Attention", half_floats, contrib_attention},
    {"com.microsoft", "BiasAdd", half_floats, bias_add},
    {"com.microsoft", "BiasGelu", half_floats, biased},
    {"com.microsoft", "BiasSplitGelu", half_floats, bias_split},
    {"com.microsoft", "EmbedLayerNormalization", half_floats, embed},
    {"com.microsoft", "FastGelu", half_floats, biased},
    {"com.microsoft", "FusedGemm", half_floats, fused_gemm},
    {"com.microsoft", "FusedMatMul", common_floats, fused_matmul},
    {"com.microsoft", "Gelu", common_floats, of_one},
    {"com.microsoft", "GroupNorm", half_floats, contrib_group_norm},
    {"com.microsoft", "MultiHeadAttention", half_floats, multi_head},
    {"com.microsoft", "NhwcConv", half_floats, nhwc_conv},
    {"com.microsoft", "QuickGelu", common_floats, of_one},
    {"com.microsoft", "RotaryEmbedding", half_floats, rotary},
    {"com.microsoft", "SimplifiedLayerNormalization", common_floats, norm},
    {"com.microsoft", "SkipGroupNorm", half_floats, contrib_group_norm},
    {"com.microsoft", "SkipLayerNormalization", half_floats, norm},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", half_floats, norm},
    {"pynq", "ShiftQuantize", single, shift_quantize},
    {"pynq", "TemperatureSoftmax", single, temperature_softmax},
};

}  // namespace

std::span<const Row> contrib_rows() { return contrib_table; }

}  // namespace sdip::generate
