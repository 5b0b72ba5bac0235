// The energy of a frame of SD 1.5 on the essay's machine, by layer and by stage: the worked example of
// docs/model/energy.md, each line made by hand and beside what the tool says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "core/cost/price/energy.h"
#include "core/cost/price/estimate.h"
#include "core/cost/price/frame.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

constexpr double own_passes = 20, shared_passes = 2, clock_hz = 1e9, cores_built = 11;

double joules_of(const EnergyParts& parts, EnergyPart which) { return parts[static_cast<std::size_t>(which)]; }

double sum_of(const Breakdown& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const auto& one) { return sum + one.second; });
}

std::string with_digits(double value, int digits = 4) {
  std::ostringstream text;
  text.precision(digits);
  text << value;
  return text.str();
}

/// "a = b J", after asking that what is made by hand is what is told.
void add_line(std::string& text, const std::string& how, double by_hand, double told,
              const std::string& unit = "J") {
  EXPECT_NEAR(by_hand, told, 1e-6 * std::fabs(told)) << how;
  text += "    " + how + " = " + with_digits(told, 6) + " " + unit + "\n";
}

void add_softmax(std::string& text, const Report& report, const InstructionCost& softmax) {
  struct Own {
    EnergyPart part;
    const char* name;
  };
  double own = 0;
  std::string parts;
  for (const Own& one :
       {Own{EnergyPart::vector, "vector"}, Own{EnergyPart::dsram, "dsram"},
        Own{EnergyPart::dram_activations, "dram_activations"}, Own{EnergyPart::ports, "ports"},
        Own{EnergyPart::clock, "clock"}, Own{EnergyPart::dram_phy, "dram_phy"},
        Own{EnergyPart::dram_background, "dram_background"}, Own{EnergyPart::die_links, "die_links"}}) {
    const double joules = joules_of(softmax.energy_parts, one.part);
    own += joules;
    parts += (parts.empty() ? "" : " + ") + with_digits(1e3 * joules) + " " + one.name;
  }
  const double leaks = joules_of(softmax.frame_energy.value, EnergyPart::leakage),
               all = total_of(softmax.frame_energy.value),
               turns = joules_of(softmax.frame_energy.value, EnergyPart::dram_turns);
  const double watt = sum_of(report.leakage_w);
  const std::int64_t cycles = (softmax.end - softmax.start).value;
  add_line(text,
           "softmax #30    own 20, shared 2: 20 x (" + parts + ") mJ + 2 x " +
               with_digits(1e3 * joules_of(softmax.energy_parts, EnergyPart::dram_turns)) + " dram_turns",
           own_passes * own + shared_passes * joules_of(softmax.energy_parts, EnergyPart::dram_turns), all - leaks);
  add_line(
      text,
      "  it leaks     20 x " + std::to_string(cycles) + " cycles x " + with_digits(watt, 6) + " / 11 W / 1 GHz",
      own_passes * static_cast<double>(cycles) * watt / cores_built / clock_hz, leaks);
  add_line(text, "  its share    " + with_digits(100 * all / sum_of(report.energy_j), 2) + " % of the frame",
           own_passes * own + leaks + turns, all);
}

double waiting_of(const Report& report, std::string_view what) {
  return std::ranges::find(report.waiting_energy_j, what,
                           [](const auto& one) { return std::string_view(one.first); })
      ->second;
}

void add_whole(std::string& text, const Report& report, const StageReport& core, const StageReport& decoder) {
  const double unet = total_of(core.frame_energy.value), vae = total_of(decoder.frame_energy.value);
  const double link = waiting_of(report, "link"), waiting = waiting_of(report, decoder.name);
  const double frame = sum_of(report.energy_j);
  add_line(text,
           "frame          " + with_digits(unet, 6) + " U-Net + " + with_digits(vae, 4) + " decoder + " +
               with_digits(link, 1) + " links + " + with_digits(waiting, 4) + " the decoder's waiting",
           unet + vae + link + waiting, frame);
  text += "      its range    " + with_digits(sum_of(report.energy_ranges_j.least), 3) + " to " +
          with_digits(sum_of(report.energy_ranges_j.most), 3) + " J\n";
  const double summed = own_passes * core.energy_j + decoder.energy_j;
  EXPECT_GT(std::fabs(summed - frame), 0.1 * frame);
  text += "    not the frame  20 passes x " + with_digits(core.energy_j, 5) + " + " +
          with_digits(decoder.energy_j, 4) + ", shared events whole in each pass = " + with_digits(summed, 4) +
          " J\n";
}

TEST(docs, the_energy_of_a_frame_by_layer_is_what_the_tool_says) {
  const Machine m = find_preset("essay")->machine;
  const Report report = estimate(compile(built_in_pipeline("sd15", m), m), m);
  const StageReport& core = *std::ranges::find(report.stages, Role::core, &StageReport::role);
  const StageReport& decoder = *std::ranges::find(report.stages, Role::decoder, &StageReport::role);
  ASSERT_GT(core.instructions.size(), 30U);
  std::string text = "\n";
  add_softmax(text, report, core.instructions[30]);
  const InstructionCost& convolution = core.instructions[12];
  add_line(text,
           "conv2d #12     shared 2, though its passes are 20: broadcast 2 x " +
               with_digits(1e3 * joules_of(convolution.energy_parts, EnergyPart::broadcast)) + " mJ",
           shared_passes * joules_of(convolution.energy_parts, EnergyPart::broadcast),
           joules_of(convolution.frame_energy.value, EnergyPart::broadcast));
  add_whole(text, report, core, decoder);
  expect_made_section("model/energy.md", "frame energy", "tests/core/cost/price/frame_energy_test.cpp",
                      text + "\n");
}

TEST(frame_energy, what_goes_off_on_the_die_is_all_but_dram_s) {
  Energy frame;
  frame[EnergyPart::mac] = 3;
  frame[EnergyPart::leakage] = 0.5;
  for (const EnergyPart dram : {EnergyPart::dram_weights, EnergyPart::dram_activations, EnergyPart::dram_program,
                                EnergyPart::dram_turns, EnergyPart::dram_background})
    frame[dram] = 8;
  EXPECT_DOUBLE_EQ(die_watts(frame, 4), 14);
}

}  // namespace
}  // namespace sdip
