// Analyses of what the catalog knows.
#pragma once

#include "core/study/analysis.h"
#include "server/models/catalog.h"

namespace sdip {

/// The report's notes also say what is taken for granted of the model.
Analysis analyze(const Catalog& catalog, const std::string& model, const Machine& machine,
                 const SaidFormats& formats = {}, const Stop& stop = {});

/// It refers to the catalog.
CompileFunction compile_quickly(const Catalog& catalog, const Mix& mix, const SaidFormats& formats = {},
                                const Stop& stop = {});

/// The effect of each single change of the machine, the links followed. Requires a checked machine.
Sensitivities analyze_changes(const Catalog& catalog, const Mix& mix, const Machine& machine,
                              const SaidFormats& formats = {}, const Stop& stop = {},
                              std::span<const Link> links = {});

}  // namespace sdip
