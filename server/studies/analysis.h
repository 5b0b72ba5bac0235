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

/// What compiles a model, or each of a mix, for many machines: without saying what those lack that do not fit, and
/// with what earlier ones made. `rooms`: of weights, whose staircases are made whole. It refers to the catalog.
CompileFunction compile_quickly(const Catalog& catalog, const Mix& mix, const SaidFormats& formats = {},
                                const Stop& stop = {}, const CapacityRange& rooms = no_capacity);

/// What each single change of the machine does. Requires a checked machine.
Sensitivities analyze_changes(const Catalog& catalog, const Mix& mix, const Machine& machine,
                              const SaidFormats& formats = {}, const Stop& stop = {});

}  // namespace sdip
