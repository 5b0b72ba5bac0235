// An explanation: stages run, layers gathered into kinds, the worst written out.
#include "core/cost/explain/explain.h"

#include <algorithm>

#include "core/cost/explain/explain_layer.h"
#include "core/cost/explain/load.h"
#include "core/cost/price/area.h"
#include "core/cost/work/micro_operations.h"

namespace sdip {
namespace {

ExplainedStage explained_stage(const CompiledStage& stage, const Machine& m) {
  ExplainedStage s;
  s.run = *run_stage(stage, m, &s.trace);
  s.rules = stage_rules(stage, m, s.run.schedule.active_cores);
  for (std::size_t c = 0; c < s.run.costs.size(); ++c) {
    s.moves.push_back(channel_moves(s.run.costs[c], stage.program.classes[c].pinned, s.rules));
    s.channel_cycles.push_back(channel_cycles<std::int64_t>(s.moves.back().moves, s.rules));
  }
  return s;
}

StageExplanation stage_explanation(const ExplainedStage& s, std::span<const LayerNeeds> layers, const Machine& m) {
  const PassCost& steady = s.run.steady();
  StageExplanation e;
  e.name = s.run.stage->name;
  e.role = s.run.stage->role;
  e.cycles = steady.cycles;
  e.passes_per_frame = on_chip(e.role, m) ? passes_per_frame(e.role, m) : 0;
  for (const LayerNeeds& layer : layers) {
    for (std::size_t i = 0; i < needed_count; ++i) e.needs[i] += layer.needs[i];
    e.limited[layer.limiter] += layer.cycles;
  }
  e.limiter = static_cast<Needed>(std::ranges::max_element(e.needs) - e.needs.begin());
  e.bound_cycles = s.run.work.bound_cycles;
  e.dram_bytes =
      steady.weight_bytes + steady.activation_in_bytes + steady.activation_out_bytes + steady.program_bytes;
  e.bounds = bound_terms(s.run);
  e.bound_dram_bytes = e.bounds.back().value;
  e.active_cores = s.run.schedule.active_cores;
  e.products_in_mac = s.run.work.products_in_mac;
  e.spread_cores = s.run.work.spread_cores;
  e.mac_lanes = stage_mac_lanes(*s.run.stage, m) * e.products_in_mac * e.active_cores * e.spread_cores;
  e.rate = s.rules.rate;
  e.roofs = mac_roofs(s.run);
  return e;
}

/// Layers that cost the same, those of most cycles a frame first; of equals in program order.
std::vector<LayerExplanation> kinds_of(const Explanation& e, const std::vector<ExplainedStage>& stages) {
  std::vector<LayerExplanation> kinds;
  for (const LayerNeeds& layer : e.layers) {
    const List<Instruction>& of = stages[layer.stage].run.stage->program.instructions;
    const auto known = std::ranges::find_if(kinds, [&](const LayerExplanation& kind) {
      LayerNeeds in_its_place = layer;
      in_its_place.index = kind.layer.index;
      return in_its_place == kind.layer &&
             of[layer.index].instruction_class == of[kind.layer.index].instruction_class;
    });
    LayerExplanation& kind = known == kinds.end() ? kinds.emplace_back() : *known;
    if (kind.alike.empty()) kind.layer = layer;
    kind.alike.push_back(layer.index);
  }
  const auto of_a_frame = [&](const LayerExplanation& kind) {
    return kind.layer.cycles * static_cast<std::int64_t>(kind.alike.size()) *
           e.stages[kind.layer.stage].passes_per_frame;
  };
  std::ranges::stable_sort(kinds, std::ranges::greater{}, of_a_frame);
  return kinds;
}

}  // namespace

std::string_view needed_text(Needed needed) {
  return needed == Needed::dram_channel ? "dram_channel" : resource_text(static_cast<Resource>(needed));
}

std::int64_t LayerExplanation::slack(Needed needed) const { return layer.cycles - layer.needs[needed]; }

std::string_view unit_of(const FilledTerm& term) {
  if (term.what.ends_with("_reads") || term.what.ends_with("_writes")) return "";
  if (term.what.ends_with("_mhz")) return "MHz";
  if (term.what.ends_with("_mv")) return "mV";
  return term.what.ends_with("bytes") ? "B" : term.what.ends_with("_us") ? "us" : "cycles";
}

Needed limiter_of(const Needs& needs, std::int64_t stalls) {
  constexpr auto channel = at(Needed::dram_channel);
  const auto longest = std::max_element(needs.begin(), needs.begin() + channel);
  const bool waits = stalls > 0 && std::max(stalls, needs[channel]) > *longest;
  return waits ? Needed::dram_channel : static_cast<Needed>(longest - needs.begin());
}

Explanation explain(const Application& application, const Machine& machine, std::size_t most_layers) {
  Explanation e;
  const Outcome outcome = evaluate(application, machine);
  e.feasible = outcome.feasible;
  e.reason = outcome.reason;
  if (!outcome.counted()) return e;
  std::vector<ExplainedStage> stages;
  stages.reserve(application.stages.size());
  for (const CompiledStage& compiled : application.stages) {
    stages.push_back(explained_stage(compiled, machine));
    const std::size_t before = e.layers.size();
    for (std::size_t i = 0; i < compiled.program.instructions.size(); ++i)
      e.layers.push_back(layer_needs(stages.back(), stages.size() - 1, i));
    e.stages.push_back(stage_explanation(stages.back(), std::span(e.layers).subspan(before), machine));
  }
  FrameTerms frame = frame_terms(stages, machine);
  e.terms = std::move(frame.terms);
  for (FilledTerm& term : clock_terms(application, machine)) e.terms.push_back(std::move(term));
  e.load = load_terms(application, machine);
  e.pace = frame.pace;
  e.worst = kinds_of(e, stages);
  e.worst.resize(std::min(e.worst.size(), most_layers));
  for (LayerExplanation& kind : e.worst) explain_layer(stages[kind.layer.stage], kind);
  return e;
}

}  // namespace sdip
