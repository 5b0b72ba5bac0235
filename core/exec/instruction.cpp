// One instruction: its operators in the tiles of its mapping.
#include <algorithm>

#include "core/base/error.h"
#include "core/exec/arithmetic.h"
#include "core/exec/nest.h"
#include "core/exec/pointwise.h"
#include "core/program/tiles.h"

namespace sdip::exec {
namespace {

/// An instruction's operators: what comes before the main one, it, and what is fused behind.
struct Operators {
  std::vector<const Node*> before, behind;
  const Node* main = nullptr;
  bool nest = false;
};

Operators operators_of(const Chip& chip) {
  Operators found;
  std::vector<const Node*> nodes;
  for (const NodeId n : chip.instruction().nodes) nodes.push_back(&chip.graph.nodes[static_cast<std::size_t>(n)]);
  check(!nodes.empty(), "an instruction computes something");
  const auto is_main = [&](const Node* n) { return n->name == chip.instruction().name; };
  auto main = std::ranges::find_if(nodes, is_main);
  if (main == nodes.end()) main = nodes.begin();
  found.main = *main;
  found.before.assign(nodes.begin(), main);
  found.behind.assign(main + 1, nodes.end());
  found.nest = is_nest(chip.instruction_class().work.family);
  return found;
}

/// Values made on chip before the main operator, whole.
using Whole = std::map<ValueId, Tensor>;

Tensor whole_operand(Chip& chip, const Whole& made, ValueId v) {
  const ValueId root = chip.views.root[static_cast<std::size_t>(v)];
  const auto found = made.find(root);
  if (found == made.end()) return read_whole(chip, v);
  Tensor tensor = found->second;
  if (!chip.views.map[static_cast<std::size_t>(v)].empty()) {
    const Tensor from = tensor;
    for (std::size_t i = 0; i < from.floats.size(); ++i)
      tensor.floats[i] = from.floats[static_cast<std::size_t>(chip.views.at(v, static_cast<std::int64_t>(i)))];
    for (std::size_t i = 0; i < from.ints.size(); ++i)
      tensor.ints[i] = from.ints[static_cast<std::size_t>(chip.views.at(v, static_cast<std::int64_t>(i)))];
  }
  tensor.shape = chip.value(v).operand.shape;
  return tensor;
}

/// A node on whole operands. An activation that no lane reads (work says so: only its shape counts) is zeros.
std::vector<Tensor> compute_whole(Chip& chip, const Node& node, const Whole& made) {
  ++chip.counts.whole_operators;
  const Work work = work_of(chip.graph, node);
  std::vector<std::optional<Tensor>> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId v = node.inputs[i];
    if (v == none) {
      operands.emplace_back();
      continue;
    }
    const Value& value = chip.value(v);
    const bool unread = !is_nest(work.family) && value.kind == ValueKind::activation &&
                        (i >= work.read_elements.size() || work.read_elements[i] == 0);
    operands.push_back(unread ? zero_tensor(value.operand.type, value.operand.shape)
                              : whole_operand(chip, made, v));
  }
  return computed(chip.graph, node, operands);
}

std::size_t output_index(const Node& node, ValueId v) {
  const auto found = std::ranges::find(node.outputs, v);
  check(found != node.outputs.end(), "a node makes its instruction's result");
  return static_cast<std::size_t>(found - node.outputs.begin());
}

/// The output of the main operator that goes on: what the operators behind it read, or the instruction's result.
ValueId main_result(const Chip& chip, const Operators& operators, ValueId destination) {
  for (const ValueId out : operators.main->outputs)
    for (const Node* node : operators.behind)
      for (const ValueId v : node->inputs)
        if (out != none && v != none && chip.views.root[static_cast<std::size_t>(v)] == out) return out;
  return destination;
}

/// The result of the main operator as a whole; other results of a nest wait until they are copied.
Tensor main_whole(Chip& chip, const Node& node, const Whole& made, ValueId result) {
  if (const auto waiting = chip.other_results.find(result); waiting != chip.other_results.end())
    return waiting->second;
  std::vector<Tensor> results = compute_whole(chip, node, made);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (node.outputs[i] != none && node.outputs[i] != result && is_nest(work_of(chip.graph, node).family))
      chip.other_results[node.outputs[i]] = results[i];
  return std::move(results[output_index(node, result)]);
}

/// Fused operators on a tile of the main one's results, then to memory.
void end_tile(Chip& chip, const Operators& operators, ValueId result, std::span<const std::int64_t> at,
              Tensor numbers) {
  TileValues tile{{at.begin(), at.end()}, result};
  tile.made[result] = std::move(numbers);
  for (const Node* node : operators.behind) apply_pointwise(chip, *node, tile);
  check(tile.current == chip.instruction().destination, "the last operator makes the instruction's result");
  write_result(chip, tile.at, tile.made.at(tile.current));
}

/// Row-wise work: elements of the result in the order in which tiles of rows, or chunks of a row, end.
std::vector<std::vector<std::int64_t>> rowwise_tiles(const InstructionClass& c, std::int64_t elements) {
  const std::int64_t rows = std::max<std::int64_t>(1, c.work.rows);
  const bool chunked = c.mapping.tile_channels < c.work.row_length;
  const std::int64_t parts = chunked ? rows * ceil_div(c.work.row_length, c.mapping.tile_channels)
                                     : ceil_div(rows, std::max<std::int64_t>(1, c.mapping.tile_rows));
  const std::int64_t tile = ceil_div(elements, std::max<std::int64_t>(1, parts));
  std::vector<std::vector<std::int64_t>> tiles;
  for (std::int64_t begin = 0; begin < elements; begin += tile) {
    std::vector<std::int64_t> at = all_elements(std::min(tile, elements - begin));
    for (std::int64_t& element : at) element += begin;
    tiles.push_back(std::move(at));
  }
  return tiles;
}

void run_rowwise(Chip& chip, const Operators& operators, const Whole& made, ValueId result) {
  const Node& main = *operators.main;
  const auto tiles = rowwise_tiles(chip.instruction_class(), element_count(chip.value(result).operand.shape));
  if (is_pointwise(main) && operators.before.empty()) {
    for (const auto& at : tiles) {
      ++chip.counts.tile_operations;
      TileValues tile{at, none};
      apply_pointwise(chip, main, tile);
      for (const Node* node : operators.behind) apply_pointwise(chip, *node, tile);
      write_result(chip, tile.at, tile.made.at(tile.current));
    }
    return;
  }
  const Tensor whole = main_whole(chip, main, made, result);
  for (const auto& at : tiles) {
    ++chip.counts.tile_operations;
    end_tile(chip, operators, result, at, picked(whole, at));
  }
}

void run_mapped_nest(Chip& chip, const Operators& operators, const Whole& made, const NestMap& map,
                     ValueId result) {
  const InstructionClass& c = chip.instruction_class();
  const Node& main = *operators.main;
  const auto reader = [&](ValueId v) -> OperandReader {
    const ValueId root = chip.views.root[static_cast<std::size_t>(v)];
    if (made.contains(root)) {
      return [whole = whole_operand(chip, made, v)](std::span<const std::int64_t> at) { return picked(whole, at); };
    }
    return [&chip, v](std::span<const std::int64_t> at) { return read_operand(chip, v, at); };
  };
  run_nest(chip, main, map, c.operand_b == Place::psram, c.mapping, reader(main.inputs[0]), reader(main.inputs[1]),
           [&](std::span<const std::int64_t> at, Tensor numbers) {
             end_tile(chip, operators, result, at, std::move(numbers));
           });
}

/// All operators on whole operands: where one behind the main operator is not elementwise.
void run_whole(Chip& chip, const Operators& operators, Whole made, ValueId result) {
  made[result] = main_whole(chip, *operators.main, made, result);
  for (const Node* node : operators.behind) made[node->outputs[0]] = compute_whole(chip, *node, made).at(0);
  const Tensor& whole = made.at(chip.instruction().destination);
  write_result(chip, all_elements(element_count(whole.shape)), whole);
}

}  // namespace

void run_instruction(Chip& chip) {
  ++chip.counts.instructions;
  open_result(chip);
  const Operators operators = operators_of(chip);
  const ValueId destination = chip.instruction().destination;
  const ValueId result = main_result(chip, operators, destination);
  Whole made;
  for (const Node* node : operators.before) made[node->outputs[0]] = compute_whole(chip, *node, made).at(0);
  if (!std::ranges::all_of(operators.behind, [](const Node* node) { return is_pointwise(*node); }))
    return run_whole(chip, operators, std::move(made), result);
  const auto map = operators.nest ? nest_map(chip.graph, *operators.main) : std::nullopt;
  const bool quantised = operators.main->op->type.starts_with("Quantized");
  if (!map || quantised) return run_rowwise(chip, operators, made, result);
  run_mapped_nest(chip, operators, made, *map, result);
}

}  // namespace sdip::exec
