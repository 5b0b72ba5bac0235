// What converters from TensorFlow and Keras write: channels last between transpositions, recurrent layers with
// lengths.
#include <cmath>

#include "tests/exports/book.h"
#include "tests/exports/layers.h"

namespace sdip::exports {
namespace {

using enum ElementType;

/// A convolution of channels last, pads as TensorFlow's SAME.
Name nhwc(Writer& t, const Name& x, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
          std::int64_t groups = 1) {
  const double most = 1 / std::sqrt(static_cast<double>(in / groups * kernel * kernel));
  const Name y = t("Conv", {t.transpose(x, {0, 3, 1, 2}), t.weight({out, in / groups, kernel, kernel}, most)},
                   {{"auto_pad", "SAME_UPPER"},
                    {"dilations", Ints{1, 1}},
                    {"group", groups},
                    {"strides", Ints{stride, stride}},
                    {"kernel_shape", Ints{kernel, kernel}}});
  return t("Add", {t.transpose(y, {0, 2, 3, 1}), t.weight({out})});
}

Name relu6(Writer& t, const Name& x) { return t.clip(x, 0, 6); }

void write_tf_mobilenet(Writer& t) {
  t.dim("unk__61", {1, 2});
  const Name image = t.input("input_1:0", {"unk__61", 11, 11, 3}, {0, 255});
  Name x = t("Sub", {t("Mul", {image, t.tensor({}, {1.0 / 127.5})}), t.tensor({1, 1, 1, 1}, {1})});
  x = relu6(t, nhwc(t, x, 3, 6, 3, 2));
  const Name y = relu6(t, nhwc(t, relu6(t, nhwc(t, x, 6, 12, 1, 1)), 12, 12, 3, 1, 12));
  x = t("Add", {nhwc(t, y, 12, 6, 1, 1), x});
  x = t.transpose(batch_norm(t, t.transpose(x, {0, 3, 1, 2}), 6), {0, 2, 3, 1});
  const Name pooled = t.reduce("ReduceMean", x, {1, 2}, false);
  t.output(t("Softmax", {t("Add", {t("MatMul", {pooled, t.weight({6, 5})}), t.weight({5})})},
             {{"axis", t.opset < 13 ? 1 : -1}}));
}

/// U-Net of Keras: pools, Conv2DTranspose with an output shape, Concat of channels last, Resize of a NHWC image.
void write_tf_unet(Writer& t) {
  const Name image = t.input("image", {1, 8, 8, 2});
  const Name a = t("Relu", {nhwc(t, image, 2, 4, 3, 1)});
  const Name pooled = t.transpose(t("MaxPool", {t.transpose(a, {0, 3, 1, 2})},
                                    {{"auto_pad", "VALID"}, {"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}),
                                  {0, 2, 3, 1});
  const Name b = t("LeakyRelu", {nhwc(t, pooled, 4, 6, 3, 1)}, {{"alpha", 0.3}});
  const Name up = t("ConvTranspose", {t.transpose(b, {0, 3, 1, 2}), t.weight({6, 4, 3, 3})},
                    {{"auto_pad", "SAME_UPPER"},
                     {"strides", Ints{2, 2}},
                     {"kernel_shape", Ints{3, 3}},
                     {"output_shape", Ints{8, 8}}});
  const Name joined = t.concat({t("Add", {t.transpose(up, {0, 2, 3, 1}), t.weight({4})}), a}, 3);
  const Name y = t("Elu", {nhwc(t, joined, 8, 4, 3, 1)});
  const Name wide =
      t("Resize",
        {t.transpose(y, {0, 3, 1, 2}), t.tensor({8}, {0, 0, 0, 0, 1, 1, 1, 1}), t.tensor({4}, {1, 1, 2, 2})},
        {{"mode", "linear"}, {"coordinate_transformation_mode", t.opset < 13 ? "asymmetric" : "half_pixel"}});
  t.output(t("Sigmoid", {nhwc(t, t.transpose(wide, {0, 2, 3, 1}), 4, 1, 1, 1)}));
}

/// Dense of TensorFlow over three dimensions: Reshape to rows, MatMul, Reshape by a computed shape of int32.
Name dense(Writer& t, const Name& x, std::int64_t in, std::int64_t out) {
  const Name rows = t("Reshape", {x, t.list({-1, in})});
  const Name product = t("MatMul", {rows, t.weight({in, out}, 1 / std::sqrt(static_cast<double>(in)))});
  return t("Add", {t.reshape(product, {t.size(x, 0), t.size(x, 1), out}), t.weight({out})});
}

Name moments(Writer& t, const Name& x, std::int64_t channels) {
  const Name mean = t.reduce("ReduceMean", x, {-1});
  const Name apart = t("Sub", {x, mean});
  const Name variance = t.reduce("ReduceMean", t("Mul", {apart, apart}), {-1});
  const Name inverse = t("Mul", {t("Reciprocal", {t("Sqrt", {t("Add", {variance, t.tensor({}, {1e-12})})})}),
                                 t.weight_in({channels}, {0.5, 1.5})});
  return t("Add", {t("Mul", {x, inverse}), t("Sub", {t.weight({channels}), t("Mul", {mean, inverse})})});
}

/// BERT of TensorFlow: one-hot embeddings by a product, attention by einsums with heads inside.
void write_tf_bert(Writer& t) {
  const std::int64_t channels = 8;
  t.dim("unk__1", {1, 2});
  const Name ids = t.input("input_word_ids:0", {"unk__1", 5}, {0, 16}, int32),
             mask = t.input("input_mask:0", {"unk__1", 5}, {0, 1}, int32);
  const Name hot = t("OneHot", {ids, t.list({17}), t.tensor({2}, {0, 1})}, {{"axis", -1}});
  Name x = t("Add", {t("MatMul", {hot, t.weight({17, channels})}), t.weight({1, 5, channels})});
  x = moments(t, x, channels);
  const auto heads = [&](const Name& y) {
    return t("Add",
             {t("Einsum", {y, t.weight({channels, 2, 4})}, {{"equation", "abc,cde->abde"}}), t.weight({2, 4})});
  };
  const Name q = t("Mul", {heads(x), t.tensor({}, {0.5})});
  const Name scores = t("Einsum", {heads(x), q}, {{"equation", "aecd,abcd->acbe"}});
  const Name off =
      t("Mul", {t("Sub", {t.tensor({}, {1}), t.cast(t.unsqueeze(mask, {1, 2}), float32)}), t.tensor({}, {-10000})});
  const Name shares = t("Softmax", {t("Add", {scores, off})}, {{"axis", t.opset < 13 ? 3 : -1}});
  const Name seen = t("Einsum", {shares, heads(x)}, {{"equation", "acbe,aecd->abcd"}});
  const Name out = t("Add", {t("Einsum", {seen, t.weight({2, 4, channels})}, {{"equation", "abcd,cde->abe"}}),
                             t.weight({channels})});
  x = moments(t, t("Add", {x, out}), channels);
  x = moments(t, t("Add", {x, dense(t, gelu(t, dense(t, x, channels, 12)), 12, channels)}), channels);
  t.output(x);
  t.output(t("Tanh", {t("Gemm", {t.squeeze(t.slice(x, 1, 0, 1), {1}), t.weight({channels, channels}),
                                 t.weight({channels})})}));
}

/// Keras: layers of both kinds with lengths, states squeezed, both directions joined by a Concat of two forward
/// ones.
void write_recurrent(Writer& t, const std::string& type, const std::string& direction) {
  const std::int64_t gates = type == "LSTM" ? 4 : 3, hidden = 4, in = 3,
                     ways = direction == "bidirectional" ? 2 : 1;
  t.dim("N", {1, 3});
  const Name x = t.input("input_1", {"N", 5, in}), lengths = t.input("lengths", {"N"}, {1, 5}, int32);
  const Name steps = t.transpose(x, {1, 0, 2});
  const auto layer = [&](const Name& y, std::int64_t width, const Name& sizes, const std::string& way,
                         std::int64_t both, const Name& state) {
    Names inputs{y, t.weight({both, gates * hidden, width}), t.weight({both, gates * hidden, hidden}),
                 t.weight({both, 2 * gates * hidden}), sizes};
    if (!state.empty()) inputs.push_back(state);
    AttributeList attributes{{"direction", way}, {"hidden_size", hidden}};
    if (type == "GRU") attributes.emplace_back("linear_before_reset", both == 2 ? 0 : 1);
    if (type == "LSTM" && both == 1)
      attributes.emplace_back("activations", std::vector<std::string>{"HardSigmoid", "Tanh", "Softsign"});
    if (type == "LSTM" && both == 1) attributes.emplace_back("activation_alpha", std::vector<double>{0.2});
    if (type == "LSTM" && both == 1) attributes.emplace_back("activation_beta", std::vector<double>{0.5});
    return t.many(type, inputs, attributes, type == "LSTM" ? 3 : 2);
  };
  const Names first = layer(steps, in, lengths, direction, ways, "");
  const Name merged = t("Reshape", {t.transpose(first[0], {0, 2, 1, 3}), t.list({0, 0, ways * hidden})});
  const Name initial = t.expand(t.weight({1, 1, hidden}), {1, t.size(x, 0), hidden});
  const Names second = layer(merged, ways * hidden, "", direction == "reverse" ? "reverse" : "forward", 1, initial);
  t.output(t.transpose(t.squeeze(second[0], {1}), {1, 0, 2}));
  t.output(t("Softmax",
             {t("Add", {t("MatMul", {t.squeeze(second[1], {0}), t.weight({hidden, 3})}), t.weight({3})})},
             {{"axis", 1}}));
  t.output(first[1]);
}

void write_keras_lstm(Writer& t) { write_recurrent(t, "LSTM", "bidirectional"); }
void write_keras_gru(Writer& t) { write_recurrent(t, "GRU", "bidirectional"); }
void write_reverse(Writer& t) { write_recurrent(t, "GRU", "reverse"); }

/// Embeddings, 1-D convolutions as 2-D ones of height 1, pools over time, a Concat: text as Keras exports it.
void write_text(Writer& t) {
  const Name ids = t.input("ids", {2, 9}, {0, 12}, int32);
  const Name x = t("Gather", {t.weight({13, 6}), ids});
  Names pooled;
  for (const std::int64_t kernel : {2, 3}) {
    const Name image = t.unsqueeze(t.transpose(x, {0, 2, 1}), {2});
    const Name y = t("Conv", {image, t.weight({5, 6, 1, kernel}), t.weight({5})},
                     {{"kernel_shape", Ints{1, kernel}}, {"strides", Ints{1, 1}}, {"auto_pad", "VALID"}});
    pooled.push_back(t.reduce("ReduceMax", t.transpose(t.squeeze(t("Relu", {y}), {2}), {0, 2, 1}), {1}, false));
  }
  t.output(t("Sigmoid", {t("MatMul", {t.concat(pooled, -1), t.weight({10, 1})})}));
}

constexpr Export tensorflow_exports_table[] = {
    {"tf-mobilenet-op9", 9, Manner::tensorflow, write_tf_mobilenet},
    {"tf-mobilenet-op13", 13, Manner::tensorflow, write_tf_mobilenet},
    {"tf-unet-op11", 11, Manner::tensorflow, write_tf_unet},
    {"tf-unet-op15", 15, Manner::tensorflow, write_tf_unet},
    {"tf-bert-op12", 12, Manner::tensorflow, write_tf_bert},
    {"tf-bert-op18", 18, Manner::tensorflow, write_tf_bert},
    {"keras-lstm-op11", 11, Manner::keras, write_keras_lstm},
    {"keras-gru-op11", 11, Manner::keras, write_keras_gru},
    {"keras-gru-reverse-op13", 13, Manner::keras, write_reverse},
    {"keras-text-op10", 10, Manner::keras, write_text},
};

}  // namespace

std::span<const Export> tensorflow_exports() { return tensorflow_exports_table; }

}  // namespace sdip::exports
