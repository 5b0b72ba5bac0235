// Analyses of what the catalog knows.
#include "server/studies/analysis.h"

namespace sdip {

Analysis analyze(const Catalog& catalog, const std::string& model, const Machine& machine,
                 const SaidFormats& formats, const Stop& stop) {
  Analysis analysis = analyze(catalog.workloads(), model, machine, formats, stop);
  for (std::string& note : catalog.notes(model)) analysis.report.notes.push_back(std::move(note));
  return analysis;
}

CompileFunction compile_quickly(const Catalog& catalog, const Mix& mix, const SaidFormats& formats,
                                const Stop& stop) {
  return compile_quickly(catalog.workloads(), mix, formats, stop);
}

Sensitivities analyze_changes(const Catalog& catalog, const Mix& mix, const Machine& machine,
                              const SaidFormats& formats, const Stop& stop, std::span<const Link> links) {
  const CompileFunction quickly = compile_quickly(catalog, mix, formats, stop);
  const auto compiled = [&](const Machine& changed) {
    end_if(stop, mix[0].model);
    return quickly(changed);
  };
  return sensitivities(machine, compiled, links);
}

}  // namespace sdip
