// Validations to JSON.
#include "server/studies/validation_json.h"

#include "server/http/http.h"
#include "server/json/report_json.h"

namespace sdip {
namespace {

OrderedJson counter_rows_json() {
  OrderedJson list = OrderedJson::array();
  for (const CounterRow& row : counter_rows()) list.push_back({{"name", row.name}, {"unit", row.unit}});
  return list;
}

/// Rows of one side, an instruction each.
OrderedJson side_json(const std::vector<Both>& counters, std::int64_t Both::*side) {
  OrderedJson rows = OrderedJson::array();
  const std::size_t width = counter_rows().size();
  for (std::size_t i = 0; i < counters.size(); i += width) {
    OrderedJson row = OrderedJson::array();
    for (std::size_t r = 0; r < width; ++r) row.push_back(counters[i + r].*side);
    rows.push_back(std::move(row));
  }
  return rows;
}

OrderedJson pass_json(const ComparedPass& pass, bool with_instructions) {
  OrderedJson estimated = OrderedJson::array(), executed = OrderedJson::array();
  for (const auto& total : pass.totals) {
    estimated.push_back(total ? OrderedJson(total->estimated) : OrderedJson());
    executed.push_back(total ? OrderedJson(total->executed) : OrderedJson());
  }
  OrderedJson object = {{"number", pass.number}, {"estimated", estimated}, {"executed", executed}};
  if (!with_instructions || pass.counters.empty()) return object;
  object["instructions_estimated"] = side_json(pass.counters, &Both::estimated);
  object["instructions_executed"] = side_json(pass.counters, &Both::executed);
  return object;
}

OrderedJson stage_json(const StageCounters& stage, bool with_instructions) {
  OrderedJson passes = OrderedJson::array(), peaks = OrderedJson::array();
  for (const ComparedPass& pass : stage.passes) passes.push_back(pass_json(pass, with_instructions));
  for (const Peak& peak : stage.peaks)
    peaks.push_back({{"name", peak.name},
                     {"estimated", peak.estimated},
                     {"executed", peak.executed ? OrderedJson(*peak.executed) : OrderedJson()}});
  OrderedJson object = {{"name", stage.stage},
                        {"role", role_text(stage.role)},
                        {"left_out", stage.left_out},
                        {"instructions", stage.instructions},
                        {"classes", stage.classes},
                        {"classes_compared", stage.classes_compared},
                        {"simulated_passes", stage.simulated_passes},
                        {"repeats", stage.repeats},
                        {"tile_operations", stage.tile_operations},
                        {"values", stage.values},
                        {"differences", stage.differences},
                        {"passes", std::move(passes)},
                        {"peaks", std::move(peaks)}};
  if (!with_instructions) return object;
  object["index"] = stage.compared;
  object["layers"] = stage.layers;
  object["operations"] = stage.mnemonics;
  return object;
}

OrderedJson layer_json(const LayerTensors& layer) {
  OrderedJson first;
  if (layer.result.first)
    first = {{"element", layer.result.first->element},
             {"executed", number_or_null(layer.result.first->executed)},
             {"expected", number_or_null(layer.result.first->expected)}};
  return {{"index", layer.instruction},
          {"name", layer.layer},
          {"op", layer.mnemonic},
          {"left_out", layer.left_out},
          {"failure", layer.failure},
          {"operations", layer.operations},
          {"elements", layer.result.elements},
          {"differing", layer.result.differing},
          {"unsettled", layer.result.unsettled},
          {"allowed", layer.result.allowed},
          {"largest_error", layer.result.largest_error},
          {"overflows", layer.overflows},
          {"first", first}};
}

OrderedJson tensors_json(const StageTensors& stage) {
  OrderedJson layers = OrderedJson::array();
  for (const LayerTensors& layer : stage.layers) layers.push_back(layer_json(layer));
  return {{"stage", stage.stage},         {"classes", stage.classes},
          {"compared", stage.compared},   {"differences", stage.differences},
          {"overflows", stage.overflows}, {"layers", std::move(layers)}};
}

bool differs(const LayerTensors& layer) {
  return !layer.failure.empty() || (layer.result.differing > 0 && !layer.overflows);
}

}  // namespace

Coverage& Coverage::operator+=(const Coverage& other) {
  instructions += other.instructions;
  instructions_compared += other.instructions_compared;
  classes += other.classes;
  classes_compared += other.classes_compared;
  classes_executed += other.classes_executed;
  values += other.values;
  tile_operations += other.tile_operations;
  elements += other.elements;
  differences += other.differences;
  overflows += other.overflows;
  return *this;
}

Coverage coverage_of(const Validation& validation) {
  Coverage coverage;
  for (const StageCounters& stage : validation.counters)
    coverage += {.instructions = stage.instructions,
                 .instructions_compared = std::ssize(stage.compared),
                 .classes = stage.classes,
                 .classes_compared = stage.classes_compared,
                 .values = stage.values,
                 .tile_operations = stage.tile_operations,
                 .differences = stage.differences};
  for (const StageTensors& stage : validation.tensors) {
    coverage +=
        {.classes_executed = stage.compared, .differences = stage.differences, .overflows = stage.overflows};
    for (const LayerTensors& layer : stage.layers) coverage.elements += layer.result.elements;
  }
  return coverage;
}

OrderedJson coverage_json(const Coverage& coverage) {
  return {{"instructions", coverage.instructions},
          {"instructions_compared", coverage.instructions_compared},
          {"classes", coverage.classes},
          {"classes_compared", coverage.classes_compared},
          {"classes_executed", coverage.classes_executed},
          {"values", coverage.values},
          {"tile_operations", coverage.tile_operations},
          {"elements", coverage.elements},
          {"differences", coverage.differences},
          {"overflows", coverage.overflows}};
}

OrderedJson first_difference_json(const Validation& validation) {
  for (const StageCounters& stage : validation.counters)
    if (!stage.failure.empty())
      return {{"kind", "execution"}, {"stage", stage.stage},  {"pass", nullptr},      {"instruction", nullptr},
              {"layer", ""},         {"what", stage.failure}, {"estimated", nullptr}, {"executed", nullptr}};
  for (const StageCounters& stage : validation.counters)
    if (stage.first)
      return {
          {"kind", "counter"},
          {"stage", stage.stage},
          {"pass", stage.first->pass},
          {"instruction", stage.first->instruction == none ? OrderedJson() : OrderedJson(stage.first->instruction)},
          {"layer", stage.first->layer},
          {"what", stage.first->counter},
          {"estimated", stage.first->values.estimated},
          {"executed", stage.first->values.executed}};
  for (const StageTensors& stage : validation.tensors)
    for (const LayerTensors& layer : stage.layers) {
      if (!differs(layer)) continue;
      const bool failed = !layer.failure.empty();
      OrderedJson object = {
          {"kind", failed ? "execution" : "tensor"},
          {"stage", stage.stage},
          {"pass", nullptr},
          {"instruction", layer.instruction},
          {"layer", layer.layer},
          {"what", failed ? layer.failure : "element " + std::to_string(layer.result.first->element)},
          {"estimated", failed ? OrderedJson() : number_or_null(layer.result.first->expected)},
          {"executed", failed ? OrderedJson() : number_or_null(layer.result.first->executed)}};
      return object;
    }
  return nullptr;
}

OrderedJson validation_row_json(const ValidationRow& row, const std::optional<ValidationProgress>& progress) {
  OrderedJson at, error;
  if (row.state == SweepState::running && progress)
    at = {{"doing", progress->doing}, {"done", progress->done}, {"total", progress->total}};
  if (row.error) error = problem_json(row.error->code, row.error->where, row.error->message);
  return {{"id", row.id},
          {"model", row.model},
          {"state", sweep_state_text(row.state)},
          {"created", row.created},
          {"progress", at},
          {"error", error},
          {"request", OrderedJson::parse(row.request_json)},
          {"summary", row.summary_json.empty() ? OrderedJson() : OrderedJson::parse(row.summary_json)}};
}

OrderedJson validation_summary_json(const Validation& validation) {
  const Verdict verdict = verdict_of(validation);
  return {{"feasible", validation.feasible},
          {"reason", validation.reason},
          {"verdict", verdict_text(verdict)},
          {"passed", verdict == Verdict::pass},
          {"seconds", validation.seconds},
          {"first_difference", first_difference_json(validation)},
          {"coverage", coverage_json(coverage_of(validation))}};
}

OrderedJson validation_json(const Validation& validation, bool with_instructions) {
  OrderedJson stages = OrderedJson::array(), tensors = OrderedJson::array();
  for (const StageCounters& stage : validation.counters) stages.push_back(stage_json(stage, with_instructions));
  for (const StageTensors& stage : validation.tensors) tensors.push_back(tensors_json(stage));
  OrderedJson object = {{"model", validation.model}, {"machine", machine_json(validation.machine)}};
  object.update(validation_summary_json(validation));
  object["counters"] = counter_rows_json();
  object["stages"] = std::move(stages);
  object["tensors"] = std::move(tensors);
  return object;
}

}  // namespace sdip
