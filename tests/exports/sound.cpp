// Sound and series: LSTM and GRU stacks, CRNN, WaveNet, TCN, Conformer, Whisper, loops that a script kept.
#include <cmath>

#include "tests/exports/book.h"
#include "tests/exports/layers.h"

namespace sdip::exports {
namespace {

using enum ElementType;

/// nn.LSTM and nn.GRU, both ways, two layers: the states of a layer are slices of one input, as PyTorch exports it.
Name recurrent(Writer& t, const std::string& type, const Name& x, const Names& states, std::int64_t in,
               std::int64_t hidden, bool both, Names& ends) {
  const std::int64_t ways = both ? 2 : 1, gates = type == "LSTM" ? 4 : type == "GRU" ? 3 : 1;
  const double most = 1 / std::sqrt(static_cast<double>(hidden));
  Names inputs{x, t.weight({ways, gates * hidden, in}, most), t.weight({ways, gates * hidden, hidden}, most),
               t.weight({ways, 2 * gates * hidden}, most), ""};
  inputs.insert(inputs.end(), states.begin(), states.end());
  AttributeList attributes{{"hidden_size", hidden}, {"direction", both ? "bidirectional" : "forward"}};
  if (type == "GRU") attributes.emplace_back("linear_before_reset", 1);
  const Names outputs = t.many(type, inputs, attributes, type == "LSTM" ? 3 : 2);
  ends.assign(outputs.begin() + 1, outputs.end());
  if (!both) return t.squeeze(outputs[0], {1});
  return t("Reshape", {t.transpose(outputs[0], {0, 2, 1, 3}), t.list({0, 0, -1})});
}

void write_stack(Writer& t, const std::string& type) {
  const std::int64_t in = 5, hidden = 6;
  t.dim("batch", {1, 3});
  t.dim("steps", {1, 4});
  const Name x = t.input("input", {"batch", "steps", in});
  Name y = t.transpose(x, {1, 0, 2});
  const Name zeros = t.expand(t.tensor({4, 1, hidden}, std::vector<double>(24, 0)), {4, t.size(x, 0), hidden});
  Names ends, hs, cs;
  for (const std::int64_t layer : {0, 1}) {
    const Name state = t.slice(zeros, 0, 2 * layer, 2 * layer + 2);
    const Names states = type == "LSTM" ? Names{state, state} : Names{state};
    y = recurrent(t, type, y, states, layer == 0 ? in : 2 * hidden, hidden, true, ends);
    hs.push_back(ends[0]);
    if (type == "LSTM") cs.push_back(ends[1]);
  }
  t.output(t.transpose(y, {1, 0, 2}));
  t.output(t.concat(hs, 0));
  if (!cs.empty()) t.output(t.concat(cs, 0));
}

void write_lstm(Writer& t) { write_stack(t, "LSTM"); }
void write_gru(Writer& t) { write_stack(t, "GRU"); }
void write_rnn(Writer& t) { write_stack(t, "RNN"); }

/// One layer with states that are inputs and outputs, of 128, the last step read.
void write_lstm_state(Writer& t) {
  const Name x = t.input("x", {3, 1, 40}), h = t.input("h0", {1, 1, 128}), c = t.input("c0", {1, 1, 128});
  Names ends;
  const Name y = recurrent(t, "LSTM", x, {h, c}, 40, 128, false, ends);
  t.output(gemm(t, t("Gather", {y, t.whole(-1)}, {{"axis", 0}}), 128, 7));
  t.output(ends[0]);
  t.output(ends[1]);
}

/// Text in images: convolutions, columns as steps, two LSTMs, log-probabilities.
void write_crnn(Writer& t) {
  Name x = t("Relu", {conv(t, t.input("image", {2, 1, 8, 12}), 1, 4)});
  x = t("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  x = t("Relu", {batch_norm(t, conv(t, x, 4, 6), 6)});
  x = t("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 1}}, {"pads", Ints{0, 1, 0, 1}}});
  x = t("MaxPool", {x}, {{"kernel_shape", Ints{2, 1}}, {"strides", Ints{2, 1}}});
  x = t.transpose(t.squeeze(x, {2}), {2, 0, 1});
  Names ends;
  x = recurrent(t, "LSTM", x, {}, 6, 5, true, ends);
  x = recurrent(t, "GRU", linear(t, x, 10, 5), {}, 5, 4, true, ends);
  t.output(t("LogSoftmax", {linear(t, x, 8, 9)}, {{"axis", 2}}));
}

/// Causal pads, dilated kernels of 2, gates of tanh and sigmoid, skips summed.
void write_wavenet(Writer& t) {
  Name x = conv1d(t, t.input("x", {1, 4, 16}), 4, 6, {.kernel = 1, .pad = 0}), skips;
  for (const std::int64_t dilation : {1, 2, 4}) {
    const Name padded = t.pad(x, {0, 0, dilation, 0, 0, 0});
    const Name y = conv1d(t, padded, 6, 12, {.kernel = 2, .pad = 0, .dilation = dilation});
    const Names halves = t.split(y, 1, {6, 6});
    const Name gated = t("Mul", {t("Tanh", {halves[0]}), t("Sigmoid", {halves[1]})});
    const Name skip = conv1d(t, gated, 6, 5, {.kernel = 1, .pad = 0});
    skips = skips.empty() ? skip : t("Add", {skips, skip});
    x = t("Add", {conv1d(t, gated, 6, 6, {.kernel = 1, .pad = 0}), x});
  }
  const Name y = t("Relu", {conv1d(t, t("Relu", {skips}), 5, 5, {.kernel = 1, .pad = 0})});
  t.output(t("Softmax", {conv1d(t, y, 5, 8, {.kernel = 1, .pad = 0})}, {{"axis", 1}}));
}

/// Temporal convolutions with their ends cut (chomped), weight norm computed in the graph.
void write_tcn(Writer& t) {
  t.dim("length", {6, 9});
  Name x = t.input("x", {2, 3, "length"});
  std::int64_t in = 3;
  for (const std::int64_t dilation : {1, 2}) {
    const Name v = t.weight({4, in, 3}), g = t.weight_in({4, 1, 1}, {0.5, 1});
    const Name norm = t.reduce("ReduceL2", v, {1, 2});
    const Name kernel = t("Mul", {v, t("Div", {g, norm})});
    const Name y =
        t("Conv", {x, kernel, t.weight({4})},
          {{"dilations", Ints{dilation}}, {"kernel_shape", Ints{3}}, {"pads", Ints{2 * dilation, 2 * dilation}}});
    const Name cut = t("Relu", {t.slice(y, 2, 0, -2 * dilation)});
    const Name skip = in == 4 ? x : conv1d(t, x, in, 4, {.kernel = 1, .pad = 0});
    x = t("Relu", {t("Add", {cut, skip})});
    in = 4;
  }
  t.output(gemm(t, t("Gather", {x, t.whole(-1)}, {{"axis", 2}}), 4, 2));
}

/// Relative positions by shifting: padded, reshaped, sliced, as Transformer-XL does.
Name shifted(Writer& t, const Name& x) {
  const Name batch = t.size(x, 0), heads = t.size(x, 1), rows = t.size(x, 2), columns = t.size(x, 3);
  const Name padded = t.pad(x, {0, 0, 0, 1, 0, 0, 0, 0});
  const Name moved = t.reshape(padded, {batch, heads, t("Add", {columns, t.whole(1)}), rows});
  const Name back = t.reshape(t.slice(moved, 2, 1, 9223372036854775807), {batch, heads, rows, columns});
  const Name half = t("Add", {t("Div", {columns, t.whole(2)}), t.whole(1)});
  return t.sliced(back, 3, t.list({0}), t.unsqueeze(half, {0}));
}

void write_conformer(Writer& t) {
  const std::int64_t channels = 8, frames = 5;
  t.dim("B", {1, 2});
  const Name features = t.input("features", {"B", 11, 10});
  Name x = t("Relu", {conv(t, t.unsqueeze(features, {1}), 1, 4, {.stride = 2, .pad = 0})});
  x = t.reshape(t.transpose(x, {0, 2, 1, 3}), {t.size(x, 0), frames, 16});
  x = linear(t, x, 16, channels);
  const auto half_step = [&](const Name& y) {
    const Name inner = linear(t, silu(t, linear(t, layer_norm(t, y, channels), channels, 16)), 16, channels);
    return t("Add", {y, t("Mul", {inner, t.number(0.5)})});
  };
  x = half_step(x);
  const Name normed = layer_norm(t, x, channels), batch = t.size(x, 0);
  const Name q = t.reshape(linear(t, normed, channels, channels), {batch, -1, 2, 4});
  const auto heads = [&](const Name& y) {
    return t.transpose(t.reshape(linear(t, y, channels, channels), {batch, -1, 2, 4}), {0, 2, 1, 3});
  };
  const Name positions = t.transpose(
      t.reshape(linear(t, t.weight({1, 2 * frames - 1, channels}), channels, channels, false), {1, -1, 2, 4}),
      {0, 2, 3, 1});
  const Name content = t("MatMul", {t.transpose(t("Add", {q, t.weight({2, 4})}), {0, 2, 1, 3}),
                                    t.transpose(heads(normed), {0, 1, 3, 2})});
  const Name place =
      shifted(t, t("MatMul", {t.transpose(t("Add", {q, t.weight({2, 4})}), {0, 2, 1, 3}), positions}));
  const Name scores = t("Div", {t("Add", {content, place}), t.number(2)});
  const Name seen = t("MatMul", {t("Softmax", {scores}, {{"axis", -1}}), heads(normed)});
  x = t("Add",
        {x, linear(t, t.reshape(t.transpose(seen, {0, 2, 1, 3}), {batch, -1, channels}), channels, channels)});
  Name y = conv1d(t, t.transpose(layer_norm(t, x, channels), {0, 2, 1}), channels, 2 * channels,
                  {.kernel = 1, .pad = 0});
  const Names halves = t.split(y, 1, {channels, channels});
  y = conv1d(t, t("Mul", {halves[0], t("Sigmoid", {halves[1]})}), channels, channels,
             {.kernel = 5, .pad = 2, .groups = channels});
  y = conv1d(t, silu(t, batch_norm(t, y, channels)), channels, channels, {.kernel = 1, .pad = 0});
  x = half_step(t("Add", {x, t.transpose(y, {0, 2, 1})}));
  t.output(t("LogSoftmax", {linear(t, layer_norm(t, x, channels), channels, 6)}, {{"axis", -1}}));
}

void write_whisper_encoder(Writer& t) {
  Name x = gelu(t, conv1d(t, t.input("input_features", {1, 6, 12}), 6, 8));
  x = gelu(t, conv1d(t, x, 8, 8, {.stride = 2}));
  x = t("Add", {t.transpose(x, {0, 2, 1}), t.weight({6, 8})});
  x = t("Add", {x, self_attention(t, layer_norm(t, x, 8), 8, 2)});
  t.output(layer_norm(t, t("Add", {x, mlp(t, layer_norm(t, x, 8), 8, 16)}), 8));
}

/// As Optimum merges decoders: an If chooses between the one with a cache and the one without.
void write_whisper_decoder(Writer& t) {
  const std::int64_t channels = 8;
  t.dim("past", {1, 3});
  const Name ids = t.ids("input_ids", {1, 1}, 21);
  const Name past_k = t.input("past_key_values.0.decoder.key", {1, 2, "past", 4}),
             past_v = t.input("past_key_values.0.decoder.value", {1, 2, "past", 4});
  const Name encoded = t.input("encoder_hidden_states", {1, 6, channels});
  const Name at = t.unsqueeze(t.size(past_k, 2), {0});
  Name x = t("Add", {t("Gather", {t.weight({21, channels}), ids}),
                     t.sliced(t.weight({8, channels}), 0, at, t("Add", {at, t.list({1})}))});
  const auto heads = [&](const Name& y) { return split_heads(t, linear(t, y, channels, channels), 1, -1, 2, 4); };
  const Name normed = layer_norm(t, x, channels);
  const Name k = t.concat({past_k, heads(normed)}, 2), v = t.concat({past_v, heads(normed)}, 2);
  x = t("Add",
        {x, linear(t, join_heads(t, attention(t, heads(normed), k, v, 4), 1, -1, channels), channels, channels)});
  const Name query = heads(layer_norm(t, x, channels));
  const Name seen = attention(t, query, heads(encoded), heads(encoded), 4);
  x = t("Add", {x, linear(t, join_heads(t, seen, 1, -1, channels), channels, channels)});
  x = t("Add", {x, mlp(t, layer_norm(t, x, channels), channels, 12)});
  t.output(t("MatMul", {layer_norm(t, x, channels), t.transpose(t.weight({21, channels}), {1, 0})}));
  t.output(k);
  t.output(v);
}

/// A scripted loop of a GRU cell over a fixed count, and an If on a size that is known.
void write_scripted(Writer& t) {
  const std::int64_t hidden = 5;
  t.dim("batch", {1, 2});
  const Name x = t.input("x", {"batch", 4, 3}), h0 = t.input("h", {"batch", hidden});
  const Name wide = t("Equal", {t.size(x, 1), t.whole(4)});
  const Name wx = t.weight({3, 3 * hidden}), wh = t.weight({hidden, 3 * hidden}), bias = t.weight({3 * hidden});
  const auto cell = [&](const Names& in) {
    const Name step = t("Gather", {x, in[0]}, {{"axis", 1}});
    const Names gx = t.split(t("Add", {t("MatMul", {step, wx}), bias}), 1, {hidden, hidden, hidden});
    const Names gh = t.split(t("MatMul", {in[2], wh}), 1, {hidden, hidden, hidden});
    const Name r = t("Sigmoid", {t("Add", {gx[0], gh[0]})}), z = t("Sigmoid", {t("Add", {gx[1], gh[1]})});
    const Name n = t("Tanh", {t("Add", {gx[2], t("Mul", {r, gh[2]})})});
    const Name h = t("Add", {t("Mul", {t("Sub", {t.number(1), z}), n}), t("Mul", {z, in[2]})});
    return Names{t("Identity", {in[1]}), h, t("Identity", {h})};
  };
  const onnx::GraphProto body = t.body({{"i", int64}, {"cond", boolean}, {"h", float32}}, cell);
  const Name yes = t.tensor({}, {1}, boolean);
  const Names looped = t.many("Loop", {t.whole(4), yes, h0}, {{"body", body}}, 2);
  const onnx::GraphProto then = t.body({}, [&](const Names&) { return Names{t.transpose(looped[1], {1, 0, 2})}; });
  const onnx::GraphProto otherwise = t.body({}, [&](const Names&) { return Names{t("Identity", {looped[1]})}; });
  t.output(t("If", {wide}, {{"then_branch", then}, {"else_branch", otherwise}}));
  t.output(looped[0]);
}

constexpr Export sound_exports_table[] = {
    {"lstm-op11", 11, Manner::torchscript, write_lstm},
    {"lstm-op17", 17, Manner::torchscript, write_lstm},
    {"gru-op13", 13, Manner::torchscript, write_gru},
    {"gru-op22-dynamo", 22, Manner::dynamo, write_gru},
    {"rnn-op14", 14, Manner::torchscript, write_rnn},
    {"lstm-state-op16", 16, Manner::torchscript, write_lstm_state},
    {"crnn-op11", 11, Manner::torchscript, write_crnn},
    {"wavenet-op12", 12, Manner::torchscript, write_wavenet},
    {"wavenet-op18-dynamo", 18, Manner::dynamo, write_wavenet},
    {"tcn-op13", 13, Manner::torchscript, write_tcn},
    {"conformer-op14", 14, Manner::torchscript, write_conformer},
    {"conformer-op18-dynamo", 18, Manner::dynamo, write_conformer},
    {"whisper-encoder-op14", 14, Manner::torchscript, write_whisper_encoder},
    {"whisper-encoder-op20-dynamo", 20, Manner::dynamo, write_whisper_encoder},
    {"whisper-decoder-op17", 17, Manner::torchscript, write_whisper_decoder},
    {"scripted-op15", 15, Manner::torchscript, write_scripted},
};

}  // namespace

std::span<const Export> sound_exports() { return sound_exports_table; }

}  // namespace sdip::exports
