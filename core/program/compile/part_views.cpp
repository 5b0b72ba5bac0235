// Which parts and which Concats are read where their bytes lie.
//
// Worked example: x [2, 6, 64] cut along its second axis into 2 and 4: of each of its two rows 128 elements, then
// 256, all whole words. Cut along its last axis into 32 and 32, runs would begin amid words: two copies.
#include "core/program/compile/part_views.h"

#include <algorithm>

#include "core/ops/use.h"
#include "core/program/compile/pieces.h"
#include "core/program/form/form.h"
#include "core/program/form/memory_plan.h"

namespace sdip {
namespace {

constexpr std::int64_t word_elements = 64;

bool in_whole_words(const Shape& whole, const Piece& piece) {
  const std::int64_t rows = count_between(whole, 0, piece.axis);
  const std::int64_t inner = count_between(whole, piece.axis + 1, whole.size());
  const auto is_whole = [&](std::int64_t places) { return places * inner % word_elements == 0; };
  return is_whole(piece.begin) && (rows == 1 || (is_whole(piece.end - piece.begin) && is_whole(whole[piece.axis])));
}

/// Readers of a value, under whatever shapes, whether norms are among them, and whether it is a result of the
/// graph.
struct Readers {
  std::int64_t count = 0;
  bool normed = false, returned = false;
};
Readers readers_of(const Graph& graph, ValueId value, const Machine& machine) {
  Readers readers;
  std::vector<ValueId> shapes{value};
  while (!shapes.empty()) {
    const ValueId v = shapes.back();
    shapes.pop_back();
    readers.returned |= std::ranges::find(graph.outputs, v) != graph.outputs.end();
    for (const NodeId n : graph.values[v].consumers) {
      const Node& node = graph.nodes[n];
      const Work work = work_of(graph, node);
      if (node.inputs[0] == v && is_view(graph, node, work, machine)) {
        shapes.push_back(node.outputs[0]);
        continue;
      }
      ++readers.count;
      readers.normed |= work.family == Family::norm;
    }
  }
  return readers;
}

/// Whether an instruction makes the bytes of a value.
bool is_made(const Graph& graph, ValueId v, const Views& views) {
  if (v == none) return false;
  const auto is_tensor = [&](ValueId of) {
    const Value& value = graph.values[of];
    return value.kind == ValueKind::activation && !is_scalar(value);
  };
  const ValueId root = views.roots[v];
  return is_tensor(v) && is_tensor(root) && !views.joined.contains(root);
}

bool is_concat(const Node& node) { return node.op->domain.empty() && node.op->type == "Concat"; }

bool is_alike(const Graph& graph, ValueId a, ValueId b) {
  const Value &x = graph.values[a], &y = graph.values[b];
  return x.format == y.format && x.operand.type == y.operand.type;
}

}  // namespace

bool exceeds_dsram(std::int64_t bytes, const Machine& machine) {
  if (is_unified(machine)) return bytes > unified_bytes(machine) / 2;
  return bytes > largest_dsram_bytes(machine);
}

namespace {

/// The bytes that a Concat's reader takes of it, or of two parts beside one another.
std::int64_t joined_bytes(const Graph& graph, ValueId whole, const Readers& readers, const Machine& machine) {
  return value_bytes(graph, whole, machine).value * (readers.count == 1 ? 2 : 1);
}

/// Whether a norm that reads what is joined takes its operands once more.
bool sums_again(const Readers& readers, const Machine& machine) {
  return readers.normed && machine.norm_statistics != NormStatistics::own_pass;
}

}  // namespace

std::vector<std::int64_t> sizes_weighed(const Graph& graph, const Machine& machine) {
  std::vector<std::int64_t> sizes;
  const auto add = [&](ValueId v) { sizes.push_back(value_bytes(graph, v, machine).value); };
  for (const Node& node : graph.nodes) {
    if (is_concat(node)) {
      const Readers readers = readers_of(graph, node.outputs[0], machine);
      sizes.push_back(joined_bytes(graph, node.outputs[0], readers, machine));
      if (sums_again(readers, machine) && machine.skip_handling != SkipHandling::spill)
        for (const ValueId v : node.inputs)
          if (v != none) add(v);
    } else if (!node.inputs.empty() && node.inputs[0] != none && !pieces_of_operand(graph, node).empty()) {
      add(node.inputs[0]);
    }
  }
  return sizes;
}

bool parts_in_place(const Graph& graph, const Node& node, const Views& views, const Machine& machine) {
  const bool may = node.in_place || machine.part_views == PartViews::on;
  if (!may || node.inputs.empty() || !is_made(graph, node.inputs[0], views)) return false;
  const std::vector<Piece> pieces = pieces_of_operand(graph, node);
  const ValueId whole = views.roots[node.inputs[0]];
  const bool large = exceeds_dsram(value_bytes(graph, whole, machine).value, machine);
  const auto in_place = [&](const Piece& piece) {
    const Readers readers = readers_of(graph, piece.value, machine);
    const Value& value = graph.values[piece.value];
    return value.kind == ValueKind::activation && !is_scalar(value) && !readers.returned &&
           (node.in_place || !large || readers.count <= 1) && is_alike(graph, piece.value, whole) &&
           in_whole_words(shape_of(graph, node.inputs[0]), piece);
  };
  return !pieces.empty() && std::ranges::all_of(pieces, in_place);
}

bool joins_in_place(const Graph& graph, const Node& node, const Views& views, const Machine& machine) {
  const bool may = node.in_place || machine.part_views == PartViews::on;
  if (!may || !is_concat(node) || node.inputs.size() < 2) return false;
  const ValueId whole = node.outputs[0];
  const Readers readers = readers_of(graph, whole, machine);
  if (readers.returned) return false;
  std::int64_t bytes = 0, bytes_in_dram = 0;  // of the operands
  List<ValueId> roots;
  for (const ValueId v : node.inputs) {
    if (!is_made(graph, v, views) || !is_alike(graph, v, whole)) return false;
    const ValueId root = views.roots[v];
    if (!is_alike(graph, root, whole) || is_part(graph, views.roots, v) || views.taken[root] != 0 ||
        std::ranges::find(roots, root) != roots.end())
      return false;
    roots.push_back(root);
    const std::int64_t of_operand = value_bytes(graph, root, machine).value;
    bytes += of_operand;
    if (machine.skip_handling == SkipHandling::spill || exceeds_dsram(of_operand, machine))
      bytes_in_dram += of_operand;
  }
  if (node.in_place) return true;
  return exceeds_dsram(joined_bytes(graph, whole, readers, machine), machine) &&
         (!sums_again(readers, machine) || 2 * bytes_in_dram > bytes);
}

}  // namespace sdip
