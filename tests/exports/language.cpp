// Encoders and state-space models of text: BERT, T5, Mamba, RWKV, DLRM's embeddings, Perceiver.
#include "tests/exports/book.h"
#include "tests/exports/layers.h"

namespace sdip::exports {
namespace {

using enum ElementType;

/// The mask is an input: (1 - mask) * -10000; the first token through a tanh.
void write_bert(Writer& t) {
  const std::int64_t channels = 12;
  t.dim("batch", {1, 3});
  t.dim("sequence", {1, 6});
  const Name ids = t.ids("input_ids", {"batch", "sequence"}, 19);
  const Name types = t.ids("token_type_ids", {"batch", "sequence"}, 2);
  const Name mask = t.input("attention_mask", {"batch", "sequence"}, {0, 1}, int64);
  const Name wide = t.cast(t.unsqueeze(t.unsqueeze(mask, {1}), {2}), float32);
  const Name bias = t("Mul", {t("Sub", {t.number(1), wide}), t.number(-10000)});
  const Name tokens = t.unsqueeze(t.size(ids, 1), {0});
  const Name positions = t.sliced(t.list({0, 1, 2, 3, 4, 5, 6, 7}), 0, t.list({0}), tokens);
  Name x = t("Add", {t("Gather", {t.weight({19, channels}), ids}), t("Gather", {t.weight({2, channels}), types})});
  x = t("Add", {x, t("Gather", {t.weight({8, channels}), positions})});
  x = layer_norm(t, x, channels, true, 1e-12);
  for (int layer = 0; layer < 2; ++layer) {
    x = layer_norm(t, t("Add", {self_attention(t, x, channels, 3, bias), x}), channels, true, 1e-12);
    x = layer_norm(t, t("Add", {mlp(t, x, channels, 20), x}), channels, true, 1e-12);
  }
  t.output(x);
  t.output(t("Tanh", {gemm(t, t("Gather", {x, t.whole(0)}, {{"axis", 1}}), channels, channels)}));
}

/// Buckets of distances, as T5 computes them: logarithms of integers, clamped, chosen by Where.
Name relative_bias(Writer& t, const Name& queries, const Name& keys, std::int64_t heads) {
  const Name rows = t.unsqueeze(t("Range", {t.whole(0), queries, t.whole(1)}), {1});
  const Name columns = t.unsqueeze(t("Range", {t.whole(0), keys, t.whole(1)}), {0});
  const Name apart = t("Sub", {columns, rows});
  const Name later = t("Mul", {t.cast(t("Greater", {apart, t.whole(0)}), int64), t.whole(4)});
  const Name far = t("Abs", {apart});
  const Name near = t("Less", {far, t.whole(2)});
  const Name logs = t("Div", {t("Log", {t("Div", {t.cast(far, float32), t.number(2)})}), t.number(2.0794415)});
  const Name large = t("Add", {t.cast(t("Mul", {logs, t.number(2)}), int64), t.whole(2)});
  const Name most = t.expand(t.whole(3), {queries, keys});
  const Name clamped = t("Where", {t("Less", {large, most}), large, most});
  const Name bucket = t("Add", {later, t("Where", {near, far, clamped})});
  const Name values = t("Gather", {t.weight({8, heads}), bucket});
  return t.unsqueeze(t.transpose(values, {2, 0, 1}), {0});
}

Name t5_attention(Writer& t, const Name& x, const Name& memory, std::int64_t channels, const Name& bias) {
  const Name batch = t.size(x, 0);
  const auto heads = [&](const Name& y) {
    return t.transpose(t.reshape(linear(t, y, channels, 8, false), {batch, -1, 2, 4}), {0, 2, 1, 3});
  };
  Name scores = t("MatMul", {heads(x), t.transpose(heads(memory), {0, 1, 3, 2})});
  if (!bias.empty()) scores = t("Add", {scores, bias});
  const Name y = t("MatMul", {t("Softmax", {scores}, {{"axis", -1}}), heads(memory)});
  return linear(t, t.reshape(t.transpose(y, {0, 2, 1, 3}), {batch, -1, 8}), 8, channels, false);
}

void write_t5(Writer& t) {
  const std::int64_t channels = 10;
  t.dim("batch", {1, 2});
  t.dim("encoded", {1, 5});
  t.dim("decoded", {1, 3});
  const Name table = t.weight({23, channels});
  const Name ids = t.ids("input_ids", {"batch", "encoded"}, 23);
  const Name decoded = t.ids("decoder_input_ids", {"batch", "decoded"}, 23);
  Name x = t("Gather", {table, ids});
  const Name length = t.size(ids, 1);
  x = t("Add", {x, t5_attention(t, rms_norm(t, x, channels), rms_norm(t, x, channels), channels,
                                relative_bias(t, length, length, 2))});
  const Name inner = t("Relu", {linear(t, rms_norm(t, x, channels), channels, 14, false)});
  x = rms_norm(t, t("Add", {x, linear(t, inner, 14, channels, false)}), channels);
  Name y = t("Gather", {table, decoded});
  const Name normed = rms_norm(t, y, channels), steps = t.size(decoded, 1);
  y = t("Add", {y, t5_attention(t, normed, normed, channels,
                                t("Add", {relative_bias(t, steps, steps, 2), causal_mask(t, steps, steps)}))});
  y = t("Add", {y, t5_attention(t, rms_norm(t, y, channels), x, channels, "")});
  const Name gated = t("Mul", {gelu_tanh(t, linear(t, rms_norm(t, y, channels), channels, 14, false)),
                               linear(t, rms_norm(t, y, channels), channels, 14, false)});
  y = t("Add", {y, linear(t, gated, 14, channels, false)});
  t.output(t("MatMul", {t("Mul", {rms_norm(t, y, channels), t.number(0.316)}), t.transpose(table, {1, 0})}));
}

/// Selective scan as a Scan over time: h = a h + b x, y = c h.
void write_mamba(Writer& t) {
  const std::int64_t channels = 6, inner = 8, states = 4, tokens = 5;
  const Name x = t.input("x", {1, tokens, channels});
  const Names parts = t.split(linear(t, rms_norm(t, x, channels), channels, 2 * inner, false), 2, {inner, inner});
  const Name rows = t.transpose(parts[0], {0, 2, 1});
  const Name padded = conv1d(t, rows, inner, inner, {.kernel = 4, .pad = 3, .groups = inner});
  const Name u = t.transpose(silu(t, t.slice(padded, 2, 0, tokens)), {0, 2, 1});
  const Names bc = t.split(linear(t, u, inner, 2 * states + 2, false), 2, {2, states, states});
  const Name delta = t("Softplus", {linear(t, bc[0], 2, inner)});
  const Name a = t("Neg", {t("Exp", {t.weight({inner, states})})});
  const Name decay = t("Exp", {t("Mul", {t.unsqueeze(delta, {3}), a})});
  const Name fed = t("Mul", {t.unsqueeze(t("Mul", {delta, u}), {3}), t.unsqueeze(bc[1], {2})});
  const onnx::GraphProto step =
      t.body({{"h", float32}, {"decay", float32}, {"fed", float32}, {"c", float32}}, [&](const Names& in) {
        const Name h = t("Add", {t("Mul", {in[1], in[0]}), in[2]});
        return Names{h, t("MatMul", {h, t.unsqueeze(in[3], {2})})};
      });
  const Name begin = t("ConstantOfShape", {t.list({1, inner, states})});
  const Names scanned = t.many(
      "Scan", {begin, decay, fed, bc[2]},
      {{"body", step}, {"num_scan_inputs", 3}, {"scan_input_axes", Ints{1, 1, 1}}, {"scan_output_axes", Ints{1}}},
      2);
  const Name y = t("Add", {t.squeeze(scanned[1], {3}), t("Mul", {u, t.weight({inner})})});
  t.output(t("Add", {x, linear(t, t("Mul", {y, silu(t, parts[1])}), inner, channels, false)}));
  t.output(scanned[0]);
}

/// Mamba 2 in one chunk: differences of cumulated sums, below the diagonal.
void write_mamba2(Writer& t) {
  const std::int64_t tokens = 6, heads = 2, width = 4, states = 3;
  const Name x = t.input("x", {2, tokens, heads * width});
  const Name a = t("Neg", {t("Softplus", {linear(t, x, heads * width, heads)})});
  const Name sums = t("CumSum", {t.transpose(a, {0, 2, 1}), t.whole(2)});
  const Name apart = t("Sub", {t.unsqueeze(sums, {3}), t.unsqueeze(sums, {2})});
  const Name lower = t("Trilu", {t.tensor({tokens, tokens}, std::vector<double>(36, 1), boolean)}, {{"upper", 0}});
  const Name decay = t("Exp", {t("Where", {lower, apart, t.number(-1e9)})});
  const Name b = linear(t, x, heads * width, states), c = linear(t, x, heads * width, states);
  const Name scores = t("Einsum", {c, b}, {{"equation", "bln,bsn->bls"}});
  const Name mixed = t("Mul", {t.unsqueeze(scores, {1}), decay});
  const Name v = t.reshape(x, {0, 0, heads, width});
  const Name y = t("Einsum", {mixed, v}, {{"equation", "bhls,bshp->blhp"}});
  t.output(layer_norm(t, t.reshape(y, {2, tokens, heads * width}), heads * width));
}

/// RWKV's time mixing, steps unrolled: states are inputs and outputs.
void write_rwkv(Writer& t) {
  const std::int64_t channels = 8, tokens = 3;
  const Name x = t.input("x", {tokens, channels});
  Name num = t.input("state_a", {channels}), den = t.input("state_b", {channels}, {0.5, 1}),
       top = t.input("state_p", {channels});
  const Name normed = layer_norm(t, x, channels);
  const Name before = t.slice(t.pad(normed, {1, 0, 0, 0}), 0, 0, tokens);
  const auto mixed = [&] {
    const Name share = t.weight_in({channels}, {0, 1});
    return t("Add", {t("Mul", {normed, share}), t("Mul", {before, t("Sub", {t.number(1), share})})});
  };
  const Name r = t("Sigmoid", {linear(t, mixed(), channels, channels, false)});
  const Name k = linear(t, mixed(), channels, channels, false), v = linear(t, mixed(), channels, channels, false);
  const Name bonus = t.weight({channels}), decay = t("Neg", {t("Exp", {t.weight({channels})})});
  Names steps;
  for (std::int64_t i = 0; i < tokens; ++i) {
    const Name ki = t("Gather", {k, t.whole(i)}), vi = t("Gather", {v, t.whole(i)});
    const Name w = t("Add", {ki, bonus}), p = t("Max", {top, w});
    const Name e1 = t("Exp", {t("Sub", {top, p})}), e2 = t("Exp", {t("Sub", {w, p})});
    const Name above = t("Add", {t("Mul", {e1, num}), t("Mul", {e2, vi})});
    steps.push_back(t.unsqueeze(t("Div", {above, t("Add", {t("Mul", {e1, den}), e2})}), {0}));
    const Name q = t("Max", {t("Add", {top, decay}), ki});
    const Name f1 = t("Exp", {t("Sub", {t("Add", {top, decay}), q})}), f2 = t("Exp", {t("Sub", {ki, q})});
    num = t("Add", {t("Mul", {f1, num}), t("Mul", {f2, vi})});
    den = t("Add", {t("Mul", {f1, den}), f2});
    top = q;
  }
  const Name y = t("Add", {x, linear(t, t("Mul", {r, t.concat(steps, 0)}), channels, channels, false)});
  const Name key = t("Pow", {t("Relu", {linear(t, layer_norm(t, y, channels), channels, 12, false)}), t.number(2)});
  t.output(t("Add", {y, linear(t, key, 12, channels, false)}));
  for (const Name& state : {num, den, top}) t.output(state);
}

/// Tables summed over several indices, products of pairs picked from below the diagonal.
void write_dlrm(Writer& t) {
  t.dim("batch", {1, 4});
  const Name dense = t.input("dense", {"batch", 5});
  const Name bottom = t("Relu", {gemm(t, t("Relu", {gemm(t, dense, 5, 8)}), 8, 4)});
  Names rows{t.unsqueeze(bottom, {1})};
  for (const std::string table : {"0", "1", "2"}) {
    const Name ids = t.ids("sparse_" + table, {"batch", 3}, 11);
    rows.push_back(t.reduce("ReduceSum", t("Gather", {t.weight({11, 4}), ids}), {1}));
  }
  const Name all = t.concat(rows, 1);
  const Name products = t("MatMul", {all, t.transpose(all, {0, 2, 1})});
  const Name flat = t("Flatten", {products}, {{"axis", 1}});
  const Name below = t("Gather", {flat, t.list({4, 8, 9, 12, 13, 14})}, {{"axis", 1}});
  const Name top = t("Relu", {gemm(t, t.concat({bottom, below}, 1), 10, 6)});
  t.output(t.squeeze(t("Sigmoid", {gemm(t, top, 6, 1)}), {1}));
}

/// Latents that attend to many inputs, and a query that attends to the latents.
void write_perceiver(Writer& t) {
  const std::int64_t channels = 8;
  t.dim("inputs", {1, 7});
  const Name x = layer_norm(t, t.input("inputs_embeds", {2, "inputs", 6}), 6);
  Name latents = t.expand(t.unsqueeze(t.weight({3, channels}), {0}), {2, 3, channels});
  const auto cross = [&](const Name& q, const Name& kv, std::int64_t in) {
    const Name wq = linear(t, q, channels, channels), wk = linear(t, kv, in, channels),
               wv = linear(t, kv, in, channels);
    const auto heads = [&](const Name& y) { return t.transpose(t.reshape(y, {0, -1, 2, 4}), {0, 2, 1, 3}); };
    const Name y = attention(t, heads(wq), heads(wk), heads(wv), 4);
    return linear(t, t.reshape(t.transpose(y, {0, 2, 1, 3}), {0, -1, channels}), channels, channels);
  };
  latents = t("Add", {latents, cross(layer_norm(t, latents, channels), x, 6)});
  latents =
      t("Add", {latents, cross(layer_norm(t, latents, channels), layer_norm(t, latents, channels), channels)});
  latents = t("Add", {latents, mlp(t, layer_norm(t, latents, channels), channels, 8)});
  const Name query = t.expand(t.weight({1, 1, channels}), {2, 1, channels});
  t.output(linear(t, t.squeeze(cross(query, latents, channels), {1}), channels, 5));
}

constexpr Export language_exports_table[] = {
    {"bert-op11", 11, Manner::torchscript, write_bert},
    {"bert-op17-ort", 17, Manner::onnxruntime, write_bert},
    {"bert-op19-dynamo", 19, Manner::dynamo, write_bert},
    {"t5-op14", 14, Manner::torchscript, write_t5},
    {"t5-op21-dynamo", 21, Manner::dynamo, write_t5},
    {"mamba-op16", 16, Manner::torchscript, write_mamba},
    {"mamba-op22-dynamo", 22, Manner::dynamo, write_mamba},
    {"mamba2-op17", 17, Manner::torchscript, write_mamba2},
    {"rwkv-op12", 12, Manner::torchscript, write_rwkv},
    {"rwkv-op18-dynamo", 18, Manner::dynamo, write_rwkv},
    {"dlrm-op11", 11, Manner::torchscript, write_dlrm},
    {"perceiver-op16", 16, Manner::torchscript, write_perceiver},
};

}  // namespace

std::span<const Export> language_exports() { return language_exports_table; }

}  // namespace sdip::exports
