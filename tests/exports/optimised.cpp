// What onnxruntime's optimiser and model builder write: contrib operators, and operators of opset 23.
#include "tests/exports/book.h"
#include "tests/exports/layers.h"

namespace sdip::exports {
namespace {

using enum ElementType;

Names several(Writer& t, const std::string& type, const Names& inputs, const AttributeList& attributes,
              std::size_t outputs, const std::vector<std::size_t>& unused = {}) {
  Names names;
  for (std::size_t i = 0; i < outputs; ++i)
    names.push_back(std::ranges::find(unused, i) == unused.end() ? t.fresh(type) : "");
  t.node("com.microsoft", type, inputs, names, attributes);
  return names;
}

Names norm_weights(Writer& t, std::int64_t channels) {
  return {t.weight_in({channels}, {0.5, 1.5}), t.weight({channels})};
}

/// EmbedLayerNormalization, packed Attention with a mask of lengths, SkipLayerNormalization, BiasGelu.
void write_fused_bert(Writer& t) {
  const std::int64_t channels = 12;
  t.dim("batch", {1, 2});
  t.dim("seq", {1, 6});
  const Name ids = t.input("input_ids", {"batch", "seq"}, {0, 18}, int32),
             types = t.input("segment_ids", {"batch", "seq"}, {0, 1}, int32);
  const Name mask = t.input("input_mask", {"batch", "seq"}, {0, 1}, int32);
  const Names weights = norm_weights(t, channels);
  const Names embedded = several(t, "EmbedLayerNormalization",
                                 {ids, types, t.weight({19, channels}), t.weight({8, channels}),
                                  t.weight({2, channels}), weights[0], weights[1], mask},
                                 {{"epsilon", 1e-12}}, 2);
  Name x = embedded[0];
  for (int layer = 0; layer < 2; ++layer) {
    const Name seen = t.contrib(
        "Attention",
        {x, t.weight({channels, 3 * channels}), t.weight({3 * channels}), layer == 0 ? embedded[1] : mask},
        {{"num_heads", 3}});
    const Names first = norm_weights(t, channels), second = norm_weights(t, channels);
    x = t.contrib(
        "SkipLayerNormalization",
        {t("MatMul", {seen, t.weight({channels, channels})}), x, first[0], first[1], t.weight({channels})},
        {{"epsilon", 1e-12}});
    const Name inner = t.contrib("BiasGelu", {t("MatMul", {x, t.weight({channels, 20})}), t.weight({20})});
    x = t.contrib("SkipLayerNormalization",
                  {t("MatMul", {inner, t.weight({20, channels})}), x, second[0], second[1], t.weight({channels})},
                  {{"epsilon", 1e-12}});
  }
  t.output(x);
  t.output(
      t.contrib("FusedGemm",
                {t("Gather", {x, t.whole(0)}, {{"axis", 1}}), t.weight({channels, channels}), t.weight({channels})},
                {{"activation", "Tanh"}, {"transB", 1}}));
}

Names caches(Writer& t, std::int64_t positions, std::int64_t width) {
  return {t.weight_in({positions, width / 2}, {-1, 1}), t.weight_in({positions, width / 2}, {-1, 1})};
}

/// As the model builder of onnxruntime-genai: lengths from the mask, GroupQueryAttention, skips with norms.
void write_fused_llama(Writer& t) {
  const std::int64_t channels = 32, heads = 2, groups = 1, width = 16;
  t.dim("batch_size", {1, 2});
  t.dim("sequence_length", {1, 3});
  t.dim("past_sequence_length", {0, 2});
  const Name ids = t.ids("input_ids", {"batch_size", "sequence_length"}, 13);
  const Name past_k = t.input("past_key_values.0.key", {"batch_size", groups, "past_sequence_length", width});
  const Name past_v = t.input("past_key_values.0.value", {"batch_size", groups, "past_sequence_length", width});
  const Name total = t("Add", {t.size(ids, 1), t.size(past_k, 2)});
  const Name length = t.cast(total, int32);
  const Name lengths = t.expand(t("Sub", {length, t.tensor({}, {1}, int32)}), {t.size(ids, 0)});
  const Name embedded = t("Gather", {t.weight({13, channels}), ids});
  const Name normed = t("SimplifiedLayerNormalization", {embedded, t.weight_in({channels}, {0.5, 1.5})},
                        {{"epsilon", 1e-5}, {"axis", -1}, {"stash_type", 1}});
  const Names rotary = caches(t, 16, width);
  const Names seen = several(
      t, "GroupQueryAttention",
      {linear(t, normed, channels, heads * width, false), linear(t, normed, channels, groups * width, false),
       linear(t, normed, channels, groups * width, false), past_k, past_v, lengths, length, rotary[0], rotary[1]},
      {{"num_heads", heads},
       {"kv_num_heads", groups},
       {"do_rotary", 1},
       {"rotary_interleaved", 0},
       {"scale", 0.25}},
      3);
  const Names skipped =
      several(t, "SkipSimplifiedLayerNormalization",
              {embedded, linear(t, seen[0], heads * width, channels, false), t.weight_in({channels}, {0.5, 1.5})},
              {{"epsilon", 1e-5}}, 4, {1, 2});
  const Name gate = linear(t, skipped[0], channels, 40, false), up = linear(t, skipped[0], channels, 40, false);
  const Name down = linear(t, t("Mul", {silu(t, gate), up}), 40, channels, false);
  const Names last = several(t, "SkipSimplifiedLayerNormalization",
                             {skipped[3], down, t.weight_in({channels}, {0.5, 1.5})}, {{"epsilon", 1e-5}}, 1);
  t.output(linear(t, last[0], channels, 13, false));
  t.output(seen[1]);
  t.output(seen[2]);
}

/// The same with weights of 4 bits in blocks.
void write_llama_nbits(Writer& t) {
  const std::int64_t channels = 32, out = 24;
  t.dim("s", {1, 4});
  const Name x = t.input("x", {1, "s", channels});
  const auto product = [&](const Name& a, std::int64_t k, std::int64_t n, bool points) {
    const std::int64_t blocks = (k + 15) / 16;
    Names inputs{a, t.weight_in({n, blocks, 8}, {0, 255}, uint8), t.weight_in({n * blocks}, {0.01, 0.1})};
    if (points) inputs.push_back(t.weight_in({n * ((blocks + 1) / 2)}, {0, 255}, uint8));
    return t.contrib("MatMulNBits", inputs, {{"K", k}, {"N", n}, {"bits", 4}, {"block_size", 16}});
  };
  const Name gate = product(x, channels, out, true), up = product(x, channels, out, false);
  t.output(t("Add", {x, product(t("Mul", {silu(t, gate), up}), out, channels, true)}));
}

/// Stable Diffusion as onnxruntime's optimiser leaves it: NHWC norms, packed attention, split gelu.
void write_fused_unet(Writer& t) {
  const std::int64_t channels = 8;
  t.dim("B", {1, 2});
  const Name x = t.input("x", {"B", 4, 4, channels}), context = t.input("context", {"B", 5, 6});
  const Name normed = t.contrib("GroupNorm", {x, t.weight_in({channels}, {0.5, 1.5}), t.weight({channels})},
                                {{"activation", 1}, {"channels_last", 1}, {"epsilon", 1e-5}, {"groups", 4}});
  const Name y = t.contrib("NhwcConv", {normed, t.weight({channels, 3, 3, channels}), t.weight({channels})},
                           {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  const Names skipped =
      several(t, "SkipGroupNorm", {y, t.weight_in({channels}, {0.5, 1.5}), t.weight({channels}), x},
              {{"activation", 0}, {"channels_last", 1}, {"epsilon", 1e-6}, {"groups", 4}}, 2);
  Name rows = t.reshape(skipped[0], {t.size(x, 0), 16, channels});
  const Names w = norm_weights(t, channels);
  const Name inner = t("LayerNormalization", {rows, w[0], w[1]}, {{"axis", -1}});
  const Name qkv =
      t.reshape(linear(t, inner, channels, 3 * channels, false), {t.size(x, 0), 16, 2, 3, channels / 2});
  rows = t.contrib(
      "BiasAdd", {linear(t, t.contrib("MultiHeadAttention", {qkv}, {{"num_heads", 2}}), channels, channels, false),
                  t.weight({channels}), rows});
  const Name q = linear(t, rows, channels, channels, false),
             kv = t.reshape(linear(t, context, 6, 2 * channels, false), {t.size(x, 0), 5, 2, 2, channels / 2});
  rows = t("Add", {rows, t.contrib("MultiHeadAttention", {q, kv}, {{"num_heads", 2}})});
  const Name split = t.contrib("BiasSplitGelu", {linear(t, rows, channels, 2 * 1280, false), t.weight({2 * 1280})});
  rows = t("Add", {rows, linear(t, split, 1280, channels, false)});
  t.output(t("Add", {t.reshape(rows, {t.size(x, 0), 4, 4, channels}), skipped[1]}));
}

/// Products with transposed operands and a factor, quick gelu, rotary positions, attention with a bias and a mask.
void write_encoder(Writer& t) {
  const std::int64_t channels = 16;
  t.dim("batch", {1, 2});
  t.dim("tokens", {2, 4});
  const Name x = t.input("x", {"batch", "tokens", channels});
  const Names rotary = caches(t, 8, 8);
  const Name positions = t.input("position_ids", {"batch", "tokens"}, {0, 7}, int64);
  const Name q =
      t.contrib("RotaryEmbedding", {linear(t, x, channels, channels, false), positions, rotary[0], rotary[1]},
                {{"num_heads", 2}});
  const Name k =
      t.contrib("RotaryEmbedding", {linear(t, x, channels, channels, false), positions, rotary[0], rotary[1]},
                {{"num_heads", 2}});
  const Name bias = t.input("attention_bias", {1, 2, "tokens", "tokens"});
  const Name seen = t.contrib("MultiHeadAttention",
                              {q, k, linear(t, x, channels, channels, false), t.weight({3 * channels}), "", bias},
                              {{"num_heads", 2}, {"scale", 0.3}});
  const Name y = t.contrib("QuickGelu", {t("Add", {x, seen})}, {{"alpha", 1.702}});
  const Name scores = t.contrib("FusedMatMul", {y, y}, {{"alpha", 0.125}, {"transB", 1}});
  const Name mixed =
      t.contrib("FusedMatMul", {t("Softmax", {scores}, {{"axis", -1}}), y}, {{"alpha", 1.0}, {"transA", 1}});
  t.output(t.contrib("FastGelu", {linear(t, mixed, channels, 6, false), t.weight({6})}));
}

void write_cnn(Writer& t) {
  const Name x = t.input("x", {1, 3, 8, 8});
  const auto fused = [&](const Name& a, std::int64_t in, std::int64_t out, const char* activation,
                         const Name& sum = "") {
    Names inputs{a, t.weight({out, in, 3, 3}), t.weight({out})};
    if (!sum.empty()) inputs.push_back(sum);
    return t.contrib("FusedConv", inputs,
                     {{"activation", activation}, {"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  };
  const Name y = fused(x, 3, 6, "Relu");
  const Name z = fused(fused(y, 6, 6, "Tanh"), 6, 6, "Relu", y);
  t.output(t.contrib("FusedGemm", {t("Flatten", {t("GlobalAveragePool", {z})}), t.weight({6, 4}), t.weight({4})},
                     {{"activation", "Sigmoid"}}));
}

/// Opset 23 as dynamo writes it: RMSNormalization, RotaryEmbedding and Attention with a cache as nodes.
void write_opset23(Writer& t) {
  const std::int64_t channels = 16, width = 8;
  t.dim("batch", {1, 2});
  t.dim("seq", {1, 3});
  t.dim("past", {0, 2});
  const Name x = t.input("x", {"batch", "seq", channels}), positions = t.ids("position_ids", {"batch", "seq"}, 8);
  const Name past_k = t.input("past_k", {"batch", 1, "past", width}),
             past_v = t.input("past_v", {"batch", 1, "past", width});
  const auto normed = [&](const Name& y) {
    return t("RMSNormalization", {y, t.weight_in({channels}, {0.5, 1.5})}, {{"axis", -1}, {"epsilon", 1e-6}});
  };
  const Names rotary = caches(t, 8, width);
  const auto turned = [&](const Name& y, std::int64_t heads) {
    return t("RotaryEmbedding", {y, rotary[0], rotary[1], positions}, {{"num_heads", heads}});
  };
  const Name y = normed(x);
  const Names seen =
      t.many("Attention",
             {turned(linear(t, y, channels, channels, false), 2), turned(linear(t, y, channels, width, false), 1),
              linear(t, y, channels, width, false), "", past_k, past_v},
             {{"q_num_heads", 2}, {"kv_num_heads", 1}, {"is_causal", 1}, {"scale", 0.35}, {"softcap", 20.0}}, 3);
  const Name z = t("Add", {x, linear(t, seen[0], channels, channels, false)});
  const Name gate = linear(t, normed(z), channels, 24, false);
  const Name act = t.opset >= 24 ? t("Swish", {gate}) : silu(t, gate);
  t.output(
      t("Add", {z, linear(t, t("Mul", {act, linear(t, normed(z), channels, 24, false)}), 24, channels, false)}));
  t.output(seen[1]);
  t.output(seen[2]);
}

constexpr Export optimised_exports_table[] = {
    {"bert-optimised-op17", 17, Manner::onnxruntime, write_fused_bert},
    {"llama-gqa-op14", 14, Manner::onnxruntime, write_fused_llama},
    {"llama-gqa-op21", 21, Manner::onnxruntime, write_fused_llama},
    {"llama-nbits-op21", 21, Manner::onnxruntime, write_llama_nbits},
    {"unet-optimised-op17", 17, Manner::onnxruntime, write_fused_unet},
    {"encoder-optimised-op17", 17, Manner::onnxruntime, write_encoder},
    {"cnn-optimised-op12", 12, Manner::onnxruntime, write_cnn},
    {"decoder-op23-dynamo", 23, Manner::dynamo, write_opset23},
    {"decoder-op24-dynamo", 24, Manner::dynamo, write_opset23},
};

}  // namespace

std::span<const Export> optimised_exports() { return optimised_exports_table; }

}  // namespace sdip::exports
