// Do instructions alone compute what their graphs say, and is a wrong element seen?
#include "core/explore/validate/validate_tensors.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/explore/validate/validate.h"
#include "core/explore/validate/validate_alone.h"
#include "core/program/form/format_text.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

/// Random numbers within 1/8 for every weight, by its name.
StoredTensors small_weights() {
  return [](const Value& value) -> std::optional<Tensor> {
    Tensor tensor = seeded_tensor(value.operand, std::hash<std::string>{}(value.name), 0);
    for (double& x : tensor.floats) x = rounded(tensor.type, x / 8);
    return tensor;
  };
}

struct Sums {
  std::int64_t classes = 0, compared = 0, differences = 0, overflows = 0;
  std::string first;
};

Sums sums_on(const Machine& machine, const CompileOptions& options = {}) {
  const Application application = compile(tiny_sd(machine), machine, options);
  Sums sums;
  EXPECT_TRUE(application.feasible) << application.reason;
  for (const CompiledStage& stage : application.stages) {
    const StageTensors found = validate_tensors(stage, machine, small_weights(), {.seed = 3});
    EXPECT_EQ(std::ssize(found.layers), found.classes);
    sums.classes += found.classes;
    sums.compared += found.compared;
    sums.differences += found.differences;
    sums.overflows += found.overflows;
    for (const LayerTensors& layer : found.layers) {
      if (!sums.first.empty() || (layer.failure.empty() && layer.result.differing == 0)) continue;
      sums.first = stage.name + " " + layer.layer + " " + layer.mnemonic + " " + layer.failure;
      if (layer.result.first)
        sums.first += " element " + std::to_string(layer.result.first->element) + ": " +
                      std::to_string(layer.result.first->executed) + " for " +
                      std::to_string(layer.result.first->expected) + " +- " + std::to_string(layer.result.allowed);
    }
  }
  return sums;
}

TEST(validate_tensors, every_layer_of_tiny_sd_runs_alone_on_every_preset_and_none_differs) {
  std::int64_t feasible = 0;
  for (const Preset& preset : presets()) {
    SCOPED_TRACE(std::string(preset.name));
    if (!compile(tiny_sd(preset.machine), preset.machine).feasible) continue;
    ++feasible;
    const Sums sums = sums_on(preset.machine);
    EXPECT_EQ(sums.differences, 0) << sums.first;
    EXPECT_EQ(sums.compared, sums.classes);
  }
  EXPECT_GE(feasible, 3);
}

TEST(validate_tensors, layers_in_formats_of_their_own_count_and_compute_the_same) {
  CompileOptions options;
  options.format_rules = parse_formats(
      "\"*attn*\" weights=bf16\nfamily=conv2d weights=int8 activations=int8\nfamily=linear weights=int4\n"
      "family=softmax activations=fp32",
      "rules");
  for (const Preset& preset : diffusion_presets()) {
    for (const Fusion fusion : {Fusion::no_fusion, Fusion::norm}) {
      SCOPED_TRACE(std::string(preset.name));
      Machine machine = preset.machine;
      machine.fusion = fusion;
      const Application application = compile(tiny_sd(machine), machine, options);
      std::int64_t conversions = 0;
      for (const CompiledStage& stage : application.stages)
        for (const Instruction& i : stage.program.instructions) conversions += i.mnemonic.starts_with("convert");
      EXPECT_GT(conversions, 20);
      for (const StageCounters& stage : validate_counters(application, machine))
        EXPECT_EQ(stage.differences, 0) << stage.stage << " " << stage.failure;
      const Sums sums = sums_on(machine, options);
      EXPECT_EQ(sums.differences, 0) << sums.first;
      EXPECT_GT(2 * sums.compared, sums.classes) << "sums of norms that stand elsewhere are not run alone";
    }
  }
}

TEST(validate_tensors, layers_in_narrow_formats_pass_since_their_operands_are_as_the_machine_holds_them) {
  struct Formats {
    NumberFormat weights, activations, accumulators;
    bool wraps = false;
  };
  using enum NumberFormat;
  for (const auto& [weights, activations, accumulators, wraps] :
       {Formats{fp16, fp16, fp32}, Formats{bf16, bf16, int32}, Formats{fp8_e4m3, fp8_e5m2, fp16},
        Formats{int8, int8, int32}, Formats{uint8, int8, fp32}, Formats{int4, int16, fp32},
        Formats{q7_8, q7_8, fp32},
        Formats{int16, int16, int32, true}}) {  // products of 2^30: four of them reach 2^32
    SCOPED_TRACE(number_formats[static_cast<std::size_t>(weights)].name);
    Machine machine;
    machine.weight_format = weights;
    machine.activation_format = activations;
    machine.accumulator_format = accumulators;
    const Sums sums = sums_on(machine);
    EXPECT_EQ(sums.differences, 0) << sums.first;
    EXPECT_EQ(sums.compared, sums.classes);
    EXPECT_EQ(sums.overflows > 0, wraps);
  }
}

TEST(validate_tensors, layers_pass_with_small_memories_fusions_pairs_and_pruned_weights) {
  Machine small;
  small.dsram_bytes = 32 * 1024;
  small.psram_bytes = 96 * 1024;
  Machine fused = small;
  fused.fused_attention = FusedAttention::on;
  fused.transposition = Transposition::static_transposition;
  Machine paired = small;
  paired.operator_dsram = OperatorDsram::per_operator;
  paired.activation_memory = ActivationMemory::separate;
  Machine unified = small;
  unified.activation_memory = ActivationMemory::unified;
  Machine pruned = small;
  pruned.sparsity = Sparsity::gating;
  pruned.weight_density = Decimal{50};
  for (const Machine& machine : {small, fused, paired, unified, pruned}) {
    const Sums sums = sums_on(machine);
    EXPECT_EQ(sums.differences, 0) << sums.first;
    EXPECT_EQ(sums.compared, sums.classes);
  }
}

TEST(validate_tensors, a_norm_whose_sums_another_instruction_made_finds_them_in_registers) {
  struct Row {
    NormStatistics statistics;
    Strips strips;
  };
  for (const auto& [statistics, strips] :
       {Row{NormStatistics::own_pass, Strips::off}, Row{NormStatistics::producer, Strips::off},
        Row{NormStatistics::producer, Strips::line_buffers},
        Row{NormStatistics::recompute, Strips::halo_recompute}}) {
    SCOPED_TRACE("statistics " + std::to_string(static_cast<int>(statistics)));
    Machine machine;
    machine.fusion = Fusion::norm;
    machine.norm_statistics = statistics;
    machine.strips = strips;
    const Sums sums = sums_on(machine);
    EXPECT_EQ(sums.differences, 0) << sums.first;
    EXPECT_GT(10 * sums.compared, 9 * sums.classes) << "what writes nothing but sums is not run alone";
  }
}

TEST(validate_tensors, a_layer_whose_time_ends_inside_it_is_left_out_with_those_behind_it) {
  const Machine machine;
  const Application application = compile(tiny_sd(machine), machine);
  const CompiledStage& stage = application.stages.at(1);
  std::int64_t layers = 0, in_fifth = 0, behind = 0;
  TensorOptions options;
  options.affordable = [&](double, double) { return ++layers > 0; };
  options.stop = [&] {
    if (layers == 5) return ++in_fifth > 3;  // it has begun
    return layers > 5 && ++behind > 0;
  };
  const StageTensors found = validate_tensors(stage, machine, small_weights(), options);
  ASSERT_GT(layers, 6);
  EXPECT_EQ(found.compared, 4);
  EXPECT_EQ(found.differences, 0);
  EXPECT_EQ(in_fifth, 4) << "nobody asks again once told to end";
  EXPECT_EQ(behind, layers - 5) << "each asks before anything else";
  std::int64_t late = 0;
  for (const LayerTensors& layer : found.layers) late += layer.left_out == "out of time";
  EXPECT_EQ(late, layers - 4);
}

TEST(validate_tensors, an_element_beyond_what_is_allowed_is_the_first_difference) {
  const Tensor expected{ElementType::float32, {4}, {}, {1.0, 2.0, 3.0, 4.0}};
  Tensor executed = expected;
  executed.floats[1] = 2.25;
  executed.floats[3] = 5.0;
  const ComparedTensor found = compare_tensors(executed, expected, 0.25);
  EXPECT_EQ(found.elements, 4);
  EXPECT_EQ(found.differing, 1);
  EXPECT_EQ(found.largest_error, 1.0);
  ASSERT_TRUE(found.first);
  EXPECT_EQ(found.first->element, 3);
  EXPECT_EQ(found.first->executed, 5.0);
  EXPECT_EQ(found.first->expected, 4.0);
  EXPECT_EQ(compare_tensors(executed, expected, 1.0).differing, 0);
}

TEST(validate_tensors, an_element_that_roundings_move_may_be_four_times_as_far_away_and_is_counted) {
  const Tensor expected{ElementType::float32, {3}, {}, {1.0, 2.0, 3.0}};
  const Tensor executed{ElementType::float32, {3}, {}, {2.0, 3.0, 3.0}};
  const std::vector<double> moved = {0.25, 0.125, 0};
  const ComparedTensor found = compare_tensors(executed, expected, 0.125, moved);
  EXPECT_EQ(found.unsettled, 1);
  EXPECT_EQ(found.differing, 1);
  EXPECT_EQ(found.first.value().element, 1);
  const Tensor bits{ElementType::int32, {2}, {0, 1}, {}}, other{ElementType::int32, {2}, {1, 0}, {}};
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(compare_tensors(other, bits, 0, std::vector<double>{infinite, 0}).differing, 1);
}

TEST(validate_tensors, integers_are_equal_or_differ_and_not_a_number_equals_itself) {
  const Tensor expected{ElementType::int32, {2}, {7, std::int64_t{1} << 60}, {}};
  Tensor executed = expected;
  executed.ints[1] += 1;
  EXPECT_EQ(allowed_difference(expected, NumberFormat::int8, NumberFormat::int32, 1, 1), 0);
  EXPECT_EQ(compare_tensors(expected, expected, 0).differing, 0);
  EXPECT_EQ(compare_tensors(executed, expected, 0).differing, 1);
  const Tensor nan{ElementType::float32, {1}, {}, {std::nan("")}}, one{ElementType::float32, {1}, {}, {1.0}};
  EXPECT_EQ(compare_tensors(nan, nan, 0).differing, 0);
  EXPECT_EQ(compare_tensors(one, nan, 1e9).differing, 1);
  EXPECT_EQ(compare_tensors(nan, one, 1e9).differing, 1);
}

TEST(validate_tensors, half_precision_up_to_3_5_is_allowed_one_step_and_64_5_ulp_of_the_accumulator) {
  using enum NumberFormat;
  const Tensor expected{ElementType::float32, {2}, {}, {-3.5, 1.0}};
  EXPECT_DOUBLE_EQ(allowed_difference(expected, fp16, fp32, 1, 1), 0x1p-9 + 64.5 * 0x1p-22);
  EXPECT_NEAR(allowed_difference(expected, fp16, fp32, 1, 1), 0.0019685, 1e-7);
  EXPECT_DOUBLE_EQ(allowed_difference(expected, fp16, int32, 1, 1), 0x1p-9);
  EXPECT_DOUBLE_EQ(allowed_difference(expected, int8, int32, 1, 0.25F), 0.25 + 0x1p-21);
}

TEST(validate_tensors, neighbouring_multiples_of_a_scale_are_one_step_apart_though_each_is_rounded) {
  std::int64_t wider = 0;
  for (const float scale : {0.013244564F, 0.1F, 0.33333334F, 3.1415927e-5F}) {
    for (int k = -127; k < 127; ++k) {
      const Tensor one{ElementType::float32, {1}, {}, {static_cast<double>(static_cast<float>(k) * scale)}};
      const Tensor next{ElementType::float32, {1}, {}, {static_cast<double>(static_cast<float>(k + 1) * scale)}};
      const double allowed = allowed_difference(one, NumberFormat::int8, NumberFormat::int32, 1, scale);
      EXPECT_EQ(compare_tensors(next, one, allowed).differing, 0) << k << " x " << scale;
      EXPECT_LT(allowed, 1.01 * static_cast<double>(scale));
      wider += compare_tensors(next, one, static_cast<double>(scale)).differing;
    }
  }
  EXPECT_GT(wider, 0) << "the scale alone would do";
}

/// Neighbours of float16 as multiples of a finer scale: each is rounded by half a step of it, away from the other.
TEST(validate_tensors, codes_finer_than_the_type_may_be_a_step_of_each_apart) {
  const float scale = 2e-5F;
  const auto code = [&](double x) {
    return std::nearbyint(x / static_cast<double>(scale)) * static_cast<double>(scale);
  };
  std::int64_t wider = 0;
  for (int k = 1024; k < 2047; ++k) {
    const Tensor one{ElementType::float16, {1}, {}, {code(k * 0x1p-11)}};
    const Tensor next{ElementType::float16, {1}, {}, {code((k + 1) * 0x1p-11)}};
    const double allowed = allowed_difference(one, NumberFormat::int16, NumberFormat::int32, 1, scale);
    EXPECT_EQ(compare_tensors(next, one, allowed).differing, 0) << k;
    EXPECT_LT(allowed, 0x1p-11 + 1.01 * static_cast<double>(scale));
    wider += compare_tensors(next, one, 0x1p-11).differing;
  }
  EXPECT_GT(wider, 0) << "a step of the type alone would do";
}

/// Softmax of codes goes by tables where rows are long, but not where what moves is told.
TEST(validate_tensors, softmax_of_long_rows_in_8_bits_passes) {
  Machine machine = find_preset("edge")->machine;
  for (const NumberFormat format : {NumberFormat::int8, NumberFormat::uint8}) {
    machine.activation_format = format;
    Workload bert;
    bert.stages.push_back(built_in_stage(Role::network, "bert-base", machine));
    const Application application = compile(bert, machine);
    ASSERT_TRUE(application.feasible) << application.reason;
    TensorOptions options;
    options.layers = {"*layer.0/*Softmax*"};
    const StageTensors found = validate_tensors(application.stages[0], machine, small_weights(), options);
    EXPECT_EQ(found.compared, 1);
    EXPECT_EQ(found.differences, 0) << found.layers.at(0).failure;
    EXPECT_EQ(found.layers.at(0).failure, "");
  }
}

TEST(validate_tensors, a_layer_that_cannot_be_afforded_is_left_out_and_the_cheapest_come_first) {
  const Machine machine;
  const Application application = compile(tiny_sd(machine), machine);
  const CompiledStage& stage = application.stages.back();
  std::vector<double> asked;
  TensorOptions options;
  options.affordable = [&](double operations, double bytes) {
    EXPECT_GT(bytes, 0);
    asked.push_back(operations + bytes);
    return asked.size() <= 2;
  };
  const StageTensors found = validate_tensors(stage, machine, small_weights(), options);
  EXPECT_EQ(found.compared, 2);
  EXPECT_TRUE(std::ranges::is_sorted(asked));
  EXPECT_EQ(std::ranges::count_if(found.layers, [](const auto& l) { return !l.left_out.empty(); }),
            found.classes - 2);
}

TEST(alone, an_instruction_has_its_nodes_its_sources_as_inputs_and_nothing_else) {
  const Machine machine;
  const Application application = compile(tiny_sd(machine), machine);
  const CompiledStage& stage = application.stages.back();
  for (std::size_t i = 0; i < stage.program.instructions.size(); ++i) {
    const Instruction& tested = stage.program.instructions[i];
    std::string reason;
    const auto one = alone(stage, machine, i, reason);
    ASSERT_TRUE(one) << reason;
    const Instruction& copy = one->stage.program.instructions.back();
    EXPECT_EQ(copy.nodes.size(), tested.nodes.size());
    EXPECT_EQ(one->stage.program.classes.back(),
              stage.program.classes[static_cast<std::size_t>(tested.instruction_class)]);
    EXPECT_LT(one->stage.graph->nodes.size(), stage.graph->nodes.size());
    const auto name_in = [](const CompiledStage& of, ValueId v) {
      return of.graph->values[static_cast<std::size_t>(v)].name;
    };
    EXPECT_EQ(name_in(one->stage, one->stage.graph->outputs[0]), name_in(stage, tested.destination));
  }
}

}  // namespace
}  // namespace sdip
