// The metric table.
#include <algorithm>

#include "core/cost/price/estimate.h"

namespace sdip {
namespace {

constexpr MetricRow rows[] = {
#define METRIC(name, unit, better, en, ja) {#name, unit, Better::better, en, ja},
#include "core/cost/price/metrics.def"
#undef METRIC
};

}  // namespace

std::span<const MetricRow> metrics() { return rows; }

const MetricRow* find_metric(std::string_view name) {
  const auto row = std::ranges::find(rows, name, &MetricRow::name);
  return row == std::end(rows) ? nullptr : &*row;
}

std::string_view resource_text(Resource resource) {
  constexpr std::string_view names[resource_count] = {
      "compute",    "dsram_read", "dsram_write",   "stackram_read",     "stackram_write",
      "psram_read", "overhead",   "weight_stream", "activation_stream", "program_stream"};
  return names[static_cast<std::size_t>(resource)];
}

}  // namespace sdip
