// Rows of control flow with known conditions and of functions: graphs within graphs.
#include "tests/generate/rows/rows.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;

/// A few nodes of the table, then a value of that type and shape.
int filled(Making& m, ElementType type, const Shape& shape) {
  for (std::int64_t i = m.draw.between(0, 2); i > 0; --i) add_drawn_node(m);
  const int x = m.like(type, shape);
  if (is_floating(type)) return m.op(m.draw.of(std::vector<std::string>{"Sigmoid", "Tanh", "Exp"}), {x});
  return m.op("Identity", {x});
}

Made branch(Making& m, const Row& row, ElementType type) {
  const Shape shape = m.any_shape(1, 3);
  const auto one = [&] { return m.body([&](onnx::GraphProto&) { return Made{filled(m, type, shape)}; }); };
  const onnx::GraphProto then_branch = one(), else_branch = one();
  const int condition = m.scalar(ElementType::boolean, static_cast<double>(m.draw.between(0, 1)));
  return put(m, row, {condition}, {{"then_branch", then_branch}, {"else_branch", else_branch}});
}

/// A known number of times; one value carried, one gathered or none.
Made loop(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 3);
  const Shape shape = m.shape(x);
  const bool gathers = maybe(m);
  const onnx::GraphProto body = m.body([&](onnx::GraphProto& graph) {
    m.body_input(graph, ElementType::int64, {});
    const int going = m.body_input(graph, ElementType::boolean, {});
    const int carried = m.body_input(graph, type, shape);
    const int next = m.op("Add", {carried, filled(m, type, shape)});
    Made outputs{m.op("Identity", {going}), next};
    if (gathers) outputs.push_back(m.op("Identity", {carried}));
    return outputs;
  });
  const int times = m.scalar(ElementType::int64, static_cast<double>(m.draw.between(m.draw.one_in(40) ? 0 : 1, 3)));
  const int condition = maybe(m) ? absent : m.scalar(ElementType::boolean, 1);
  return put(m, row, {times, condition, x}, {{"body", body}}, gathers ? 2 : 1);
}

/// Along the first axis of one value, or another axis, in either direction.
Made scan(Making& m, const Row& row, ElementType type) {
  if (m.opset < 9) return {m.op("Identity", {m.any(type, 0, 3)})};
  const int x = m.any(type, 2, 3);
  const Shape s = m.shape(x);
  const std::int64_t axis = m.draw.between(0, 1);
  if (s[static_cast<std::size_t>(axis)] < 1) return {m.op("Identity", {x})};
  Shape slice = s;
  slice.erase(slice.begin() + axis);
  const int state = m.like(type, slice);
  const onnx::GraphProto body = m.body([&](onnx::GraphProto& graph) {
    const int sum = m.body_input(graph, type, slice), one = m.body_input(graph, type, slice);
    const int next = m.op("Add", {sum, one});
    return Made{next, m.op("Mul", {next, filled(m, type, slice)})};
  });
  AttributeList attributes{{"num_scan_inputs", 1}, {"body", body}};
  if (axis != 0 || maybe(m)) attributes.emplace_back("scan_input_axes", std::vector<std::int64_t>{axis});
  if (m.draw.one_in(3)) attributes.emplace_back("scan_input_directions", std::vector<std::int64_t>{1});
  if (m.draw.one_in(3))
    attributes.emplace_back("scan_output_axes", std::vector<std::int64_t>{m.draw.between(0, 1)});
  return put(m, row, {state, x}, attributes, 2, {m.draw.one_in(4), false});
}

/// A function of the model, called once or twice.
Made call(Making& m, const Row&, ElementType type) {
  const int inputs = static_cast<int>(m.draw.between(1, 2));
  const std::string name = m.function(inputs);
  Made last;
  for (std::int64_t i = m.draw.between(1, 2); i > 0; --i) {
    const int x = m.any(type, 0, 4);
    AttributeList attributes;
    if (m.takes_slope(name) && !m.draw.one_in(4)) attributes.emplace_back("slope", 0.5);
    last =
        m.node("local", name, inputs == 1 ? Made{x} : Made{x, m.broadcast(type, m.shape(x), {}, true)}, attributes);
  }
  return last;
}

constexpr Row control_table[] = {
    {"", "If", all_types, branch, -1},
    {"", "Loop", numbers, loop, -1},
    {"", "Scan", numbers, scan, -1},
    {"local", "function", half_floats, call, -1},
};

}  // namespace

std::span<const Row> control_rows() { return control_table; }

}  // namespace sdip::generate
