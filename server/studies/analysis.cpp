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

}  // namespace sdip
