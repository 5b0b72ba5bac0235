// Analyses.
#include "core/study/analysis.h"

#include "core/cost/price/estimate.h"
#include "core/program/compile/stage_cache.h"
#include "core/program/tiling/mapping_cache.h"

namespace sdip {

Analysis analyze(const Workloads& workloads, const std::string& model, const Machine& machine,
                 const SaidFormats& formats, const Stop& stop) {
  CompileOptions options;
  options.stop = stop;
  Analysis analysis;
  analysis.model = model;
  analysis.machine = machine;
  analysis.workload = workloads(model, machine);
  analysis.application = compile_said(*analysis.workload, machine, formats, options);
  analysis.report = estimate(analysis.application, machine);
  return analysis;
}

CompileFunction compile_quickly(const Workloads& workloads, const Mix& mix, const SaidFormats& formats,
                                const Stop& stop) {
  CompileOptions options;
  options.say_needed_bytes = false;  // of the many that do not fit; `sdip analyze` says it of each
  options.mappings = std::make_shared<MappingCache>();  // capacities and fusions have most layers in common
  options.stages = std::make_shared<StageCache>();
  options.stop = stop;
  return [workloads, mix, formats, options](const Machine& machine) {
    return compile_mix(mix, machine, [&](const std::string& model) {
      return std::make_shared<const Application>(
          compile_said(*workloads(model, machine), machine, formats, options));
    });
  };
}

std::vector<LayeredStage> layered_work(const Workloads& workloads, const std::string& model, Machine machine) {
  machine.batch = 1;
  if (machine.guidance == Guidance::two_passes) machine.guidance = Guidance::batch;
  std::vector<LayeredStage> work;
  const auto workload = workloads(model, machine);
  for (const Stage& stage : workload->stages)
    work.push_back(
        layered_stage(*stage.graph, stage.name, stage.role, stage.role == Role::core ? machine.steps : 1));
  return work;
}

}  // namespace sdip
