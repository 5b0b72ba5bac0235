// Comparisons.
#include "server/studies/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "server/io/text.h"
#include "server/json/tables_json.h"
#include "server/studies/analysis.h"

namespace sdip {
namespace {

constexpr std::string_view row_kinds[] = {"model", "device", "roofline", "unpublished"};

double metric_value(const Report& report, Metric metric) {
  return report.outcome.values[static_cast<std::size_t>(metric)];
}

DeviceField own_field(std::string name, const std::string& value, std::string unit) {
  return {std::move(name), value, std::move(unit), "the machine being compared", "derived"};
}

ComparisonRow own_row(const NamedMachine& named, const Analysis& analysis, std::int64_t batch) {
  const Machine& m = analysis.machine;
  const Report& report = analysis.report;
  ComparisonRow row{.id = named.id, .name = named.name, .kind = RowKind::model, .batch = batch};
  row.format = std::string(format_text(m.activation_format));
  if (m.weight_format != m.activation_format) row.format += " by " + std::string(format_text(m.weight_format));
  row.energy = "modelled, DRAM and leakage included";
  for (std::size_t i = 0; i < metric_count; ++i) {
    double value = report.outcome.values[i];
    // The frames behind the first leave one by one, as in a saturated stream.
    if (static_cast<Metric>(i) == Metric::latency_s)
      value += static_cast<double>(batch - 1) / metric_value(report, Metric::throughput_fps);
    row.values.emplace_back(metrics()[i].name, value);
  }
  const bool crossbar = m.memory_hierarchy == MemoryHierarchy::crossbar;
  row.fields = {
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
  row.notes = report.notes;
  if (!report.outcome.feasible) row.notes.push_back("infeasible: " + report.outcome.reason);
  return row;
}

void add_board_figures(const Device& device, const DeviceRun& run, ComparisonRow& row) {
  const auto fps = run.throughput_fps;
  const auto tdp = figure_of(device, "tdp_w");
  if (tdp && run.modelled) {  // of a bound's time it would be neither most nor least
    row.energy = "design power times the predicted time";
    row.values.emplace_back("energy_j_per_frame", *tdp / fps);
    row.values.emplace_back("frames_per_j", fps / *tdp);
  }
  if (const auto die = figure_of(device, "die_mm2")) {
    row.values.emplace_back("area_mm2", *die);
    row.values.emplace_back("fps_per_mm2", fps / *die);
  }
  if (const auto sram = figure_of(device, "sram_mib")) row.values.emplace_back("sram_bytes", *sram * 1024 * 1024);
}

ComparisonRow device_row(const Device& device, std::span<const LayeredStage> work, std::int64_t batch) {
  ComparisonRow row{.id = device.id,
                    .name = device.name,
                    .batch = batch,
                    .format = device.native_format,
                    .fields = device.fields,
                    .device = &device};
  if (!can_run(device)) {
    row.kind = RowKind::unpublished;
    row.notes = device.notes;
    return row;
  }
  DeviceRun run = run_device(device, work, batch);
  row.kind = run.modelled ? RowKind::device : RowKind::roofline;
  row.values = {{"throughput_fps", run.throughput_fps},
                {"latency_s", run.latency_s},
                {"dram_bytes_per_frame", run.dram_bytes_per_frame},
                {"utilization", run.utilization}};
  add_board_figures(device, run, row);
  for (const DeviceStage& stage : run.stages) {
    const auto passes = static_cast<double>(stage.passes);
    row.compute_s += passes * (stage.pass.compute_s + stage.pass.vector_s);
    row.memory_s += passes * stage.pass.memory_s;
  }
  row.stages = std::move(run.stages);
  row.notes = std::move(run.notes);
  if (const auto gib = figure_of(device, "dram_gib")) {
    double weights = 0;
    for (const LayeredStage& stage : work) weights += static_cast<double>(stage.weight_elements);
    const double needed = weights * bytes_per_element(device) / (1024.0 * 1024 * 1024);
    if (needed > *gib)
      row.notes.push_back("Its DRAM has " + quantity_text(*gib, "GiB") + ", the weights alone take " +
                          quantity_text(needed, "GiB") + ".");
  }
  return row;
}

OrderedJson measured_json(const std::vector<Compared>& compared) {
  OrderedJson rows = OrderedJson::array();
  for (const Compared& one : compared)
    rows.push_back({{"id", one.measurement->id},
                    {"software", one.measurement->software},
                    {"model", one.measurement->model},
                    {"stage", one.measurement->stage},
                    {"batch", *one.measurement->batch},
                    {"chips", one.measurement->chips},
                    {"format", one.measurement->format},
                    {"measured_s", one.measured_s},
                    {"predicted_s", one.predicted_s},
                    {"factor", one.factor},
                    {"fitted", one.fitted},
                    {"error", one.error()},
                    {"source", one.measurement->source}});
  return rows;
}

OrderedJson stages_json(const std::vector<DeviceStage>& stages) {
  OrderedJson rows = OrderedJson::array();
  for (const DeviceStage& stage : stages)
    rows.push_back({{"name", stage.name},
                    {"passes", stage.passes},
                    {"pass_s", stage.pass.seconds},
                    {"compute_s", stage.pass.compute_s},
                    {"vector_s", stage.pass.vector_s},
                    {"memory_s", stage.pass.memory_s},
                    {"on_chip_s", stage.pass.on_chip_s},
                    {"overhead_s", stage.pass.overhead_s}});
  return rows;
}

OrderedJson row_json(const ComparisonRow& row, const OrderedJson& measured) {
  OrderedJson values = OrderedJson::object(), fields = OrderedJson::array();
  for (const auto& [name, value] : row.values) values[name] = number_or_null(value);
  for (const DeviceField& field : row.fields) fields.push_back(field_json(field));
  const bool timed = row.kind == RowKind::device || row.kind == RowKind::roofline;
  return {{"id", row.id},
          {"name", row.name},
          {"kind", row_kind_text(row.kind)},
          {"batch", row.batch},
          {"format", row.format},
          {"energy", row.energy},
          {"values", values},
          {"compute_s", timed ? OrderedJson(row.compute_s) : OrderedJson()},
          {"memory_s", timed ? OrderedJson(row.memory_s) : OrderedJson()},
          {"stages", stages_json(row.stages)},
          {"measured", measured},
          {"fields", fields},
          {"notes", row.notes}};
}

/// Of a built-in model, those stages that were timed.
std::vector<LayeredStage> stages_of_measurement(const Measurement& measurement) {
  Machine machine;
  machine.steps = measurement.steps;
  machine.guidance = measurement.guidance ? Guidance::batch : Guidance::off;
  machine.image_height_px = machine.image_width_px = measurement.resolution;
  std::vector<LayeredStage> stages = layered_work(Catalog(), measurement.model, machine);
  const auto role = measurement.stage == "core"           ? std::optional(Role::core)
                    : measurement.stage == "decoder"      ? std::optional(Role::decoder)
                    : measurement.stage == "text_encoder" ? std::optional(Role::text_encoder)
                                                          : std::nullopt;
  if (role) std::erase_if(stages, [&](const LayeredStage& stage) { return stage.role != *role; });
  if (measurement.metric == "step_s")
    for (LayeredStage& stage : stages) stage.passes_per_frame = 1;
  return stages;
}

}  // namespace

ComparisonAsked comparison_asked(const PointRequest& request) {
  ComparisonAsked asked{.model = request.model, .machines = {{"sdip", "SDIP", request.machine}}};
  for (const Preset* preset : request.presets)
    asked.machines.push_back(
        {"sdip:" + std::string(preset->name), "SDIP " + std::string(preset->name), preset->machine});
  for (const std::string& id : request.baselines) asked.devices.push_back(find_device(id));
  for (const Device& device : request.devices) asked.devices.push_back(&device);
  asked.batches = request.batches;
  asked.formats = request.formats;
  return asked;
}

std::string_view row_kind_text(RowKind kind) { return row_kinds[static_cast<std::size_t>(kind)]; }

std::optional<double> ComparisonRow::value(std::string_view metric) const {
  const auto found = std::ranges::find(values, metric, &std::pair<std::string, double>::first);
  if (found == values.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

std::vector<LayeredStage> layered_work(const Catalog& catalog, const std::string& model, Machine machine) {
  machine.batch = 1;
  if (machine.guidance == Guidance::two_passes) machine.guidance = Guidance::batch;
  std::vector<LayeredStage> work;
  const auto workload = catalog.workload(model, machine);
  for (const Stage& stage : workload->stages)
    work.push_back(
        layered_stage(*stage.graph, stage.name, stage.role, stage.role == Role::core ? machine.steps : 1));
  return work;
}

std::vector<Compared> measured_beside_model(const Device& device, const Stop& stop) {
  static std::mutex mutex;
  static std::map<const Device*, std::vector<Compared>> known;
  if (find_device(device.id) != &device)
    return compare_measured(device, [&](const Measurement& measurement) {
      end_if(stop, device.id);
      try {
        return stages_of_measurement(measurement);
      } catch (const Error& error) {
        if (is_cancelled(error)) throw;
        throw Error("device_invalid", device.id + "/measured/" + measurement.id, error.what());
      }
    });
  const std::scoped_lock lock(mutex);
  const auto [entry, fresh] = known.try_emplace(&device);
  if (fresh) entry->second = compare_measured(device, stages_of_measurement);
  return entry->second;
}

std::vector<ComparisonRow> comparison_rows(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop) {
  check(!asked.machines.empty() && !asked.batches.empty(), "comparison: a machine and a batch");
  std::vector<ComparisonRow> rows;
  for (const NamedMachine& named : asked.machines) {
    const Analysis analysis = analyze(catalog, asked.model, named.machine, asked.formats, stop);
    for (const std::int64_t batch : asked.batches) rows.push_back(own_row(named, analysis, batch));
  }
  const std::vector<LayeredStage> work = layered_work(catalog, asked.model, asked.machines.front().machine);
  for (const Device* device : asked.devices)
    for (const std::int64_t batch : asked.batches) {
      end_if(stop, asked.model);
      rows.push_back(device_row(*device, work, batch));
    }
  return rows;
}

OrderedJson comparison_json(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop) {
  OrderedJson rows = OrderedJson::array();
  std::map<std::string, OrderedJson> measured;
  for (const ComparisonRow& row : comparison_rows(catalog, asked, stop)) {
    if (row.device && !measured.contains(row.id))
      measured[row.id] = measured_json(measured_beside_model(*row.device, stop));
    rows.push_back(row_json(row, row.device ? measured[row.id] : OrderedJson::array()));
  }
  return {{"rows", rows}};
}

}  // namespace sdip
