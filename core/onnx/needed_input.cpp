// Inputs that decide branches, loops and shapes.
#include "core/onnx/needed_input.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr std::int64_t most_float_elements = 16;  // sizes and scales are few, data are many
constexpr std::size_t most_listed_inputs = 8;

/// Inputs on which values depend, in the graph's order.
std::vector<const Value*> inputs_behind(const Graph& graph, std::span<const ValueId> ids) {
  List<char> wanted(graph.values.size(), 0);
  for (const ValueId id : ids) wanted[id] = 1;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool makes =
        std::ranges::any_of(node->outputs, [&](ValueId output) { return output != none && wanted[output] != 0; });
    if (!makes) continue;
    for (const ValueId input : node->inputs)
      if (input != none) wanted[input] = 1;
  }
  std::vector<const Value*> inputs;
  for (const ValueId input : graph.inputs)
    if (wanted[input] != 0) inputs.push_back(&graph.values[input]);
  return inputs;
}

std::string listed(const std::vector<const Value*>& inputs) {
  std::string text = inputs.size() == 1 ? "the input " : "the inputs ";
  for (std::size_t i = 0; i < inputs.size() && i < most_listed_inputs; ++i) {
    const Operand& operand = inputs[i]->operand;
    text += fmt::format("{}{}' {}{}", i == 0 ? "'" : ", '", inputs[i]->name, element_type_text(operand.type),
                        shape_text(operand.shape));
  }
  return text + (inputs.size() > most_listed_inputs ? ", ..." : "");
}

}  // namespace

void refuse_unknown_numbers(const Graph& graph, std::span<const ValueId> ids, const std::string& node,
                            const std::string& what) {
  const std::vector<const Value*> inputs = inputs_behind(graph, ids);
  if (inputs.empty())
    throw Error("shape_unknown", node, what + " depends on no input, and its value is not in the file");
  const auto given_easily = [](const Value* input, bool floats, std::int64_t most) {
    const Operand& operand = input->operand;
    return is_floating(operand.type) == floats && operand.type != ElementType::string &&
           element_count(operand.shape) <= most;
  };
  std::vector<const Value*> small;
  for (const bool floats : {false, true}) {
    if (!small.empty()) break;
    for (const Value* input : inputs)
      if (given_easily(input, floats, floats ? most_float_elements : most_folded_elements)) small.push_back(input);
  }
  if (small.empty())
    throw Error("shape_unknown", node,
                what + " depends on the data of " + listed(inputs) +
                    ": what is computed must follow from the shapes, or from values that are given; export the "
                    "model with this part traced, or without it");
  throw Error("input_needed", small.front()->name,
              fmt::format("{} depends on {}: give {} a value, which becomes a constant of the graph", what,
                          listed(small), small.size() == 1 ? "it" : "each"));
}

}  // namespace sdip
