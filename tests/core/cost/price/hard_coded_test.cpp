// A part of the weights in ROM: which stages it frees of DRAM and PSRAM, and what it costs.
#include <gtest/gtest.h>

#include "core/cost/price/area.h"
#include "core/cost/price/estimate.h"
#include "core/machine/technology.h"
#include "tests/core/cost/reports.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

constexpr Role pipeline_roles[] = {Role::text_encoder, Role::encoder, Role::core, Role::decoder, Role::network};

/// Less PSRAM than any stage of tiny-sd has weights, so that what is not in ROM streams.
Machine machine_with(HardCodedPart part) {
  Machine m;
  m.psram_bytes = 24 * 1024;
  m.mode = Mode::image_to_image;
  m.weight_storage = WeightStorage::hard_coded;
  m.hard_coded_part = part;
  return m;
}

Machine streaming_rest() {
  Machine m = machine_with(HardCodedPart::all);
  m.weight_storage = WeightStorage::streamed;
  return m;
}

double area_of(const Report& report, std::string_view part) {
  for (const auto& [name, mm2] : report.area_mm2)
    if (name == part) return mm2;
  ADD_FAILURE() << "no area of " << part;
  return 0;
}

/// Without leakage and clock, which are of the chip's area.
double dynamic(const StageReport& stage) {
  double joules = 0;
  for (std::size_t part = 0; part < energy_part_count; ++part)
    if (static_cast<EnergyPart>(part) != EnergyPart::leakage && static_cast<EnergyPart>(part) != EnergyPart::clock)
      joules += stage.energy_parts[part];
  return joules;
}

bool is_vae(Role role) { return role == Role::encoder || role == Role::decoder; }

TEST(hard_coded_part, names_the_stages_whose_weights_are_wired) {
  for (const Role role : pipeline_roles) {
    EXPECT_TRUE(hard_coded(machine_with(HardCodedPart::all), role));
    EXPECT_EQ(hard_coded(machine_with(HardCodedPart::core), role), role == Role::core);
    EXPECT_EQ(hard_coded(machine_with(HardCodedPart::text_encoder), role), role == Role::text_encoder);
    EXPECT_EQ(hard_coded(machine_with(HardCodedPart::vae), role), is_vae(role));
  }
}

TEST(hard_coded_part, says_nothing_unless_weights_are_hard_coded) {
  for (const WeightStorage storage : {WeightStorage::streamed, WeightStorage::resident})
    for (const Role role : pipeline_roles) {
      Machine m = machine_with(HardCodedPart::all);
      m.weight_storage = storage;
      EXPECT_FALSE(hard_coded(m, role));
    }
}

TEST(hard_coded_part, named_stages_move_no_weights_and_the_others_cost_what_they_cost_streamed) {
  const Report streamed = report_of(streaming_rest());
  for (const HardCodedPart part : {HardCodedPart::text_encoder, HardCodedPart::vae, HardCodedPart::core}) {
    const Machine m = machine_with(part);
    const Report report = report_of(m);
    ASSERT_EQ(report.stages.size(), streamed.stages.size());
    for (std::size_t s = 0; s < report.stages.size(); ++s) {
      const StageReport &stage = report.stages[s], &before = streamed.stages[s];
      SCOPED_TRACE(stage.name);
      ASSERT_GT(before.dram_weights, Bytes(0)) << "it streams when nothing is in ROM";
      if (hard_coded(m, stage.role)) {
        EXPECT_EQ(stage.dram_weights, Bytes(0));
        EXPECT_EQ(stage.stall_weights, Cycles(0));
        EXPECT_LT(stage.steady_cycles, before.steady_cycles);
        EXPECT_LT(dynamic(stage), dynamic(before));
      } else {
        EXPECT_EQ(stage.dram_weights, before.dram_weights);
        EXPECT_EQ(stage.steady_cycles, before.steady_cycles);
        EXPECT_EQ(dynamic(stage), dynamic(before));
      }
    }
  }
}

TEST(hard_coded_part, roms_of_the_parts_add_up_to_the_rom_of_all) {
  double sum = 0;
  for (const HardCodedPart part : {HardCodedPart::text_encoder, HardCodedPart::vae, HardCodedPart::core}) {
    const Report report = report_of(machine_with(part));
    EXPECT_GT(area_of(report, "rom"), 0);
    sum += area_of(report, "rom");
  }
  EXPECT_DOUBLE_EQ(sum, area_of(report_of(machine_with(HardCodedPart::all)), "rom"));
}

/// Encoder, decoder and the cores have a PSRAM each. The cores' holds the text encoder's weights and the U-Net's:
/// it stays until both are in ROM.
TEST(hard_coded_part, a_psram_stays_while_a_stage_streams_through_it) {
  const auto built = [](const Application& application, const Machine& m) {
    std::int64_t copies = 0;
    for (const BuiltMemory& memory : psram_memories(application, m)) copies += memory.copies;
    return copies;
  };
  const auto psrams = [&](const Machine& m) { return built(compile(tiny_sd(m), m), m); };
  EXPECT_EQ(psrams(streaming_rest()), 3);
  EXPECT_EQ(psrams(machine_with(HardCodedPart::text_encoder)), 3);
  EXPECT_EQ(psrams(machine_with(HardCodedPart::core)), 3);
  EXPECT_EQ(psrams(machine_with(HardCodedPart::vae)), 1);
  EXPECT_EQ(psrams(machine_with(HardCodedPart::all)), 0);
  Machine alone = machine_with(HardCodedPart::core);
  Workload unet;
  unet.stages.push_back(built_in_stage(Role::core, "tiny-sd-unet", alone));
  EXPECT_EQ(built(compile(unet, alone), alone), 0) << "no text encoder streams";
}

TEST(hard_coded_part, a_vae_off_chip_has_no_rom) {
  Machine m = machine_with(HardCodedPart::vae);
  m.vae_stage = VaeStage::off_chip;
  EXPECT_EQ(area_of(report_of(m), "rom"), 0);
}

TEST(hard_coded_part, what_is_in_rom_is_not_loaded) {
  const Cycles streamed = report_of(streaming_rest()).load.cycles;
  const Cycles part = report_of(machine_with(HardCodedPart::vae)).load.cycles;
  const Cycles all = report_of(machine_with(HardCodedPart::all)).load.cycles;
  EXPECT_LT(all, part);
  EXPECT_LT(part, streamed);
}

TEST(hard_coded_part, the_bound_of_a_stage_in_rom_counts_no_weights) {
  const auto bound_ratio = [](const Machine& m) {
    return report_of(m).outcome.values[static_cast<std::size_t>(Metric::dram_bytes_over_bound)];
  };
  EXPECT_EQ(bound_ratio(machine_with(HardCodedPart::core)), bound_ratio(machine_with(HardCodedPart::all)));
  EXPECT_EQ(bound_ratio(machine_with(HardCodedPart::vae)), bound_ratio(streaming_rest()));
}

/// Pinning is for streamed weights: what is in ROM takes none of PSRAM.
TEST(hard_coded_part, nothing_of_a_stage_in_rom_is_pinned) {
  Machine m = machine_with(HardCodedPart::core);
  m.psram_pinned_bytes = 8 * 1024;
  for (const CompiledStage& stage : compile(tiny_sd(m), m).stages) {
    if (stage.role == Role::core) {
      EXPECT_EQ(stage.program.pinned_bytes, Bytes(0));
    } else {
      EXPECT_GT(stage.program.pinned_bytes, Bytes(0)) << stage.name;
    }
  }
}

}  // namespace
}  // namespace sdip
