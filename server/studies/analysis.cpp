// Analyses and comparisons.
#include "server/studies/analysis.h"

#include <cmath>

#include "core/program/compile/stage_cache.h"
#include "core/program/tiling/mapping_cache.h"
#include "server/json/tables_json.h"

namespace sdip {
namespace {

std::int64_t elements_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::int64_t count = 0;
  for (const ValueId id : ids) count += element_count(graph.values[static_cast<std::size_t>(id)].operand.shape);
  return count;
}

std::int64_t passes_per_frame(Role role, const Machine& machine) { return role == Role::core ? machine.steps : 1; }

OrderedJson field_json(std::string_view name, const std::string& value, std::string_view unit) {
  return {{"name", name},
          {"value", value},
          {"unit", unit},
          {"source", "the machine being compared"},
          {"confidence", "derived"}};
}

OrderedJson sdip_row(const Analysis& analysis) {
  const Machine& m = analysis.machine;
  OrderedJson fields = OrderedJson::array();
  fields.push_back(field_json("cores", std::to_string(m.cores), ""));
  fields.push_back(field_json("core_clock", std::to_string(m.core_clock_mhz), "MHz"));
  fields.push_back(field_json("conv_lanes", std::to_string(m.conv_lanes_in * m.conv_lanes_out * m.conv_lanes_pixel),
                              "MAC/cycle/core"));
  OrderedJson notes = analysis.report.notes;
  if (!analysis.report.outcome.feasible) notes.push_back("infeasible: " + analysis.report.outcome.reason);
  return {{"id", "sdip"},         {"name", "SDIP"},
          {"kind", "model"},      {"values", Written<MetricValues>::json(analysis.report.outcome.values)},
          {"compute_s", nullptr}, {"memory_s", nullptr},
          {"fields", fields},     {"notes", notes}};
}

OrderedJson device_row(const Device& device, std::span<const StageWork> work, const Machine& machine) {
  const std::int64_t held = machine.batch * machine.cores;
  const Roofline stream = roofline(device, work, held), alone = roofline(device, work, machine.batch);
  OrderedJson notes = OrderedJson::array();
  notes.push_back("throughput and traffic with " + std::to_string(held) + " frames as one batch, latency with " +
                  std::to_string(machine.batch));
  for (const auto& note : stream.notes) notes.push_back(note);
  return {{"id", device.id},
          {"name", device.name},
          {"kind", "roofline"},
          {"values",
           {{"throughput_fps", stream.throughput_fps},
            {"latency_s", alone.latency_s},
            {"dram_bytes_per_frame", stream.dram_bytes_per_frame}}},
          {"compute_s", stream.compute_s},
          {"memory_s", stream.memory_s},
          {"fields", device_fields_json(device)},
          {"notes", notes}};
}

}  // namespace

std::vector<StageWork> frame_work(const Catalog& catalog, const std::string& model, Machine machine) {
  machine.batch = 1;
  if (machine.guidance == Guidance::two_passes) machine.guidance = Guidance::batch;
  const auto workload = catalog.workload(model, machine);
  std::vector<StageWork> work;
  for (const auto& stage : workload->stages) {
    const GraphFacts facts = facts_of(*stage.graph);
    StageWork pass;
    pass.name = stage.name;
    pass.macs = Macs(facts.macs_conv + facts.macs_linear + facts.macs_matmul);
    pass.weight_elements = facts.parameters;
    pass.input_elements = elements_of(*stage.graph, stage.graph->inputs);
    pass.output_elements = elements_of(*stage.graph, stage.graph->outputs);
    pass.passes_per_frame = passes_per_frame(stage.role, machine);
    work.push_back(pass);
  }
  return work;
}

Analysis analyze(const Catalog& catalog, const std::string& model, const Machine& machine,
                 const SaidFormats& formats, const Stop& stop) {
  Analysis analysis;
  CompileOptions options;
  options.stop = stop;
  analysis.model = model;
  analysis.machine = machine;
  analysis.workload = catalog.workload(model, machine);
  analysis.application = compile_said(*analysis.workload, machine, formats, options);
  analysis.report = estimate(analysis.application, machine);
  for (std::string& note : catalog.notes(model)) analysis.report.notes.push_back(std::move(note));
  return analysis;
}

Sensitivities analyze_changes(const Catalog& catalog, const std::string& model, const Machine& machine,
                              const SaidFormats& formats, const Stop& stop) {
  CompileOptions options;
  options.stop = stop;
  options.say_needed_bytes = false;
  options.mappings = std::make_shared<MappingCache>();
  options.stages = std::make_shared<StageCache>();
  return sensitivities(machine, [&](const Machine& changed) {
    end_if(stop, model);
    return std::make_shared<const Application>(
        compile_said(*catalog.workload(model, changed), changed, formats, options));
  });
}

OrderedJson comparison_json(const Catalog& catalog, const std::string& model, const Machine& machine,
                            const std::vector<std::string>& devices, const SaidFormats& formats, const Stop& stop) {
  OrderedJson rows = OrderedJson::array();
  rows.push_back(sdip_row(analyze(catalog, model, machine, formats, stop)));
  const auto work = frame_work(catalog, model, machine);
  for (const auto& id : devices) rows.push_back(device_row(*find_device(id), work, machine));
  return {{"rows", rows}};
}

}  // namespace sdip
