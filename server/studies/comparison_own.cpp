// Rows of our machines in a comparison: batches, saturated streams and bounds.
#include <algorithm>
#include <cmath>

#include "core/base/stop.h"
#include "core/cost/price/area.h"
#include "core/machine/dram.h"
#include "core/machine/rate.h"
#include "server/json/report_json.h"
#include "server/studies/analysis.h"
#include "server/studies/comparison_parts.h"

namespace sdip {
namespace {

constexpr double operations_of_mac = 2;

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
                fmt::format("a core: {} MAC a cycle in conv2d, {} vector lanes",
                            m.conv_lanes_in * m.conv_lanes_out * m.conv_lanes_pixel, m.vector_lanes),
                ""),
      own_field("control", "one straight-line program of operators for all cores, each on a frame of its own", ""),
      own_field("cache", "none: SRAM that the program addresses", ""),
      own_field("interconnect",
                crossbar ? "crossbar between cores" : fmt::format("each core to the next, {} bit", m.link_bits),
                ""),
      own_field("on-chip SRAM",
                fmt::format("{} KiB PSRAM for all; a core: 2 x {} KiB DSRAM, {} KiB STACKRAM", m.psram_bytes >> 10,
                            m.dsram_bytes >> 10, m.stackram_bytes >> 10),
                ""),
      own_field("DRAM",
                m.host_memory ? std::string("the host's")
                              : value_text(*find_parameter("dram_kind"), find_parameter("dram_kind")->read(m)) +
                                    ", " + std::to_string(m.dram_channels) + " channels",
                "")};
}

/// The share of its DRAM that weights fill; nothing where a host's memory has them.
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
  row.checked = Checked::unvalidated;
  row.area_basis = AreaBasis::modelled;
  row.process = node_text(m.technology_node);
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

/// The row of a saturated stream: the report's own figures.
ComparisonRow stream_row(const NamedMachine& named, const Analysis& analysis, std::int64_t batch) {
  ComparisonRow row =
      report_row(named, analysis, batch,
                 "A saturated stream, whatever the batch: frames enter one behind the other, and never end.");
  row.id = "stream:" + named.id;
  row.name = named.name + ", saturated";
  return row;
}

/// So many frames and no more: the pipeline fills and drains, and leakage lasts as long as that takes.
ComparisonRow own_row(const NamedMachine& named, const Analysis& analysis, std::int64_t batch) {
  const Report& report = analysis.report;
  ComparisonRow row = report_row(
      named, analysis, batch,
      "A batch: from the first prompt to the last image, the cores filled and drained; what waiting cores' "
      "clock trees take is left out.");
  const auto set = [&](Metric metric, double value) { row.values[at(metric)].second = value; };
  const auto of = [&](Metric metric) { return report.outcome.values[metric]; };
  const auto frames = static_cast<double>(row.batch);
  const double stream_frame_s = 1 / of(Metric::throughput_fps);
  // The frames behind the first leave one by one, as in a saturated stream.
  const double batch_s = of(Metric::latency_s) + (frames - 1) * stream_frame_s, frame_s = batch_s / frames;
  const double waiting_j = total_of(report.leakage_w) * (frame_s - stream_frame_s);
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

/// The rates that a stage of ours can reach at most with so many frames: its MACs at the clock, on as many cores as
/// can work on that many frames; stages on a block of their own have one. Elements as DRAM has them, unless they
/// stay on chip.
RooflineRates own_rates(const Analysis& analysis, std::span<const LayeredStage> work, Role role,
                        std::int64_t frames) {
  const Machine& m = analysis.machine;
  const double hz = static_cast<double>(m.core_clock_mhz) * 1e6;
  double macs_a_cycle = 1;
  for (const CompiledStage& stage : analysis.application.stages) {
    if (stage.role != role) continue;
    std::int64_t products = 1, spread = 1;
    for (const StageReport& one : analysis.report.stages)
      if (one.role == role) {
        products = std::max(products, one.products_in_mac);
        spread = std::max(spread, one.spread_cores);
      }
    const std::int64_t cores = is_own_block(m, role) ? 1 : std::min(m.cores, frames * spread);
    macs_a_cycle = std::max(macs_a_cycle, static_cast<double>(stage_mac_lanes(stage, m) * products * cores));
  }
  double elements = 0;
  for (const LayeredStage& stage : work) elements += static_cast<double>(stage.weight_elements);
  const double weight_bytes = static_cast<double>(bits_of(m.weight_format)) / 8;
  const bool stay = weights_in_place(m, role) || elements * weight_bytes <= static_cast<double>(m.psram_bytes);
  return {
      operations_of_mac * macs_a_cycle * hz,
      m.host_memory ? dram_rate(m, Decimal{100}).bytes_per_cycle() * hz : dram_channels(m).peak_gb_per_s() * 1e9,
      stay ? 0 : weight_bytes, static_cast<double>(bits_of(m.activation_format)) / 8};
}

/// The least time of a batch of ours. One frame goes from stage to stage as on a device. With several the stages
/// overlap, so that the bound is the longest of what a stage computes, what all MACs of the chip do, and what DRAM
/// moves.
struct OwnBound {
  double latency_s = 0, compute_s = 0, memory_s = 0, dram_bytes_per_frame = 0;
  double utilization = 0;  // of all MACs
  std::vector<DeviceStage> stages{};
};

/// Zeros that are skipped, or products made in a memory, are no MACs that lanes have to do: such a machine has
/// none.
bool has_bound(const Analysis& analysis) {
  const Machine& m = analysis.machine;
  return m.sparsity != Sparsity::skipping && m.in_memory_weights == InMemoryWeights::off &&
         std::isfinite(analysis.report.outcome.values[Metric::tops_peak]);
}

OwnBound own_bound(const Analysis& analysis, std::span<const LayeredStage> layered, std::int64_t batch) {
  std::vector<StageWork> work;
  std::vector<RooflineRates> alone, together;
  for (const LayeredStage& stage : layered) {
    work.push_back(work_of_stage(stage));
    alone.push_back(own_rates(analysis, layered, stage.role, 1));
    together.push_back(own_rates(analysis, layered, stage.role, batch));
  }
  const Roofline all = roofline(work, together, batch);
  OwnBound bound{.latency_s = std::max(roofline(work, alone, 1).latency_s, all.memory_s),
                 .compute_s = all.compute_s,
                 .memory_s = all.memory_s,
                 .dram_bytes_per_frame = all.dram_bytes_per_frame};
  double operations = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    operations += operations_of_mac * static_cast<double>(work[i].macs.value * work[i].passes_per_frame * batch);
    bound.latency_s = std::max(bound.latency_s, all.stages[i].compute_s);
    bound.stages.push_back(stage_of_roofline(all.stages[i], work[i].passes_per_frame));
  }
  const double all_macs_s = operations / (analysis.report.outcome.values[Metric::tops_peak] * 1e12);
  bound.latency_s = std::max(bound.latency_s, all_macs_s);
  bound.utilization = all_macs_s / bound.latency_s;
  return bound;
}

ComparisonRow own_bound_row(const ComparisonRow& modelled, const Analysis& analysis,
                            std::span<const LayeredStage> layered) {
  const Machine& m = analysis.machine;
  OwnBound bound = own_bound(analysis, layered, modelled.batch);
  ComparisonRow row{.id = "bound:" + modelled.id,
                    .name = modelled.name + ", its bound",
                    .kind = RowKind::roofline,
                    .batch = modelled.batch,
                    .feasible = modelled.feasible,
                    .format = modelled.format,
                    .area_basis = modelled.area_basis,
                    .process = modelled.process};
  const double fps = static_cast<double>(row.batch) / bound.latency_s;
  row.values = {{"throughput_fps", fps},
                {"latency_s", bound.latency_s},
                {"dram_bytes_per_frame", bound.dram_bytes_per_frame},
                {"utilization", bound.utilization}};
  for (const char* same : {"area_mm2", "sram_bytes", "price_usd", "dram_filled"})
    if (const auto value = modelled.value(same)) row.values.emplace_back(same, *value);
  if (const auto mm2 = modelled.value("area_mm2")) row.values.emplace_back("fps_per_mm2", fps / *mm2);
  row.compute_s = bound.compute_s;
  row.memory_s = bound.memory_s;
  row.stages = std::move(bound.stages);
  row.fields = modelled.fields;
  row.notes = {
      fmt::format("Roofline only: a bound that no schedule of it can beat, not a prediction; all MACs busy of {} "
                  "of {} cores (a frame is on one at a time, or on those that share its layers), and DRAM at its "
                  "peak rate, which moves what a device's does.",
                  std::min(m.cores, modelled.batch), m.cores)};
  return row;
}

}  // namespace

void add_own_rows(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop,
                  std::vector<ComparisonRow>& rows) {
  for (const NamedMachine& named : asked.machines) {
    NamedMachine drawn = named;
    if (asked.node) drawn.machine.technology_node = *asked.node;
    const Analysis analysis = analyze(catalog, asked.model, drawn.machine, asked.formats, stop);
    const std::vector<LayeredStage> work = layered_work(catalog.workloads(), asked.model, drawn.machine);
    for (const std::int64_t batch : asked.batches) {
      const ComparisonRow own = own_row(drawn, analysis, batch);
      rows.push_back(own);
      rows.push_back(stream_row(drawn, analysis, batch));
      if (has_bound(analysis)) rows.push_back(own_bound_row(own, analysis, work));
    }
  }
}

}  // namespace sdip
