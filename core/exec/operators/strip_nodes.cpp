// The operators of a chain that is carried in strips.
#include "core/exec/operators/strip_nodes.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/exec/operators/nest.h"
#include "core/exec/operators/strip_values.h"
#include "core/graph/attributes.h"
#include "core/program/kinds.h"

namespace sdip::exec {
namespace {

/// Which part each node belongs to: before a part's nest its prologue, behind its main operator what is fused
/// there; behind the last part's all that is left.
void give_parts(const std::vector<Part>& parts, std::vector<StripNode>& nodes) {
  std::size_t i = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    while (is_nest(parts[p].work.family) && i < nodes.size() && !nodes[i].map)
      nodes[i].part = p, nodes[i++].before = true;
    check(i < nodes.size(), "a part of a strip has a main operator");
    nodes[i].part = p;
    nodes[i++].main = true;
    const std::size_t end =
        p + 1 == parts.size() ? nodes.size() : std::min(nodes.size(), i + as_size(parts[p].fused_operators));
    for (; i < end; ++i) nodes[i].part = p;
  }
}

/// Whether rows of pools and enlargements are those that the model has for their parts.
bool has_windows_of(const Part& part, const std::vector<Extent>& reads) {
  const LoopNest& n = part.work.nest;
  for (std::int64_t row = 0; row < std::ssize(reads); ++row) {
    const Extent& is = reads[at(row)];
    const std::int64_t scale = std::max<std::int64_t>(1, n.out_h / n.in_h);
    const Extent has = n.out_h > n.in_h ? Extent{row / scale, row / scale + 1} : window_rows(n, {row, row + 1});
    if (is != has) return false;
  }
  return true;
}

}  // namespace

std::vector<StripNode> strip_nodes(Chip& chip, const std::vector<NodeId>& ids) {
  const std::vector<Part>& parts = chip.instruction_class().parts;
  std::vector<StripNode> nodes;
  for (const NodeId id : ids) {
    StripNode n{&chip.graph.nodes[id]};
    n.map = nest_map(chip.graph, *n.node);
    n.norm = norm_rule(chip.graph, *n.node);
    n.softmax_length = n.node->op->type == "Softmax" ? work_of(chip.graph, *n.node).row_length : 0;
    const bool rows =
        n.map || n.norm || n.softmax_length > 0 || works_by_elements(chip.graph, *n.node) || is_by_rows(*n.node);
    const bool maps = chip.instruction_class().work.family != Family::linear;
    if (!rows || (maps && chip.value(n.node->outputs[0]).operand.shape.size() != 4))
      throw Error("not_computable", n.node->name,
                  fmt::format("node '{}' ({}) is not run in strips", n.node->name, n.node->op->type));
    if (is_by_rows(*n.node)) n.reads = rows_read_by(chip, *n.node);
    nodes.push_back(std::move(n));
  }
  give_parts(parts, nodes);
  for (StripNode& n : nodes) {
    n.reads_a = works_on_a(parts, n.part);
    n.two_activations = n.map && parts[n.part].operand_b != Place::psram;
  }
  for (const StripNode& n : nodes)
    if (!n.reads.empty() && chip.log && !has_windows_of(parts[n.part], n.reads)) chip.log->other_windows();
  return nodes;
}

const Node* summed_norm(const Chip& chip, std::vector<NodeId>& nodes) {
  const auto& instructions = chip.stage.program.instructions;
  for (std::size_t i = chip.now + 1; i < instructions.size(); ++i) {
    bool behind = false;
    nodes.clear();
    for (const NodeId n : instructions[i].nodes) {
      const Node& node = chip.graph.nodes[n];
      if (behind && norm_rule(chip.graph, node)) return &node;
      behind |= node.name == chip.instruction().name;
      nodes.push_back(n);
    }
  }
  throw Error("execution_failed", chip.who, chip.who + " makes sums that no instruction behind it uses");
}

}  // namespace sdip::exec
