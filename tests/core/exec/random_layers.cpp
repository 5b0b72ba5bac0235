// Random layers, one function a kind of value.
#include <algorithm>
#include <functional>

#include "tests/core/exec/random_graph.h"

namespace sdip {
namespace {

using Ints = std::vector<std::int64_t>;

struct Layers {
  Draw& draw;
  NetworkMaker make;
  std::vector<ValueId> values{};  // all so far

  const Shape& shape(ValueId v) const { return make.shape(v); }
  std::int64_t size(ValueId v, std::size_t axis) const { return shape(v)[axis]; }

  /// An earlier value of that shape, or `v`.
  ValueId alike(ValueId v, bool same_channels = true) {
    std::vector<ValueId> found;
    for (const ValueId other : values) {
      Shape a = shape(other), b = shape(v);
      if (a.size() != b.size()) continue;
      if (!same_channels && a.size() > 1) a[1] = b[1] = 1;
      if (a == b) found.push_back(other);
    }
    return found.empty() ? v : draw.of(found);
  }
};

ValueId conv(Layers& l, ValueId x) {
  const std::int64_t channels = l.size(x, 1);
  const std::int64_t group = channels % 2 == 0 && l.draw.one_in(3) ? (l.draw.one_in(2) ? channels : 2) : 1;
  const std::int64_t out = group * l.draw.between(1, group > 1 ? 2 : 7);
  const std::int64_t kh = std::min<std::int64_t>(l.size(x, 2), l.draw.between(1, 3));
  const std::int64_t kw = std::min<std::int64_t>(l.size(x, 3), l.draw.between(1, 3));
  const std::int64_t dilation = l.draw.one_in(4) && kh > 1 && l.size(x, 2) > 4 ? 2 : 1;
  const std::int64_t stride = l.draw.one_in(3) ? 2 : 1;
  const Attributes attributes{{"pads", Ints{l.draw.between(0, kh - 1), kw / 2, l.draw.between(0, 1), kw / 2}},
                              {"strides", Ints{stride, l.draw.between(1, 2)}},
                              {"dilations", Ints{dilation, 1}},
                              {"group", group}};
  std::vector<ValueId> inputs{x, l.make.weight({out, channels / group, kh, kw}, channels / group * kh * kw)};
  if (l.draw.one_in(2)) inputs.push_back(l.make.weight({out}, 2));
  return l.make.node("Conv", inputs, attributes);
}

ValueId linear(Layers& l, ValueId x) {
  const std::int64_t depth = l.shape(x).back(), out = l.draw.between(1, 9);
  const ValueId product = l.make.node("MatMul", {x, l.make.weight({depth, out}, depth)});
  return l.draw.one_in(2) ? l.make.node("Add", {product, l.make.weight({out}, 2)}) : product;
}

ValueId activation(Layers& l, ValueId x) {
  static const std::vector<const char*> types{"Relu", "Sigmoid", "Tanh", "Elu", "HardSigmoid", "Softplus", "Neg"};
  if (l.draw.one_in(3)) return l.make.nodes("sdip", l.draw.one_in(2) ? "Silu" : "Gelu", {x})[0];
  return l.make.node(l.draw.of(types), {x});
}

ValueId pointwise(Layers& l, ValueId x) {
  const auto type = l.draw.of(std::vector<const char*>{"Add", "Mul", "Sub", "Add", "Max"});
  Shape shape = l.shape(x);
  switch (l.draw.between(0, 3)) {
    case 0:
      return l.make.node(type, {x, l.make.weight({shape.back()}, 1)});
    case 1:
      for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis)
        if (axis != 1) shape[axis] = 1;
      return l.make.node(type, {l.make.weight(shape, 1), x});
    case 2:
      return l.make.node(type, {x, l.make.weight({}, 1)});
    default:
      return l.make.node(type, {l.alike(x), x});
  }
}

ValueId norm(Layers& l, ValueId x) {
  const std::int64_t channels = l.size(x, 1), last = l.shape(x).back();
  if (l.shape(x).size() == 4) {
    const std::int64_t groups = channels % 2 == 0 && l.draw.one_in(2) ? 2 : 1;
    return l.make.nodes("sdip", "GroupNorm", {x, l.make.weight({channels}, 1), l.make.weight({channels}, 1)},
                        {{"num_groups", groups}, {"epsilon", 0.01}})[0];
  }
  return l.make.node("LayerNormalization", {x, l.make.weight({last}, 1), l.make.weight({last}, 1)},
                     {{"axis", std::int64_t{-1}}, {"epsilon", 0.01}});
}

ValueId moved(Layers& l, ValueId x) {
  Shape shape = l.shape(x);
  const auto axis = static_cast<std::int64_t>(l.draw.between(0, std::ssize(shape) - 1));
  const std::int64_t length = shape[static_cast<std::size_t>(axis)];
  switch (l.draw.between(0, 4)) {
    case 0: {
      const bool blocks = shape.size() == 4 && shape[2] % 2 == 0 && shape[3] % 2 == 0;
      if (blocks && l.draw.one_in(2)) return l.make.node("SpaceToDepth", {x}, {{"blocksize", std::int64_t{2}}});
      if (shape.size() == 4 && shape[1] % 4 == 0)
        return l.make.node("DepthToSpace", {x}, {{"blocksize", std::int64_t{2}}});
      Ints perm;
      for (std::int64_t i = 0; i < std::ssize(shape); ++i) perm.push_back(i);
      for (std::size_t i = perm.size(); i-- > 1;)
        std::swap(perm[i], perm[static_cast<std::size_t>(l.draw.between(0, static_cast<std::int64_t>(i)))]);
      return l.make.node("Transpose", {x}, {{"perm", perm}});
    }
    case 1:
      if (length < 2) return x;
      return l.draw.of(l.make.nodes("", "Split", {x, l.make.ints({1, length - 1})}, {{"axis", axis}}, 2));
    case 2:
      return l.make.node("Concat", {x, l.alike(x, false)}, {{"axis", std::int64_t{1}}});
    case 3:
      return l.make.node("Slice", {x, l.make.ints({0}), l.make.ints({(length + 1) / 2}), l.make.ints({axis})});
    default:
      return l.make.node("Gather", {x, l.make.ints({length - 1, 0})}, {{"axis", axis}});
  }
}

/// To [batch, rows, columns] or to a feature map.
ValueId reshaped(Layers& l, ValueId x) {
  const Shape shape = l.shape(x);
  if (shape.size() == 4) return l.make.node("Reshape", {x, l.make.ints({shape[0], shape[1], shape[2] * shape[3]})});
  const std::int64_t rows = shape[1] % 2 == 0 ? 2 : 1;
  return l.make.node("Reshape", {x, l.make.ints({shape[0], rows, shape[1] / rows, shape[2]})});
}

ValueId pooled(Layers& l, ValueId x) {
  const Shape shape = l.shape(x);
  switch (l.draw.between(0, 3)) {
    case 0:
      return l.make.node("GlobalAveragePool", {x});
    case 1:
      return l.make.node("Resize", {x, none, none, l.make.ints({shape[0], shape[1], 2 * shape[2], shape[3]})},
                         {{"mode", std::string("nearest")},
                          {"coordinate_transformation_mode", std::string("asymmetric")},
                          {"nearest_mode", std::string("floor")}});
    default: {
      const Ints kernel{std::min<std::int64_t>(2, shape[2]), std::min<std::int64_t>(2, shape[3])};
      return l.make.node(l.draw.one_in(2) ? "MaxPool" : "AveragePool", {x},
                         {{"kernel_shape", kernel}, {"strides", Ints{l.draw.between(1, 2), 1}}});
    }
  }
}

/// Attention of rows [batch, tokens, width], with a residual.
ValueId attention(Layers& l, ValueId x) {
  const Shape shape = l.shape(x);
  const std::int64_t heads = shape[2] % 2 == 0 ? 2 : 1, width = shape[2] / heads;
  const auto project = [&](ValueId from, const Ints& perm) {
    const ValueId product = l.make.node("MatMul", {from, l.make.weight({shape[2], shape[2]}, shape[2])});
    const ValueId split =
        l.make.node("Reshape", {product, l.make.ints({shape[0], l.shape(from)[1], heads, width})});
    return l.make.node("Transpose", {split}, {{"perm", perm}});
  };
  const ValueId keys = l.draw.one_in(2) ? x : l.make.node("Concat", {x, x}, {{"axis", std::int64_t{1}}});
  const ValueId q = project(x, {0, 2, 1, 3}), k = project(keys, {0, 2, 3, 1}), v = project(keys, {0, 2, 1, 3});
  const ValueId scores = l.make.node("Mul", {l.make.node("MatMul", {q, k}), l.make.weight({}, 4)});
  const ValueId mixed = l.make.node("MatMul", {l.make.node("Softmax", {scores}), v});
  const ValueId joined = l.make.node("Reshape", {l.make.node("Transpose", {mixed}, {{"perm", Ints{0, 2, 1, 3}}}),
                                                 l.make.ints({shape[0], shape[1], shape[2]})});
  return l.make.node("Add", {joined, x});
}

/// Quantised, multiplied by an int8 weight, and back to floats.
ValueId quantised(Layers& l, ValueId x) {
  const Shape shape = l.shape(x);
  const bool map = shape.size() == 4;
  const std::int64_t depth = map ? shape[1] : shape.back(), out = l.draw.between(1, 5);
  const auto scale = [&](double of) { return l.make.number(of); };
  const auto zero = [&] { return l.make.weight({}, 1, ElementType::int8); };
  const ValueId x_scale = scale(0.03), x_zero = zero(), y_scale = scale(0.05), y_zero = zero();
  const ValueId narrow = l.make.node("QuantizeLinear", {x, x_scale, x_zero});
  const ValueId w = l.make.weight(map ? Shape{out, depth, 1, 1} : Shape{depth, out}, 1, ElementType::int8);
  const ValueId w_scale = l.draw.one_in(2) ? scale(0.02) : l.make.weight({out}, 400);
  const ValueId w_zero = element_count(l.shape(w_scale)) == 1 && l.shape(w_scale).empty()
                             ? zero()
                             : l.make.weight({out}, 1, ElementType::int8);
  std::vector<ValueId> inputs{narrow, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero};
  if (map && l.draw.one_in(2)) inputs.push_back(l.make.weight({out}, 1, ElementType::int32));
  const ValueId product = l.make.node(map ? "QLinearConv" : "QLinearMatMul", inputs);
  return l.make.node("DequantizeLinear", {product, y_scale, y_zero});
}

ValueId next_layer(Layers& l, ValueId x) {
  const std::size_t rank = l.shape(x).size();
  switch (l.draw.between(0, 12)) {
    case 0:
    case 1:
    case 2:
      return rank == 4 ? conv(l, x) : linear(l, x);
    case 3:
      return activation(l, x);
    case 4:
    case 5:
      return pointwise(l, x);
    case 6:
      return norm(l, x);
    case 7:
      return moved(l, x);
    case 8:
      return rank == 4 && l.draw.one_in(2) ? pooled(l, x) : reshaped(l, x);
    case 9:
      return rank == 3 ? attention(l, x) : conv(l, x);
    case 10:
      return l.make.node("Softmax", {x}, {{"axis", l.draw.between(1, static_cast<std::int64_t>(rank) - 1)}});
    case 11:
      return quantised(l, x);
    default:
      return l.draw.one_in(2) ? l.make.node("ReduceMean", {x}, {{"axes", Ints{-1}}}) : linear(l, x);
  }
}

/// To [batch, rows, columns].
ValueId as_rows(Layers& l, ValueId x) {
  const Shape shape = l.shape(x);
  if (shape.size() == 3) return x;
  return l.make.node("Reshape",
                     {x, l.make.ints({shape[0], element_count(shape) / shape[0] / shape.back(), shape.back()})});
}

/// A layer of any kind and direction. Some of its outputs are read: the last of them goes on, what else is read is
/// added to the values there are.
ValueId recurrent(Layers& l, ValueId from) {
  const ValueId x = as_rows(l, from);
  const auto [type, gates] =
      l.draw.of(std::vector<std::pair<const char*, std::int64_t>>{{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}});
  const char* direction = l.draw.of(std::vector<const char*>{"forward", "reverse", "bidirectional"});
  const bool batch_first = l.draw.one_in(3), lstm = gates == 4;
  const std::int64_t directions = direction[0] == 'b' ? 2 : 1, hidden = l.draw.between(1, 6);
  const std::int64_t batch = l.size(x, batch_first ? 0 : 1), inputs = l.size(x, 2);
  const Shape state = batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  // A weight, or, now and then, one that is computed from an input.
  const auto given = [&](const Shape& shape, std::int64_t fan_in) {
    const ValueId weight = l.make.weight(shape, fan_in);
    if (!l.draw.one_in(8)) return weight;
    return l.make.node("Mul", {weight, l.make.node("ReduceMax", {x}, {{"keepdims", std::int64_t{0}}})});
  };
  std::vector<ValueId> operands{x, given({directions, gates * hidden, inputs}, inputs),
                                given({directions, gates * hidden, hidden}, hidden)};
  operands.push_back(l.draw.one_in(2) ? given({directions, 2 * gates * hidden}, 4) : none);
  operands.push_back(none);
  operands.push_back(l.draw.one_in(2) ? given(state, 1) : none);
  if (lstm) operands.push_back(l.draw.one_in(2) ? given(state, 1) : none);
  if (lstm) operands.push_back(l.draw.one_in(3) ? given({directions, 3 * hidden}, 1) : none);
  Attributes attributes{
      {"direction", std::string(direction)}, {"hidden_size", hidden}, {"layout", std::int64_t{batch_first}}};
  if (gates == 3) attributes["linear_before_reset"] = l.draw.between(0, 1);
  const auto outputs = l.make.nodes("", type, operands, attributes, lstm ? 3 : 2);
  std::vector<ValueId> used;
  for (const ValueId out : outputs)
    if (l.draw.one_in(2)) used.push_back(out);
  if (used.empty()) used.push_back(l.draw.of(outputs));
  for (ValueId& v : used) {
    v = as_rows(l, v);
    if (v != used.back()) l.values.push_back(v);
  }
  return used.back();
}

/// A row or column of the value, turned or not, beside a constant or itself: the result is larger than both.
ValueId broadcast_both_ways(Layers& l, ValueId x) {
  ValueId turned = x;
  if (l.draw.one_in(2)) {
    Ints perm;
    for (std::int64_t i = 0; i < std::ssize(l.shape(x)); ++i) perm.insert(perm.begin() + l.draw.between(0, i), i);
    turned = l.make.node("Transpose", {x}, {{"perm", perm}});
  }
  if (l.draw.one_in(2)) turned = l.make.node("Relu", {turned});
  const std::int64_t count = element_count(l.shape(turned));
  const bool rank4 = l.draw.one_in(2);
  const ValueId row =
      l.make.node("Reshape", {turned, l.make.ints(rank4 ? Ints{1, 1, 1, count} : Ints{1, 1, count})});
  const std::int64_t times = l.draw.between(2, 5);
  const Shape column = rank4 ? Shape{1, l.draw.between(1, 2), times, 1} : Shape{1, times, 1};
  const auto type = l.draw.of(std::vector<const char*>{"Add", "Mul", "Max", "Sub"});
  if (l.draw.one_in(2)) return l.make.node(type, {row, l.make.weight(column)});
  return l.make.node(type, {l.make.weight(column), row});
}

/// A product of [a, b, rows, depth] with weights of both leading axes, of the last, of one that repeats, or of
/// none.
ValueId batched_product(Layers& l, ValueId from) {
  const Shape shape = l.shape(as_rows(l, from));
  const std::int64_t parts = shape[1] % 3 == 0 ? 3 : shape[1] % 2 == 0 ? 2 : 1;
  const ValueId x =
      l.make.node("Reshape", {as_rows(l, from), l.make.ints({shape[0], parts, shape[1] / parts, shape[2]})});
  const std::int64_t out = l.draw.between(1, 5);
  const std::vector<Shape> leading{{shape[0], parts}, {parts}, {1, parts}, {shape[0], 1}, {}};
  Shape weight = l.draw.of(leading);
  weight.insert(weight.end(), {shape[2], out});
  return l.make.node("MatMul", {x, l.make.weight(weight, shape[2])});
}

ValueId next_foreign_layer(Layers& l, ValueId x) {
  switch (l.draw.between(0, 9)) {
    case 0:
    case 1:
      return recurrent(l, x);
    case 2:
    case 3:
      return broadcast_both_ways(l, x);
    case 4:
      return batched_product(l, x);
    default:
      return next_layer(l, x);
  }
}

ValueId next_integer_layer(Layers& l, ValueId x) {
  switch (l.draw.between(0, 4)) {
    case 0:
      return l.make.node("MatMul",
                         {x, l.make.weight({l.shape(x).back(), l.draw.between(1, 7)}, 1, ElementType::int32)});
    case 1:
      return l.make.node("Add", {x, l.alike(x)});
    case 2:
      return l.make.node("Mul", {x, l.make.weight({l.shape(x).back()}, 1, ElementType::int32)});
    case 3:
      return l.make.node("MatMul", {x, l.make.node("Transpose", {l.alike(x)}, {{"perm", Ints{0, 2, 1}}})});
    default:
      return moved(l, x);
  }
}

MadeNetwork network(Draw& draw, std::int64_t count, ElementType type, ValueId (*next)(Layers&, ValueId)) {
  Layers l{draw, NetworkMaker(draw)};
  const bool maps = type == ElementType::float32 && draw.one_in(2);
  const Shape shape = maps ? Shape{draw.between(1, 2), draw.between(1, 6), draw.between(3, 9), draw.between(3, 7)}
                           : Shape{draw.between(1, 2), draw.between(2, 9), draw.between(2, 8)};
  ValueId x = l.make.input(shape, type);
  l.values.push_back(x);
  for (std::int64_t i = 0; i < count; ++i) {
    const ValueId before = l.draw.one_in(6) ? l.draw.of(l.values) : x;
    x = next(l, before);
    if (element_count(l.shape(x)) == 0 || element_count(l.shape(x)) > 3000) {
      x = before;
      continue;
    }
    l.values.push_back(x);
  }
  std::vector<ValueId> outputs{l.make.node("Add", {l.values.back(), l.values.back()})};
  if (draw.one_in(3)) outputs.push_back(draw.of(l.values));
  return l.make.finish(outputs, draw.one_in(2));
}

}  // namespace

MadeNetwork random_network(Draw& draw, std::int64_t count) {
  return network(draw, count, ElementType::float32, next_layer);
}

MadeNetwork random_foreign_network(Draw& draw, std::int64_t count) {
  return network(draw, count, ElementType::float32, next_foreign_layer);
}

MadeNetwork random_integer_network(Draw& draw, std::int64_t count) {
  return network(draw, count, ElementType::int32, next_integer_layer);
}

}  // namespace sdip
