// What tests ask of reports.
#pragma once

#include "core/cost/price/estimate.h"
#include "core/cost/time/timeline.h"
#include "core/program/program.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {

inline Report report_of(const Machine& m) { return estimate(compile(tiny_sd(m), m), m); }

inline double value(const Report& report, Metric metric) {
  return report.outcome.values[static_cast<std::size_t>(metric)];
}

inline double sum_of_parts(const Breakdown& parts) {
  double sum = 0;
  for (const auto& [name, part] : parts) sum += part;
  return sum;
}

inline std::int64_t bytes_of(const PassCost& pass) {
  return pass.weight_bytes + pass.activation_in_bytes + pass.activation_out_bytes + pass.program_bytes;
}

}  // namespace sdip
