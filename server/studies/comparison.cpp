// Comparisons.
#include "server/studies/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/machine/dram.h"
#include "server/studies/analysis.h"
#include "server/studies/comparison_devices.h"

namespace sdip {
namespace {

constexpr std::string_view row_kinds[] = {"model", "device", "measured", "roofline", "unpublished"};

double metric_value(const Report& report, Metric metric) {
  return report.outcome.values[static_cast<std::size_t>(metric)];
}

DeviceField own_field(std::string name, const std::string& value, std::string unit) {
  return {std::move(name), value, std::move(unit), "the machine being compared", "derived"};
}

/// How a machine of ours is built, as devices' files say it of theirs.
std::vector<DeviceField> own_fields(const Machine& m) {
  const bool crossbar = m.memory_hierarchy == MemoryHierarchy::crossbar;
  return {
      own_field("cores", std::to_string(m.cores), ""),
      own_field("clock", std::to_string(m.core_clock_mhz), "MHz"),
      own_field("compute",
                "a core: " + std::to_string(m.conv_lanes_in * m.conv_lanes_out * m.conv_lanes_pixel) +
                    " MAC a cycle in conv2d, " + std::to_string(m.vector_lanes) + " vector lanes",
                ""),
      own_field("control", "one straight-line program of operators for all cores, each on a frame of its own", ""),
      own_field("cache", "none: SRAM that the program addresses", ""),
      own_field(
          "interconnect",
          crossbar ? "crossbar between cores" : "each core to the next, " + std::to_string(m.link_bits) + " bit",
          ""),
      own_field("on-chip SRAM",
                std::to_string(m.psram_bytes >> 10) + " KiB PSRAM for all; a core: 2 x " +
                    std::to_string(m.dsram_bytes >> 10) + " KiB DSRAM, " + std::to_string(m.stackram_bytes >> 10) +
                    " KiB STACKRAM",
                ""),
      own_field("DRAM",
                m.host_memory ? std::string("the host's")
                              : value_text(*find_parameter("dram_kind"), find_parameter("dram_kind")->read(m)) +
                                    ", " + std::to_string(m.dram_channels) + " channels",
                "")};
}

/// Of what its DRAM holds the share that weights take; nothing where a host's memory has them.
std::optional<double> dram_filled(const Analysis& analysis) {
  const Machine& m = analysis.machine;
  if (m.host_memory) return std::nullopt;
  double bytes = 0;
  for (const CompiledStage& stage : analysis.application.stages)
    if (weight_place(m, stage.role) == WeightPlace::psram)
      bytes += static_cast<double>(stage.program.stored_weight_bytes.value);
  const DramChannels dram = dram_channels(m);
  return bytes / (static_cast<double>(dram.channels * dram.channel_mib) * 1024 * 1024);
}

/// A machine's report as a row; `how`: what its frames come in.
ComparisonRow report_row(const NamedMachine& named, const Analysis& analysis, std::int64_t batch, const char* how) {
  const Machine& m = analysis.machine;
  const Report& report = analysis.report;
  ComparisonRow row{.id = named.id, .name = named.name, .kind = RowKind::model, .batch = batch};
  row.format = std::string(format_text(m.activation_format));
  if (m.weight_format != m.activation_format) row.format += " by " + std::string(format_text(m.weight_format));
  row.feasible = report.outcome.feasible;
  row.energy =
      m.host_memory ? "modelled, leakage included, the host's DRAM not" : "modelled, DRAM and leakage included";
  row.energy_has_dram = !m.host_memory;
  for (const auto& [part, joules] : report.energy_j) row.energy_parts_j.emplace_back(part, joules);
  for (std::size_t i = 0; i < metric_count; ++i)
    row.values.emplace_back(metrics()[i].name, report.outcome.values[i]);
  if (const auto filled = dram_filled(analysis)) row.values.emplace_back("dram_filled", *filled);
  row.fields = own_fields(m);
  row.notes = report.notes;
  row.notes.push_back(how);
  if (!report.outcome.feasible) row.notes.push_back("infeasible: " + report.outcome.reason);
  return row;
}

/// What a saturated stream is worth: the report's own figures.
ComparisonRow stream_row(const NamedMachine& named, const Analysis& analysis, std::int64_t batch) {
  ComparisonRow row =
      report_row(named, analysis, batch,
                 "A saturated stream, whatever the batch: frames enter one behind the other, and never end.");
  row.id = "stream:" + named.id;
  row.name = named.name + ", stream";
  return row;
}

/// So many frames and no more: the pipeline fills and drains, and leakage lasts as long as that takes.
ComparisonRow own_row(const NamedMachine& named, const Analysis& analysis, std::int64_t batch) {
  const Report& report = analysis.report;
  ComparisonRow row = report_row(
      named, analysis, batch,
      "A batch: from the first prompt to the last image, the cores filled and drained; what waiting cores' "
      "clock trees take is left out.");
  const auto set = [&](Metric metric, double value) {
    row.values[static_cast<std::size_t>(metric)].second = value;
  };
  const auto of = [&](Metric metric) { return metric_value(report, metric); };
  const auto frames = static_cast<double>(row.batch);
  const double stream_frame_s = 1 / of(Metric::throughput_fps);
  // The frames behind the first leave one by one, as in a saturated stream.
  const double batch_s = of(Metric::latency_s) + (frames - 1) * stream_frame_s, frame_s = batch_s / frames;
  double leakage_w = 0;
  for (const auto& [block, watts] : report.leakage_w) leakage_w += watts;
  const double waiting_j = leakage_w * (frame_s - stream_frame_s);
  const double joules = of(Metric::energy_j_per_frame) + waiting_j,
               tops = of(Metric::tops) * stream_frame_s / frame_s;
  for (auto& [part, share] : row.energy_parts_j)
    if (part == energy_part_text(EnergyPart::leakage)) share += waiting_j;
  set(Metric::latency_s, batch_s);
  set(Metric::throughput_fps, 1 / frame_s);
  set(Metric::energy_j_per_frame, joules);
  set(Metric::frames_per_j, 1 / joules);
  set(Metric::power_w, joules / frame_s);
  set(Metric::power_w_per_mm2, joules / frame_s / of(Metric::area_mm2));
  set(Metric::fps_per_mm2, 1 / frame_s / of(Metric::area_mm2));
  set(Metric::edp_js, joules * batch_s);
  set(Metric::tops, tops);
  set(Metric::tops_per_w, tops / (joules / frame_s));
  set(Metric::tops_per_mm2, tops / of(Metric::area_mm2));
  set(Metric::utilization, of(Metric::utilization) * stream_frame_s / frame_s);
  return row;
}

/// Every lane busy with what is needed, DRAM never in the way: the bound that devices without a model have, too.
std::optional<ComparisonRow> own_bound_row(const ComparisonRow& modelled, const Report& report) {
  const double busy = metric_value(report, Metric::tops) / metric_value(report, Metric::tops_peak);
  const double fps = metric_value(report, Metric::throughput_fps);
  if (!(busy > 0) || !std::isfinite(busy) || !std::isfinite(fps)) return std::nullopt;
  ComparisonRow row{.id = "bound:" + modelled.id,
                    .name = modelled.name + ", its bound",
                    .kind = RowKind::roofline,
                    .batch = modelled.batch,
                    .feasible = modelled.feasible,
                    .format = modelled.format};
  const double most = fps / busy;
  row.values = {{"throughput_fps", most}, {"latency_s", static_cast<double>(row.batch) / most}, {"utilization", 1}};
  for (const char* same : {"area_mm2", "sram_bytes", "price_usd", "dram_filled"})
    if (const auto value = modelled.value(same)) row.values.emplace_back(same, *value);
  if (const auto mm2 = modelled.value("area_mm2")) row.values.emplace_back("fps_per_mm2", most / *mm2);
  row.fields = modelled.fields;
  row.notes = {"A bound that no schedule of it can beat, not a prediction: all MACs busy, DRAM never in the way."};
  return row;
}

/// Rows that stand together: models and predictions are of a kind.
int place_in_table(RowKind kind) { return kind == RowKind::device ? 0 : static_cast<int>(kind); }

/// That of our first machine which a row may be compared with: the bound with a bound, the model with a prediction;
/// nothing where it cannot be built.
const ComparisonRow* ours_beside(std::span<const ComparisonRow> rows, const ComparisonRow& row) {
  if (row.kind == RowKind::measured || row.kind == RowKind::unpublished) return nullptr;
  const std::string first = rows.front().id;
  const std::string id = row.kind == RowKind::roofline ? "bound:" + first : first;
  const auto found =
      std::ranges::find_if(rows, [&](const ComparisonRow& one) { return one.id == id && one.batch == row.batch; });
  return found == rows.end() || !found->feasible ? nullptr : &*found;
}

void add_own_rows(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop,
                  std::vector<ComparisonRow>& rows) {
  for (const NamedMachine& named : asked.machines) {
    NamedMachine drawn = named;
    if (asked.node) drawn.machine.technology_node = *asked.node;
    const Analysis analysis = analyze(catalog, asked.model, drawn.machine, asked.formats, stop);
    for (const std::int64_t batch : asked.batches) {
      const ComparisonRow own = own_row(drawn, analysis, batch);
      rows.push_back(own);
      rows.push_back(stream_row(drawn, analysis, batch));
      if (auto bound = own_bound_row(own, analysis.report)) rows.push_back(std::move(*bound));
    }
  }
}

}  // namespace

void add_preset(ComparisonAsked& asked, const Preset& preset) {
  if (preset.machine == asked.machines.front().machine) return;
  const std::string name(preset.name);
  asked.machines.push_back({"sdip:" + name, "SDIP " + name, preset.machine});
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

std::string_view row_kind_text(RowKind kind) { return row_kinds[static_cast<std::size_t>(kind)]; }

std::optional<double> compared_value(const ComparedValues& values, std::string_view name) {
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
    const ComparisonRow* ours = ours_beside(rows, row);
    if (ours == nullptr || ours == &row) continue;
    const auto mine = ours->value("throughput_fps"), theirs = row.likely("throughput_fps");
    if (mine && theirs && *mine > 0) row.against = *theirs / *mine;
  }
  return rows;
}

std::vector<Loss> losses_of(std::span<const ComparisonRow> rows) {
  std::vector<Loss> losses;
  for (const ComparisonRow& own : rows) {
    if (own.id != rows.front().id) continue;
    for (const ComparedAim& aim : compared_aims) {
      const std::size_t before = losses.size();
      for (const ComparisonRow& row : rows) {
        if (row.batch != own.batch || !row.device) continue;
        const ComparisonRow* ours = ours_beside(rows, row);
        const auto theirs = row.likely(aim.metric);
        const auto mine = ours == nullptr ? std::nullopt : ours->value(aim.metric);
        if (!mine || !theirs) continue;
        const double times = aim.more ? *theirs / *mine : *mine / *theirs;
        if (times > 1)
          losses.push_back(
              {own.batch, std::string(aim.metric), row.id, row.name, row.kind, row.calibration.has_value(), times});
      }
      std::ranges::stable_sort(losses.begin() + static_cast<std::ptrdiff_t>(before), losses.end(), std::greater<>(),
                               &Loss::times);
    }
  }
  return losses;
}

}  // namespace sdip
