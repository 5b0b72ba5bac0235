// Rows of what looks elements up and puts them elsewhere: gathering, scattering, ranking, counting, losses.
#include <algorithm>

#include "tests/generate/rows/rows.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;

/// Indices below `size`, from the back now and then; a constant or an input.
int indices(Making& m, const Shape& shape, std::int64_t size, bool negative = true) {
  const ElementType type = m.draw.of(std::vector{ElementType::int64, ElementType::int64, ElementType::int32});
  const double most = static_cast<double>(std::max<std::int64_t>(0, size - 1));
  const Range range{
      negative && m.opset >= 11 && m.draw.one_in(3) ? -static_cast<double>(std::max<std::int64_t>(0, size)) : 0,
      most};
  return maybe(m) ? m.constant(type, shape, range) : m.input(type, shape, range);
}

std::size_t from_front(std::int64_t axis, const Shape& shape) {
  return static_cast<std::size_t>((axis + std::ssize(shape)) % std::ssize(shape));
}

Made gather(Making& m, const Row& row, ElementType type) {
  const int x = m.draw.one_in(4) ? m.constant(type, m.any_shape(1, 3)) : m.any(type, 1, 4);
  const std::int64_t axis = axis_of(m, std::ssize(m.shape(x)));
  const std::int64_t size = m.shape(x)[from_front(axis, m.shape(x))];
  Shape shape = m.any_shape(0, 2);
  if (size == 0) shape = {0};
  AttributeList attributes;
  if (axis != 0 || maybe(m)) attributes.emplace_back("axis", axis);
  return put(m, row, {x, indices(m, shape, size)}, attributes);
}

Made gather_elements(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  const std::int64_t axis = axis_of(m, std::ssize(m.shape(x)));
  Shape shape = m.shape(x);
  const std::size_t at = from_front(axis, shape);
  const std::int64_t size = shape[at];
  if (size > 0 && maybe(m)) shape[at] = m.draw.between(1, 4);
  return put(m, row, {x, indices(m, shape, size)}, {{"axis", axis}});
}

Made gather_nd(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  const std::int64_t depth = m.draw.between(1, std::ssize(m.shape(x)));
  std::int64_t least = 8;
  for (std::int64_t i = 0; i < depth; ++i) least = std::min(least, m.shape(x)[static_cast<std::size_t>(i)]);
  const Shape shape = least == 0 ? Shape{0, depth} : maybe(m) ? Shape{m.size(), depth} : Shape{depth};
  const int which =
      m.constant(ElementType::int64, shape, {0, static_cast<double>(std::max<std::int64_t>(0, least - 1))});
  return put(m, row, {x, which});
}

Made scatter_elements(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 3);
  const std::int64_t axis = axis_of(m, std::ssize(m.shape(x)));
  const Shape s = m.shape(x);
  const std::int64_t size = s[from_front(axis, s)];
  Shape shape = s;
  for (std::int64_t& d : shape) d = d > 0 ? m.draw.between(1, d) : 0;
  AttributeList attributes{{"axis", axis}};
  if (std::string_view(row.type) != "Scatter" && m.opset >= 16 && m.draw.one_in(3))
    attributes.emplace_back("reduction", m.opset >= 18 ? m.draw.of(std::vector{"add", "mul", "max", "min", "none"})
                                                       : m.draw.of(std::vector{"add", "mul", "none"}));
  return put(m, row, {x, indices(m, shape, size), m.like(type, shape)}, attributes);
}

Made scatter_nd(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 3);
  const Shape s = m.shape(x);
  const std::int64_t depth = m.draw.between(1, std::ssize(s));
  std::int64_t least = 8;
  for (std::int64_t i = 0; i < depth; ++i) least = std::min(least, s[static_cast<std::size_t>(i)]);
  const std::int64_t count = least == 0 ? 0 : m.draw.between(1, 3);
  Shape updates{count};
  updates.insert(updates.end(), s.begin() + depth, s.end());
  AttributeList attributes;
  if (m.opset >= 16 && m.draw.one_in(3))
    attributes.emplace_back("reduction", m.draw.of(std::vector{"add", "mul", "none"}));
  const int which = m.constant(ElementType::int64, {count, depth},
                               {0, static_cast<double>(std::max<std::int64_t>(0, least - 1))});
  return put(m, row, {x, which, m.like(type, updates)}, attributes);
}

Made tensor_scatter(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 3, 4);
  const Shape s = m.shape(x);
  Shape update = s;
  const std::size_t axis = s.size() - 2;
  update[axis] = s[axis] > 0 ? m.draw.between(1, s[axis]) : 0;
  const int at =
      maybe(m) ? absent : m.constant(ElementType::int64, {s[0]}, {0, static_cast<double>(s[axis] - update[axis])});
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("mode", m.draw.of(std::vector{"linear", "circular"}));
  return put(m, row, {x, m.like(type, update), at}, attributes);
}

Made one_hot(Making& m, const Row& row, ElementType type) {
  const std::int64_t depth = m.draw.between(1, 6);
  const int which = indices(m, m.any_shape(0, 3), depth);
  const int values = m.constant(type, {2}, {0, 3});
  const ElementType of = maybe(m) ? ElementType::int64 : ElementType::int32;
  const int count =
      maybe(m) ? m.scalar(of, static_cast<double>(depth)) : m.scalar_in_one(of, static_cast<double>(depth));
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("axis", m.draw.between(-1, std::ssize(m.shape(which))));
  return put(m, row, {which, count, values}, attributes);
}

Made compress(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 3);
  const bool flat = m.draw.one_in(3);
  const std::int64_t axis = axis_of(m, std::ssize(m.shape(x)));
  const std::int64_t size = flat ? element_count(m.shape(x)) : m.shape(x)[from_front(axis, m.shape(x))];
  const int kept = m.constant(ElementType::boolean, {std::min<std::int64_t>(size, m.draw.between(1, 6))});
  AttributeList attributes;
  if (!flat) attributes.emplace_back("axis", axis);
  return put(m, row, {x, kept}, attributes);
}

/// Made of a constant, since the shape depends on values. It is used by something that is not.
Made of_constant(Making& m, const Row& row, ElementType type) {
  const bool unique = std::string_view(row.type) == "Unique";
  const int x = m.constant(type, m.any_shape(1, 2), {0, 3});
  AttributeList attributes;
  if (unique && maybe(m)) attributes.emplace_back("sorted", m.draw.between(0, 1));
  const int outputs = unique ? static_cast<int>(m.draw.between(1, 4)) : 1;
  const Made made = put(m, row, {x}, attributes, outputs);
  if (element_count(m.shape(made[0])) == 0) return made;
  const ElementType made_type = m.at(made[0]).type;
  return {m.op("Concat", {m.reshaped(made[0], {-1}), m.like(made_type, {m.size()})}, {{"axis", 0}})};
}

Made top_k(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 3);
  const std::int64_t axis = axis_of(m, std::ssize(m.shape(x)));
  const std::int64_t size = m.shape(x)[from_front(axis, m.shape(x))];
  const std::int64_t k = size == 0 ? 0 : m.draw.between(1, std::min<std::int64_t>(4, size));
  AttributeList attributes;
  if (axis != std::ssize(m.shape(x)) - 1 || maybe(m)) attributes.emplace_back("axis", axis);
  if (m.opset >= 11 && maybe(m)) attributes.emplace_back("largest", m.draw.between(0, 1));
  if (m.opset >= 11 && m.draw.one_in(3)) attributes.emplace_back("sorted", 1);
  const std::vector<bool> unused{m.draw.one_in(6), false};
  if (m.opset < 10) {
    attributes.emplace_back("k", k);
    return put(m, row, {x}, attributes, 2, unused);
  }
  return put(m, row, {x, m.ints({k})}, attributes, 2, unused);
}

Made cumsum(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  AttributeList attributes;
  for (const char* name : {"exclusive", "reverse"})
    if (maybe(m)) attributes.emplace_back(name, m.draw.between(0, 1));
  const auto axis = static_cast<double>(axis_of(m, std::ssize(m.shape(x))));
  return put(m, row, {x, m.scalar(maybe(m) ? ElementType::int64 : ElementType::int32, axis)}, attributes);
}

Made loss(Making& m, const Row& row, ElementType type) {
  const bool likelihood = std::string_view(row.type) == "NegativeLogLikelihoodLoss";
  const int x = m.any(type, 2, 4);
  const Shape s = m.shape(x);
  Shape labels{s[0]};
  labels.insert(labels.end(), s.begin() + 2, s.end());
  if (s[1] < 1) return {m.op("Identity", {x})};
  const Range range{0, static_cast<double>(s[1] - 1)};
  const ElementType of = maybe(m) ? ElementType::int64 : ElementType::int32;
  const int which = maybe(m) ? m.constant(of, labels, range) : m.input(of, labels, range);
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("reduction", m.draw.of(std::vector{"none", "mean", "sum"}));
  if (m.draw.one_in(4)) attributes.emplace_back("ignore_index", 0);
  const Made operands{x, which, m.draw.one_in(3) ? m.weight(type, {s[1]}, {0.5, 1.5}) : absent};
  return put(m, row, operands, attributes, !likelihood && m.draw.one_in(3) ? 2 : 1);
}

Made suppression(Making& m, const Row& row, ElementType type) {
  const std::int64_t boxes = m.draw.between(1, 4), classes = m.draw.between(1, 2);
  const int where = m.constant(type, {1, boxes, 4}, {0, 4}), scores = m.constant(type, {1, classes, boxes}, {0, 1});
  const Made made = put(m, row,
                        {where, scores, m.scalar_in_one(ElementType::int64, 2), m.scalar_in_one(type, 0.5),
                         maybe(m) ? m.scalar_in_one(type, 0.25) : absent});
  if (m.shape(made[0])[0] == 0) return made;
  return {m.op("Add", {made[0], m.input(ElementType::int64, {1, 3}, {0, 3})})};
}

constexpr Row choice_table[] = {
    {"", "Compress", all_types, compress},
    {"", "CumProd", numbers, cumsum},
    {"", "CumSum", numbers, cumsum},
    {"", "Gather", all_types, gather},
    {"", "GatherElements", all_types, gather_elements},
    {"", "GatherND", all_types, gather_nd},
    {"", "NegativeLogLikelihoodLoss", common_floats, loss},
    {"", "NonMaxSuppression", single, suppression},
    {"", "NonZero", all_types, of_constant},
    {"", "OneHot", all_types, one_hot, 2},
    {"", "Scatter", all_types, scatter_elements, 0, 10},
    {"", "ScatterElements", all_types, scatter_elements},
    {"", "ScatterND", all_types, scatter_nd},
    {"", "SoftmaxCrossEntropyLoss", common_floats, loss},
    {"", "TensorScatter", all_types, tensor_scatter},
    {"", "TopK", numbers, top_k},
    {"", "Unique", all_types, of_constant},
};

}  // namespace

std::span<const Row> choice_rows() { return choice_table; }

}  // namespace sdip::generate
