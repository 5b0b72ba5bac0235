// Rows of what moves elements: shapes, joints, parts, padding, repetition.
#include <algorithm>
#include <numeric>

#include "tests/generate/rows/rows.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;
using Ints = std::vector<std::int64_t>;

/// A target shape as constants or, now and then, computed of another value's shape.
Made reshape(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 5);
  const Shape s = m.shape(x);
  std::int64_t rest = element_count(s);
  Shape target(static_cast<std::size_t>(m.draw.between(1, 5)), 1);
  for (std::size_t i = 0; i + 1 < target.size(); ++i)
    for (const std::int64_t d : {2, 3, 5})
      if (rest > 0 && rest % d == 0 && maybe(m)) target[i] *= d, rest /= d;
  target.back() = rest;
  AttributeList attributes;
  const bool has_zero = std::ranges::find(target, 0) != target.end();
  if (has_zero && m.opset >= 14) attributes.emplace_back("allowzero", 1);
  if (has_zero && m.opset < 14) target = s;  // 0 there stands for the input's size
  if (!has_zero && maybe(m)) target[static_cast<std::size_t>(m.draw.between(0, std::ssize(target) - 1))] = -1;
  if (!has_zero && !s.empty() && m.draw.one_in(4)) target = {0, -1};
  if (m.opset >= 5 && m.draw.one_in(8)) return put(m, row, {x, m.op("Shape", {x})});
  if (target.empty()) return put(m, row, {x, m.ints({})});
  return put(m, row, {x, m.ints(target)}, attributes);
}

Made flatten(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 5);
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("axis", m.draw.between(0, std::ssize(m.shape(x))));
  return put(m, row, {x}, attributes);
}

/// Axes as an attribute, or as an input from an opset on.
Made with_axes(Making& m, const Row& row, int x, const Ints& axes, std::int64_t as_input_from,
               AttributeList attributes) {
  if (m.opset >= as_input_from) return put(m, row, {x, m.ints(axes)}, attributes);
  attributes.emplace_back("axes", axes);
  return put(m, row, {x}, attributes);
}

Made squeeze(Making& m, const Row& row, ElementType type) {
  int x = m.any(type, 1, 5);
  Ints ones;
  for (std::int64_t i = 0; i < std::ssize(m.shape(x)); ++i)
    if (m.shape(x)[static_cast<std::size_t>(i)] == 1) ones.push_back(i);
  if (ones.empty() || m.draw.one_in(6)) return put(m, row, {x});
  const std::int64_t kept = m.draw.between(0, std::ssize(ones) - 1);
  Ints axes(ones.begin() + kept, ones.end());
  if (m.opset >= 11 && m.draw.one_in(3)) axes[0] -= std::ssize(m.shape(x));
  return with_axes(m, row, x, axes, 13, {});
}

Made unsqueeze(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 4);
  const auto rank = std::ssize(m.shape(x));
  Ints axes{m.draw.between(0, rank)};
  if (maybe(m)) axes.push_back(rank + 1);
  if (m.opset >= 11 && m.draw.one_in(3)) axes[0] -= rank + std::ssize(axes);
  return with_axes(m, row, x, axes, 13, {});
}

Made transpose(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 5);
  Ints order(m.shape(x).size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(m.draw.between(0, static_cast<std::int64_t>(i) - 1))]);
  AttributeList attributes;
  if (!order.empty() && !m.draw.one_in(6)) attributes.emplace_back("perm", order);
  return put(m, row, {x}, attributes);
}

Made concat(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  const std::int64_t rank = std::ssize(m.shape(x)), axis = axis_of(m, rank);
  Made operands{x};
  for (std::int64_t i = m.draw.between(0, 3); i > 0; --i) {
    Shape shape = m.shape(x);
    if (maybe(m)) shape[static_cast<std::size_t>((axis + rank) % rank)] = m.size();
    operands.push_back(m.draw.one_in(4) ? m.constant(type, shape) : m.draw.one_in(8) ? x : m.like(type, shape));
  }
  if (m.draw.one_in(3)) std::swap(operands.front(), operands.back());
  return put(m, row, operands, {{"axis", axis}});
}

Made split(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  const std::int64_t rank = std::ssize(m.shape(x)), axis = axis_of(m, rank);
  const std::int64_t size = m.shape(x)[static_cast<std::size_t>((axis + rank) % rank)];
  const std::int64_t parts = size < 1 ? 1 : m.draw.between(1, std::min<std::int64_t>(3, size));
  Ints sizes;
  std::int64_t left = size;
  for (std::int64_t i = 1; i < parts; ++i) {
    sizes.push_back(m.draw.one_in(12) ? 0 : m.draw.between(1, std::max<std::int64_t>(1, left - (parts - i))));
    left -= sizes.back();
  }
  sizes.push_back(left);
  AttributeList attributes{{"axis", axis}};
  std::vector<bool> unused;
  for (std::int64_t i = 0; i < parts; ++i) unused.push_back(m.draw.one_in(6) && i > 0);
  const bool equal = size % parts == 0 && m.draw.one_in(3);
  if (equal || (m.opset >= 18 && m.draw.one_in(4) && (parts - 1) * ((size + parts - 1) / parts) <= size)) {
    if (m.opset >= 18) attributes.emplace_back("num_outputs", parts);
    if (m.opset >= 18 || equal) return put(m, row, {x}, attributes, static_cast<int>(parts), unused);
  }
  if (m.opset >= 13) return put(m, row, {x, m.ints(sizes)}, attributes, static_cast<int>(parts), unused);
  attributes.emplace_back("split", sizes);
  return put(m, row, {x}, attributes, static_cast<int>(parts), unused);
}

Made slice(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 5);
  const Shape s = m.shape(x);
  Ints starts, ends, axes, steps;
  for (std::int64_t i = 0; i < std::ssize(s); ++i) {
    if (i + 1 < std::ssize(s) && maybe(m)) continue;
    const std::int64_t size = s[static_cast<std::size_t>(i)];
    const bool back = m.opset >= 10 && m.draw.one_in(4);
    std::int64_t from = m.draw.between(0, std::max<std::int64_t>(0, size - 1)),
                 to = m.draw.between(std::min(from + 1, size), size);
    if (back) {
      starts.push_back(size - 1);
      ends.push_back(m.draw.one_in(2) ? -size - 1 : std::max<std::int64_t>(0, from - 1));
      if (ends.back() >= size - 1) ends.back() = -size - 1;
    } else {
      starts.push_back(m.draw.one_in(3) ? from - size : from);
      ends.push_back(to == size && maybe(m) ? std::int64_t{9223372036854775807} : to);
    }
    axes.push_back(i);
    steps.push_back(back ? -m.draw.between(1, 2) : m.opset >= 10 && m.draw.one_in(3) ? m.draw.between(1, 3) : 1);
  }
  if (m.opset < 10) return put(m, row, {x}, {{"starts", starts}, {"ends", ends}, {"axes", axes}});
  const ElementType of = m.draw.one_in(4) ? ElementType::int32 : ElementType::int64;
  if (of == ElementType::int32)
    for (std::int64_t& end : ends) end = std::min<std::int64_t>(end, 2147483647);
  const bool plain = std::ranges::all_of(steps, [](std::int64_t d) { return d == 1; });
  return put(
      m, row,
      {x, m.ints(starts, of), m.ints(ends, of), m.ints(axes, of), plain && maybe(m) ? absent : m.ints(steps, of)});
}

Made pad(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  const Shape s = m.shape(x);
  std::string mode = m.draw.of(std::vector<std::string>{"constant", "constant", "edge", "reflect"});
  if (m.opset >= 19 && m.draw.one_in(5)) mode = "wrap";
  if (std::ranges::any_of(s, [](std::int64_t d) { return d < 1; })) mode = "constant";
  Ints pads(2 * s.size(), 0);
  for (std::size_t i = 0; i < pads.size(); ++i) {
    const std::int64_t size = s[i % s.size()];
    const std::int64_t most = mode == "reflect" ? std::min<std::int64_t>(2, size - 1)
                              : mode == "wrap"  ? std::min<std::int64_t>(2, size)
                                                : 2;
    if (maybe(m)) pads[i] = m.draw.between(0, most);
    if (mode == "constant" && size > 2 && m.draw.one_in(10)) pads[i] = -1;
  }
  if (m.opset < 11) {
    AttributeList attributes{{"mode", mode}, {"pads", pads}};
    if (mode == "constant" && maybe(m)) attributes.emplace_back("value", 1.5);
    return put(m, row, {x}, attributes);
  }
  const int value = mode == "constant" && maybe(m) ? m.scalar(type, 1) : absent;
  Made operands{x, m.ints(pads), value};
  if (m.opset >= 18 && m.draw.one_in(3)) {
    Ints axes(s.size());
    std::iota(axes.begin(), axes.end(), 0);
    operands.push_back(m.ints(axes));
  }
  return put(m, row, operands, {{"mode", mode}});
}

Made tile(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  Ints repeats;
  for (const std::int64_t d : m.shape(x))
    repeats.push_back(d > 8 ? 1 : m.draw.between(m.draw.one_in(20) ? 0 : 1, 2));
  return put(m, row, {x, m.ints(repeats)});
}

Made expand(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 4);
  Shape target = m.shape(x);
  for (std::int64_t& d : target)
    if (d == 1 && maybe(m))
      d = m.draw.between(1, 4);
    else if (m.draw.one_in(3))
      d = 1;
  if (element_count(m.shape(x)) < 200 && m.draw.one_in(3)) target.insert(target.begin(), m.draw.between(1, 3));
  return put(m, row, {x, m.ints(target)});
}

Made trilu(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 2, 4);
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("upper", m.draw.between(0, 1));
  return put(m, row,
             {x, maybe(m) ? m.scalar(ElementType::int64, static_cast<double>(m.draw.between(-2, 2))) : absent},
             attributes);
}

Made center_crop_pad(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  Ints target;
  for (std::size_t i = 0; i < m.shape(x).size(); ++i) target.push_back(m.draw.between(1, 5));
  if (maybe(m)) return put(m, row, {x, m.ints(target)});
  const std::int64_t axis = axis_of(m, std::ssize(m.shape(x)));
  return put(m, row, {x, m.ints({m.draw.between(1, 5)})}, {{"axes", Ints{axis}}});
}

Made reverse_sequence(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 2, 4);
  const std::int64_t time = m.draw.between(0, 1), batch = 1 - time;
  const std::int64_t count = m.shape(x)[static_cast<std::size_t>(batch)],
                     most = m.shape(x)[static_cast<std::size_t>(time)];
  const int lengths = m.constant(ElementType::int64, {count}, {most < 1 ? 0.0 : 1.0, static_cast<double>(most)});
  return put(m, row, {x, lengths}, {{"time_axis", time}, {"batch_axis", batch}});
}

/// Shapes and counts, which are known at import: something is made of them.
Made shape_of(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  AttributeList attributes;
  const bool is_size = std::string_view(row.type) == "Size";
  if (m.opset >= 15 && !is_size && m.draw.one_in(3)) attributes.emplace_back("start", m.draw.between(-1, 1));
  const int shape = put(m, row, {x}, attributes)[0];
  if (is_size) return {m.op("Cast", {shape}, {{"to", number_of(ElementType::float32)}})};
  const std::int64_t use = m.draw.between(0, 2);
  if (use == 0 && m.opset >= 9) return {m.op("ConstantOfShape", {shape})};
  if (use == 1)
    return {m.op("Mul", {m.op("Cast", {shape}, {{"to", number_of(ElementType::float32)}}),
                         m.scalar(ElementType::float32, 0.5)})};
  return {shape};
}

constexpr Row shape_table[] = {
    {"", "CenterCropPad", all_types, center_crop_pad},
    {"", "Concat", all_types, concat},
    {"", "Expand", all_types, expand},
    {"", "Flatten", all_types, flatten},
    {"", "Pad", all_types, pad},
    {"", "Reshape", all_types, reshape},
    {"", "ReverseSequence", all_types, reverse_sequence},
    {"", "Shape", all_types, shape_of},
    {"", "Size", all_types, shape_of},
    {"", "Slice", all_types, slice},
    {"", "Split", all_types, split},
    {"", "Squeeze", all_types, squeeze},
    {"", "Tile", all_types, tile},
    {"", "Transpose", all_types, transpose},
    {"", "Trilu", all_types, trilu},
    {"", "Unsqueeze", all_types, unsqueeze},
};

}  // namespace

std::span<const Row> shape_rows() { return shape_table; }

}  // namespace sdip::generate
