// Random feed-forwards, and attention between them.
#include "tests/core/exec/random_graph.h"

namespace sdip {
namespace {

struct Rows {
  Draw& draw;
  NetworkMaker make;

  std::int64_t width(ValueId v) const { return make.shape(v).back(); }

  ValueId product(ValueId from, std::int64_t out) {
    const ValueId y = make.node("MatMul", {from, make.weight({width(from), out}, width(from))});
    return draw.one_in(2) ? make.node("Add", {y, make.weight({out}, 2)}) : y;
  }

  /// Two products, or one whose result is cut in two.
  ValueId gate(ValueId x) {
    const std::int64_t hidden = draw.between(2, 12);
    if (draw.one_in(2)) {
      const ValueId value = product(x, hidden);
      return make.node("Mul", {value, make.node("Sigmoid", {product(x, hidden)})});
    }
    const auto halves = make.nodes("", "Split", {product(x, 2 * hidden), make.ints({hidden, hidden})},
                                   {{"axis", std::int64_t{-1}}}, 2);
    const std::size_t first = draw.one_in(2) ? 0 : 1;
    return make.node("Mul", {halves[first], make.nodes("sdip", "Gelu", {halves[1 - first]})[0]});
  }

  ValueId by_heads(ValueId rows, std::int64_t heads, const std::vector<std::int64_t>& order) {
    const Shape shape = make.shape(rows);
    const ValueId split = make.node("Reshape", {rows, make.ints({shape[0], shape[1], heads, shape[2] / heads})});
    return make.node("Transpose", {split}, {{"perm", order}});
  }

  /// The same rows in other frames, rows by features turned, or a row, of an input, with each of them.
  ValueId otherwise(ValueId x) {
    const Shape shape = make.shape(x);
    const std::int64_t rows = shape[0] * shape[1];
    if (draw.one_in(3) && rows % 2 == 0)
      return make.node("Reshape",
                       {x, make.ints({shape[0] == 2 ? 1 : 2, shape[0] == 2 ? rows : rows / 2, shape[2]})});
    if (draw.one_in(2) && shape[1] == shape[2])
      return make.node("Add", {x, make.node("Transpose", {x}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}})});
    return make.node("Mul", {make.input({1, 1, shape[2]}), x});
  }

  /// Attention among the rows themselves or over others, with a scale before the softmax or without.
  ValueId attention(ValueId x, ValueId others) {
    const Shape shape = make.shape(x);
    const std::int64_t heads = draw.between(1, 3), width = heads * draw.between(1, 4);
    const ValueId from = draw.one_in(3) || make.shape(others)[0] != shape[0] ? x : others;
    const ValueId q = by_heads(product(x, width), heads, {0, 2, 1, 3});
    const ValueId k = by_heads(product(from, width), heads, {0, 2, 3, 1});
    const ValueId v = by_heads(product(from, width), heads, {0, 2, 1, 3});
    ValueId scores = make.node("MatMul", {q, k});
    if (draw.one_in(2)) scores = make.node("Mul", {scores, make.weight({}, 4)});
    const ValueId mixed = make.node("MatMul", {make.node("Softmax", {scores}), v});
    const ValueId turned = make.node("Transpose", {mixed}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    return make.node("Reshape", {turned, make.ints({shape[0], shape[1], width})});
  }
};

}  // namespace

MadeNetwork random_feed_forwards(Draw& draw) {
  Rows rows{draw, NetworkMaker(draw)};
  const ValueId input = rows.make.input({draw.between(1, 2), draw.between(5, 20), draw.between(3, 9)});
  const ValueId others = rows.make.input({rows.make.shape(input)[0], draw.between(2, 6), draw.between(2, 6)});
  ValueId x = input, earlier = input;
  for (std::int64_t i = draw.between(2, 6); i > 0; --i) {
    const std::int64_t width = rows.width(x), kind = draw.between(0, 10);
    if (rows.draw.one_in(2)) earlier = x;
    if (kind == 0)
      x = rows.make.node("Relu", {x});
    else if (kind == 1 && rows.make.shape(x) == rows.make.shape(earlier))
      x = rows.make.node("Add", {x, earlier});
    else if (kind == 2 && width > 1)
      x = rows.make.node("LayerNormalization", {x, rows.make.weight({width}, 1), rows.make.weight({width}, 1)},
                         {{"axis", std::int64_t{-1}}, {"epsilon", 0.01}});
    else if (kind <= 4)
      x = rows.gate(x);
    else if (kind <= 6)
      x = rows.product(x, draw.one_in(2) ? width : draw.between(2, 12));
    else if (kind == 7)
      x = rows.otherwise(x);
    else
      x = rows.product(rows.attention(x, others), rows.width(earlier));
  }
  if (rows.make.shape(x) == rows.make.shape(earlier) && x != earlier) x = rows.make.node("Add", {x, earlier});
  return rows.make.finish({x}, false);
}

}  // namespace sdip
