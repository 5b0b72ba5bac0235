// Validations to JSON.
#include "server/studies/validation_json.h"

#include "server/json/report_json.h"

namespace sdip {
namespace {

/// All of a validation.
struct ResultOf {
  const Validation& validation;
};
const Validation& summary_of(const ResultOf& of) { return of.validation; }

OrderedJson counter_json(const CounterRow& row) { return {{"name", row.name}, {"unit", row.unit}}; }

/// Totals of one side.
template <std::int64_t Both::*side>
std::vector<std::optional<std::int64_t>> totals_of(const ComparedPass& pass) {
  std::vector<std::optional<std::int64_t>> totals;
  for (const auto& total : pass.totals) totals.push_back(total ? std::optional((*total).*side) : std::nullopt);
  return totals;
}

/// Rows of one side, an instruction each; nothing where totals alone were compared.
template <std::int64_t Both::*side>
std::optional<std::vector<std::vector<std::int64_t>>> rows_of(const ComparedPass& pass) {
  if (pass.counters.empty()) return std::nullopt;
  std::vector<std::vector<std::int64_t>> rows;
  const std::size_t width = counter_rows().size();
  for (std::size_t i = 0; i < pass.counters.size(); ++i) {
    if (i % width == 0) rows.emplace_back();
    rows.back().push_back(pass.counters[i].*side);
  }
  return rows;
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
  OrderedJson at;
  if (row.state == SweepState::running && progress)
    at = {{"doing", progress->doing}, {"done", progress->done}, {"total", progress->total}};
  return job_row_json(row, std::move(at));
}

template <>
Record<Coverage> make_record() {
  using Of = Coverage;
  return Record<Of>("Coverage")
      .field("instructions", &Of::instructions)
      .field("instructions_compared", &Of::instructions_compared)
      .field("classes", &Of::classes)
      .field("classes_compared", &Of::classes_compared)
      .field("classes_executed", &Of::classes_executed)
      .field("values", &Of::values)
      .field("tile_operations", &Of::tile_operations)
      .field("elements", &Of::elements)
      .field("differences", &Of::differences)
      .field("overflows", &Of::overflows);
}
template <>
Record<Validation> make_record() {
  using Of = Validation;
  return Record<Of>("ValidationSummary")
      .field("feasible", &Of::feasible)
      .field("reason", &Of::reason)
      .field("verdict", [](const Of& of) { return verdict_of(of); })
      .field("passed", [](const Of& of) { return verdict_of(of) == Verdict::pass; })
      .field("seconds", &Of::seconds)
      .field("first_difference", first_difference_schema(), first_difference_json)
      .field("coverage", coverage_of);
}
template <>
Record<ComparedPass> make_record() {
  return Record<ComparedPass>("ComparedPass")
      .field("number", &ComparedPass::number)
      .field("estimated", totals_of<&Both::estimated>)
      .field("executed", totals_of<&Both::executed>)
      .field("instructions_estimated?", rows_of<&Both::estimated>)
      .field("instructions_executed?", rows_of<&Both::executed>);
}
template <>
Record<Peak> make_record() {
  return Record<Peak>("Peak")
      .field("name", &Peak::name)
      .field("estimated", &Peak::estimated)
      .field("executed", &Peak::executed);
}
template <>
Record<StageCounters> make_record() {
  using Of = StageCounters;
  return Record<Of>("StageCounters", SchemaOrder::counts_first)
      .field("name", &Of::stage)
      .field("role", &Of::role)
      .field("left_out", &Of::left_out)
      .field("instructions", &Of::instructions)
      .field("classes", &Of::classes)
      .field("classes_compared", &Of::classes_compared)
      .field("simulated_passes", &Of::simulated_passes)
      .field("repeats", &Of::repeats)
      .field("tile_operations", &Of::tile_operations)
      .field("values", &Of::values)
      .field("differences", &Of::differences)
      .field("passes", &Of::passes)
      .field("peaks", &Of::peaks)
      .field("index", &Of::compared)
      .field("layers", &Of::layers)
      .field("operations", &Of::mnemonics);
}
template <>
Record<TensorDifference> make_record() {
  using Of = TensorDifference;
  return Record<Of>("TensorDifference")
      .field("element", &Of::element)
      .field("executed", [](const Of& of) { return Figure{of.executed}; })
      .field("expected", [](const Of& of) { return Figure{of.expected}; });
}
template <>
Record<LayerTensors> make_record() {
  using Of = LayerTensors;
  return Record<Of>("LayerTensors")
      .field("index", &Of::instruction)
      .field("name", &Of::layer)
      .field("op", &Of::mnemonic)
      .field("left_out", &Of::left_out)
      .field("failure", &Of::failure)
      .field("operations", &Of::operations)
      .field("elements", [](const Of& of) { return of.result.elements; })
      .field("differing", [](const Of& of) { return of.result.differing; })
      .field("unsettled", [](const Of& of) { return of.result.unsettled; })
      .field("allowed", [](const Of& of) { return of.result.allowed; })
      .field("largest_error", [](const Of& of) { return of.result.largest_error; })
      .field("overflows", &Of::overflows)
      .field("first", [](const Of& of) { return of.result.first; });
}
template <>
Record<StageTensors> make_record() {
  using Of = StageTensors;
  return Record<Of>("StageTensors")
      .field("stage", &Of::stage)
      .field("classes", &Of::classes)
      .field("compared", &Of::compared)
      .field("differences", &Of::differences)
      .field("overflows", &Of::overflows)
      .field("layers", &Of::layers);
}
template <>
Record<ResultOf> make_record() {
  using Of = ResultOf;
  using namespace schema;
  Schema names = text();
  for (const CounterRow& row : counter_rows()) names["enum"].push_back(row.name);
  return Record<Of>("ValidationResult")
      .field("model", [](const Of& of) { return of.validation.model; })
      .field("machine", [](const Of& of) { return of.validation.machine; })
      .with(summary_of)
      .field("counters", array(object({{"name", std::move(names)}, {"unit", text()}})),
             [](const Of&) { return json_list(counter_rows(), counter_json); })
      .field("stages", [](const Of& of) { return of.validation.counters; })
      .field("tensors", [](const Of& of) { return of.validation.tensors; });
}

schema::Schema first_difference_schema() { return schema::or_null(schema::reference("FirstDifference")); }

OrderedJson validation_summary_json(const Validation& validation) { return record<Validation>().json(validation); }

OrderedJson validation_json(const Validation& validation) { return record<ResultOf>().json({validation}); }

void add_validation_schemas(OrderedJson& schemas) {
  add_schemas<Coverage, Validation, ComparedPass, Peak, StageCounters, TensorDifference, LayerTensors, StageTensors,
              ResultOf>(schemas);
}

}  // namespace sdip
