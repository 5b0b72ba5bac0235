// Quantised graphs: pairs of QuantizeLinear and DequantizeLinear, QLinear operators, dynamic ranges, narrow
// weights.
#include "tests/exports/book.h"
#include "tests/exports/layers.h"

namespace sdip::exports {
namespace {

using enum ElementType;

/// Quantised and back, by a scale and a zero point of the type.
Name requantised(Writer& t, const Name& x, double scale, std::int64_t point, ElementType type) {
  const Name s = t.tensor({}, {scale}), z = t.tensor({}, {static_cast<double>(point)}, type);
  return t("DequantizeLinear", {t("QuantizeLinear", {x, s, z}), s, z});
}

/// Weights of int8 behind a DequantizeLinear by channel.
Name stored_weight(Writer& t, const Shape& shape, std::int64_t axis = 0) {
  const std::int64_t channels = shape[static_cast<std::size_t>(axis)];
  const Name points = t.tensor({channels}, std::vector<double>(static_cast<std::size_t>(channels), 0), int8);
  return t("DequantizeLinear",
           {t.weight_in(shape, {-127, 127}, int8), t.weight_in({channels}, {0.001, 0.004}), points},
           {{"axis", axis}});
}

Name stored_bias(Writer& t, std::int64_t channels) {
  return t("DequantizeLinear",
           {t.weight_in({channels}, {-100, 100}, int32), t.weight_in({channels}, {0.0001, 0.0004}),
            t.tensor({channels}, std::vector<double>(static_cast<std::size_t>(channels), 0), int32)},
           {{"axis", 0}});
}

/// onnxruntime's static quantisation of a residual network, activations of uint8.
void write_qdq(Writer& t) {
  const auto block = [&](const Name& x, std::int64_t in, std::int64_t out, std::int64_t kernel,
                         std::int64_t groups) {
    const Ints pads(4, kernel / 2);
    return t("Conv", {x, stored_weight(t, {out, in / groups, kernel, kernel}), stored_bias(t, out)},
             {{"kernel_shape", Ints{kernel, kernel}}, {"pads", pads}, {"group", groups}});
  };
  const Name x = requantised(t, t.input("x", {1, 3, 8, 8}), 0.0078, 128, uint8);
  const Name y = requantised(t, t("Relu", {block(x, 3, 8, 3, 1)}), 0.01, 0, uint8);
  Name z = requantised(t, t.clip(block(y, 8, 8, 3, 8), 0, 6), 0.02, 0, uint8);
  z = requantised(t, block(z, 8, 8, 1, 1), 0.01, 120, uint8);
  const Name sum = requantised(t, t("Add", {z, y}), 0.02, 110, uint8);
  const Name pooled = requantised(t, t("GlobalAveragePool", {sum}), 0.01, 100, uint8);
  const Name flat = t("Flatten", {pooled}, {{"axis", 1}});
  t.output(requantised(t, t("Gemm", {flat, stored_weight(t, {5, 8}), stored_bias(t, 5)}, {{"transB", 1}}), 0.01,
                       128, uint8));
}

/// Attention between pairs of int8, symmetric, as TensorRT wants it; weights by column.
void write_qdq_transformer(Writer& t) {
  const std::int64_t channels = 8;
  t.dim("batch", {1, 2});
  const auto paired = [&](const Name& x) { return requantised(t, x, 0.02, 0, int8); };
  const auto product = [&](const Name& x, std::int64_t in, std::int64_t out) {
    return t("Add", {t("MatMul", {paired(x), stored_weight(t, {in, out}, 1)}), t.weight({out})});
  };
  const Name x = t.input("x", {"batch", 5, channels});
  const auto heads = [&](const Name& y) { return t.transpose(t.reshape(y, {0, 5, 2, 4}), {0, 2, 1, 3}); };
  const Name q = heads(product(x, channels, channels)),
             k = t.transpose(heads(product(x, channels, channels)), {0, 1, 3, 2}),
             v = heads(product(x, channels, channels));
  const Name scores = t("Mul", {t("MatMul", {paired(q), paired(k)}), t.number(0.5)});
  const Name seen =
      t("MatMul", {requantised(t, t("Softmax", {scores}, {{"axis", -1}}), 1.0 / 127, 0, int8), paired(v)});
  const Name y = layer_norm(
      t, t("Add", {x, product(t.reshape(t.transpose(seen, {0, 2, 1, 3}), {0, 5, channels}), channels, channels)}),
      channels);
  t.output(t("Add", {y, product(gelu(t, product(y, channels, 12)), 12, channels)}));
}

/// All on integers: QLinearConv, QLinearMatMul, and onnxruntime's QLinearAdd.
void write_qlinear(Writer& t) {
  const auto scale = [&](double s) { return t.tensor({}, {s}); };
  const auto point = [&](std::int64_t p, ElementType type = uint8) {
    return t.tensor({}, {static_cast<double>(p)}, type);
  };
  const Name in_s = scale(0.0078), in_z = point(128), mid_s = scale(0.01), mid_z = point(3), out_s = scale(0.02),
             out_z = point(130);
  const Name x = t("QuantizeLinear", {t.input("x", {2, 3, 6, 6}), in_s, in_z});
  const auto weights = [&](const Shape& shape) {
    return Names{t.weight_in(shape, {-127, 127}, int8), t.weight_in({shape[0]}, {0.001, 0.004}),
                 t.tensor({shape[0]}, std::vector<double>(static_cast<std::size_t>(shape[0]), 0), int8)};
  };
  const Names first = weights({6, 3, 3, 3}), second = weights({6, 1, 3, 3});
  const Name y =
      t("QLinearConv",
        {x, in_s, in_z, first[0], first[1], first[2], mid_s, mid_z, t.weight_in({6}, {-100, 100}, int32)},
        {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  const Name z = t("QLinearConv", {y, mid_s, mid_z, second[0], second[1], second[2], mid_s, mid_z},
                   {{"group", 6}, {"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  const Name sum = t.contrib("QLinearAdd", {z, mid_s, mid_z, y, mid_s, mid_z, out_s, out_z});
  const Name flat = t("Reshape", {t("MaxPool", {sum}, {{"kernel_shape", Ints{6, 6}}}), t.list({2, 6})});
  const Name product = t("QLinearMatMul", {flat, out_s, out_z, t.weight_in({6, 4}, {0, 255}, uint8), scale(0.003),
                                           point(120), mid_s, mid_z});
  t.output(t("DequantizeLinear", {product, mid_s, mid_z}));
}

/// Dynamic ranges: MatMulInteger and ConvInteger, scaled back by both scales.
void write_dynamic(Writer& t) {
  t.dim("batch", {1, 3});
  const Name x = t.input("x", {"batch", 4, 6});
  const auto product = [&](const Name& a, std::int64_t in, std::int64_t out) {
    const Names q = t.many("DynamicQuantizeLinear", {a}, {}, 3);
    const Name sums =
        t("MatMulInteger", {q[0], t.weight_in({in, out}, {-127, 127}, int8), q[2], t.tensor({}, {0}, int8)});
    const Name scales = t("Mul", {q[1], t.tensor({}, {0.003})});
    return t("Add", {t("Mul", {t.cast(sums, float32), scales}), t.weight({out})});
  };
  const Name y = t("Relu", {product(layer_norm(t, x, 6), 6, 10)});
  const Name z = t("Add", {x, product(y, 10, 6)});
  const Name image = t.unsqueeze(z, {1});
  const Names q = t.many("DynamicQuantizeLinear", {image}, {}, 3);
  const Name sums =
      t("ConvInteger", {q[0], t.weight_in({3, 1, 3, 3}, {0, 255}, uint8), q[2], t.tensor({}, {128}, uint8)},
        {{"pads", Ints{1, 1, 1, 1}}});
  t.output(t("Mul", {t.cast(sums, float32), t("Mul", {q[1], t.tensor({}, {0.004})})}));
}

/// Opset 21: weights of int4 in blocks, of int8 by rows, activations of int16.
void write_blocked(Writer& t) {
  const Name x = requantised(t, t.input("x", {2, 16}), 0.0001, 0, int16);
  const auto blocked = [&](std::int64_t in, std::int64_t out, ElementType type, double most) {
    return t("DequantizeLinear",
             {t.weight_in({in, out}, {type == uint4 ? 0 : -most, most}, type),
              t.weight_in({in / 8, out}, {0.01, 0.05}), t.weight_in({in / 8, out}, {0, most / 2}, type)},
             {{"axis", 0}, {"block_size", 8}});
  };
  const Name y = t("Relu", {t("MatMul", {x, blocked(16, 24, int4, 7)})});
  t.output(t("MatMul", {y, blocked(24, 8, uint4, 15)}));
}

/// Weights and activations of eight-bit floats, as exported for Hopper.
void write_float8(Writer& t) {
  const auto paired = [&](const Name& x) {
    const Name s = t.tensor({}, {0.01}), z = t.tensor({}, {0}, float8e4m3fn);
    return t("DequantizeLinear", {t("QuantizeLinear", {x, s, z}), s, z});
  };
  const Name x = t.input("x", {3, 8});
  const Name w = t("DequantizeLinear", {t.weight_in({8, 12}, {-2, 2}, float8e4m3fn), t.tensor({}, {0.2})});
  const Name y = gelu(t, t("MatMul", {paired(x), w}));
  t.output(t("MatMul", {paired(y), t("DequantizeLinear",
                                     {t.weight_in({12, 4}, {-2, 2}, float8e4m3fn), t.tensor({}, {0.2})})}));
}

constexpr Export quantised_exports_table[] = {
    {"qdq-cnn-op13", 13, Manner::onnxruntime, write_qdq},
    {"qdq-cnn-op17-torchscript", 17, Manner::torchscript, write_qdq},
    {"qdq-transformer-op17", 17, Manner::onnxruntime, write_qdq_transformer},
    {"qlinear-cnn-op12", 12, Manner::onnxruntime, write_qlinear},
    {"dynamic-quantised-op12", 12, Manner::onnxruntime, write_dynamic},
    {"blocked-int4-op21", 21, Manner::onnxruntime, write_blocked},
    {"float8-op19", 19, Manner::torchscript, write_float8},
};

}  // namespace

std::span<const Export> quantised_exports() { return quantised_exports_table; }

}  // namespace sdip::exports
