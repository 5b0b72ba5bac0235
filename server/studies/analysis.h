// One design point from name to report, and its comparison with other devices.
#pragma once

#include "core/baseline/roofline.h"
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

/// The frame as any device would have to run it: one frame, guidance as a batch of two, every weight once.
std::vector<StageWork> frame_work(const Catalog& catalog, const std::string& model, Machine machine);

/// The rows of POST /comparisons: SDIP first, then each device's roofline on the same frames, in the machine's
/// formats.
OrderedJson comparison_json(const Catalog& catalog, const std::string& model, const Machine& machine,
                            const std::vector<std::string>& devices, const SaidFormats& formats = {},
                            const Stop& stop = {});

}  // namespace sdip
