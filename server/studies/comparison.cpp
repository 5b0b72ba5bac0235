// Comparisons.
#include "server/studies/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "server/studies/comparison_parts.h"

namespace sdip {
namespace {

constexpr std::string_view row_kinds[] = {"model", "device", "measured", "roofline", "unpublished"};
constexpr std::string_view checked_names[] = {"", "here", "near", "unvalidated"};
constexpr std::string_view area_bases[] = {"", "modelled", "published", "drawn", "lanes"};

/// Rows that stand together: models and predictions are of a kind.
int place_in_table(RowKind kind) { return kind == RowKind::device ? 0 : static_cast<int>(kind); }

/// The row of a machine of ours that a row may be compared with: the bound with a bound, the model with a
/// prediction; null where it cannot be built.
const ComparisonRow* ours_beside(std::span<const ComparisonRow> rows, const std::string& machine,
                                 const ComparisonRow& row) {
  if (row.kind == RowKind::measured || row.kind == RowKind::unpublished) return nullptr;
  const std::string id = row.kind == RowKind::roofline ? "bound:" + machine : machine;
  const auto found =
      std::ranges::find_if(rows, [&](const ComparisonRow& one) { return one.id == id && one.batch == row.batch; });
  return found == rows.end() || !found->feasible ? nullptr : &*found;
}

}  // namespace

void add_preset(ComparisonAsked& asked, const Preset& preset) {
  const Machine& first = asked.machines.front().machine;
  Machine machine = preset.machine;
  machine.steps = first.steps;
  machine.image_height_px = first.image_height_px;
  machine.image_width_px = first.image_width_px;
  if ((machine.guidance == Guidance::off) != (first.guidance == Guidance::off)) machine.guidance = first.guidance;
  if (machine == first) return;
  const std::string name(preset.name);
  asked.machines.push_back({"sdip:" + name, "SDIP " + name, machine});
}

ComparisonAsked comparison_asked(const PointRequest& request) {
  ComparisonAsked asked{.model = request.model, .machines = {{"sdip", "SDIP", request.machine}}};
  for (const Preset* preset : request.presets) add_preset(asked, *preset);
  for (const std::string& id : request.baselines) asked.devices.push_back(find_device(id));
  for (const Device& device : request.devices) asked.devices.push_back(&device);
  asked.batches = request.batches;
  asked.formats = request.formats;
  asked.node = request.node;
  return asked;
}

bool is_own_machine(const ComparisonRow& row) {
  return row.kind == RowKind::model && !row.id.starts_with("stream:");
}

std::string_view checked_text(Checked checked) { return checked_names[at(checked)]; }
std::string_view area_basis_text(AreaBasis basis) { return area_bases[at(basis)]; }
std::string_view row_kind_text(RowKind kind) { return row_kinds[at(kind)]; }

std::string_view compared_unit(std::string_view value) {
  const MetricRow* metric = find_metric(value);
  const auto own = std::ranges::find(compared_values, value, &FieldInfo::name);
  const std::string_view unit = metric ? metric->unit : own != std::end(compared_values) ? own->words.unit : "";
  return unit.empty() ? "x" : unit;
}

std::optional<double> compared_value(const NamedFigures& values, std::string_view name) {
  const auto found = std::ranges::find(values, name, &std::pair<std::string, double>::first);
  if (found == values.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

std::optional<double> ComparisonRow::likely(std::string_view metric) const {
  if (calibration)
    if (const auto value = compared_value(calibration->values, metric)) return value;
  return value(metric);
}

std::vector<ComparisonRow> comparison_rows(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop) {
  check(!asked.machines.empty() && !asked.batches.empty(), "comparison: a machine and a batch");
  std::vector<ComparisonRow> rows;
  add_own_rows(catalog, asked, stop, rows);
  add_device_rows(catalog, asked, stop, rows);
  std::ranges::stable_sort(rows, {}, [](const ComparisonRow& row) { return place_in_table(row.kind); });
  for (ComparisonRow& row : rows) {
    row.other_format = row.format != rows.front().format;
    const ComparisonRow* ours = ours_beside(rows, rows.front().id, row);
    if (ours == nullptr || ours == &row) continue;
    const auto mine = ours->value("throughput_fps"), theirs = row.likely("throughput_fps");
    if (mine && theirs && *mine > 0) row.against = *theirs / *mine;
  }
  return rows;
}

std::vector<Loss> losses_of(std::span<const ComparisonRow> rows) {
  std::vector<Loss> losses;
  for (const ComparisonRow& own : rows) {
    if (!is_own_machine(own)) continue;
    for (const ComparedAim& aim : compared_aims) {
      const std::size_t before = losses.size();
      for (const ComparisonRow& row : rows) {
        if (row.batch != own.batch || !row.device) continue;
        const ComparisonRow* ours = ours_beside(rows, own.id, row);
        const auto theirs = row.likely(aim.metric);
        const auto mine = ours == nullptr ? std::nullopt : ours->value(aim.metric);
        if (!mine || !theirs) continue;
        const double times = aim.more ? *theirs / *mine : *mine / *theirs;
        if (times <= 1) continue;
        const bool estimated = aim.metric == "frames_per_j" && row.area_basis == AreaBasis::lanes;
        losses.push_back({own.id, own.name, own.batch, std::string(aim.metric), row.id, row.name, row.kind,
                          row.calibration.has_value(), estimated, row.checked, row.format, ours->format, times});
      }
      std::ranges::stable_sort(losses.begin() + static_cast<std::ptrdiff_t>(before), losses.end(), std::greater<>(),
                               &Loss::times);
    }
  }
  std::ranges::stable_sort(losses, {}, [&](const Loss& loss) {
    return std::ranges::find(rows, loss.ours, &ComparisonRow::id) - rows.begin();
  });
  return losses;
}

std::string process_text(TechnologyNode node) {
  const std::string name(node_text(node));
  return "All drawn in " + name +
         ": ours evaluated there; of a device's die logic and memories scaled by the "
         "technology table's densities, PHYs of DRAM as they are, energies " +
         name + "'s; clock, time and DRAM as they are; its design power is of its own process, and left out.";
}

std::vector<ComparisonSource> sources_of(const ComparisonRow& row) {
  std::vector<ComparisonSource> all;
  const auto add = [&](const std::string& source, const std::string& figure) {
    const auto known = std::ranges::find(all, source, &ComparisonSource::source);
    if (known == all.end())
      all.push_back({source, figure});
    else
      known->figures += ", " + figure;
  };
  if (row.device == nullptr) return all;
  for (const DeviceField& field : row.fields) add(field.source, field.name);
  if (row.kind != RowKind::measured)
    for (const DeviceFigure& figure : row.device->figures) add(figure.source, figure.key);
  return all;
}

}  // namespace sdip
