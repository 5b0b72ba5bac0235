// The operators of an instruction, and what they share.
#include "core/exec/operators/operators.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/exec/numbers/arithmetic.h"
#include "core/exec/operators/pointwise.h"
#include "core/program/kinds.h"

namespace sdip::exec {

Operators operators_of(const Chip& chip) {
  Operators found;
  std::vector<const Node*> nodes;
  for (const NodeId n : chip.instruction().nodes) nodes.push_back(&chip.graph.nodes[n]);
  check(!nodes.empty(), "an instruction computes something");
  const auto is_main = [&](const Node* n) { return n->name == chip.instruction().name; };
  auto main = std::ranges::find_if(nodes, is_main);
  if (main == nodes.end()) main = nodes.begin();
  found.main = *main;
  found.before.assign(nodes.begin(), main);
  found.behind.assign(main + 1, nodes.end());
  return found;
}

Tensor whole_operand(Chip& chip, const Whole& made, ValueId v) {
  const ValueId root = chip.views.root[v];
  const auto found = made.find(root);
  if (found == made.end()) return read_whole(chip, v);
  const Shape& shape = chip.value(v).operand.shape;
  Tensor tensor = chip.views.map[v].empty()
                      ? found->second
                      : elements_in(found->second, through_view(chip, v, Elements::first(element_count(shape))));
  tensor.shape = shape;
  return tensor;
}

bool is_unread(const Chip& chip, const Node& node, std::size_t i) {
  const ValueId v = node.inputs[i], root = chip.views.root[v];
  if (chip.value(v).kind == ValueKind::weight || chip.registers.contains(root)) return false;
  const Work work = work_of(chip.graph, node);
  if (is_nest(work.family)) return false;
  return i >= work.read_elements.size() || work.read_elements[i] == 0;
}

std::vector<Tensor> compute_whole(Chip& chip, const Node& node, const Whole& made) {
  end_if(chip.options.stop, node.name);
  ++chip.counts.whole_operators;
  if (chip.log) chip.log->computed_whole();
  std::vector<std::optional<Tensor>> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId v = node.inputs[i];
    if (v == none) {
      operands.emplace_back();
      continue;
    }
    const Operand& operand = chip.value(v).operand;
    operands.push_back(is_unread(chip, node, i) ? zero_tensor(operand.type, operand.shape)
                                                : whole_operand(chip, made, v));
  }
  return outputs_of(chip.graph, node, operands, chip.options.stop);
}

void end_tile(Chip& chip, const Operators& operators, ValueId result, const Elements& at, const PieceMaker& make,
              std::int64_t size) {
  write_pointwise(chip, operators.behind, at, result, make, size);
}

}  // namespace sdip::exec
