// Published machines in a comparison: predicted, bounded, measured.
#include "server/studies/comparison_parts.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/baseline/device_cost.h"
#include "server/io/text.h"

namespace sdip {
namespace {

Machine as_measured(Machine machine, const Measurement& measurement) {
  machine.steps = measurement.steps;
  machine.guidance = measurement.guidance ? Guidance::batch : Guidance::off;
  machine.image_height_px = machine.image_width_px = measurement.resolution;
  return machine;
}

/// The stages of a built-in model that were timed.
std::vector<LayeredStage> stages_of_measurement(const Measurement& measurement) {
  std::vector<LayeredStage> stages =
      layered_work(built_in_workloads(), measurement.model, as_measured(Machine(), measurement));
  const auto role = measurement.stage == "core"           ? std::optional(Role::core)
                    : measurement.stage == "decoder"      ? std::optional(Role::decoder)
                    : measurement.stage == "text_encoder" ? std::optional(Role::text_encoder)
                                                          : std::nullopt;
  if (role) std::erase_if(stages, [&](const LayeredStage& stage) { return stage.role != *role; });
  if (measurement.metric == "step_s")
    for (LayeredStage& stage : stages) stage.passes_per_frame = 1;
  return stages;
}

/// A device at one batch, as it was run, and what the technology table says of it.
struct CostedRun {
  const Device& device;
  DeviceRun run;
  std::optional<TechnologyNode> node{};
  double frames = 1;
  std::optional<DeviceSilicon> silicon{};  // drawn in the node that was asked for
  DeviceEnergy energy{};
  std::optional<double> area_mm2{};
};

CostedRun cost_run(const Device& device, std::span<const LayeredStage> work, std::int64_t batch,
                   const std::optional<TechnologyNode>& node, const Stop& stop) {
  CostedRun costed{.device = device,
                   .run = run_device(device, work, batch, false, stop),
                   .node = node,
                   .frames = static_cast<double>(batch)};
  const auto die = figure_of(device, "die_mm2");
  if (!node) costed.area_mm2 = die;
  if (!lacking_for_cost(device).empty()) return costed;
  costed.silicon = silicon_of(device);
  if (node) costed.silicon = drawn_in(*costed.silicon, *node);
  if (node && die) costed.area_mm2 = area_of(*costed.silicon);
  costed.energy = energy_of(*costed.silicon, events_of(work, batch, costed.run, bytes_per_element(device)));
  return costed;
}

/// The values that follow from the time of the batch.
NamedFigures values_in(const CostedRun& costed, double latency_s) {
  const double frame_s = latency_s / costed.frames;
  NamedFigures values = {{"throughput_fps", 1 / frame_s}, {"latency_s", latency_s}};
  if (costed.silicon) {
    const double joules = costed.energy.joules(frame_s);
    values.emplace_back("energy_j_per_frame", joules);
    values.emplace_back("frames_per_j", 1 / joules);
  }
  // A bound's time bounds no energy, and nobody knows the design power in another process.
  if (const auto tdp = figure_of(costed.device, "tdp_w"); tdp && costed.run.modelled && !costed.node)
    values.emplace_back("design_energy_j_per_frame", *tdp * frame_s);
  if (costed.area_mm2) values.emplace_back("fps_per_mm2", 1 / frame_s / *costed.area_mm2);
  return values;
}

void add_silicon(const CostedRun& costed, const ComparisonAsked& asked, ComparisonRow& row) {
  const Device& device = costed.device;
  if (!costed.silicon) {
    row.notes.push_back("No modelled energy nor price: it lacks " + lacking_for_cost(device) + ".");
    return;
  }
  const DeviceSilicon& silicon = *costed.silicon;
  row.energy = std::string("modelled") + (row.kind == RowKind::roofline ? " at the bound's time" : "") +
               (costed.energy.has_dram ? ", DRAM and leakage included" : ", leakage included, DRAM not");
  row.energy_has_dram = costed.energy.has_dram;
  const double frame_s = costed.run.latency_s / costed.frames;
  for (const DeviceEnergyPart& part : costed.energy.parts)
    row.energy_parts_j.emplace_back(part.name, part.joules + part.watts * frame_s);
  row.notes.insert(row.notes.end(), silicon.notes.begin(), silicon.notes.end());
  if (const auto design = row.value("design_energy_j_per_frame");
      design && row.value("energy_j_per_frame") > design)
    row.notes.push_back(
        "Its modelled energy is above design power times time: it cannot keep that clock, or takes less supply.");
  const auto gib = figure_of(device, "dram_gib");
  if (const auto price = price_of(silicon, gib.value_or(0))) {
    row.values.emplace_back("price_usd", price->total());
    row.notes.push_back(
        fmt::format("Its price is modelled as SDIP's (docs/model/dies.md): {} of dies, {} of package, {}",
                    quantity_text(price->silicon, "USD"), quantity_text(price->package, "USD"),
                    gib && silicon.dram ? quantity_text(price->dram, "USD") + " of DRAM." : "DRAM not in it."));
  }
  if (!asked.node || !costed.area_mm2) return;
  row.notes.push_back(fmt::format(
      "Drawn anew: {} as published become {} of logic by its density, {} of memories by theirs and {} of DRAM's "
      "PHYs as they were; energies are the node's; clock, time and DRAM stay, design power is left out.",
      quantity_text(*figure_of(device, "die_mm2"), "mm2"), quantity_text(silicon.logic_mm2, "mm2"),
      quantity_text(*costed.area_mm2 - silicon.logic_mm2 - silicon.phy_mm2, "mm2"),
      quantity_text(silicon.phy_mm2, "mm2")));
}

/// Adds the share of the device's DRAM that the weights would fill, and whether it holds them.
void add_dram_filled(const Device& device, std::span<const LayeredStage> work, ComparisonRow& row) {
  constexpr double gib = 1024.0 * 1024 * 1024;
  const auto capacity = figure_of(device, "dram_gib");
  if (!capacity) return;
  double weights = 0;
  for (const LayeredStage& stage : work) weights += static_cast<double>(stage.weight_elements);
  const double needed = weights * bytes_per_element(device) / gib;
  row.values.emplace_back("dram_filled", needed / *capacity);
  if (needed > *capacity)
    row.notes.push_back(fmt::format("Its DRAM has {}, the weights alone take {}.", quantity_text(*capacity, "GiB"),
                                    quantity_text(needed, "GiB")));
}

ComparisonRow row_of(const Device& device, RowKind kind, std::int64_t batch) {
  return {.id = device.id,
          .name = device.name,
          .kind = kind,
          .batch = batch,
          .feasible = true,
          .format = device.native_format,
          .fields = device.fields,
          .device = &device};
}

AreaBasis area_basis_of(const CostedRun& costed) {
  if (costed.area_mm2) return costed.node ? AreaBasis::drawn : AreaBasis::published;
  return costed.silicon ? AreaBasis::lanes : AreaBasis::unknown;
}

/// "12 nm", "n7, scaled from 12 nm"; that it is not scaled where the table says nothing of it.
std::string process_of(const CostedRun& costed) {
  const auto nm = figure_of(costed.device, "node_nm");
  std::string own = nm ? quantity_text(*nm, "nm") : "";
  if (!costed.node) return own;
  const std::string node(node_text(*costed.node));
  return costed.silicon ? node + ", scaled from " + own : "not scaled: lacks " + lacking_for_cost(costed.device);
}

ComparisonRow device_row(const Device& device, const ComparisonAsked& asked, std::span<const LayeredStage> work,
                         const std::optional<Calibration>& calibration, std::int64_t batch, const Stop& stop) {
  ComparisonRow row = row_of(device, RowKind::unpublished, batch);
  if (!can_run(device)) {
    row.notes = device.notes;
    return row;
  }
  CostedRun costed = cost_run(device, work, batch, asked.node, stop);
  row.kind = costed.run.modelled ? RowKind::device : RowKind::roofline;
  row.area_basis = area_basis_of(costed);
  row.process = process_of(costed);
  row.values = values_in(costed, costed.run.latency_s);
  row.values.emplace_back("dram_bytes_per_frame", costed.run.dram_bytes_per_frame);
  row.values.emplace_back("utilization", costed.run.utilization);
  if (costed.area_mm2) row.values.emplace_back("area_mm2", *costed.area_mm2);
  if (const auto sram = figure_of(device, "sram_mib")) row.values.emplace_back("sram_bytes", *sram * 1024 * 1024);
  if (calibration && costed.run.modelled) {
    row.calibration = calibration;
    row.calibration->values = values_in(costed, calibration->factor * costed.run.latency_s);
  }
  double compute_s = 0, memory_s = 0;
  for (const DeviceStage& stage : costed.run.stages) {
    const auto passes = static_cast<double>(stage.passes);
    compute_s += passes * (stage.pass.compute_s + stage.pass.vector_s);
    memory_s += passes * stage.pass.memory_s;
  }
  row.compute_s = compute_s;
  row.memory_s = memory_s;
  row.stages = std::move(costed.run.stages);
  row.notes = std::move(costed.run.notes);
  add_silicon(costed, asked, row);
  add_dram_filled(device, work, row);
  return row;
}

bool has_core(std::span<const LayeredStage> work) {
  return std::ranges::find(work, Role::core, &LayeredStage::role) != work.end();
}

/// Whether a built-in model is a diffusion pipeline.
bool is_pipeline(std::string_view model) {
  static const std::vector<ModelEntry> entries = Catalog().entries();
  return std::ranges::any_of(entries, [&](const ModelEntry& one) { return one.name == model && one.pipeline; });
}

bool same_work(std::span<const LayeredStage> a, std::span<const LayeredStage> b) {
  return std::ranges::equal(a, b, [](const LayeredStage& one, const LayeredStage& other) {
    return one.passes_per_frame == other.passes_per_frame && one.layers == other.layers;
  });
}

/// Whether a measurement is of the frames that are asked for, on one chip: with its steps, guidance and size the
/// same layers run as often.
bool is_of(const Measurement& m, const Catalog& catalog, const ComparisonAsked& asked,
           std::span<const LayeredStage> work, std::int64_t batch) {
  if (m.model != asked.model || m.stage != "all" || m.metric == "step_s" || m.chips != 1 || m.batch != batch)
    return false;
  return same_work(layered_work(catalog.workloads(), asked.model, as_measured(asked.machines.front().machine, m)),
                   work);
}

ComparisonRow measured_row(const Device& device, const Measurement& m) {
  ComparisonRow row = row_of(device, RowKind::measured, *m.batch);
  row.id = "measured:" + device.id + ":" + m.id;
  row.name = device.name + ", " + m.software;
  row.format = m.format.substr(0, m.format.find(" ("));
  const auto frames = static_cast<double>(row.batch);
  const double latency_s = m.metric == "images_per_s" ? frames / m.value : m.value;
  row.values = {{"throughput_fps", frames / latency_s}, {"latency_s", latency_s}};
  row.fields = {{m.metric, quantity_text(m.value, ""), m.unit, m.source, m.confidence}};
  row.notes = {fmt::format("Measured in {}{}; {}", m.format, m.note.empty() ? "" : ", " + m.note, m.source)};
  return row;
}

}  // namespace

std::vector<Compared> measured_beside_model(const Device& device, const Stop& stop) {
  static std::mutex mutex;
  static std::map<const Device*, std::vector<Compared>> known;
  if (find_device(device.id) != &device)
    return compare_measured(
        device,
        [&](const Measurement& measurement) {
          try {
            return stages_of_measurement(measurement);
          } catch (const Error& error) {
            throw Error("device_invalid", device.id + "/measured/" + measurement.id, error.what());
          }
        },
        stop);
  const std::scoped_lock lock(mutex);
  const auto [entry, fresh] = known.try_emplace(&device);
  if (fresh) entry->second = compare_measured(device, stages_of_measurement);
  return entry->second;
}

Checked checked_by(std::span<const Compared> measured, std::string_view model, bool pipeline, bool measured_here) {
  if (measured_here) return Checked::here;
  const bool near = std::ranges::any_of(measured, [&](const Compared& one) {
    return !is_eager(*one.measurement) &&
           (one.measurement->model == model || (pipeline && is_pipeline(one.measurement->model)));
  });
  return near ? Checked::near : Checked::unvalidated;
}

std::optional<Calibration> calibration_of(std::span<const Compared> measured) {
  std::optional<Calibration> best;
  for (const Compared& one : measured)
    if (one.fitted && (!best || one.factor < best->factor)) best = {one.measurement->software, one.factor, {}};
  return best;
}

void add_device_rows(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop,
                     std::vector<ComparisonRow>& rows) {
  const std::vector<LayeredStage> work =
      layered_work(catalog.workloads(), asked.model, asked.machines.front().machine);
  const bool pipeline = has_core(work);
  for (const Device* device : asked.devices) {
    const std::vector<Compared> measured = measured_beside_model(*device, stop);
    const std::optional<Calibration> calibration = calibration_of(measured);
    for (const std::int64_t batch : asked.batches) {
      end_if(stop, asked.model);
      ComparisonRow row = device_row(*device, asked, work, calibration, batch, stop);
      row.measured = measured;
      std::vector<ComparisonRow> published;
      bool here = false;
      for (const Measurement& m : device->measured) {
        end_if(stop, asked.model);
        if (!is_of(m, catalog, asked, work, batch)) continue;
        published.push_back(measured_row(*device, m));
        here = here || std::ranges::any_of(
                           measured, [&](const Compared& one) { return one.measurement == &m && !is_eager(m); });
      }
      if (row.kind == RowKind::device) row.checked = checked_by(measured, asked.model, pipeline, here);
      rows.push_back(std::move(row));
      std::ranges::move(published, std::back_inserter(rows));
    }
  }
}

}  // namespace sdip
