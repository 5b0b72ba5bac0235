// Random feed-forwards.
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
};

}  // namespace

MadeNetwork random_feed_forwards(Draw& draw) {
  Rows rows{draw, NetworkMaker(draw)};
  const ValueId input = rows.make.input({draw.between(1, 2), draw.between(5, 20), draw.between(3, 9)});
  ValueId x = input;
  for (std::int64_t i = draw.between(2, 6); i > 0; --i) {
    const std::int64_t width = rows.width(x), kind = draw.between(0, 6);
    if (kind == 0)
      x = rows.make.node("Relu", {x});
    else if (kind == 1 && rows.make.shape(x) == rows.make.shape(input))
      x = rows.make.node("Add", {x, input});
    else if (kind == 2 && width > 1)
      x = rows.make.node("LayerNormalization", {x, rows.make.weight({width}, 1), rows.make.weight({width}, 1)},
                         {{"axis", std::int64_t{-1}}, {"epsilon", 0.01}});
    else if (kind <= 4)
      x = rows.gate(x);
    else
      x = rows.product(x, draw.one_in(2) ? width : draw.between(2, 12));
  }
  return rows.make.finish({x}, false);
}

}  // namespace sdip
