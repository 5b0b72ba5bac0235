// Is the load phase what docs/model/frames.md says of it?
#include "core/cost/explain/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "core/machine/technology.h"
#include "tests/core/channel.h"
#include "tests/core/cost/explain/evaluate_filled.h"
#include "tests/core/cost/explain/example.h"

namespace sdip {
namespace {

using testing::ElementsAre;

CompiledStage loaded_stage(Role role, std::size_t instructions, std::int64_t weight_bytes) {
  CompiledStage stage;
  stage.role = role;
  stage.name = role_text(role);
  stage.program.instructions.resize(instructions);  // 64 B of words each
  stage.program.stored_weight_bytes = Bytes(weight_bytes);
  return stage;
}

/// The worked example of docs/model/frames.md.
Application loaded_example() {
  Application a;
  a.stages = {loaded_stage(Role::text_encoder, 1, 100), loaded_stage(Role::core, 2, 1000),
              loaded_stage(Role::decoder, 1, 300)};
  return a;
}

/// Two bytes a cycle of 100 MHz.
Machine loading_machine() {
  Machine m;
  m.core_clock_mhz = 100;
  set_channel(m, 8, 100);
  m.dram_efficiency = Decimal{100};
  return m;
}

/// Bytes of IMEM, of DRAM and, where there are some, of FeFET memories.
std::vector<std::int64_t> loaded_into(const Machine& m) {
  const Load load = load_of(loaded_example(), m);
  std::vector<std::int64_t> bytes;
  Cycles cycles;
  for (const LoadPart& part : load.parts) {
    bytes.push_back(part.bytes.value);
    cycles += part.cycles;
    EXPECT_DOUBLE_EQ(part.seconds, static_cast<double>(part.cycles.value) * 1e-8);
  }
  EXPECT_EQ(cycles, load.cycles);
  std::vector<std::pair<std::string, std::int64_t>> told, loaded;
  for (const FilledTerm& term : load_terms(loaded_example(), m)) {
    EXPECT_EQ(evaluate_filled(term.numbers), term.value) << term.what;
    told.emplace_back(term.what, term.value);
  }
  for (const LoadPart& part : load.parts)
    loaded.emplace_back("loaded_" + std::string(part.memory) + "_bytes", part.bytes.value);
  loaded.emplace_back("load_cycles", load.cycles.value);
  EXPECT_EQ(told, loaded);
  return bytes;
}

TEST(load, of_the_worked_example) {
  const Load load = load_of(loaded_example(), loading_machine());
  EXPECT_THAT(loaded_into(loading_machine()), ElementsAre(256, 1400));
  EXPECT_EQ(load.parts[0].cycles, Cycles(128));
  EXPECT_EQ(load.parts[1].cycles, Cycles(700));
  EXPECT_DOUBLE_EQ(load.seconds, 8.28e-6);
  EXPECT_FALSE(load.configuration);
}

TEST(load, leaves_out_what_comes_from_elsewhere_or_not_at_all) {
  Machine m = loading_machine();
  m.weight_storage = WeightStorage::hard_coded;
  m.hard_coded_part = HardCodedPart::vae;
  EXPECT_THAT(loaded_into(m), ElementsAre(256, 1100));
  m.hard_coded_part = HardCodedPart::all;
  EXPECT_THAT(loaded_into(m), ElementsAre(256, 0));
  m = loading_machine();
  m.vae_stage = VaeStage::off_chip;
  EXPECT_THAT(loaded_into(m), ElementsAre(192, 1100));
  m.vae_stage = VaeStage::circuit;
  EXPECT_THAT(loaded_into(m), ElementsAre(192, 1400));
  m = loading_machine();
  m.host_memory = true;
  EXPECT_THAT(loaded_into(m), ElementsAre(256, 0));
  m = loading_machine();
  m.in_memory_weights = InMemoryWeights::fefet;
  EXPECT_THAT(loaded_into(m), ElementsAre(256, 0, 1400));
}

TEST(load, of_a_streamed_program_puts_into_dram_what_imem_has_no_room_for) {
  Machine m = loading_machine();
  m.program_storage = ProgramStorage::streamed;
  m.imem_bytes = 127;
  EXPECT_THAT(loaded_into(m), ElementsAre(128, 1400 + 128));
  m.imem_bytes = 128;
  EXPECT_THAT(loaded_into(m), ElementsAre(256, 1400));
  m.imem_bytes = 127;
  m.host_memory = true;
  EXPECT_THAT(loaded_into(m), ElementsAre(128, 0));
}

TEST(load, says_what_the_first_pass_brings_for_good) {
  Application a = loaded_example();
  a.stages[1].program.pinned_bytes = Bytes(700);
  EXPECT_EQ(load_of(a, loading_machine()).kept, Bytes(700));
  EXPECT_EQ(load_of(a, loading_machine()).cycles, load_of(loaded_example(), loading_machine()).cycles);
}

TEST(load, rounds_up_where_a_memory_is_full) {
  Application a;
  a.stages = {loaded_stage(Role::core, 1, 7)};
  Machine m = loading_machine();
  m.dram_efficiency = Decimal{75};  // 3/2 bytes a cycle
  const Load load = load_of(a, m);
  EXPECT_EQ(load.parts[0].cycles, Cycles(43));       // ceil(64 x 2/3)
  EXPECT_EQ(load.parts[1].cycles, Cycles(48 - 43));  // ceil(71 x 2/3)
}

/// 4,045,564 B at 145 MB/s are 27.90 ms; at 400 and 100 10.11 and 40.46.
TEST(load, of_an_fpga_has_its_configuration_first) {
  Machine m = loading_machine();
  m.technology_node = TechnologyNode::fpga_zynq7020;
  const Load load = load_of(loaded_example(), m);
  ASSERT_TRUE(load.configuration);
  EXPECT_EQ(load.configuration->bytes.value, 4045564);
  EXPECT_DOUBLE_EQ(load.configuration->seconds.value, 4045564 / 145e6);
  EXPECT_DOUBLE_EQ(load.configuration->seconds.least, 4045564 / 400e6);
  EXPECT_DOUBLE_EQ(load.configuration->seconds.most, 4045564 / 100e6);
  EXPECT_DOUBLE_EQ(load.seconds, 8.28e-6 + 4045564 / 145e6);
  EXPECT_EQ(load.cycles, load_of(loaded_example(), loading_machine()).cycles);
  const FilledTerm term = load_terms(loaded_example(), m).back();
  EXPECT_EQ(term.what, "configuration_us");
  EXPECT_EQ(term.numbers, "ceil(4045564/145)");
  EXPECT_EQ(term.value, 27901);
  EXPECT_EQ(unit_of(term), "us");
  m.technology_node = TechnologyNode::fpga_vc1902;
  const Load versal = load_of(loaded_example(), m);
  EXPECT_NEAR(versal.configuration->seconds.value, 0.0285, 5e-5);
}

TEST(load, is_told_in_an_explanation_as_in_a_report) {
  Machine m;
  Application application = example_of("machine\ni0 linear a=dsram b=psram to=dram\n", m);
  application.stages[0].program.stored_weight_bytes = Bytes(100);
  const Load load = estimate(application, m).load;
  std::map<std::string, std::int64_t> told;
  for (const FilledTerm& term : explain(application, m, 0).load) told[term.what] = term.value;
  EXPECT_EQ(told.at("loaded_imem_bytes"), load.parts.at(0).bytes.value);
  EXPECT_EQ(told.at("loaded_dram_bytes"), load.parts.at(1).bytes.value);
  EXPECT_EQ(told.at("load_cycles"), load.cycles.value);
}

/// A user's own figures need not be whole, and formulas have whole numbers alone.
TEST(load, of_an_fpga_whose_figures_are_not_whole_shows_none_of_them) {
  const auto configuration = [](double bytes, double megabytes_per_s) {
    Machine m = loading_machine();
    m.technology_node = TechnologyNode::fpga_zynq7020;
    const auto put = [&](const char* row, double value) {
      find_setting(std::string(technology_prefix) + "fpga_zynq7020." + row)
          ->write(m, std::bit_cast<std::int64_t>(value));
    };
    put("bitstream", bytes);
    put("configuration", megabytes_per_s);
    const FilledTerm term = load_terms(loaded_example(), m).back();
    return std::pair(term.value, term.numbers);
  };
  EXPECT_EQ(configuration(1000, 10), std::pair(std::int64_t{100}, std::string("ceil(1000/10)")));
  EXPECT_EQ(configuration(1000.5, 10), std::pair(std::int64_t{101}, std::string()));
  EXPECT_EQ(configuration(1000, 10.5), std::pair(std::int64_t{96}, std::string()));
}

}  // namespace
}  // namespace sdip
