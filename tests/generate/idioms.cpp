// What idioms are written with.
#include "tests/generate/idioms.h"

namespace sdip::generate {

int unsqueeze(Making& m, int x, const Ints& axes) {
  return m.opset < 13 ? m.op("Unsqueeze", {x}, {{"axes", axes}}) : m.op("Unsqueeze", {x, m.ints(axes)});
}

int squeeze(Making& m, int x, const Ints& axes) {
  return m.opset < 13 ? m.op("Squeeze", {x}, {{"axes", axes}}) : m.op("Squeeze", {x, m.ints(axes)});
}

int slice(Making& m, int x, std::int64_t axis, std::int64_t from, std::int64_t to, std::int64_t step) {
  return m.op("Slice", {x, m.ints({from}), m.ints({to}), m.ints({axis}),
                        step == 1 && m.draw.one_in(3) ? absent : m.ints({step})});
}

std::vector<int> split(Making& m, int x, const Ints& sizes, std::int64_t axis) {
  const int parts = static_cast<int>(sizes.size());
  if (m.opset < 13) return m.node("", "Split", {x}, {{"axis", axis}, {"split", sizes}}, parts);
  const bool equal = std::ranges::all_of(sizes, [&](std::int64_t size) { return size == sizes[0]; });
  if (!equal || m.draw.one_in(2)) return m.node("", "Split", {x, m.ints(sizes)}, {{"axis", axis}}, parts);
  if (m.opset < 18) return m.node("", "Split", {x}, {{"axis", axis}}, parts);
  return m.node("", "Split", {x}, {{"axis", axis}, {"num_outputs", parts}}, parts);
}

int reduced(Making& m, const char* type, int x, const Ints& axes) {
  const bool sum = std::string_view(type) == "ReduceSum";
  if (m.opset >= 18 || (sum && m.opset >= 13)) return m.op(type, {x, m.ints(axes)}, {{"keepdims", 1}});
  return m.op(type, {x}, {{"axes", axes}, {"keepdims", 1}});
}

int transposed(Making& m, int x, const Ints& order) { return m.op("Transpose", {x}, {{"perm", order}}); }

int joined(Making& m, const std::vector<int>& values, std::int64_t axis) {
  return m.op("Concat", values, {{"axis", axis}});
}

int with_number(Making& m, const char* type, int x, double number) {
  const int y = m.scalar(m.at(x).type, number);
  return m.op(type, {x, y});
}

int size_of(Making& m, int x, std::int64_t axis) {
  const int shape = m.op("Shape", {x});
  if (!m.draw.one_in(4)) return m.op("Gather", {shape, whole(m, axis)}, {{"axis", 0}});
  return squeeze(m, slice(m, shape, 0, axis, axis == -1 ? furthest : axis + 1), {0});
}

int listed(Making& m, const std::vector<int>& scalars) {
  std::vector<int> lists;
  for (const int scalar : scalars) lists.push_back(unsqueeze(m, scalar, {0}));
  return joined(m, lists, 0);
}

int whole(Making& m, std::int64_t value) { return m.scalar(ElementType::int64, static_cast<double>(value)); }

}  // namespace sdip::generate
