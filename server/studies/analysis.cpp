// Analyses.
#include "server/studies/analysis.h"

#include "core/program/compile/stage_cache.h"
#include "core/program/tiling/mapping_cache.h"

namespace sdip {
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

CompileFunction compile_quickly(const Catalog& catalog, const Mix& mix, const SaidFormats& formats,
                                const Stop& stop, const CapacityRange& rooms) {
  CompileOptions options;
  options.say_needed_bytes = false;  // of the many that do not fit; `sdip analyze` says it of each
  options.mappings = std::make_shared<MappingCache>(MappingCache::usual_entries,
                                                    rooms);  // capacities and fusions have most layers in common
  options.stages = std::make_shared<StageCache>();
  options.stop = stop;
  return [&catalog, mix, formats, options](const Machine& machine) {
    return compile_mix(mix, machine, [&](const std::string& model) {
      return std::make_shared<const Application>(
          compile_said(*catalog.workload(model, machine), machine, formats, options));
    });
  };
}

Sensitivities analyze_changes(const Catalog& catalog, const Mix& mix, const Machine& machine,
                              const SaidFormats& formats, const Stop& stop) {
  const CompileFunction quickly = compile_quickly(catalog, mix, formats, stop);
  return sensitivities(machine, [&](const Machine& changed) {
    end_if(stop, mix[0].model);
    return quickly(changed);
  });
}

}  // namespace sdip
