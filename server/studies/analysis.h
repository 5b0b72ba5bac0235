// One design point from name to report.
#pragma once

#include "core/explore/sensitivity.h"
#include "server/io/said_formats.h"
#include "server/json/report_json.h"
#include "server/models/catalog.h"

namespace sdip {

/// Requires a checked machine. `formats`: of single layers. `stop` ends compiling, with Error cancelled.
Analysis analyze(const Catalog& catalog, const std::string& model, const Machine& machine,
                 const SaidFormats& formats = {}, const Stop& stop = {});

/// What each single change of the machine does. Requires a checked machine.
Sensitivities analyze_changes(const Catalog& catalog, const std::string& model, const Machine& machine,
                              const SaidFormats& formats = {}, const Stop& stop = {});

}  // namespace sdip
