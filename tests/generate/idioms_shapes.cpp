// Idioms of shapes: how exporters write view, expand, narrow, flip, roll, stack, unbind, pad, interpolate.
#include <algorithm>

#include "tests/generate/idioms.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;

/// view(x.size(0), -1, ...): sizes gathered, some multiplied, others known, -1 or 0.
Made view(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 2, 4);
  const std::int64_t rank = std::ssize(m.shape(x));
  if (element_count(m.shape(x)) == 0) return {m.op("Identity", {x})};
  switch (m.draw.between(0, 4)) {
    case 0:
      return {m.op("Reshape", {x, listed(m, {size_of(m, x, 0), whole(m, -1)})})};
    case 1: {
      const int merged = m.op("Mul", {size_of(m, x, 0), size_of(m, x, 1)});
      return {m.op("Reshape", {x, listed(m, {merged, whole(m, -1)})})};
    }
    case 2: {
      const int front = slice(m, m.op("Shape", {x}), 0, 0, -1);
      return {m.op("Reshape", {x, joined(m, {front, m.ints({1, -1})}, 0)})};
    }
    case 3: {
      const int other = m.op("Reshape", {x, m.ints({0, -1})});
      return {m.op("Reshape", {m.op("Identity", {other}), m.op("Shape", {x})})};
    }
    default: {  // as one, the sizes divided by what they were multiplied by
      const int twice = m.op("Mul", {size_of(m, x, rank - 1), whole(m, 2)});
      const int back = m.cast(
          m.op("Floor", {m.op("Div", {m.cast(twice, ElementType::float32), m.scalar(ElementType::float32, 2)})}),
          ElementType::int64);
      return {m.op("Reshape", {x, listed(m, {whole(m, -1), back})})};
    }
  }
}

/// expand(-1, n, ...) of torch.onnx: sizes of -1 become 1 by ConstantOfShape, Mul, Equal and Where.
Made expand(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 1, 3);
  Shape sizes = m.shape(x);
  for (std::int64_t& d : sizes)
    if (m.draw.one_in(2)) d = d == 1 ? m.draw.between(1, 3) : -1;
  if (maybe(m) && element_count(m.shape(x)) < 200) sizes.insert(sizes.begin(), m.draw.between(1, 3));
  const int wanted = m.ints(sizes);
  const Tensor one{ElementType::int64, {1}, {1}, {}};
  const int ones = m.op("ConstantOfShape", {maybe(m) ? m.op("Shape", {wanted}) : m.ints({std::ssize(sizes)})},
                        {{"value", proto_of(one, "", maybe(m))}});
  const int unknown = m.op("Equal", {wanted, m.op("Mul", {ones, whole(m, -1)})});
  return {m.op("Expand", {x, m.op("Where", {unknown, ones, wanted})})};
}

/// narrow, chunk and flip: ends far behind or before the value, or computed from its size.
Made narrow(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 1, 4);
  const std::int64_t axis = axis_of(m, std::ssize(m.shape(x)));
  switch (m.draw.between(0, 3)) {
    case 0:
      return {slice(m, x, axis, m.draw.between(-2, 1), furthest)};
    case 1:
      return {slice(m, x, axis, -1, -furthest - 1, -1)};
    case 2:
      return {slice(m, x, axis, m.draw.one_in(2) ? 0 : -furthest - 1, furthest, 2)};
    default: {
      const int half = m.op("Div", {m.op("Add", {size_of(m, x, axis), whole(m, 1)}), whole(m, 2)});
      const int at = unsqueeze(m, half, {0});
      const Made halves{m.op("Slice", {x, m.ints({0}), at, m.ints({axis})}),
                        m.op("Slice", {x, at, m.ints({furthest}), m.ints({axis}), m.ints({1})})};
      return {joined(m, {halves[1], halves[0]}, axis)};
    }
  }
}

/// torch.roll: what falls off one end comes in at the other.
Made roll(Making& m, const Row&, ElementType type) {
  int x = m.any(type, 2, 4);
  const std::int64_t rank = std::ssize(m.shape(x));
  for (std::int64_t axis = rank - m.draw.between(1, 2); axis < rank; ++axis) {
    const std::int64_t by = m.draw.between(-2, 2);
    if (by == 0) continue;
    x = joined(m, {slice(m, x, axis, -by, furthest), slice(m, x, axis, 0, -by)}, axis);
  }
  return {x};
}

/// unbind, something done with each, stack.
Made unbind(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 2, 3);
  const std::int64_t axis = m.draw.between(0, 1), size = m.shape(x)[static_cast<std::size_t>(axis)];
  Made parts;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(size, 4); ++i) {
    const int part = m.op("Gather", {x, whole(m, m.draw.one_in(4) ? i - size : i)}, {{"axis", axis}});
    parts.push_back(unsqueeze(m, maybe(m) ? m.op("Identity", {part}) : part, {axis}));
  }
  if (parts.empty()) return {m.op("Identity", {x})};
  std::reverse(parts.begin(), parts.end());
  return {joined(m, parts, axis)};
}

/// Split, each part changed or not, joined in another order; a part may be used twice, or not at all.
Made parts(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 1, 4);
  const std::int64_t axis = axis_of(m, std::ssize(m.shape(x)));
  const std::int64_t size =
      m.shape(x)[static_cast<std::size_t>((axis + std::ssize(m.shape(x))) % std::ssize(m.shape(x)))];
  if (size < 2) return {m.op("Identity", {m.op("Identity", {x})})};
  const std::int64_t first = size % 2 == 0 && maybe(m) ? size / 2 : m.draw.between(1, size - 1);
  const Made two = split(m, x, {first, size - first}, axis);
  const int changed = m.op(is_floating(type) ? "Sigmoid" : "Identity", {two[1]});
  if (m.draw.one_in(4)) return {changed};
  return {joined(m, m.draw.one_in(3) ? Made{changed, two[0], two[0]} : Made{changed, two[0]}, axis)};
}

/// There and back: half precision, integers, booleans; and Identity on the way.
Made casts(Making& m, const Row&, ElementType type) {
  int x = m.any(type, 0, 4);
  for (std::int64_t i = m.draw.between(1, 3); i > 0; --i) {
    const ElementType to =
        m.draw.of(std::vector{ElementType::float16, ElementType::float32, ElementType::int64, type});
    x = m.cast(x, to);
    if (m.draw.one_in(3)) x = m.op("Identity", {x});
  }
  return {m.cast(x, type)};
}

/// F.pad of torch.onnx: the list of pads turned from PyTorch's order to ONNX's by nodes.
Made pad(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 2, 4);
  const std::int64_t rank = std::ssize(m.shape(x));
  Ints pads{m.draw.between(0, 2), m.draw.between(0, 1)};
  if (maybe(m)) pads.insert(pads.end(), {m.draw.between(0, 1), m.draw.between(0, 2)});
  const int given = m.ints(pads);
  const Tensor zero{ElementType::int64, {1}, {0}, {}};
  const int rest =
      m.op("ConstantOfShape", {m.ints({2 * rank - std::ssize(pads)})}, {{"value", proto_of(zero, "", true)}});
  int list = m.op("Reshape", {joined(m, {given, rest}, 0), m.ints({-1, 2})});
  list = m.op("Slice", {list, m.ints({-1}), m.ints({-furthest}), m.ints({0}), m.ints({-1})});
  list = m.op("Reshape", {transposed(m, list, {1, 0}), m.ints({-1})});
  list = m.cast(list, ElementType::int64);
  const int value = maybe(m) ? m.scalar(type, 0) : absent;
  return {m.op("Pad", {x, list, value}, {{"mode", "constant"}})};
}

/// F.interpolate to twice the size, or to the size of another: sizes computed, the others kept.
Made interpolate(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 4, 4);
  const Shape s = m.shape(x);
  if (element_count(s) == 0 || element_count(s) > 200) return {m.op("Identity", {x})};
  const auto scaled = [&](std::int64_t axis) {
    const int size = m.cast(size_of(m, x, axis), ElementType::float32);
    return m.cast(m.op("Floor", {m.op("Mul", {size, m.scalar(ElementType::float32, m.draw.one_in(3) ? 1.5 : 2)})}),
                  ElementType::int64);
  };
  const int sizes = joined(m, {slice(m, m.op("Shape", {x}), 0, 0, 2), listed(m, {scaled(2), scaled(3)})}, 0);
  const int empty = m.opset < 13 ? m.constant(ElementType::float32, {0}) : absent;
  const bool nearest = maybe(m);
  AttributeList attributes{
      {"mode", nearest ? "nearest" : "linear"},
      {"coordinate_transformation_mode",
       nearest ? "asymmetric" : m.draw.of(std::vector{"align_corners", "pytorch_half_pixel", "half_pixel"})}};
  if (nearest) attributes.emplace_back("nearest_mode", "floor");
  return {m.op("Resize", {x, empty, empty, sizes}, attributes)};
}

/// squeeze() of torch.onnx, traced: an If on whether a size is 1, of a value from outside.
Made squeeze_if(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 2, 4);
  if (m.shape(x)[0] != 1) return {m.op("Identity", {x})};
  const int is_one = m.op("Equal", {size_of(m, x, 0), whole(m, 1)});
  const auto then_branch = m.body([&](onnx::GraphProto&) { return Made{squeeze(m, x, {0})}; });
  const auto else_branch = m.body([&](onnx::GraphProto&) { return Made{m.op("Identity", {x})}; });
  return m.node("", "If", {is_one}, {{"then_branch", then_branch}, {"else_branch", else_branch}});
}

/// A value as both operands, as three of them, and next to itself.
Made with_itself(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 1, 3);
  switch (m.draw.between(0, 3)) {
    case 0:
      return {m.op(m.draw.of(std::vector<std::string>{"Mul", "Add", "Sub"}), {x, x})};
    case 1:
      return {m.op("Concat", {x, x}, {{"axis", axis_of(m, std::ssize(m.shape(x)))}})};
    case 2:
      return {m.op("Where", {m.op("Equal", {x, x}), x, x})};
    default: {
      const int same = m.op("Identity", {x});
      return {m.op("Add", {m.op("Mul", {same, x}), same})};
    }
  }
}

/// Positions from a size, as a table's rows or as numbers beside the value.
Made positions(Making& m, const Row&, ElementType type) {
  const int x = m.any(type, 2, 3);
  const Shape s = m.shape(x);
  const std::int64_t axis = std::ssize(s) - 2, rows = s[static_cast<std::size_t>(axis)];
  if (rows < 1) return {m.op("Identity", {x})};
  const int places = m.op("Range", {whole(m, 0), size_of(m, x, axis), whole(m, 1)});
  if (maybe(m)) {
    const int table = m.constant(type, {rows + m.draw.between(0, 4), s.back()});
    return {m.op("Add", {x, m.op("Gather", {table, places}, {{"axis", 0}})})};
  }
  const int numbers = m.cast(places, type);
  return {m.op("Mul", {x, unsqueeze(m, numbers, {1})})};
}

constexpr ElementType moved[] = {ElementType::float32, ElementType::float16, ElementType::int64,
                                 ElementType::boolean};
constexpr ElementType summed[] = {ElementType::float32, ElementType::float16, ElementType::int64,
                                  ElementType::int32};

constexpr Row shape_idioms_table[] = {
    {"idiom", "casts", summed, casts, -1, 99, idioms_from},
    {"idiom", "expand", moved, expand, -1, 99, idioms_from},
    {"idiom", "interpolate", half_floats, interpolate, -1, 99, idioms_from},
    {"idiom", "narrow", moved, narrow, -1, 99, idioms_from},
    {"idiom", "pad", half_floats, pad, -1, 99, idioms_from},
    {"idiom", "parts", moved, parts, -1, 99, idioms_from},
    {"idiom", "positions", half_floats, positions, -1, 99, idioms_from},
    {"idiom", "roll", moved, roll, -1, 99, idioms_from},
    {"idiom", "squeeze_if", moved, squeeze_if, -1, 99, idioms_from},
    {"idiom", "unbind", moved, unbind, -1, 99, idioms_from},
    {"idiom", "view", moved, view, -1, 99, idioms_from},
    {"idiom", "with_itself", summed, with_itself, -1, 99, idioms_from},
};

}  // namespace

std::span<const Row> shape_idioms() { return shape_idioms_table; }

}  // namespace sdip::generate
