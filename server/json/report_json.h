// A report as the JSON of POST /analyses.
#pragma once

#include <memory>

#include "core/cost/price/estimate.h"
#include "core/program/program.h"
#include "core/program/workload.h"
#include "server/io/json_in.h"

namespace sdip {

/// Everything known of one design point.
struct Analysis {
  std::string model;
  Machine machine;
  std::shared_ptr<const Workload> workload;
  Application application;
  Report report;
};

/// JSON has no infinities: they, and what is no number, are null.
OrderedJson number_or_null(double value);

OrderedJson analysis_json(const Analysis& analysis, bool with_instructions);

/// Of a stage, as an analysis and an explanation have them.
OrderedJson mac_roofs_json(const std::vector<MacRoof>& roofs);

/// {name: number or null}, in the order of the table.
OrderedJson metric_values_json(const MetricValues& values);

/// The shape that instruction `index` of stage `stage` makes; empty when it makes none.
Shape output_shape(const Analysis& analysis, std::size_t stage, std::size_t index);

}  // namespace sdip
