// Metric rows for tests that are linked before core/cost defines them: weak, so that the real ones may take over.
#include <algorithm>
#include <array>

#include "core/cost/estimate.h"

namespace sdip {

[[gnu::weak]] std::span<const MetricRow> metrics() {
  using enum Better;
  static constexpr MetricRow rows[] = {
#define METRIC(name, unit, better, en, ja) {#name, unit, better, en, ja},
#include "core/cost/metrics.def"
#undef METRIC
  };
  return rows;
}

[[gnu::weak]] const MetricRow* find_metric(std::string_view name) {
  const auto all = metrics();
  const auto row = std::ranges::find(all, name, &MetricRow::name);
  return row == all.end() ? nullptr : &*row;
}

}  // namespace sdip
