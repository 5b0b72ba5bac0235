// Decoders with a cache: Llama, Mistral, Qwen, Gemma, GPT-2, a mixture of experts.
#include "tests/exports/book.h"
#include "tests/exports/layers.h"

namespace sdip::exports {
namespace {

using enum ElementType;

/// What tells the models of Llama's kind apart.
struct Family {
  std::int64_t heads = 4, groups = 2, width = 4, window = 0;
  bool bias = false, plus_one = false;
  double cap = 0;
};

/// Each of the groups' heads repeated, as repeat_kv does.
Name repeated(Writer& t, const Name& x, const Part& batch, const Part& keys, const Family& f) {
  const std::int64_t times = f.heads / f.groups;
  const Name wide = t.expand(t.unsqueeze(x, {2}), {batch, f.groups, times, keys, f.width});
  return t.reshape(wide, {batch, f.heads, keys, f.width});
}

Name capped(Writer& t, const Name& x, double cap) {
  return t("Mul", {t("Tanh", {t("Div", {x, t.number(cap)})}), t.number(cap)});
}

struct Sequence {
  Name batch, tokens, keys, mask;
  std::pair<Name, Name> rotary;
};

/// Keys before the window as -inf, too.
Name window_mask(Writer& t, const Sequence& s, std::int64_t window) {
  const Name rows = t.unsqueeze(t("Range", {t("Sub", {s.keys, s.tokens}), s.keys, t.whole(1)}), {1});
  const Name columns = t.unsqueeze(t("Range", {t.whole(0), s.keys, t.whole(1)}), {0});
  const Name outside = t("Less", {columns, t("Sub", {rows, t.whole(window - 1)})});
  const Name masked =
      t("Where", {t("Or", {outside, t("Greater", {columns, rows})}), t.number(-3.4e38), t.number(0)});
  return t.unsqueeze(masked, {0, 1});
}

Name decoder_attention(Writer& t, const Name& x, const Sequence& s, const Family& f, const std::string& layer) {
  const std::int64_t channels = f.heads * f.width;
  const auto heads = [&](std::int64_t count) {
    return split_heads(t, linear(t, x, channels, count * f.width, f.bias), s.batch, s.tokens, count, f.width);
  };
  const Name q = rotated(t, heads(f.heads), s.rotary, f.width);
  Name k = rotated(t, heads(f.groups), s.rotary, f.width), v = heads(f.groups);
  k = t.concat({t.input("past_key_values." + layer + ".key", {"batch", f.groups, "past", f.width}), k}, 2);
  v = t.concat({t.input("past_key_values." + layer + ".value", {"batch", f.groups, "past", f.width}), v}, 2);
  t.output(k);
  t.output(v);
  const Name wide_k = repeated(t, k, s.batch, s.keys, f), wide_v = repeated(t, v, s.batch, s.keys, f);
  Name y;
  if (f.cap > 0) {
    const Name scores = t("Mul", {t("MatMul", {q, t.transpose(wide_k, {0, 1, 3, 2})}), t.number(0.5)});
    y = t("MatMul", {t("Softmax", {t("Add", {capped(t, scores, f.cap), s.mask})}, {{"axis", -1}}), wide_v});
  } else {
    y = attention(t, q, wide_k, wide_v, f.width, s.mask);
  }
  return linear(t, join_heads(t, y, s.batch, s.tokens, channels), channels, channels, false);
}

void write_decoder(Writer& t, const Family& f) {
  const std::int64_t channels = f.heads * f.width, hidden = 24;
  t.dim("batch", {1, 2});
  t.dim("seq", {1, 3, 5});
  t.dim("past", {0, 1, 4});
  const Name ids = t.ids("input_ids", {"batch", "seq"}, 29);
  const Name positions = t.ids("position_ids", {"batch", "seq"}, 16);
  Name x = t("Gather", {t.weight({29, channels}), ids});
  if (f.plus_one) x = t("Mul", {x, t.number(4)});
  Sequence s;
  s.batch = t.size(ids, 0);
  s.tokens = t.size(ids, 1);
  const Name past = t.input("past_key_values.mask", {"batch", "past"}, {0, 1}, int64);
  s.keys = t("Add", {t.size(past, 1), s.tokens});
  s.rotary = rotary(t, positions, f.width);
  s.mask = f.window > 0 ? window_mask(t, s, f.window) : causal_mask(t, s.tokens, s.keys);
  for (const std::string layer : {"0", "1"}) {
    const Name normed = rms_norm(t, x, channels, f.plus_one);
    x = t("Add", {x, decoder_attention(t, normed, s, f, layer)});
    const Name y = rms_norm(t, x, channels, f.plus_one);
    const Name gate = linear(t, y, channels, hidden, false);
    const Name act = f.plus_one ? gelu_tanh(t, gate) : silu(t, gate);
    const Name up = linear(t, y, channels, hidden, false);
    x = t("Add", {x, linear(t, t("Mul", {act, up}), hidden, channels, false)});
  }
  const Name logits = linear(t, rms_norm(t, x, channels, f.plus_one), channels, 29, false);
  t.output(f.cap > 0 ? capped(t, logits, 30) : logits);
}

void write_llama(Writer& t) { write_decoder(t, {}); }
void write_mistral(Writer& t) { write_decoder(t, {.heads = 4, .groups = 1, .window = 3}); }
void write_qwen(Writer& t) { write_decoder(t, {.heads = 2, .groups = 2, .width = 6, .bias = true}); }
void write_gemma(Writer& t) {
  write_decoder(t, {.heads = 2, .groups = 1, .width = 8, .plus_one = true, .cap = 50});
}

/// Conv1D of GPT-2: flat rows, Gemm, back.
Name conv1d_of(Writer& t, const Name& x, const Part& batch, const Part& tokens, std::int64_t in, std::int64_t out) {
  const Name flat = t.reshape(x, {-1, in});
  const Name y = t("Gemm", {flat, t.weight({in, out}), t.weight({out})}, {{"alpha", 1.0}, {"beta", 1.0}});
  return t.reshape(y, {batch, tokens, out});
}

/// The mask is a slice of a constant of bytes; where it is 0 stands -10000.
void write_gpt2(Writer& t) {
  const std::int64_t channels = 12, heads = 3, width = 4, longest = 10;
  t.dim("batch", {1, 2});
  t.dim("seq", {1, 4});
  t.dim("past", {0, 3});
  const Name ids = t.ids("input_ids", {"batch", "seq"}, 17);
  const Name batch = t.size(ids, 0), tokens = t.size(ids, 1);
  Names presents;
  const Name past = t.input("past_0", {2, "batch", heads, "past", width});
  const Name keys = t("Add", {t.size(past, 3), tokens});
  const Name positions = t.unsqueeze(t("Range", {t.size(past, 3), keys, t.whole(1)}), {0});
  Name x = t("Add", {t("Gather", {t.weight({17, channels}), ids}),
                     t("Gather", {t.weight({longest, channels}), positions})});
  const Name normed = layer_norm(t, x, channels);
  const Name qkv = conv1d_of(t, normed, batch, tokens, channels, 3 * channels);
  const Names parts = t.split(qkv, 2, {channels, channels, channels});
  const Name q = split_heads(t, parts[0], batch, tokens, heads, width);
  Name k = split_heads(t, parts[1], batch, tokens, heads, width);
  Name v = split_heads(t, parts[2], batch, tokens, heads, width);
  k = t.concat({t("Gather", {past, t.whole(0)}, {{"axis", 0}}), k}, 2);
  v = t.concat({t("Gather", {past, t.whole(1)}, {{"axis", 0}}), v}, 2);
  t.output(t.concat({t.unsqueeze(k, {0}), t.unsqueeze(v, {0})}, 0));
  std::vector<double> lower;
  for (std::int64_t i = 0; i < longest * longest; ++i) lower.push_back(i % longest <= i / longest ? 1 : 0);
  const Name bias = t.tensor({1, 1, longest, longest}, lower, boolean);
  const Name from = t.unsqueeze(t("Sub", {keys, tokens}), {0}), to = t.unsqueeze(keys, {0});
  const Name mask = t.sliced(t.sliced(bias, 2, from, to), 3, t.list({0}), to);
  const Name scores = t("Div", {t("MatMul", {q, t.transpose(k, {0, 1, 3, 2})}), t.number(2)});
  const Name masked = t("Where", {mask, scores, t.number(-10000)});
  const Name y = t("MatMul", {t("Softmax", {masked}, {{"axis", t.opset < 13 ? 3 : -1}}), v});
  x = t("Add", {x, conv1d_of(t, join_heads(t, y, batch, tokens, channels), batch, tokens, channels, channels)});
  const Name inner = gelu_tanh(t, conv1d_of(t, layer_norm(t, x, channels), batch, tokens, channels, 16));
  x = t("Add", {x, conv1d_of(t, inner, batch, tokens, 16, channels)});
  t.output(t("MatMul", {layer_norm(t, x, channels), t.transpose(t.weight({17, channels}), {1, 0})}));
}

/// The two best experts of each token by TopK; each expert computes all, what it is not asked for counts 0.
void write_experts(Writer& t) {
  const std::int64_t channels = 8, experts = 4;
  t.dim("tokens", {1, 5});
  const Name x = t.input("hidden_states", {"tokens", channels});
  const Name scores = t("Softmax", {linear(t, x, channels, experts, false)}, {{"axis", -1}});
  const Names best = t.many("TopK", {scores, t.list({2})}, {{"axis", -1}, {"largest", 1}, {"sorted", 1}}, 2);
  const Name shares = t("Div", {best[0], t.reduce("ReduceSum", best[0], {-1})});
  const Name hot = t("OneHot", {best[1], t.list({experts}), t.tensor({2}, {0, 1})}, {{"axis", -1}});
  const Name gates = t.reduce("ReduceSum", t("Mul", {hot, t.unsqueeze(shares, {-1})}), {1}, false);
  Name sum;
  for (std::int64_t e = 0; e < experts; ++e) {
    const Name gate = t("Gather", {gates, t.whole(e)}, {{"axis", 1}});
    const Name inner = t("Mul", {silu(t, linear(t, x, channels, 12, false)), linear(t, x, channels, 12, false)});
    const Name y = t("Mul", {linear(t, inner, 12, channels, false), t.unsqueeze(gate, {-1})});
    sum = e == 0 ? y : t("Add", {sum, y});
  }
  t.output(t("Add", {x, sum}));
  t.output(best[1]);
}

/// As the dynamo exporter writes scatters: each token's result added to its row by ScatterND.
void write_scattered_experts(Writer& t) {
  const std::int64_t channels = 6, tokens = 5;
  const Name x = t.input("x", {tokens, channels});
  const Name logits = linear(t, x, channels, 3);
  const Names best = t.many("TopK", {logits, t.list({1})}, {{"axis", -1}}, 2);
  const Name order =
      t.many("TopK", {t.cast(t.squeeze(best[1], {1}), float32), t.list({tokens})}, {{"axis", 0}}, 2)[1];
  const Name sorted = t("GatherND", {x, t.unsqueeze(order, {1})});
  const Name gates = t("Gather", {t("Sigmoid", {best[0]}), order});
  const Name y = t("Mul", {mlp(t, sorted, channels, 10), gates});
  const Name zeros = t("ConstantOfShape", {t("Shape", {x})});
  t.output(t("ScatterND", {zeros, t.unsqueeze(order, {1}), y}));
  t.output(t("ScatterElements", {x, t.expand(t.unsqueeze(order, {1}), {tokens, channels}), y}, {{"axis", 0}}));
}

constexpr Export decoder_exports_table[] = {
    {"llama-op14-torchscript", 14, Manner::torchscript, write_llama},
    {"llama-op18-dynamo", 18, Manner::dynamo, write_llama},
    {"mistral-op17-torchscript", 17, Manner::torchscript, write_mistral},
    {"mistral-op20-dynamo", 20, Manner::dynamo, write_mistral},
    {"qwen-op15-torchscript", 15, Manner::torchscript, write_qwen},
    {"qwen-op23-dynamo", 23, Manner::dynamo, write_qwen},
    {"gemma-op16-torchscript", 16, Manner::torchscript, write_gemma},
    {"gemma-op21-dynamo", 21, Manner::dynamo, write_gemma},
    {"gpt2-past-op11", 11, Manner::torchscript, write_gpt2},
    {"gpt2-past-op13-ort", 13, Manner::onnxruntime, write_gpt2},
    {"gpt2-past-op18-dynamo", 18, Manner::dynamo, write_gpt2},
    {"experts-op17", 17, Manner::torchscript, write_experts},
    {"experts-scattered-op18", 18, Manner::dynamo, write_scattered_experts},
};

}  // namespace

std::span<const Export> decoder_exports() { return decoder_exports_table; }

}  // namespace sdip::exports
