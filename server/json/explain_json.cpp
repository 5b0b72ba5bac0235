// Explanations and single changes as JSON.
#include "server/json/explain_json.h"

#include <limits>

namespace sdip {
namespace {

/// A layer of an analysis, one of its kinds of layers in full, and all of it.
struct LayerOf {
  const Analysis& analysis;
  const LayerNeeds& layer;
  const Instruction& instruction() const {
    return analysis.application.stages[layer.stage].program.instructions[layer.index];
  }
};
struct KindOf {
  const Analysis& analysis;
  const LayerExplanation& kind;
  LayerOf layer() const { return {analysis, kind.layer}; }
};
struct ExplanationOf {
  const Analysis& analysis;
  const Explanation& all;
};

/// A change of one row, and what it is beside.
struct ChangeOf {
  const Outcome& before;
  const ChangedPoint& point;
};

Needs slack_of(const KindOf& of) {
  Needs slack{};
  for (std::size_t i = 0; i < needed_count; ++i) slack[i] = of.kind.slack(static_cast<Needed>(i));
  return slack;
}

MetricValues elasticities_of(const ChangeOf& of) {
  MetricValues values{};
  for (std::size_t i = 0; i < metric_count; ++i)
    values[i] =
        of.point.elasticity(of.before, static_cast<Metric>(i)).value_or(std::numeric_limits<double>::quiet_NaN());
  return values;
}

/// Each of `parts` beside `whole`.
template <class Of, class Whole, class Part>
std::vector<Of> each_of(const Whole& whole, const std::vector<Part>& parts) {
  std::vector<Of> all;
  for (const Part& part : parts) all.push_back({whole, part});
  return all;
}

std::string_view limiter_text(bool feasible, Needed limiter) { return feasible ? needed_text(limiter) : ""; }

}  // namespace

template <>
Record<FilledTerm> make_record() {
  using Of = FilledTerm;
  return Record<Of>("FilledTerm")
      .field("what", &Of::what)
      .field("section", &Of::section)
      .field("formula", &Of::formula)
      .field("numbers", &Of::numbers)
      .field("value", &Of::value)
      .field("unit", schema::one_of({"cycles", "B", "us", "MHz", "mV", ""}), unit_of);
}
template <>
Record<LayerOf> make_record() {
  using Of = LayerOf;
  return Record<Of>("LayerNeeds", SchemaOrder::counts_first)
      .field("stage", [](const Of& of) { return of.layer.stage; })
      .field("index", [](const Of& of) { return of.layer.index; })
      .field("name", [](const Of& of) { return of.instruction().name; })
      .field("op", [](const Of& of) { return of.instruction().mnemonic; })
      .field("cycles", [](const Of& of) { return of.layer.cycles; })
      .field("limiter", [](const Of& of) { return of.layer.limiter; })
      .field("macs", [](const Of& of) { return of.layer.macs; })
      .field("lane_macs", [](const Of& of) { return of.layer.lane_macs; })
      .field("array_macs_per_cycle", [](const Of& of) { return of.layer.array_macs; })
      .field("dram_bytes", [](const Of& of) { return of.layer.dram_bytes; });
}
template <>
Record<KindOf> make_record() {
  using Of = KindOf;
  return Record<Of>("LayerExplanation")
      .with(&Of::layer)
      .field("alike", [](const Of& of) { return of.kind.alike; })
      .field("needed_cycles", [](const Of& of) { return of.kind.layer.needs; })
      .field("slack_cycles", slack_of)
      .field("bound_cycles", [](const Of& of) { return of.kind.bound_cycles; })
      .field("least_dram_bytes", [](const Of& of) { return of.kind.least_dram_bytes; })
      .field("written_out", [](const Of& of) { return of.kind.written_out; })
      .field("terms", [](const Of& of) { return of.kind.terms; });
}
template <>
Record<StageExplanation> make_record() {
  using Of = StageExplanation;
  return Record<Of>("StageExplanation", SchemaOrder::counts_first)
      .field("name", &Of::name)
      .field("role", &Of::role)
      .field("cycles", &Of::cycles)
      .field("passes_per_frame", &Of::passes_per_frame)
      .field("limiter", &Of::limiter)
      .field("needed_cycles", &Of::needs)
      .field("limited_cycles", &Of::limited)
      .field("bound_cycles", &Of::bound_cycles)
      .field("dram_bytes", &Of::dram_bytes)
      .field("bound_dram_bytes", &Of::bound_dram_bytes)
      .field("active_cores", &Of::active_cores)
      .field("spread_cores", &Of::spread_cores)
      .field("products_in_mac", &Of::products_in_mac)
      .field("mac_lanes", &Of::mac_lanes)
      .field("dram_bytes_per_cycle", &Of::rate)
      .field("mac_roofs", &Of::roofs)
      .field("terms", &Of::bounds);
}
template <>
Record<ExplanationOf> make_record() {
  using Of = ExplanationOf;
  return Record<Of>("Explanation")
      .field("model", [](const Of& of) { return of.analysis.model; })
      .field("machine", [](const Of& of) { return of.analysis.machine; })
      .field("feasible", [](const Of& of) { return of.all.feasible; })
      .field("reason", [](const Of& of) { return of.all.reason; })
      .field("pace", [](const Of& of) { return of.all.feasible ? of.all.stages[of.all.pace].name : ""; })
      .field("limiter", [](const Of& of) { return of.all.feasible ? needed_text(of.all.limiter()) : ""; })
      .field("terms", [](const Of& of) { return of.all.terms; })
      .field("load", [](const Of& of) { return of.all.load; })
      .field("stages", [](const Of& of) { return of.all.stages; })
      .field("worst", [](const Of& of) { return each_of<KindOf>(of.analysis, of.all.worst); })
      .field("layers", [](const Of& of) { return each_of<LayerOf>(of.analysis, of.all.layers); });
}
template <>
Record<Change> make_record() {
  using Of = Change;
  return Record<Of>("RowStep")
      .field("parameter", [](const Of& step) { return step.row->name; })
      .field("from", [](const Of& step) { return RowValue(step.row, step.from); })
      .field("to", [](const Of& step) { return RowValue(step.row, step.to); });
}
template <>
Record<ChangeOf> make_record() {
  using Of = ChangeOf;
  return Record<Of>("SingleChange")
      .with([](const Of& of) { return of.point.change; })
      .field("kind", [](const Of& of) { return of.point.change.row->change; })
      .field("feasible", [](const Of& of) { return of.point.outcome.feasible; })
      .field("reason", [](const Of& of) { return of.point.outcome.reason; })
      .field("pace", [](const Of& of) { return of.point.pace; })
      .field("limiter", [](const Of& of) { return limiter_text(of.point.outcome.feasible, of.point.limiter); })
      .field("metrics", [](const Of& of) { return of.point.outcome.values; })
      .field("elasticities", elasticities_of);
}
template <>
Record<Stepless> make_record() {
  using Of = Stepless;
  return Record<Of>("WithoutStep")
      .field("parameter", [](const Of& of) { return of.row->name; })
      .field("value", [](const Of& of) { return RowValue(of.row, of.value); })
      .field("reason", &Of::reason);
}
template <>
Record<SensitivitiesOf> make_record() {
  using Of = SensitivitiesOf;
  return Record<Of>("Sensitivities")
      .field("model", &Of::model)
      .field("feasible", [](const Of& of) { return of.found.outcome.feasible; })
      .field("reason", [](const Of& of) { return of.found.outcome.reason; })
      .field("pace", [](const Of& of) { return of.found.pace; })
      .field("limiter", [](const Of& of) { return limiter_text(of.found.outcome.feasible, of.found.limiter); })
      .field("metrics", [](const Of& of) { return of.found.outcome.values; })
      .field("changes", [](const Of& of) { return each_of<ChangeOf>(of.found.outcome, of.found.points); })
      .field("without_step", [](const Of& of) { return of.found.without_step; })
      .field("moves_bottleneck", [](const Of& of) { return cheapest_changes(of.found, {}); })
      .field("moves_without_gain", [](const Of& of) { return idle_moves(of.found); })
      .field("more_frames", [](const Of& of) {
        return cheapest_changes(of.found, {Metric::throughput_fps, wanted_frame_share});
      });
}

OrderedJson explanation_json(const Analysis& analysis, const Explanation& explanation) {
  return record<ExplanationOf>().json({analysis, explanation});
}

OrderedJson sensitivities_json(const std::string& model, const Sensitivities& sensitivities) {
  return record<SensitivitiesOf>().json({model, sensitivities});
}

void add_explanation_schemas(OrderedJson& schemas) {
  add_schemas<FilledTerm>(schemas);
  schemas["CyclesByNeed"] = NeedsByName::schema();
  add_schemas<LayerOf, KindOf, StageExplanation, ExplanationOf, Change, ChangeOf, Stepless, SensitivitiesOf>(
      schemas);
}

}  // namespace sdip
