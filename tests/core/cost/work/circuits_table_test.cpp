// What circuits for the VAE bring SD 1.5: a table of docs/model/frames.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "core/cost/price/estimate.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

constexpr const char* vae_machines[] = {
    "essay", "essay vae_stage=circuit", "edge",
    ("edge vae_stage=circuit vae_decoder_conv_lanes_in=4 vae_decoder_vector_lanes=64 "
     "vae_decoder_softmax_lanes=64 vae_decoder_norm_lanes=64")};

Machine vae_machine(const char* row) {
  std::istringstream words(row);
  std::string word;
  words >> word;
  Machine m = find_preset(word)->machine;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    const ParameterRow& setting = *find_parameter(word.substr(0, equals));
    setting.write(m, parse_value(setting, word.substr(equals + 1), word));
  }
  check_machine(m);
  return m;
}

std::string four_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

TEST(docs, what_circuits_for_the_vae_bring_sd15) {
  std::string text =
      "| machine | decoder's pass, cycles | its words in IMEM, B | frame/s | latency, s | mm2 | J a frame |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const char* row : vae_machines) {
    const Machine m = vae_machine(row);
    const Report report = estimate(compile(built_in_pipeline("sd15", m), m), m);
    ASSERT_TRUE(report.outcome.feasible) << row << ": " << report.outcome.reason;
    const StageReport& decoder = *std::ranges::find(report.stages, Role::decoder, &StageReport::role);
    text += std::string("| ") + row + " | " + std::to_string(decoder.steady_cycles.value) + " | " +
            std::to_string(decoder.imem_bytes.value) + " |";
    for (const Metric metric :
         {Metric::throughput_fps, Metric::latency_s, Metric::area_mm2, Metric::energy_j_per_frame})
      text += " " + four_digits(report.outcome.values[static_cast<std::size_t>(metric)]) + " |";
    text += "\n";
  }
  expect_made_section("model/frames.md", "circuits", "tests/core/cost/work/circuits_table_test.cpp", text);
}

}  // namespace
}  // namespace sdip
