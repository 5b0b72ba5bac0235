// One instruction: its operators in the tiles of its mapping.
#include <algorithm>

#include "core/base/error.h"
#include "core/exec/numbers/arithmetic.h"
#include "core/exec/operators/moves.h"
#include "core/exec/operators/nest.h"
#include "core/exec/operators/nest_untiled.h"
#include "core/exec/operators/operators.h"
#include "core/exec/operators/pointwise.h"
#include "core/exec/operators/prologue.h"
#include "core/exec/operators/row_passes.h"
#include "core/exec/operators/streams.h"
#include "core/exec/operators/whole.h"
#include "core/program/kinds.h"

namespace sdip::exec {
namespace {

/// The output of the main operator that goes on: the one that operators behind it read and neither a memory nor a
/// register has (of a Split's two another may have been copied before), or the instruction's result.
ValueId main_result(const Chip& chip, const Operators& operators, ValueId destination) {
  const auto root = [&](ValueId v) { return v == none ? none : chip.views.root[v]; };
  for (const ValueId out : operators.main->outputs) {
    const auto reads = [&](const Node* node) {
      return std::ranges::find(node->inputs, out, root) != node->inputs.end();
    };
    const auto& sources = chip.instruction().sources;
    if (out != none && std::ranges::any_of(operators.behind, reads) && !chip.registers.contains(out) &&
        std::ranges::find(sources, out, &PlacedOperand::value) == sources.end())
      return out;
  }
  return destination;
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
  run_whole_rows(chip, operators, made, result);
}

void run_mapped_nest(Chip& chip, const Operators& operators, const Whole& made, const NestMap& map,
                     ValueId result) {
  const InstructionClass& c = chip.instruction_class();
  const Node& main = *operators.main;
  const auto before = prologue_reader(chip, operators, main.inputs[0]);
  const auto reader = [&](ValueId v) -> NestOperand {
    if (before && v == main.inputs[0]) return {*before};
    const ValueId root = chip.views.root[v];
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

}  // namespace

void run_instruction(Chip& chip) {
  ++chip.counts.instructions;
  chip.held_operands.clear();
  chip.held_elements.clear();
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
  if (!by_tiles || (nest && !map)) return run_whole(chip, operators, std::move(made), result);
  if (!map) return run_rowwise(chip, operators, made, result);
  run_mapped_nest(chip, operators, made, *map, result);
}

}  // namespace sdip::exec
