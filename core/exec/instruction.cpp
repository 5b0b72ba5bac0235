// One instruction: its operators in the tiles of its mapping.
#include <algorithm>

#include "core/base/error.h"
#include "core/exec/arithmetic.h"
#include "core/exec/moves.h"
#include "core/exec/nest.h"
#include "core/exec/nest_untiled.h"
#include "core/exec/operators.h"
#include "core/exec/pointwise.h"
#include "core/exec/prologue.h"
#include "core/exec/row_passes.h"
#include "core/exec/row_walk.h"
#include "core/exec/streams.h"
#include "core/program/kinds.h"

namespace sdip::exec {
namespace {

std::size_t output_index(const Node& node, ValueId v) {
  const auto found = std::ranges::find(node.outputs, v);
  check(found != node.outputs.end(), "a node makes its instruction's result");
  return static_cast<std::size_t>(found - node.outputs.begin());
}

/// The output of the main operator that goes on: the one that operators behind it read and no memory has (of a
/// Split's two another may have been copied before), or the instruction's result.
ValueId main_result(const Chip& chip, const Operators& operators, ValueId destination) {
  const auto root = [&](ValueId v) { return v == none ? none : chip.views.root[static_cast<std::size_t>(v)]; };
  for (const ValueId out : operators.main->outputs) {
    const auto reads = [&](const Node* node) {
      return std::ranges::find(node->inputs, out, root) != node->inputs.end();
    };
    const auto& sources = chip.instruction().sources;
    if (out != none && std::ranges::any_of(operators.behind, reads) &&
        std::ranges::find(sources, out, &PlacedOperand::value) == sources.end())
      return out;
  }
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

/// Row-wise work: elements of the result that each operation writes, those of one that writes nothing none.
std::vector<Elements> rowwise_tiles(const InstructionClass& c, std::int64_t elements) {
  const RowLoops loops = row_loops(c.work.rows, c.work.row_length, c.work.passes, c.mapping);
  std::vector<Elements> tiles;
  for_each_row_step(loops, [&](const RowStep& step) {
    const Extent part = step.writes ? results_of(loops, step, elements) : Extent{};
    tiles.push_back(Elements::line({part.begin, part.size(), 1}));
  });
  return tiles;
}

void run_rowwise(Chip& chip, const Operators& operators, const Whole& made, ValueId result) {
  const Node& main = *operators.main;
  const auto tiles = rowwise_tiles(chip.instruction_class(), element_count(chip.value(result).operand.shape));
  if (is_pointwise(main) && operators.before.empty()) {
    std::vector<const Node*> nodes{&main};
    nodes.insert(nodes.end(), operators.behind.begin(), operators.behind.end());
    for_each_result_tile(chip, nodes, tiles,
                         [&](const Elements& at) { write_pointwise(chip, nodes, at, none, {}); });
    return;
  }
  if (run_row_passes(chip, operators, result) || run_moves(chip, operators, tiles, result)) return;
  const Tensor whole = main_whole(chip, main, made, result);
  for_each_result_tile(chip, operators.behind, tiles, [&](const Elements& at) {
    end_tile(chip, operators, result, at,
             [&](const Elements& piece, std::int64_t) { return picked(whole, piece); });
  });
}

void run_mapped_nest(Chip& chip, const Operators& operators, const Whole& made, const NestMap& map,
                     ValueId result) {
  const InstructionClass& c = chip.instruction_class();
  const Node& main = *operators.main;
  const auto before = prologue_reader(chip, operators, main.inputs[0]);
  const auto reader = [&](ValueId v) -> NestOperand {
    if (before && v == main.inputs[0]) return {*before};
    const ValueId root = chip.views.root[static_cast<std::size_t>(v)];
    if (made.contains(root))
      return {[whole = whole_operand(chip, made, v)](const Elements& at) { return picked(whole, at); }};
    return {[&chip, v](const Elements& at) { return read_operand(chip, v, at); }, v};
  };
  NestOperand a = reader(main.inputs[0]);
  a.through_dram = c.operand_a == Place::dram;
  const NestOperand b = reader(main.inputs[1]);
  if (result == main.outputs[0] &&
      run_nest_untiled(chip, main, map, c.operand_b == Place::psram, a, b, operators.behind))
    return;
  run_nest(chip, main, map, c.operand_b == Place::psram, c.mapping, {{0, map.nest.out_h}}, a, b,
           [&](const Elements& at, const PieceMaker& make) { end_tile(chip, operators, result, at, make); });
}

/// All operators on whole operands: where one behind the main operator is not elementwise.
void run_whole(Chip& chip, const Operators& operators, Whole made, ValueId result) {
  made[result] = main_whole(chip, *operators.main, made, result);
  for (const Node* node : operators.behind) made[node->outputs[0]] = compute_whole(chip, *node, made).at(0);
  const Tensor& whole = made.at(chip.instruction().destination);
  write_result(chip, Elements::first(element_count(whole.shape)), numbers_of(whole));
}

}  // namespace

void run_instruction(Chip& chip) {
  ++chip.counts.instructions;
  chip.held_operands.clear();
  if (chip.log) chip.log->begin_instruction();
  open_result(chip);
  const Compound compound = chip.instruction_class().compound;
  if (compound == Compound::attention) return run_attention(chip);
  if (compound == Compound::strips) return run_strips(chip);
  if (chip.instruction().nodes.empty()) return run_sums(chip);
  const Operators operators = operators_of(chip);
  const ValueId destination = chip.instruction().destination;
  const ValueId result = main_result(chip, operators, destination);
  const bool nest = is_nest(chip.instruction_class().work.family);
  const auto map = nest ? nest_map(chip.graph, *operators.main) : std::nullopt;
  const auto tiled = [&](const Node* node) { return is_pointwise(*node) || is_turn(chip, *node); };
  const bool by_tiles = std::ranges::all_of(operators.behind, tiled);
  Whole made;
  if (!by_tiles || !map || !prologue_reader(chip, operators, operators.main->inputs[0]))
    for (const Node* node : operators.before) made[node->outputs[0]] = compute_whole(chip, *node, made).at(0);
  if (!by_tiles) return run_whole(chip, operators, std::move(made), result);
  if (!map) return run_rowwise(chip, operators, made, result);
  run_mapped_nest(chip, operators, made, *map, result);
}

}  // namespace sdip::exec
