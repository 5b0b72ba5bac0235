// The metric table.
#include <algorithm>
#include <limits>

#include "core/cost/price/estimate.h"

namespace sdip {
namespace {

constexpr MetricRow rows[] = {
#define METRIC(name, unit, better, en, ja) {#name, unit, Better::better, en, ja},
#include "core/cost/price/metrics.def"
#undef METRIC
};

/// A chip that the table makes of no area, or that spends nothing, has no figure for each of it.
double over(double value, double unit) {
  return unit > 0 ? value / unit : std::numeric_limits<double>::quiet_NaN();
}

double times(double a, double b) { return a * b; }
double one_over(double value, double) { return over(1, value); }

constexpr DerivedMetric derived_rows[] = {
    {Metric::edp_js, {Metric::energy_j_per_frame, Metric::latency_s}, times},
    {Metric::fps_per_mm2, {Metric::throughput_fps, Metric::area_mm2}, over},
    {Metric::frames_per_j, {Metric::energy_j_per_frame, Metric::energy_j_per_frame}, one_over},
    {Metric::power_w_per_mm2, {Metric::power_w, Metric::area_mm2}, over},
    {Metric::tops_per_w, {Metric::tops, Metric::power_w}, over},
    {Metric::tops_per_mm2, {Metric::tops, Metric::area_mm2}, over},
    {Metric::tops_peak_per_mm2, {Metric::tops_peak, Metric::area_mm2}, over},
};

}  // namespace

std::span<const DerivedMetric> derived_metrics() { return derived_rows; }

View<const MetricRow> metrics() { return rows; }

const MetricRow* find_metric(std::string_view name) {
  const auto row = std::ranges::find(rows, name, &MetricRow::name);
  return row == std::end(rows) ? nullptr : &*row;
}

std::string_view resource_text(Resource resource) {
  constexpr std::string_view names[resource_count] = {
      "compute",    "dsram_read", "dsram_write",   "stackram_read",     "stackram_write",
      "psram_read", "overhead",   "weight_stream", "activation_stream", "program_stream"};
  return names[at(resource)];
}

}  // namespace sdip
