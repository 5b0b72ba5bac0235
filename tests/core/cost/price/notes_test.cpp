// Does a report say what is outside the model's validity, and only then?
#include <gmock/gmock.h>

#include "core/cost/price/estimate.h"
#include "core/cost/price/stage.h"
#include "tests/core/channel.h"
#include "tests/core/program/compiled.h"
#include "tests/core/program/nest_class.h"

namespace sdip {
namespace {

using testing::HasSubstr;

/// A stage of one product of 4 rows on chip.
CompiledStage small_stage(Role role, const std::string& name) {
  CompiledStage stage;
  stage.role = role;
  stage.name = name;
  stage.program.classes = {linear_class(4, 1, 1, Place::stackram)};
  stage.program.instructions.emplace_back().name = "product";
  return stage;
}

std::vector<std::string> notes_of(const std::vector<CompiledStage>& stages, const Machine& m) {
  Application application;
  application.stages = stages;
  std::vector<std::string> notes = estimate(application, m).notes;
  EXPECT_EQ(notes.size() >= 2, true);
  EXPECT_THAT(notes[0], HasSubstr("Leakage, clock tree, control"));
  EXPECT_THAT(notes[1], HasSubstr("an assumption with a range"));
  notes.erase(notes.begin(), notes.begin() + 2);
  return notes;
}

/// A chip of few lanes and small memories but PSRAM.
Machine chip_of_psram(std::int64_t bytes) {
  Machine m;
  m.cores = 1;
  m.conv_lanes_in = m.conv_lanes_out = m.linear_lanes_m = m.linear_lanes_n = m.matmul_lanes_m = m.matmul_lanes_n =
      1;
  m.psram_bytes = bytes;
  m.dsram_bytes = m.stackram_bytes = 1 << 16;
  m.dram_latency_ns = 0;  // else tiles in flight make passes that take turns
  return m;
}

TEST(notes, of_a_pipeline_within_the_model_are_the_two_on_energy) {
  EXPECT_THAT(notes_of({small_stage(Role::text_encoder, "text"), small_stage(Role::core, "unet")}, Machine()),
              testing::IsEmpty());
}

TEST(notes, tell_stages_off_chip) {
  Machine m;
  m.vae_stage = VaeStage::off_chip;
  EXPECT_THAT(notes_of({small_stage(Role::core, "unet")}, m),
              testing::ElementsAre("VAE stages are off chip: their time, energy and area are not included."));
}

TEST(notes, tell_a_clock_that_may_be_beyond_what_is_built) {
  // fp16 in one stage at 45 nm: 20.5 ps x 1.7 x (70 + 1.8), at worst 23 x 2.2 x (90 + 3), at best 15 x 1.2 x 51.8;
  // times the speed at 1.1 V, 0.9 / 1.1 x (0.73 / 0.53)^1.3 = 1.241.
  Machine m = chip_of_psram(1 << 20);
  m.technology_node = TechnologyNode::n45;
  m.pipeline_stages = 1;
  const auto at = [&](std::int64_t mhz) {
    m.core_clock_mhz = mhz;
    return notes_of({small_stage(Role::core, "unet")}, m);
  };
  EXPECT_THAT(at(263), testing::IsEmpty());
  EXPECT_THAT(at(264),
              testing::ElementsAre(AllOf(HasSubstr("may be beyond"), HasSubstr("of conv2d with 1 pipeline"),
                                         HasSubstr("495 MHz (263 to 1330)"))));
  EXPECT_THAT(at(495), testing::ElementsAre(HasSubstr("may be beyond")));
  EXPECT_THAT(at(496), testing::IsEmpty()) << "then it is infeasible";
}

TEST(infeasible, a_clock_beyond_what_is_built_names_the_circuit_with_limit_and_value) {
  Machine m = chip_of_psram(1 << 20);
  m.technology_node = TechnologyNode::n45;
  m.pipeline_stages = 1;
  Application application;
  application.stages = {small_stage(Role::core, "unet")};
  const auto told = [&](std::int64_t mhz) {
    m.core_clock_mhz = mhz;
    return estimate(application, m);
  };
  EXPECT_EQ(told(495).outcome.reason, "");
  const Report beyond = told(496);
  EXPECT_FALSE(beyond.outcome.feasible);
  EXPECT_EQ(
      beyond.outcome.reason,
      "core_clock_mhz = 496 is beyond the fastest clock of conv2d with 1 pipeline stages in this process: 495 "
      "MHz at 1100 mV");
  EXPECT_TRUE(beyond.outcome.counted()) << "its counters are reported";
  EXPECT_EQ(beyond.stages.at(0).steady_cycles, told(1).stages.at(0).steady_cycles);
  m.psram_bytes = std::int64_t{1} << 34;
  EXPECT_THAT(told(400).outcome.reason,
              HasSubstr("is beyond the fastest clock of a bank of psram in this process"));
  m.psram_bytes = 1 << 20;
  m.supply_mv = 2000;
  EXPECT_THAT(told(1).outcome.reason, HasSubstr("supply_mv = 2000 is not within the 720 to 1100 mV"));
}

double mm2_of(const Breakdown& area) {
  double sum = 0;
  for (const auto& [block, mm2] : area) sum += mm2;
  return sum;
}

TEST(notes, tell_a_die_that_may_be_more_than_a_scanner_exposes) {
  Application application;
  application.stages = {small_stage(Role::core, "unet")};
  const auto chip = [](std::int64_t mib) {
    Machine m = chip_of_psram(mib << 20);
    m.sram_banks = 64, m.core_clock_mhz = 300;  // that its banks surely stand
    return m;
  };
  const auto at = [&](std::int64_t mib) { return estimate(application, chip(mib)); };
  const auto notes = [&](std::int64_t mib) { return notes_of(application.stages, chip(mib)); };
  const auto last = [](auto holds) {
    std::int64_t mib = 0;
    while (holds(mib + 1)) ++mib;
    return mib;
  };
  const std::int64_t sure = last([&](std::int64_t mib) { return mm2_of(at(mib).area_ranges_mm2.most) <= 858; });
  const std::int64_t fits = last([&](std::int64_t mib) { return mm2_of(at(mib).area_mm2) <= 858; });
  EXPECT_LT(sure, fits);
  EXPECT_THAT(notes(sure), testing::IsEmpty());
  for (const std::int64_t mib : {sure + 1, fits})
    EXPECT_THAT(notes(mib), testing::ElementsAre(AllOf(HasSubstr("The largest die, "),
                                                       HasSubstr("may be more than a scanner exposes: 858 mm2"))));
  EXPECT_EQ(at(fits).outcome.reason, "");
  EXPECT_THAT(at(fits + 1).outcome.reason, testing::StartsWith("the die is 85"));
  EXPECT_THAT(notes(fits + 1), testing::IsEmpty());
}

/// A stage of 4 x 8 by 8 weights.
CompiledStage weighted_stage(Role role, const std::string& name) {
  CompiledStage stage = small_stage(role, name);
  InstructionClass& c = stage.program.classes[0];
  c.operand_b = Place::psram;
  c.work.nest.in_channels = c.mapping.tile_sums = c.weight_elements_per_channel = 8;
  return stage;
}

/// Whose PSRAM holds one pass's weights: steady at once.
Machine chip_of_a_pass() { return chip_of_psram(20); }

TEST(notes, tell_fefet_memories_that_hold_no_weights) {
  Machine m = chip_of_a_pass();
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.in_memory_weights = InMemoryWeights::fefet;
  m.weight_storage = WeightStorage::hard_coded;
  m.hard_coded_part = HardCodedPart::all;
  const std::vector<CompiledStage> stages{weighted_stage(Role::core, "unet"), weighted_stage(Role::decoder, "vae")};
  EXPECT_THAT(notes_of(stages, m),
              testing::ElementsAre("in_memory_weights=fefet does nothing: all weights are in ROM."));
  m.hard_coded_part = HardCodedPart::vae;
  EXPECT_THAT(notes_of(stages, m), testing::ElementsAre(HasSubstr("converters lose nothing")));
}

TEST(notes, tell_macs_that_split_for_no_product) {
  Machine m = chip_of_a_pass();
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.composable_macs = ComposableMacs::on;
  const auto idle = testing::ElementsAre(HasSubstr("it takes its area and energy and does nothing"));
  const std::vector<CompiledStage> stages{weighted_stage(Role::core, "unet")};
  EXPECT_THAT(notes_of(stages, m), idle);
  m.weight_format = NumberFormat::int4;
  EXPECT_THAT(notes_of(stages, m), testing::IsEmpty());
  m.in_memory_weights = InMemoryWeights::fefet;  // where no MAC is
  EXPECT_THAT(notes_of(stages, m), testing::Contains(HasSubstr("and energy and does nothing")));
  m.in_memory_weights = InMemoryWeights::off;
  m.vae_stage = VaeStage::off_chip;
  EXPECT_THAT(notes_of({weighted_stage(Role::decoder, "vae"), small_stage(Role::core, "unet")}, m),
              testing::Contains(HasSubstr("and energy and does nothing")))
      << "a product of activations in int8, and a decoder that is elsewhere";
}

TEST(notes, tell_groups_of_which_every_weight_stays) {
  Machine m = chip_of_a_pass();
  m.sparsity = Sparsity::skipping;
  m.sparsity_group = 4;
  m.weight_density = Decimal{76};  // ceil(3.04) of 4
  std::vector<CompiledStage> stages{weighted_stage(Role::core, "unet")};
  EXPECT_THAT(notes_of(stages, m),
              testing::ElementsAre("sparsity_group = 4: of a density of 0.76 4 of 4 weights stay: none is pruned, "
                                   "and places are stored all the same."));
  m.weight_density = Decimal{75};
  EXPECT_THAT(notes_of(stages, m), testing::IsEmpty());
  Formats formats = formats_of(m);
  formats.density_hundredths = 80;
  stages[0].program.classes[0].formats = formats;
  EXPECT_THAT(notes_of(stages, m), testing::ElementsAre(HasSubstr("of a density of 0.8 4 of 4")));
  stages[0].program.classes[0].formats->density_hundredths = 100;  // dense: no places
  EXPECT_THAT(notes_of(stages, m), testing::IsEmpty());
  stages = {small_stage(Role::core, "unet")};  // no weights
  m.weight_density = Decimal{100};
  EXPECT_THAT(notes_of(stages, m), testing::IsEmpty());
  stages = {weighted_stage(Role::core, "unet")};
  EXPECT_THAT(notes_of(stages, m), testing::ElementsAre(HasSubstr("of a density of 1 4 of 4")));
  m.sparsity_group = 0;
  EXPECT_THAT(notes_of(stages, m), testing::IsEmpty());
  m.sparsity_group = 4;
  m.sparsity = Sparsity::gating;
  EXPECT_THAT(notes_of(stages, m), testing::IsEmpty());
}

TEST(notes, tell_that_zeros_of_activations_are_assumed) {
  Machine m = chip_of_a_pass();
  m.sparsity = Sparsity::gating;
  m.activation_density = Decimal{99};
  EXPECT_THAT(notes_of({small_stage(Role::core, "unet")}, m),
              testing::ElementsAre("activation_density = 0.99 is the user's assumption; it changes energy alone."));
}

TEST(notes, tell_operators_on_the_host) {
  Machine m;
  m.host_operators = HostOperators::softmax;
  EXPECT_THAT(notes_of({small_stage(Role::core, "unet")}, m),
              testing::ElementsAre(HasSubstr("Operators on the host")));
}

TEST(notes, tell_a_network_s_frames_its_heads_on_cores_or_its_parts_in_series) {
  Machine m;
  const CompiledStage network = small_stage(Role::network, "net");
  EXPECT_THAT(notes_of({network}, m),
              testing::ElementsAre(HasSubstr("net runs as one network: a frame is one pass, on")));
  m.branches = Branches::parallel;
  CompiledStage spread = network;
  spread.program.classes[0].spread_cores = 3;
  spread.program.classes[0].work.family = Family::matmul;
  const auto one_after_the_other = HasSubstr("net: branches of different instructions (projections of q, k and v");
  EXPECT_THAT(
      notes_of({spread}, m),
      testing::ElementsAre(HasSubstr("its attention heads and groups of products of weights on up to 3 cores"),
                           one_after_the_other));
  m.branches = Branches::channels;
  EXPECT_THAT(
      notes_of({spread}, m),
      testing::ElementsAre(HasSubstr("heads and groups, or output channels, of products of weights on up to 3"),
                           HasSubstr("one after the other, the products of each on several cores")));
  std::vector<CompiledStage> parts{network, network};
  parts[0].part = {0, 2};
  parts[1].part = {1, 2};
  m.branches = Branches::serial;
  m.core_weights = CoreWeights::per_core;
  EXPECT_THAT(notes_of(parts, m), testing::ElementsAre(HasSubstr("net to 2: parts of one network in series")));
}

TEST(notes, tell_options_that_change_nothing_in_a_stage) {
  Machine m;
  const std::vector<CompiledStage> stages{small_stage(Role::text_encoder, "text"), small_stage(Role::core, "unet")};
  m.core_weights = CoreWeights::per_core;
  EXPECT_THAT(notes_of(stages, m), testing::ElementsAre(HasSubstr("text: core_weights=per_core is for networks"),
                                                        HasSubstr("unet: core_weights=per_core is for networks")));
  m = Machine();
  m.branches = Branches::parallel;
  m.cores = 1;
  EXPECT_THAT(notes_of(stages, m), testing::ElementsAre(HasSubstr("unet: branches=parallel changes nothing")));
  for (m.cores = 2; m.cores <= 4; m.cores += 2)
    EXPECT_THAT(notes_of(stages, m), testing::ElementsAre(HasSubstr("text: branches of different instructions"),
                                                          HasSubstr("unet: branches=parallel changes nothing")));
}

TEST(notes, tell_why_products_of_weights_stay_on_one_core) {
  Machine m;
  m.branches = Branches::parallel;
  const auto said_of = [&](const auto& change) {
    CompiledStage network = small_stage(Role::network, "net");
    InstructionClass& c = network.program.classes[0];
    c.work.family = Family::conv2d;
    c.work.nest.groups = 6;
    c.operand_b = Place::psram;
    change(c);
    StageRun run;
    run.stage = &network;
    std::string said;
    for (const std::string& note : notes_of({run}, Report(), m))
      if (note.find("stay on one core") != std::string::npos) said += note;
    return said;
  };
  const auto of_groups = [&](std::int64_t groups, std::int64_t cores) {
    m.cores = cores;
    return said_of([&](InstructionClass& c) { c.work.nest.groups = groups; });
  };
  m.cores = 4;
  EXPECT_EQ(said_of([](InstructionClass& c) { c.spread_cores = 2; }), "");
  EXPECT_EQ(said_of([](InstructionClass& c) { c.operand_b = Place::dram; }), "");
  EXPECT_THAT(said_of([](InstructionClass&) {}), HasSubstr("1 instruction with operands of which no rule says"));
  EXPECT_THAT(said_of([](InstructionClass& c) { c.prologue_passes = 1; }), HasSubstr("with sums of a norm"));
  EXPECT_THAT(said_of([](InstructionClass& c) { c.statistics_passes = 1; }), HasSubstr("with sums of a norm"));
  EXPECT_EQ(of_groups(1, 4), "");
  EXPECT_EQ(of_groups(2, 1), "");
  const auto no_rule = HasSubstr("no rule says what each core reads");
  for (const auto& [groups, cores] : {std::pair(2, 2), {2, 4}, {3, 3}, {3, 4}, {9, 4}, {5, 8}})
    EXPECT_THAT(of_groups(groups, cores), no_rule) << groups << " groups, " << cores << " cores";
  EXPECT_THAT(of_groups(7, 4), HasSubstr("whose groups no number of cores up to 4 divides"));
  EXPECT_THAT(of_groups(5, 4), HasSubstr("whose groups no number of cores up to 4 divides"));
  const auto of_channels = [&](std::int64_t groups, std::int64_t channels) {
    return said_of([&](InstructionClass& c) {
      c.work.nest.groups = groups;
      c.work.nest.out_channels = channels;
    });
  };
  EXPECT_EQ(of_channels(1, 7), "");
  m.branches = Branches::channels;
  EXPECT_EQ(of_channels(1, 1), "");
  EXPECT_THAT(of_channels(1, 6), no_rule);
  EXPECT_THAT(of_channels(1, 7),
              HasSubstr("net: products of weights stay on one core in 1 instruction whose channels "
                        "no number of cores up to 4 divides"));
  EXPECT_THAT(of_channels(7, 6), HasSubstr("whose groups no number of cores up to 4 divides"));
  m.branches = Branches::parallel;
  m.cores = 4;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.in_memory_weights = InMemoryWeights::fefet;
  EXPECT_THAT(said_of([](InstructionClass&) {}), HasSubstr("in FeFET memories"));
  const auto in_strips = [&](Place weights, std::int64_t groups) {
    return said_of([&](InstructionClass& c) {
      c.compound = Compound::strips;
      c.parts.resize(2);
      c.parts[1].operand_b = weights;
      c.parts[1].work.nest.groups = groups;
    });
  };
  EXPECT_THAT(in_strips(Place::psram, 2), HasSubstr("in strips, whose rows go from part to part"));
  EXPECT_EQ(in_strips(Place::psram, 1), "");
  EXPECT_EQ(in_strips(Place::nowhere, 2), "");
}

/// A decompressor that halves what the channel brings: the prefetcher gains a little every pass on a program whose
/// weights PSRAM holds many times over.
/// A row of weights that a number picks is no copy of activations; two parts of half a word each are.
TEST(notes, tell_parts_that_are_copied_though_they_need_not_be) {
  onnx::ModelProto model = model_of_x({2, 6, 64});
  add_input(model, "row", {1}, onnx::TensorProto::INT64);
  add_weight(model, "rows", {10, 64});
  add_node(model, "Gather", {"rows", "row"}, "picked");
  add_node(model, "Exp", {"picked"}, "e");
  add_output(model, "e");
  add_node(model, "Softmax", {"x"}, "y");
  onnx::NodeProto& split = add_node(model, "Split", {"y"}, "y0");
  split.add_output("y1");
  set_ints(split, "split", {32, 32});
  set_int(split, "axis", 2);
  model.mutable_opset_import(0)->set_version(11);
  for (const char* i : {"0", "1"}) {
    add_node(model, "Exp", {std::string("y") + i}, std::string("z") + i);
    add_output(model, std::string("z") + i);
  }
  Machine m;
  m.part_views = PartViews::on;
  const std::string told =
      "net: copies stay, of parts of Split, Slice and Gather: 2. Readers cannot take them in "
      "place, or it would move more.";
  EXPECT_THAT(estimate(compiled(model, m), m).notes, testing::Contains(told));
  m.part_views = PartViews::off;
  EXPECT_THAT(estimate(compiled(model, m), m).notes, testing::Not(testing::Contains(HasSubstr("copies stay"))));
}

TEST(notes, tell_a_program_that_finds_no_steady_state_in_64_passes) {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.linear_lanes_m = m.linear_lanes_n = m.linear_lanes_k = 1;
  m.dram_burst_bytes = 1;
  set_channel(m, 8, 100), m.dram_efficiency = Decimal{100};  // 2 bytes a cycle
  m.psram_bytes = 1 << 20;
  CompiledStage network = small_stage(Role::network, "net");
  network.program.classes[0].operand_b = Place::psram;
  network.program.classes[0].weight_elements_per_channel = 20;
  network.program.classes[0].work.nest.in_channels = 20;
  network.program.classes[0].mapping.tile_sums = 20;
  EXPECT_THAT(notes_of({network}, m),
              testing::Contains("net: no steady state within 64 passes; the last pass stands for it."));
  m.psram_bytes = 20;
  EXPECT_THAT(notes_of({network}, m), testing::Not(testing::Contains(HasSubstr("no steady state"))));
}

TEST(infeasible, the_reason_says_stage_instruction_and_bytes) {
  CompiledStage stage = small_stage(Role::core, "unet");
  stage.program.instructions[0].words = 3;
  stage.program.instructions.push_back(stage.program.instructions[0]);
  stage.program.instructions[1].name = "the longer";
  stage.program.instructions[1].words = 4;
  Application application;
  application.stages = {stage};
  Machine m;
  m.imem_bytes = (3 + 4) * 32;
  EXPECT_EQ(estimate(application, m).outcome.reason, "");
  EXPECT_EQ(estimate(application, m).stages[0].imem_bytes, Bytes(7 * 32));
  m.imem_bytes -= 1;
  EXPECT_EQ(estimate(application, m).outcome.reason, "unet: the program needs 224 B of IMEM, which has 223");
  m.program_storage = ProgramStorage::streamed;
  EXPECT_EQ(estimate(application, m).outcome.reason, "");
  m.imem_bytes = 4 * 32 - 1;
  EXPECT_EQ(estimate(application, m).outcome.reason, "unet: the longer needs 128 B of IMEM, which has 127");
  application.feasible = false;
  application.reason = "unet: no";
  EXPECT_EQ(estimate(application, m).outcome.reason, "unet: no");
  EXPECT_EQ(evaluate(Application{}, m).reason, "no stage to run");
}

TEST(infeasible, a_stage_of_more_cycles_than_64_bits_count_is_named) {
  CompiledStage stage = small_stage(Role::core, "unet");
  Machine m;
  m.linear_lanes_k = 1;
  m.dsram_port_bits = m.stackram_port_bits = 1 << 20;
  m.core_clock_mhz = 1;  // such ports are hot
  m.sram_banks = 1;
  m.weight_format = m.activation_format = NumberFormat::int8, m.accumulator_format = NumberFormat::int32;
  m.dispatch_cycles = 4, m.pipeline_stages = 1;
  // 64 passes are tried, and as many summed again: 128 of 2^51 cycles are 2^58, too many.
  const auto reason = [&](std::int64_t cycles) {
    stage.program.classes[0].work.nest.in_channels = stage.program.classes[0].mapping.tile_sums = cycles - 4 - 1;
    Application application;
    application.stages = {small_stage(Role::text_encoder, "text"), stage};
    const Report report = estimate(application, m);
    EXPECT_EQ(report.dram_edge_mm > 0, report.outcome.counted());
    return report.outcome.reason;
  };
  EXPECT_EQ(reason((std::int64_t{1} << 51) - 1), "");
  EXPECT_EQ(reason(std::int64_t{1} << 51), "unet: takes more cycles than 64 bits count");
  m.steps = 100;
  EXPECT_EQ(reason((std::int64_t{1} << 58) / 200), "");
  EXPECT_EQ(reason((std::int64_t{1} << 58) / 200 + 1), "unet: takes more cycles than 64 bits count");
}

}  // namespace
}  // namespace sdip
