// What is loaded before SD 1.5 is processed, by option? A table of docs/model/frames.md.
#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

#include "core/cost/explain/load.h"
#include "core/machine/technology.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

constexpr const char* loaded_machines[] = {
    "essay",
    "essay weight_storage=hard_coded hard_coded_part=vae",
    "essay weight_storage=hard_coded",
    "essay weight_storage=resident psram_bytes=2147483648 sram_banks=256",
    "essay vae_stage=off_chip",
    "essay vae_stage=circuit",
    "essay weight_format=int8 activation_format=int8",
    "essay weight_format=int8 activation_format=int8 in_memory_weights=fefet",
    "essay granularity=tile imem_bytes=4194304",
    "edge",
    "edge program_storage=streamed imem_bytes=32768",
    "edge host_memory=true",
    "edge vae_stage=off_chip core_clock_mhz=100 psram_bytes=196608 technology_node=fpga_zynq7020",
    "edge vae_stage=off_chip core_clock_mhz=100 psram_bytes=196608 technology_node=fpga_vc1902"};

Machine loaded_machine(const char* row) {
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

std::string in_ms(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", seconds * 1e3);
  return text;
}

TEST(docs, what_is_loaded_before_sd15_by_option) {
  std::string text =
      "| machine | IMEM, B | DRAM, B | FeFET, B | cycles | ms | configuration, ms | kept by the first pass, B |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const char* row : loaded_machines) {
    const Machine m = loaded_machine(row);
    const Application application = compile(built_in_pipeline("sd15", m), m);
    ASSERT_TRUE(application.feasible) << row << ": " << application.reason;
    if (!is_fpga(m.technology_node)) {  // whose parts are too small for these lanes
      ASSERT_TRUE(evaluate(application, m).counted()) << row;
    }
    const Load load = load_of(application, m);
    text += "| " + std::string(row) + " |";
    for (const LoadPart& part : load.parts) text += " " + std::to_string(part.bytes.value) + " |";
    if (load.parts.size() < 3) text += "  |";
    const auto& part = load.configuration;
    const double configured = part ? part->seconds.value : 0;
    text += " " + std::to_string(load.cycles.value) + " | " + in_ms(load.seconds - configured) + " | " +
            (part ? in_ms(configured) + " (" + in_ms(part->seconds.least) + " to " + in_ms(part->seconds.most) + ")"
                  : "") +
            " | " + std::to_string(load.kept.value) + " |\n";
  }
  expect_made_section("model/frames.md", "load phase", "tests/core/cost/explain/load_table_test.cpp", text);
}

}  // namespace
}  // namespace sdip
