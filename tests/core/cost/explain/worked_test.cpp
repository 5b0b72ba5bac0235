// Energy, area and metrics of docs/model/ by hand for SD 1.5 on preset edge: each line beside the tool's figure.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/cost/price/estimate.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

const Application& edge_application() {
  static const Application application = [] {
    const Machine m = find_preset("edge")->machine;
    return compile(built_in_pipeline("sd15", m), m);
  }();
  return application;
}
const Report& edge_report() {
  static const Report report = estimate(edge_application(), find_preset("edge")->machine);
  return report;
}

double part_of(const Breakdown& parts, std::string_view name) {
  const auto found = std::ranges::find(parts, name, [](const auto& part) { return std::string_view(part.first); });
  EXPECT_NE(found, parts.end()) << name;
  return found->second;
}

double metric(Metric m) { return edge_report().outcome.values[static_cast<std::size_t>(m)]; }
const StageReport& stage_of(Role role) {
  return *std::ranges::find(edge_report().stages, role, &StageReport::role);
}

/// Cycles a resource is needed in the decoder's steady pass: of a port its beats.
std::int64_t beats(std::initializer_list<Resource> resources) {
  std::int64_t sum = 0;
  for (const InstructionCost& i : stage_of(Role::decoder).instructions)
    for (const Resource r : resources) {
      sum += i.busy[static_cast<std::size_t>(r)].value;  // less those of transfers
      if (r == Resource::dsram_read) sum -= i.dma_read_beats;
      if (r == Resource::dsram_write) sum -= i.dma_write_beats;
      if (r == Resource::psram_read) sum -= i.dma_psram_beats;
    }
  return sum;
}

std::string whole(std::int64_t value) {
  std::string text = std::to_string(value);
  for (auto at = std::ssize(text) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}
/// Six digits of a measure; counts whole.
std::string digits(double value) {
  if (value > 1e6) return whole(std::llround(value));
  std::ostringstream text;
  text.precision(6);
  text << value;
  return text.str();
}

/// Lines of a block, each made by hand and equal to what is told.
struct Worked {
  std::string text{};
  void line(const std::string& how, double by_hand, double told, const char* unit) {
    EXPECT_NEAR(by_hand, told, 1e-9 * std::fabs(told)) << how;
    text += "    " + how + " = " + digits(told) + (*unit == 0 ? "" : " ") + unit + "\n";
  }
};

// The table's rows, of 7 nm and int8: cells of 45 nm by 0.075, seven stages of 40 bits of registers for a MAC and
// of 16 for another lane; placed.
constexpr double mac_mm2 = (282 + 137 + 48 * 6 + 7 * 40 * 6) * 0.075e-6 * 1.6,
                 lane_mm2 = (282 + 36 + 24 * 6 + 7 * 16 * 6) * 0.075e-6 * 1.6, sram_mm2 = 0.324,
                 control_share = 0.03, other_share = 3, other_mm2 = 18, wire_pj = 0.08;
// The supply is the least, 0.60 V of 0.75: events of logic take 0.64, and it leaks 0.8 e^(-0.45).
constexpr double logic = 0.64;
/// A DSRAM or STACKRAM of 2 MiB behind 2,048 bits, and a PSRAM behind 4,096: 100 cells a bit of each of 16 banks.
constexpr double dsram_mm2 = (2 + 100.0 * 16 * 2048 / 8 / (1 << 20)) * sram_mm2 * 2.5;
constexpr double psram_mm2 = (2 + 100.0 * 16 * 4096 / 8 / (1 << 20)) * sram_mm2 * 2.5;
constexpr double phys_mm2 = 64 * 0.079 + 32 * 0.013;  // 64 bit at 4,000 MT/s
constexpr double lanes_mm2 = 16 * 32 * 16 * mac_mm2 + 3 * 256 * lane_mm2;

void add_area(Worked& w) {
  const Breakdown& area = edge_report().area_mm2;
  w.line(
      "conv2d       16 x 32 x 16 lanes x (282 + 137 + 48 x 6 + 7 x 40 x 6) x 0.075 um2 x 1.6 x 2, the core and the "
      "decoder",
      16 * 32 * 16 * mac_mm2 * 2, part_of(area, "conv2d"), "mm2");
  w.line("vector       256 x (282 + 36 + 24 x 6 + 7 x 16 x 6) x 0.075 um2 x 1.6 x 2; softmax and norm likewise",
         256 * lane_mm2 * 2, part_of(area, "vector"), "mm2");
  w.line("dsram        (2 MiB + 100 x 16 x 2,048 bit) x 0.324 mm2/MiB x 2.5 x 2 sides x 2", 4 * dsram_mm2,
         part_of(area, "dsram"), "mm2");
  w.line("stackram     the same, one side", 2 * dsram_mm2, part_of(area, "stackram"), "mm2");
  w.line("psram        (2 MiB + 100 x 16 x 4,096 bit) x 0.324 x 2.5 x 2, the cores' and the decoder's",
         2 * psram_mm2, part_of(area, "psram"), "mm2");
  w.line("imem         0.25 MiB x 0.324 x 2.5", 0.25 * sram_mm2 * 2.5, part_of(area, "imem"), "mm2");
  const double datapath = 2 * lanes_mm2 + 6 * dsram_mm2 + 2 * psram_mm2 + 0.25 * sram_mm2 * 2.5;
  w.line("control      0.03 x " + digits(datapath) + " mm2, all above", control_share * datapath,
         part_of(area, "control"), "mm2");
  const double other = other_mm2 + other_share * 2 * lanes_mm2;
  w.line("other        18 mm2 + 3 x " + digits(2 * lanes_mm2) + " mm2 of lanes", other, part_of(area, "other"),
         "mm2");
  w.line("dram         64 bit x 0.079 mm2 + 32 GB/s x 0.013 mm2", phys_mm2, part_of(area, "dram"), "mm2");
  w.line("area         the sum", (1 + control_share) * datapath + other + phys_mm2, metric(Metric::area_mm2),
         "mm2");
}

/// mm2 whose clock tree goes on: all but memories.
double logic_mm2() {
  const Breakdown& area = edge_report().area_mm2;
  double sum = 0;
  for (const char* block : {"conv2d", "vector", "softmax", "norm", "control", "other"}) sum += part_of(area, block);
  return sum;
}

double number_of(std::int64_t n) { return static_cast<double>(n); }

double port_mm(double mm2) { return 0.75 * (std::sqrt(mm2) - std::sqrt(mm2 / 16)); }

/// Registers of seven stages while a circuit works, and the tree of the core's half of the chip.
void add_clock(Worked& w, const StageReport& decoder) {
  const Program& program =
      edge_application().stages[static_cast<std::size_t>(&decoder - edge_report().stages.data())].program;
  std::int64_t array = 0, rows = 0;
  for (std::size_t i = 0; i < decoder.instructions.size(); ++i) {
    const auto of = static_cast<std::size_t>(program.instructions[i].instruction_class);
    const Family family = program.classes[of].work.family;
    if (family == Family::transpose) continue;
    (family <= Family::matmul ? array : rows) +=
        decoder.instructions[i].busy[static_cast<std::size_t>(Resource::compute)].value;
  }
  const double register_pj = 0.004 * 0.33 * 7, tree_pj = 34 * 0.33 / 0.075;
  const double by_hand =
      logic * 1e-12 *
      (register_pj * (8192 * 40 * static_cast<double>(array) + 256 * 16 * static_cast<double>(rows)) +
       tree_pj * logic_mm2() / 2 * static_cast<double>(decoder.steady_cycles.value));
  w.line("clock        0.64 x (0.004 pJ x 0.33 x 7 stages x (8,192 x 40 bit x " + whole(array) +
             " + 256 x 16 bit x " + whole(rows) + " cycles)\n                 + 34 pJ x 0.33 / 0.075 x " +
             digits(logic_mm2()) + " mm2 / 2 x " + whole(decoder.steady_cycles.value) + ")",
         by_hand, decoder.energy_parts[static_cast<std::size_t>(EnergyPart::clock)], "J");
}

void add_energy(Worked& w) {
  const StageReport& decoder = stage_of(Role::decoder);
  const auto told = [&](EnergyPart part) { return decoder.energy_parts[static_cast<std::size_t>(part)]; };
  const std::int64_t dsram = beats({Resource::dsram_read, Resource::dsram_write}),
                     stackram = beats({Resource::stackram_read, Resource::stackram_write}),
                     psram = beats({Resource::psram_read});
  const std::int64_t activations = decoder.dram_activations.value, weights = decoder.weight_bytes.value;
  const double dsram_bit = wire_pj * port_mm(dsram_mm2), psram_bit = wire_pj * port_mm(psram_mm2);
  w.line(
      "ports        0.64 x 0.08 pJ x (3/4 (sqrt " + digits(dsram_mm2) + " - sqrt (" + digits(dsram_mm2) +
          " / 16)) mm x (2,048 x (" + whole(dsram) + " + " + whole(stackram) + ") + 8 x " + whole(activations) +
          ")\n                 + 3/4 (sqrt " + digits(psram_mm2) + " - sqrt (" + digits(psram_mm2) +
          " / 16)) mm x (4,096 x " + whole(psram) + " + 8 x " + whole(weights) + "))",
      logic * 1e-12 *
          (dsram_bit * (2048.0 * static_cast<double>(dsram + stackram) + 8.0 * static_cast<double>(activations)) +
           psram_bit * (4096.0 * static_cast<double>(psram) + 8.0 * static_cast<double>(weights))),
      told(EnergyPart::ports), "J");
  const double core_mm2 = (lanes_mm2 + 3 * dsram_mm2) * (1 + control_share) + other_share * lanes_mm2;
  w.line("broadcast    0.64 x " + whole(psram) + " x 4,096 x 0.08 pJ x 1 core x sqrt " + digits(core_mm2) + " mm",
         logic * 1e-12 * static_cast<double>(psram) * 4096 * wire_pj * std::sqrt(core_mm2),
         told(EnergyPart::broadcast), "J");
  add_clock(w, decoder);
  const double imem_byte = 8.5e-12 * std::pow(14 / 8.5, std::log(8) / std::log(32)) / 8;
  w.line("control      " + whole(decoder.imem_bytes.value) + " B x 8.5 pJ x (14 / 8.5)^(ln 8 / ln 32) / 8",
         static_cast<double>(decoder.imem_bytes.value) * imem_byte, told(EnergyPart::control), "J");
  const double fps = metric(Metric::throughput_fps);
  const double mib = (6 * dsram_mm2 + 2 * psram_mm2) / 2.5 / sram_mm2 + 0.25;
  w.line("leakage      (" + digits(logic_mm2()) + " mm2 of logic x 37 mW x 0.8 e^(-0.45) + " + digits(mib) +
             " MiB x 8 mW) / " + digits(fps) + " frame/s, of a frame",
         1e-3 * (logic_mm2() * 37 * 0.8 * std::exp(-0.45) + mib * 8) / fps,
         part_of(edge_report().energy_j, "leakage"), "J");
  const StageReport& core = stage_of(Role::core);
  const double bytes =
      number_of(20 * (core.dram_weights + core.dram_activations).value + decoder.dram_weights.value + activations);
  w.line("dram_phy     " + digits(bytes) + " B x 8 x 2.5 pJ + 256 Gb/s x 0.1 mW / " + digits(fps) +
             " frame/s, of a frame of 20 steps and the decoder",
         bytes * 8 * 2.5e-12 + 256 * 0.1e-3 / fps, part_of(edge_report().energy_j, "dram_phy"), "J");
  w.line("background   4 channels x 20 mW / " + digits(fps) + " frame/s", 4 * 0.02 / fps,
         part_of(edge_report().energy_j, "dram_background"), "J");
  const std::int64_t turns = 20 * core.dram_turns + decoder.dram_turns;
  w.line("dram_turns   " + whole(turns) + " x 4 channels x 2 KiB x 909 pJ", number_of(turns) * 8 * 909e-12,
         part_of(edge_report().energy_j, "dram_turns"), "J");
}

/// A frame takes each step and the decoder once; no MAC splits, no zero is skipped, nothing is made in a memory.
void add_operations(Worked& w) {
  const std::int64_t step = stage_of(Role::core).macs.value, decoder = stage_of(Role::decoder).macs.value;
  const double fps = metric(Metric::throughput_fps), area = metric(Metric::area_mm2),
               watts = metric(Metric::power_w), joules = metric(Metric::energy_j_per_frame);
  const double done = 2 * (20 * static_cast<double>(step) + static_cast<double>(decoder)) * fps / 1e12;
  w.line("tops                   2 x (20 x " + whole(step) + " + " + whole(decoder) + " MACs) x " + digits(fps) +
             " frame/s / 10^12",
         done, metric(Metric::tops), "TOPS");
  const double peak = 2 * 8192.0 * 2 * 1e9 / 1e12;
  w.line("tops_peak              2 x 8,192 lanes x 2, the core and the decoder x 1,000 MHz", peak,
         metric(Metric::tops_peak), "TOPS");
  w.line("tops_per_w             " + digits(done) + " TOPS / " + digits(watts) + " W", done / watts,
         metric(Metric::tops_per_w), "TOPS/W");
  w.line("tops_per_mm2           " + digits(done) + " TOPS / " + digits(area) + " mm2", done / area,
         metric(Metric::tops_per_mm2), "TOPS/mm2");
  w.line("tops_peak_per_mm2      " + digits(peak) + " TOPS / " + digits(area) + " mm2", peak / area,
         metric(Metric::tops_peak_per_mm2), "TOPS/mm2");
  const double moved = metric(Metric::dram_bytes_per_frame), intensity = done * 1e12 / fps / moved;
  w.line(
      "ops_per_dram_byte      " + digits(done) + " x 10^12 / " + digits(fps) + " frame/s / " + digits(moved) + " B",
      intensity, metric(Metric::ops_per_dram_byte), "op/B");
  w.line("fps_per_mm2            " + digits(fps) + " frame/s / " + digits(area) + " mm2", fps / area,
         metric(Metric::fps_per_mm2), "frame/s/mm2");
  w.line("frames_per_j           1 / " + digits(joules) + " J", 1 / joules, metric(Metric::frames_per_j),
         "frame/J");
  w.line("power_w_per_mm2        " + digits(watts) + " W / " + digits(area) + " mm2", watts / area,
         metric(Metric::power_w_per_mm2), "W/mm2");
}

void add_metrics(Worked& w) {
  const StageReport& step = stage_of(Role::core);
  const std::int64_t pass = step.steady_cycles.value, macs = step.macs.value, weights = step.weight_bytes.value;
  const std::int64_t psram = 2 << 20, bound = ceil_div(macs, 8192), least = weights - psram;
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  w.line("compute      ceil(" + whole(macs) + " MACs / 8,192 lanes of one array)", number(bound),
         number(step.bound_cycles.value), "cycles");
  w.line("traffic      " + whole(weights) + " B of weights - 2 MiB; latent and context come over the link",
         number(least), number(step.bound_dram_bytes.value), "B");
  w.line("cycles_over_bound      " + whole(pass) + " / " + whole(bound), number(pass) / number(bound),
         metric(Metric::cycles_over_bound), "");
  const std::int64_t moved = (step.dram_weights + step.dram_activations).value;
  w.line("dram_bytes_over_bound  " + whole(moved) + " / " + whole(least), number(moved) / number(least),
         metric(Metric::dram_bytes_over_bound), "");
  w.line("stall_share            (" + whole(step.stall_weights.value) + " + " +
             whole(step.stall_activations.value) + ") / " + whole(pass),
         number((step.stall_weights + step.stall_activations).value) / number(pass), metric(Metric::stall_share),
         "");
  w.line("utilization            " + whole(macs) + " / (" + whole(pass) + " x 8,192)",
         number(macs) / (number(pass) * 8192), metric(Metric::utilization), "");
  const double joules = metric(Metric::energy_j_per_frame), fps = metric(Metric::throughput_fps),
               seconds = metric(Metric::latency_s);
  w.line("power                  " + digits(joules) + " J x " + digits(fps) + " frame/s", joules * fps,
         metric(Metric::power_w), "W");
  w.line("EDP                    " + digits(joules) + " J x " + digits(seconds) + " s", joules * seconds,
         metric(Metric::edp_js), "J*s");
  add_operations(w);
  std::int64_t stored = 0, words = 0;
  for (const StageReport& stage : edge_report().stages) {
    stored += stage.weight_bytes.value;
    words += stage.imem_bytes.value;
  }
  w.line("load                   ceil((" + whole(stored) + " B of weights + " + whole(words) +
             " B of words) / 25.6 B), 64 bit / 8 x 4 x 0.8",
         number(ceil_div(10 * (stored + words), 256)), number(edge_report().load.cycles.value), "cycles");
}

TEST(docs, energy_area_and_metrics_worked_by_hand_are_what_the_tool_says) {
  Worked w;
  w.text += "\nThe chip; built are the core and the decoder.\n\n";
  add_area(w);
  w.text +=
      "\nEnergy of a pass of the decoder (leakage: of a frame); beats are those of its instructions, summed.\n\n";
  add_energy(w);
  w.text += "\nBounds and metrics of the step.\n\n";
  add_metrics(w);
  w.text += "\n";
  expect_made_section("model/frames.md", "worked", "tests/core/cost/explain/worked_test.cpp", w.text);
}

}  // namespace
}  // namespace sdip
