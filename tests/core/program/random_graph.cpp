// Random small networks and machines.
#include "tests/core/program/random_graph.h"

#include "core/base/error.h"
#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

struct Net {
  GraphDice& dice;
  onnx::ModelProto model = empty_model();
  std::vector<std::pair<std::string, Shape>> pictures{};  // values of shape [1, c, h, w]
  int count = 0;

  std::string fresh(const char* what) { return what + std::to_string(count++); }
  const std::pair<std::string, Shape>& any() {
    const auto size = static_cast<std::int64_t>(pictures.size());
    const auto back = dice.between(1, std::min<std::int64_t>(size, 4));
    return pictures[static_cast<std::size_t>(size - back)];
  }
  void give(const std::string& name, Shape shape) { pictures.emplace_back(name, std::move(shape)); }
};

void conv(Net& net) {
  const auto [x, shape] = net.any();
  const std::int64_t kernel = 1 + 2 * net.dice.between(0, 1), out = net.dice.between(1, 4) * 4;
  const std::int64_t groups = net.dice.one_in(4) && shape[1] % 2 == 0 ? 2 : 1;
  const std::string w = net.fresh("w"), b = net.fresh("b"), y = net.fresh("conv");
  add_weight(net.model, w, {out, shape[1] / groups, kernel, kernel});
  std::vector<std::string> inputs{x, w};
  if (net.dice.one_in(2)) {
    add_weight(net.model, b, {out});
    inputs.push_back(b);
  }
  auto& node = add_node(net.model, "Conv", inputs, y);
  set_ints(node, "kernel_shape", {kernel, kernel});
  const std::int64_t stride = net.dice.one_in(4) && shape[2] % 2 == 0 && shape[3] % 2 == 0 ? 2 : 1;
  set_ints(node, "strides", {stride, stride});
  set_ints(node, "pads", {kernel / 2, kernel / 2, kernel / 2, kernel / 2});
  set_int(node, "group", groups);
  net.give(y, {shape[0], out, (shape[2] - 1) / stride + 1, (shape[3] - 1) / stride + 1});
}

void pointwise(Net& net) {
  const auto [x, shape] = net.any();
  const std::string y = net.fresh("point");
  constexpr const char* types[] = {"Relu", "Sigmoid", "Tanh", "Exp"};
  add_node(net.model, types[net.dice.between(0, 3)], {x}, y);
  net.give(y, shape);
}

void join(Net& net) {
  const auto [x, shape] = net.any();
  for (const auto& [other, other_shape] : net.pictures) {
    if (other == x || other_shape != shape) continue;
    const std::string y = net.fresh("join");
    if (net.dice.one_in(3)) {
      set_int(add_node(net.model, "Concat", {x, other}, y), "axis", 1);
      return net.give(y, {shape[0], 2 * shape[1], shape[2], shape[3]});
    }
    add_node(net.model, net.dice.one_in(2) ? "Add" : "Mul", {x, other}, y);
    return net.give(y, shape);
  }
  pointwise(net);
}

void scale(Net& net) {
  const auto [x, shape] = net.any();
  const std::string w = net.fresh("scale"), y = net.fresh("scaled");
  add_weight(net.model, w, net.dice.one_in(2) ? Shape{shape[1], 1, 1} : shape);
  add_node(net.model, "Mul", {x, w}, y);
  net.give(y, shape);
}

void attention(Net& net) {
  const auto [x, shape] = net.any();
  const std::string rows = net.fresh("rows"), turned = net.fresh("turned"), scores = net.fresh("scores");
  const std::string soft = net.fresh("soft"), made = net.fresh("made"), y = net.fresh("picture");
  const std::string to = net.fresh("to"), back = net.fresh("back");
  const std::int64_t pixels = shape[2] * shape[3];
  add_ints(net.model, to, {shape[0], shape[1], pixels});
  add_ints(net.model, back, shape);
  add_node(net.model, "Reshape", {x, to}, rows);
  set_ints(add_node(net.model, "Transpose", {rows}, turned), "perm", {0, 2, 1});
  add_node(net.model, "MatMul", {rows, turned}, scores);
  set_int(add_node(net.model, "Softmax", {scores}, soft), "axis", -1);
  add_node(net.model, "MatMul", {soft, rows}, made);
  add_node(net.model, "Reshape", {made, back}, y);
  net.give(y, shape);
}

void linear(Net& net) {
  const auto [x, shape] = net.any();
  const std::int64_t out = net.dice.between(1, 9);
  const std::string w = net.fresh("w"), y = net.fresh("linear");
  add_weight(net.model, w, {shape[3], out});
  add_node(net.model, "MatMul", {x, w}, y);
  net.give(y, {shape[0], shape[1], shape[2], out});
}

void norm(Net& net) {
  const auto [x, shape] = net.any();
  const std::string s = net.fresh("gamma"), b = net.fresh("beta"), y = net.fresh("norm");
  if (net.dice.one_in(2)) {
    add_weight(net.model, s, {shape[3]});
    add_weight(net.model, b, {shape[3]});
    set_int(add_node(net.model, "LayerNormalization", {x, s, b}, y), "axis", -1);
  } else {
    add_weight(net.model, s, {shape[1]});
    add_weight(net.model, b, {shape[1]});
    add_node(net.model, "InstanceNormalization", {x, s, b}, y);
  }
  net.give(y, shape);
}

void cut(Net& net) {
  const auto [x, shape] = net.any();
  if (shape[1] % 2 != 0) return pointwise(net);
  const std::string y = net.fresh("cut"), z = net.fresh("cut");
  auto& node = add_node(net.model, "Split", {x}, y);
  node.add_output(z);
  set_int(node, "axis", 1);
  const std::string sizes = net.fresh("sizes");
  add_ints(net.model, sizes, {shape[1] / 2, shape[1] / 2});
  node.add_input(sizes);
  net.give(y, {shape[0], shape[1] / 2, shape[2], shape[3]});
  net.give(z, {shape[0], shape[1] / 2, shape[2], shape[3]});
}

}  // namespace

Graph random_graph(GraphDice& dice) {
  Net net{dice};
  const Shape shape{1, 4 * dice.between(1, 3), dice.between(2, 12), dice.between(2, 12)};
  add_input(net.model, "x", shape);
  net.give("x", shape);
  if (dice.one_in(3)) {
    add_input(net.model, "context \"two\" \\", shape);
    net.give("context \"two\" \\", shape);
  }
  constexpr void (*pieces[])(Net&) = {conv, conv, pointwise, join, join, scale, attention, linear, norm, cut};
  for (std::int64_t left = dice.between(3, 16); left > 0; --left) pieces[dice.between(0, 9)](net);
  add_output(net.model, net.pictures.back().first);
  if (dice.one_in(3) && net.count > 2) add_output(net.model, net.pictures[net.pictures.size() - 2].first);
  Graph graph = import_model(net.model);
  rewrite(graph);
  return graph;
}

Machine random_compile_machine(GraphDice& dice) {
  for (;;) {
    Machine machine;
    for (const ParameterRow& row : parameters()) {
      if (!changes_program(row) || row.name == "mode" || row.name == "dram_kind" || dice.one_in(2)) continue;
      if (row.type == ParameterType::choice) {
        row.write(machine, dice.between(0, std::ssize(row.choices) - 1));
      } else if (row.name.ends_with("ram_bytes")) {
        row.write(machine, std::max<std::int64_t>(1024, std::int64_t{1} << dice.between(10, 22)));
      }
    }
    machine.guidance = Guidance::off;
    machine.weight_density = Decimal{machine.sparsity == Sparsity::dense ? 100 : dice.between(1, 100)};
    if (dice.one_in(4)) machine.weight_compression = Decimal{dice.between(101, 400)};
    if (dice.one_in(4)) machine.psram_pinned_bytes = machine.psram_bytes / 2;
    if (machine.sparsity != Sparsity::dense && dice.one_in(2)) machine.sparsity_group = dice.between(2, 9);
    try {
      check_machine(machine);
    } catch (const Error&) {
      continue;
    }
    return machine;
  }
}

}  // namespace sdip
