// The operators that stand before a nest.
#include "core/exec/operators/prologue.h"

#include <utility>

#include "core/base/error.h"
#include "core/exec/chip/norms.h"
#include "core/exec/numbers/arithmetic.h"
#include "core/exec/operators/pointwise.h"
#include "core/ops/values.h"

namespace sdip::exec {
namespace {

struct Prologue {
  Chip& chip;
  NormRule rule;
  std::vector<const Node*> activations;  // behind the norm, in order
  bool own_sums = false;
  NormSums sums{};
  List<char> summed{};  // rows

  /// The operand of `node` that the operators before it make.
  ValueId made_operand(const Node& node, const Node& before) const {
    for (const ValueId v : node.inputs)
      if (v != none && chip.views.root[v] == before.outputs[0]) return v;
    return none;
  }

  /// Sums of the rows that `at`, whose numbers are `x`, are in: where they are whole, of these; else of the rows
  /// read once more.
  void sum_rows(const Elements& at, const std::vector<double>& x) {
    if (summed.empty()) {
      sums = empty_sums(rule);
      summed.assign(as_size(rule.rows), 0);
    }
    if (has_whole_rows(at)) {
      at.each([&](std::int64_t e) { summed[rule.row_of(e)] = 1; });
      return add_to_sums(sums, rule, at, x);
    }
    at.each([&](std::int64_t e) {
      const std::int64_t row = rule.row_of(e);
      if (std::exchange(summed[row], 1) != 0) return;
      if (chip.log) chip.log->reads_rows_again();
      const Elements elements = Elements::line({row * rule.length, rule.length, 1});
      add_to_sums(sums, rule, elements, doubles_of(read_operand(chip, rule.node->inputs[0], elements)));
    });
  }

  /// Whole rows, ascending, each from its first element to its last, none of them summed before.
  bool has_whole_rows(const Elements& at) const {
    std::int64_t next = -1, row = -1;  // -1: a row begins
    bool whole = true;
    at.each([&](std::int64_t e) {
      const std::int64_t now = rule.row_of(e);
      const bool begins = next < 0 && e % rule.length == 0 && now > row && summed[now] == 0;
      whole = whole && (begins || e == next);
      row = now;
      next = (e + 1) % rule.length == 0 ? -1 : e + 1;
    });
    return whole && next < 0;
  }

  Numbers read(ValueId v, const Elements& wanted) {
    Elements at = through_view(chip, v, wanted);
    for (std::size_t i = activations.size(); i-- > 0;)
      at = through_view(chip, made_operand(*activations[i], i == 0 ? *rule.node : *activations[i - 1]), at);
    const auto x = doubles_of(read_operand(chip, rule.node->inputs[0], at));
    if (own_sums) sum_rows(at, x);
    TileValues tile{at, rule.node->outputs[0]};
    tile.made[tile.current] = normalised(chip, rule, own_sums ? sums : sums_of(chip, rule), at, x);
    for (const Node* node : activations) apply_pointwise(chip, *node, tile);
    return std::move(tile.made.at(tile.current));
  }
};

}  // namespace

std::optional<OperandReader> prologue_reader(Chip& chip, const Operators& operators, ValueId v) {
  if (operators.before.empty()) return std::nullopt;
  const auto rule = norm_rule(chip.graph, *operators.before[0]);
  if (!rule) return std::nullopt;
  const auto made =
      std::make_shared<Prologue>(Prologue{chip, *rule, {operators.before.begin() + 1, operators.before.end()}});
  const Node* before = rule->node;
  for (const Node* node : made->activations) {
    if (!is_pointwise(*node) || made->made_operand(*node, *before) == none) return std::nullopt;
    before = node;
  }
  if (chip.views.root[v] != before->outputs[0]) return std::nullopt;
  made->own_sums = chip.instruction_class().prologue_passes > std::ssize(operators.before);
  return [made, v](const Elements& at) { return made->read(v, at); };
}

}  // namespace sdip::exec
