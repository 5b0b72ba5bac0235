// The steps of tile operations in formulas: docs/model/work.md and fusion.md.
#include "core/cost/explain/filled_steps.h"

#include "core/cost/work/attention.h"
#include "core/cost/work/strip_plan.h"

namespace sdip {

using namespace cost;
namespace {

/// The instruction as its own step: one that stands for one operator on the chip, in one tile operation of all.
FilledBusy step_of(const InstructionClass& step, const Resolved& r) {
  const TilePlan plan = tile_plan(step);
  return filled_busy(step, r, plan, expand(step, plan).shapes[0]);
}

/// An attention's steps over tiles of queries and keys. The last key tile is a shape of its own, also where it is
/// as large as the others.
std::vector<FilledSteps> attention_shapes(const InstructionClass& c, const Resolved& r, const ClassCost& cost) {
  const AttentionSteps<Filled, decltype(&step_of)> steps(c, r, cost.plan, step_of);
  const auto sizes = [](const Cut& cut, std::int64_t tile) {
    std::vector<std::int64_t> of;
    if (cut.full > 0) of.push_back(tile);
    if (cut.edge > 0) of.push_back(cut.edge);
    return of;
  };
  std::vector<FilledSteps> shapes;
  const std::vector<std::int64_t> key_sizes = sizes(cost.plan.channels, cost.plan.tile_channels);
  for (const std::int64_t rows : sizes(cost.plan.rows, cost.plan.tile_rows))
    for (const std::int64_t& keys : key_sizes) shapes.push_back(steps.of(rows, keys, &keys == &key_sizes.back()));
  return shapes;
}

/// A strip's parts, each as an instruction of one tile operation; of streamed ones a tile of channels.
void add_strips(const InstructionClass& c, const Resolved& r, std::int64_t rows, std::vector<FilledSteps>& shapes) {
  const StripRows strip = strip_rows(c, rows);
  const auto part = [&](std::size_t p, std::int64_t channels) {
    return step_of(part_class(c, p, strip, channels), r);
  };
  const std::vector<StripOperation> operations = strip_operations(c);
  for (const StripOperation& o : operations) shapes.push_back({{part(o.part, o.channels)}});
  if (!operations.empty()) return;
  FilledSteps& steps = shapes.emplace_back();
  for (std::size_t p = 0; p < c.parts.size(); ++p) steps.push_back({part(p, part_channels(c.parts[p]))});
}

std::vector<FilledSteps> written(const InstructionClass& c, const Resolved& r, const ClassCost& cost) {
  std::vector<FilledSteps> shapes;
  if (c.compound == Compound::attention) return attention_shapes(c, r, cost);
  if (c.compound == Compound::strips) {
    add_strips(c, r, cost.plan.tile_rows, shapes);
    if (cost.plan.rows.edge > 0) add_strips(c, r, cost.plan.rows.edge, shapes);
    return shapes;
  }
  const Expansion expansion = expand(c, cost.plan);
  for (const TileShape& shape : expansion.shapes)
    shapes.push_back(cost.on_host ? filled_host(c, r, cost.plan, shape)
                                  : FilledSteps{{filled_busy(c, r, cost.plan, shape)}});
  return shapes;
}

}  // namespace

FilledBusy sum_of(const FilledSteps& steps) {
  FilledBusy sum;
  for (const StepOf<Filled>& step : steps) sum.add(step.busy, step.times);
  return sum;
}

Filled duration_of(const FilledSteps& steps) {
  Filled duration;
  for (const StepOf<Filled>& step : steps) duration += number(step.times) * longest_worked_out(step.busy);
  return duration;
}

std::vector<FilledSteps> filled_steps(const InstructionClass& c, const Resolved& r, const ClassCost& cost) {
  std::vector<FilledSteps> shapes = written(c, r, cost);
  if (shapes.size() != cost.shapes.size()) return {};
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (!agrees(sum_of(shapes[i]), cost.shapes[i].busy) || duration_of(shapes[i]).value() != cost.shapes[i].cycles)
      return {};
  return shapes;
}

}  // namespace sdip
