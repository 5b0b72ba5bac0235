// Idioms of networks: norms and activations written out, blocks of convolutions, recurrent layers with states,
// correlation volumes, quantised products.
#include <algorithm>
#include <cmath>

#include "tests/generate/idioms.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;

/// LayerNorm or RMSNorm in eight nodes, the latter in float32 now and then; squares by Pow or Mul.
Made norm(Making& m, const Row&, ElementType type) {
  const int given = m.any(type, 2, 4);
  const std::int64_t width = m.shape(given).back();
  const bool wide = type == ElementType::float16 && maybe(m), mean = maybe(m);
  const int x = wide ? m.cast(given, ElementType::float32) : given;
  const int centred = mean ? m.op("Sub", {x, reduced(m, "ReduceMean", x, {-1})}) : x;
  const int squares = maybe(m) ? with_number(m, "Pow", centred, 2) : m.op("Mul", {centred, centred});
  const int root = m.op("Sqrt", {with_number(m, "Add", reduced(m, "ReduceMean", squares, {-1}), 0.01)});
  int y = maybe(m) ? m.op("Div", {centred, root}) : m.op("Mul", {centred, m.op("Reciprocal", {root})});
  if (wide) y = m.cast(y, type);
  const int scale = m.weight(type, {width});
  y = m.op("Mul", maybe(m) ? Made{scale, y} : Made{y, scale});
  return {maybe(m) ? m.op("Add", {y, m.weight(type, {width})}) : y};
}

/// GroupNorm before there was an operator: InstanceNormalization of groups, then scale and bias by channel.
Made group_norm(Making& m, const Row&, ElementType type) {
  const std::int64_t groups = m.draw.between(1, 2), channels = groups * m.draw.between(1, 3);
  const Shape s{m.draw.between(1, 2), channels, m.draw.between(1, 4), m.draw.between(2, 4)};
  const int x = m.like(type, s);
  const int flat = m.op("Reshape", {x, m.ints({0, groups, -1})});
  const int ones = m.constant(type, {groups}, {1, 1}), zeros = m.constant(type, {groups}, {0, 0});
  const int y = m.op("InstanceNormalization", {flat, ones, zeros}, {{"epsilon", 0.01}});
  const int back = m.op("Reshape", {y, maybe(m) ? m.op("Shape", {x}) : m.ints(s)});
  const int scale = maybe(m) ? m.weight(type, {channels, 1, 1}) : unsqueeze(m, m.weight(type, {channels}), {1, 2});
  return {m.op("Add", {m.op("Mul", {back, scale}), m.weight(type, {channels, 1, 1})})};
}

/// x over its length, of at least so much.
Made unit_length(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 2, 3);
  int length = reduced(m, "ReduceL2", x, {-1});
  length = maybe(m) ? m.op("Max", {length, m.scalar(type, 0.25)}) : m.op("Clip", {length, m.scalar(type, 0.25)});
  if (maybe(m)) length = m.op("Expand", {length, m.op("Shape", {x})});
  return {m.op("Div", {x, length})};
}

/// GELU by Erf or Tanh, SiLU, HardSwish, and the products of two halves that GLUs are.
Made activation(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 1, 4);
  const auto silu = [&](int v) {
    return m.op("Mul", maybe(m) ? Made{m.op("Sigmoid", {v}), v} : Made{v, m.op("Sigmoid", {v})});
  };
  const auto gelu = [&](int v) {
    const int erf = m.op("Erf", {with_number(m, "Div", v, std::sqrt(2.0))});
    return with_number(m, "Mul", m.op("Mul", {v, with_number(m, "Add", erf, 1)}), 0.5);
  };
  const std::int64_t width = m.shape(x).back(), kind = m.draw.between(0, 4);
  if (kind == 0) return {gelu(x)};
  if (kind == 1) return {silu(x)};
  if (kind == 2) {
    const int cube = with_number(m, "Mul", with_number(m, "Pow", x, 3), 0.044715);
    const int inner = m.op("Tanh", {with_number(m, "Mul", m.op("Add", {x, cube}), 0.7978845608)});
    return {m.op("Mul", {with_number(m, "Mul", x, 0.5), with_number(m, "Add", inner, 1)})};
  }
  if (kind == 3) {
    const int shifted = m.op("Clip", {with_number(m, "Add", x, 3), m.scalar(type, 0), m.scalar(type, 6)});
    return {with_number(m, "Div", m.op("Mul", {x, shifted}), 6)};
  }
  if (width < 2 || width % 2 != 0) return {silu(x)};
  const Made halves = split(m, x, {width / 2, width / 2}, -1);
  return {m.op("Mul", {halves[0], maybe(m) ? gelu(halves[1]) : silu(halves[1])})};
}

/// Conv, BatchNormalization, an activation, a squeeze-and-excitation, a residual; weights may be normed by nodes.
Made conv_block(Making& m, const Row&, ElementType type) {
  const std::int64_t channels = m.draw.between(1, 4), size = m.draw.between(2, 5);
  const int x = m.like(type, {m.draw.between(1, 2), channels, size, size});
  const bool depthwise = maybe(m);
  int weights = m.constant(type, {channels, depthwise ? 1 : channels, 3, 3}, {-1, 1});
  if (m.draw.one_in(3)) {  // weight norm: g v / |v|
    const int length = reduced(m, "ReduceL2", weights, {1, 2, 3});
    weights = m.op("Mul", {m.op("Div", {weights, length}), m.constant(type, {channels, 1, 1, 1}, {0.5, 1.5})});
  }
  int y = m.op("Conv", {x, weights, maybe(m) ? m.weight(type, {channels}) : absent},
               {{"group", depthwise ? channels : 1}, {"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  const auto each = [&](Range range) { return m.constant(type, {channels}, range); };
  if (maybe(m))
    y = m.op("BatchNormalization", {y, each({0.5, 1.5}), each({-1, 1}), each({-1, 1}), each({0.5, 1.5})},
             {{"epsilon", 0.01}});
  if (maybe(m)) y = m.op("Clip", {y, m.scalar(type, 0), m.scalar(type, 6)});
  if (m.draw.one_in(3)) {
    const int mean = maybe(m) ? m.op("GlobalAveragePool", {y}) : reduced(m, "ReduceMean", y, {2, 3});
    int gate = m.op("Relu", {m.op("Conv", {mean, m.weight(type, {2, channels, 1, 1}), m.weight(type, {2})})});
    gate = m.op("Conv", {gate, m.weight(type, {channels, 2, 1, 1})});
    y = m.op("Mul", {m.op(maybe(m) ? "HardSigmoid" : "Sigmoid", {gate}), y});
  }
  return {maybe(m) ? m.op("Add", {y, x}) : y};
}

/// Channels into pixels by Reshape, Transpose, Reshape; the other way, patches.
Made pixels(Making& m, const Row&, ElementType type) {
  const std::int64_t by = 2, batch = m.draw.between(1, 2), channels = m.draw.between(1, 3),
                     h = m.draw.between(1, 3), w = m.draw.between(1, 3);
  if (maybe(m)) {
    const int x = m.like(type, {batch, channels * by * by, h, w});
    const int apart = m.op("Reshape", {x, m.ints({batch, channels, by, by, h, w})});
    return {m.op("Reshape", {transposed(m, apart, {0, 1, 4, 2, 5, 3}), m.ints({batch, -1, h * by, w * by})})};
  }
  const int x = m.like(type, {batch, channels, h * by, w * by});
  const int apart = m.op("Reshape", {x, m.ints({0, channels, h, by, w, by})});
  return {m.op("Reshape", {transposed(m, apart, {0, 2, 4, 3, 5, 1}), m.ints({batch, h * w, -1})})};
}

/// A recurrent layer as torch.onnx writes it: states cut from those of all layers or made of zeros, directions
/// joined behind.
Made recurrent(Making& m, const Row&, ElementType type) {
  const std::string name = m.draw.of(std::vector<std::string>{"LSTM", "GRU", "RNN"});
  const std::int64_t gates = name == "LSTM"  ? 4
                             : name == "GRU" ? 3
                                             : 1,
                     steps = m.draw.between(1, 4), batch = m.draw.between(1, 2), inputs = m.draw.between(1, 4),
                     hidden = m.draw.between(1, 4), directions = m.draw.between(1, 2);
  const bool batch_first = maybe(m);
  int x = m.like(type, batch_first ? Shape{batch, steps, inputs} : Shape{steps, batch, inputs});
  if (batch_first) x = transposed(m, x, {1, 0, 2});
  const bool zeros = maybe(m);
  const auto state = [&] {
    if (!zeros) return slice(m, m.input(type, {2 * directions, batch, hidden}, {-1, 1}), 0, 0, directions);
    const Tensor zero = zero_tensor(type, {1});
    const int sizes = listed(m, {whole(m, directions), size_of(m, x, 1), whole(m, hidden)});
    return m.op("ConstantOfShape", {sizes}, {{"value", proto_of(zero, "", true)}});
  };
  const auto weights = [&](std::int64_t rows, std::int64_t columns) {
    return m.constant(type, {directions, rows, columns}, {-1, 1});
  };
  const int lengths =
      m.draw.one_in(3) ? m.constant(ElementType::int32, {batch}, {1, static_cast<double>(steps)}) : absent;
  Made operands{x,
                weights(gates * hidden, inputs),
                weights(gates * hidden, hidden),
                m.constant(type, {directions, 2 * gates * hidden}, {-1, 1}),
                lengths,
                state()};
  if (name == "LSTM") operands.push_back(state());
  AttributeList attributes{{"hidden_size", hidden}, {"direction", directions == 2 ? "bidirectional" : "forward"}};
  if (name == "GRU") attributes.emplace_back("linear_before_reset", 1);
  const Made made = m.node("", name, operands, attributes, name == "LSTM" ? 3 : 2);
  int y = made[0];
  if (directions == 1)
    y = squeeze(m, y, {1});
  else
    y = m.op("Reshape", {transposed(m, y, {0, 2, 1, 3}), m.ints({0, 0, -1})});
  return {batch_first ? transposed(m, y, {1, 0, 2}) : y, made[1]};
}

/// RAFT's: all pairs of pixels, pooled, looked up about a place by GridSample.
Made correlation(Making& m, const Row&, ElementType type) {
  const std::int64_t batch = m.draw.between(1, 2), channels = m.draw.between(1, 4), h = 2, w = m.draw.between(2, 4),
                     pixels = h * w;
  const Shape s{batch, channels, h, w};
  const auto flat = [&](int x) { return m.op("Reshape", {x, m.ints({batch, channels, pixels})}); };
  const int a = flat(m.like(type, s)), b = flat(m.like(type, s));
  const int all = with_number(m, "Div", m.op("MatMul", {transposed(m, a, {0, 2, 1}), b}),
                              std::sqrt(static_cast<double>(channels)));
  int volume = m.op("Reshape", {all, m.ints({batch * pixels, 1, h, w})});
  if (maybe(m)) volume = m.op("AveragePool", {volume}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const int places = m.like(type, {batch * pixels, 3, 3, 2}, {0, 3});
  const Made xy = split(m, places, {1, 1}, -1);
  const auto normed = [&](int v, std::int64_t size) {
    return with_number(m, "Sub",
                       with_number(m, "Div", with_number(m, "Mul", v, 2),
                                   static_cast<double>(std::max<std::int64_t>(1, size - 1))),
                       1);
  };
  const int grid = joined(m, {normed(xy[0], w), normed(xy[1], h)}, -1);
  if (m.opset < 16) return {volume, grid};
  const int found =
      m.op("GridSample", {volume, grid}, {{"align_corners", 1}, {"mode", m.opset < 20 ? "bilinear" : "linear"}});
  return {transposed(m, m.op("Reshape", {found, m.ints({batch, h, w, 9})}), {0, 3, 1, 2})};
}

/// Each pixel of the finer image is a mixture of the nine about it: convex upsampling of RAFT.
Made mixture(Making& m, const Row&, ElementType type) {
  const std::int64_t h = m.draw.between(1, 3), w = m.draw.between(2, 3);
  const int flow = m.like(type, {1, 2, h, w}), mask = m.like(type, {1, 9 * 4, h, w});
  int weights = m.op("Softmax", {m.op("Reshape", {mask, m.ints({1, 1, 9, 2, 2, h, w})})}, {{"axis", 2}});
  if (m.opset < 13) return {weights};  // of all behind the axis there
  const int wide = m.op("Pad", {flow, m.ints({0, 0, 1, 1, 0, 0, 1, 1})});
  Made shifts;
  for (std::int64_t i = 0; i < 9; ++i)
    shifts.push_back(unsqueeze(m, slice(m, slice(m, wide, 2, i / 3, i / 3 + h), 3, i % 3, i % 3 + w), {2}));
  const int near = unsqueeze(m, joined(m, shifts, 2), {3, 4});
  const int sum = m.op("ReduceSum", {m.op("Mul", {weights, near}), m.ints({2})}, {{"keepdims", 0}});
  return {m.op("Reshape", {transposed(m, sum, {0, 1, 4, 2, 5, 3}), m.ints({1, 2, 2 * h, 2 * w})})};
}

/// Quantised as it runs: DynamicQuantizeLinear, MatMulInteger, Cast, Mul.
Made dynamic_product(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 2, 3);
  if (element_count(m.shape(x)) == 0) return {m.op("Identity", {x})};
  const std::int64_t out = m.draw.between(1, 5);
  const Made q = m.node("", "DynamicQuantizeLinear", {x}, {}, 3);
  const bool is_signed = maybe(m);
  const ElementType code = is_signed ? ElementType::int8 : ElementType::uint8;
  const int weights = m.constant(code, {m.shape(x).back(), out}, is_signed ? Range{-60, 60} : Range{0, 200});
  const int zero = m.constant(code, {}, is_signed ? Range{0, 0} : Range{100, 128});
  const int sums = m.cast(m.op("MatMulInteger", {q[0], weights, q[2], zero}), ElementType::float32);
  const int scale = m.op("Mul", {q[1], m.constant(ElementType::float32, {}, {0.02, 0.1})});
  const int y = m.op("Mul", {sums, scale});
  return {maybe(m) ? m.op("Add", {y, m.weight(type, {out})}) : y};
}

/// QDQ about a Conv: weights by channel, its bias in integers, the result quantised and used twice.
Made quantised_conv(Making& m, const Row&, ElementType type) {
  const std::int64_t channels = m.draw.between(1, 3), out = m.draw.between(1, 4), size = m.draw.between(2, 4);
  const ElementType code = maybe(m) ? ElementType::int8 : ElementType::uint8;
  const auto scale = [&](Shape of = {}) { return m.constant(type, of, {0.02, 0.1}); };
  const auto through = [&](int x) {
    const int s = scale(), zero = m.constant(code, {}, {0, 3});
    return m.op("DequantizeLinear", {m.op("QuantizeLinear", {x, s, zero}), s, zero});
  };
  const int x = through(m.like(type, {1, channels, size, size}));
  const int kernel = m.constant(ElementType::int8, {out, channels, 2, 2}, {-60, 60});
  const int weights =
      m.opset < 13 ? m.op("DequantizeLinear", {kernel, scale()})
                   : m.op("DequantizeLinear", {kernel, scale({out}), m.constant(ElementType::int8, {out}, {0, 0})},
                          {{"axis", 0}});
  const int bias = m.op("DequantizeLinear", {m.constant(ElementType::int32, {out}, {-20, 20}), scale()});
  int y = m.op("Conv", {x, weights, maybe(m) ? bias : absent});
  if (maybe(m)) y = m.op("Relu", {y});
  y = through(y);
  return {m.op("Add", {y, through(m.op("Sigmoid", {y}))})};
}

constexpr Row network_idioms_table[] = {
    {"idiom", "activation", half_floats, activation, -1, 99, idioms_from},
    {"idiom", "conv_block", half_floats, conv_block, -1, 99, idioms_from},
    {"idiom", "correlation", half_floats, correlation, -1, 99, idioms_from},
    {"idiom", "dynamic_product", single, dynamic_product, -1, 99, idioms_from},
    {"idiom", "group_norm", half_floats, group_norm, -1, 99, idioms_from},
    {"idiom", "mixture", half_floats, mixture, -1, 99, idioms_from},
    {"idiom", "norm", half_floats, norm, -1, 99, idioms_from},
    {"idiom", "pixels", half_floats, pixels, -1, 99, idioms_from},
    {"idiom", "quantised_conv", single, quantised_conv, -1, 99, idioms_from},
    {"idiom", "recurrent", half_floats, recurrent, -1, 99, idioms_from},
    {"idiom", "unit_length", half_floats, unit_length, -1, 99, idioms_from},
};

}  // namespace

std::span<const Row> network_idioms() { return network_idioms_table; }

}  // namespace sdip::generate
