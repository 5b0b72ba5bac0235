// Is what the estimate says of the load phase what encoding the instructions and packing the weights comes to?
#include "core/exec/clock/load.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/cost/price/estimate.h"
#include "core/program/form/form.h"
#include "tests/core/exec/random_machine.h"
#include "tests/core/exec/run/tiny_sd_line.h"

namespace sdip {
namespace {

/// Few different numbers, so that they shrink; whole ones where the model has integers.
std::vector<float> numbers_for(const Value& value) {
  std::vector<float> numbers(static_cast<std::size_t>(element_count(value.operand.shape)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i % 64 == 0 ? 1.0F : 0.0F;
  return numbers;
}

LoadedBytes loaded_by_doing(const Application& application, const Machine& machine) {
  LoadedBytes all;
  for (const CompiledStage& stage : application.stages) {
    CompiledStage encoded = stage;
    for (Instruction& instruction : encoded.program.instructions) instruction.words = 0;
    count_words(encoded);
    all += load_stage(encoded, machine, numbers_for);
  }
  return all;
}

std::int64_t bytes_in(const Load& load, std::string_view memory) {
  for (const LoadPart& part : load.parts)
    if (part.memory == memory) return part.bytes.value;
  return 0;
}

LoadedBytes loaded_as_said(const Report& report) {
  return {bytes_in(report.load, "imem"), bytes_in(report.load, "dram"), bytes_in(report.load, "fefet")};
}

void expect_loaded(const LoadedBytes& said, const LoadedBytes& done) {
  EXPECT_EQ(said.imem, done.imem);
  EXPECT_EQ(said.dram, done.dram);
  EXPECT_EQ(said.fefet, done.fefet);
}

/// Memories that hold what tiny-sd asks of them, whatever it is compiled for.
Machine ample_machine() {
  Machine m;
  m.imem_bytes = 1 << 26;
  m.psram_bytes = 1 << 26;
  return m;
}

struct LoadCase {
  const char* name;
  void (*change)(Machine&);
};
constexpr LoadCase load_cases[] = {
    {"as it is", [](Machine&) {}},
    {"from an image", [](Machine& m) { m.mode = Mode::image_to_image; }},
    {"all weights resident", [](Machine& m) { m.weight_storage = WeightStorage::resident; }},
    {"a part pinned", [](Machine& m) { m.psram_pinned_bytes = 8192; }},
    {"in ROM", [](Machine& m) { m.weight_storage = WeightStorage::hard_coded; }},
    {"the VAE in ROM",
     [](Machine& m) {
       m.weight_storage = WeightStorage::hard_coded;
       m.hard_coded_part = HardCodedPart::vae;
     }},
    {"in FeFET memories, but the text encoder",
     [](Machine& m) {
       m.weight_format = m.activation_format = NumberFormat::int8;
       m.accumulator_format = NumberFormat::int32;
       m.in_memory_weights = InMemoryWeights::fefet;
       m.weight_storage = WeightStorage::hard_coded;
       m.hard_coded_part = HardCodedPart::text_encoder;
     }},
    {"the VAE off chip",
     [](Machine& m) {
       m.mode = Mode::image_to_image;
       m.vae_stage = VaeStage::off_chip;
     }},
    {"the VAE as circuits", [](Machine& m) { m.vae_stage = VaeStage::circuit; }},
    {"a streamed program of which parts fit",
     [](Machine& m) {
       m.program_storage = ProgramStorage::streamed;
       m.imem_bytes = 4096;
     }},
    {"an instruction for each tile", [](Machine& m) { m.granularity = Granularity::per_tile; }},
    {"micro-operations", [](Machine& m) { m.granularity = Granularity::micro_operation; }},
    {"int4, compressed",
     [](Machine& m) {
       m.weight_format = NumberFormat::int4;
       m.weight_compression = Decimal{150};
     }},
    {"zeros skipped",
     [](Machine& m) {
       m.sparsity = Sparsity::skipping;
       m.weight_density = Decimal{50};
       m.sparsity_group = 4;
     }},
    {"the host's memory", [](Machine& m) { m.host_memory = true; }},
};

TEST(load, of_tiny_sd_is_what_encoding_and_packing_come_to) {
  std::set<std::string> different;
  for (const LoadCase& one : load_cases) {
    SCOPED_TRACE(one.name);
    Machine m = ample_machine();
    one.change(m);
    const Application application = tiny_sd_line(m);
    const Report report = estimate(application, m);
    ASSERT_TRUE(report.outcome.counted()) << report.outcome.reason;
    const LoadedBytes said = loaded_as_said(report);
    expect_loaded(said, loaded_by_doing(application, m));
    EXPECT_GT(said.imem + said.dram, 0);
    different.insert(std::to_string(said.imem) + " " + std::to_string(said.dram) + " " +
                     std::to_string(said.fefet));
  }
  // Resident and pinned weights come with the first pass; what is in ROM and what the host has are not there
  // either.
  EXPECT_EQ(different.size(), std::size(load_cases) - 3);
}

TEST(load, of_random_networks_is_what_encoding_and_packing_come_to) {
  std::int64_t compared = 0, sparse = 0, fefet = 0, tiles = 0;
  for (std::uint64_t seed = 0; seed < pair_count(300); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 70000);
    const MadeNetwork network = random_network(draw, draw.between(3, 15));
    Machine machine = random_machine(draw);
    draw_formats(draw, machine);
    if (draw.one_in(4)) machine.granularity = Granularity::per_tile;
    if (draw.one_in(4)) machine.granularity = Granularity::micro_operation;
    const Application application = compiled_on(machine, network, Role::network);
    machine.imem_bytes = int64_t{1} << 30;
    const Report report = estimate(application, machine);
    if (!report.outcome.counted()) continue;  // so large an IMEM is a slow one
    try {
      expect_loaded(loaded_as_said(report), loaded_by_doing(application, machine));
    } catch (const Error& error) {
      ASSERT_TRUE(error.code == "not_modelled" || error.code == "not_compressible") << error.what();
      continue;
    }
    ++compared;
    sparse += machine.sparsity == Sparsity::skipping;
    fefet += machine.in_memory_weights == InMemoryWeights::fefet;
    tiles += machine.granularity != Granularity::per_operator;
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(sparse, 10);
  EXPECT_GT(fefet, 10);
  EXPECT_GT(tiles, 10);
}

}  // namespace
}  // namespace sdip
