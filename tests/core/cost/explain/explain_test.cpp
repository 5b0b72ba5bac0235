// Do the formulas of an explanation, worked out from their text, come to what the engine says?
#include "core/cost/explain/explain.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "core/cost/work/resolve.h"
#include "tests/core/cost/explain/evaluate_filled.h"
#include "tests/core/cost/explain/example.h"
#include "tests/core/cost/random_application.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

const FilledTerm* term_named(const LayerExplanation& e, std::string_view what) {
  for (const FilledTerm& term : e.terms)
    if (term.what == what) return &term;
  return nullptr;
}

void expect_worked_out(const std::vector<FilledTerm>& terms) {
  for (const FilledTerm& term : terms) {
    if (term.numbers.empty()) continue;
    EXPECT_EQ(evaluate_filled(term.numbers), term.value) << term.what << ": " << term.numbers;
  }
}

/// What holds of every layer, whatever the machine.
void expect_layer_holds(const LayerExplanation& e) {
  expect_worked_out(e.terms);
  EXPECT_LE(e.bound_cycles, e.layer.cycles);
  EXPECT_LE(e.least_dram_bytes, e.layer.dram_bytes);
  for (const char* what : {"moving_time", "working_time"})
    if (const FilledTerm* floor = term_named(e, what)) {
      EXPECT_LE(floor->value, e.layer.cycles) << what;
    }
  EXPECT_EQ(term_named(e, "time")->value, e.layer.cycles);
  std::int64_t stalls = 0, floor = 0;
  for (const FilledTerm& term : e.terms) {
    if (term.what.starts_with("stall_")) stalls += term.value;
    if (term.what == "moving_time" || term.what == "working_time") floor = std::max(floor, term.value);
  }
  if (const FilledTerm* beyond = term_named(e, "beyond")) {
    EXPECT_EQ(beyond->value, e.layer.cycles - floor);
  }
  const Needs& needs = e.layer.needs;
  const std::int64_t most = *std::max_element(needs.begin(), needs.end() - 1);
  if (stalls > 0 && (stalls > most || needs.back() > most))
    EXPECT_EQ(e.layer.limiter, Needed::dram_channel);
  else
    EXPECT_EQ(needs[static_cast<std::size_t>(e.layer.limiter)], most);
  for (const char* what : {"time", "dram_bytes", "dram_channel"})
    if (const FilledTerm* term = term_named(e, what)) {
      EXPECT_NE(term->numbers, "") << what;
    }
}

/// A report names the same limits, the channel by one of its streams.
void expect_limiters_of_the_report(const Report& report, const std::vector<LayerNeeds>& layers) {
  constexpr auto first = static_cast<std::size_t>(Resource::weight_stream);
  for (const LayerNeeds& layer : layers) {
    const InstructionCost& cost = report.stages[layer.stage].instructions[layer.index];
    Needs needs{};
    for (std::size_t i = 0; i < resource_count; ++i) needs[std::min(i, first)] += cost.busy[i].value;
    EXPECT_EQ(needs, layer.needs) << layer.index;
    EXPECT_EQ(std::min(static_cast<std::size_t>(cost.limiter), first), static_cast<std::size_t>(layer.limiter));
  }
}

void expect_stage_holds(const StageExplanation& s, std::span<const LayerNeeds> layers) {
  expect_worked_out(s.bounds);
  EXPECT_LE(s.bound_cycles, s.cycles);
  std::int64_t bytes = 0;
  Needs needs{};
  for (const LayerNeeds& layer : layers) {
    EXPECT_EQ(layer.array_macs > 0, layer.lane_macs > 0);
    EXPECT_LE(layer.lane_macs, layer.array_macs * layer.cycles) << "above the roof of its lanes";
    EXPECT_LE(layer.array_macs, s.mac_lanes);
    bytes += layer.dram_bytes;
    for (std::size_t i = 0; i < needed_count; ++i) needs[i] += layer.needs[i];
  }
  EXPECT_EQ(needs, s.needs);
  EXPECT_EQ(s.needs[static_cast<std::size_t>(s.limiter)], *std::max_element(needs.begin(), needs.end()));
  std::array<std::int64_t, needed_count> limited{};
  for (const LayerNeeds& layer : layers) limited[static_cast<std::size_t>(layer.limiter)] += layer.cycles;
  EXPECT_EQ(limited, s.limited);
  for (const FilledTerm& bound : s.bounds) EXPECT_NE(bound.numbers, "") << bound.what;
  EXPECT_EQ(bytes, s.dram_bytes);
}

void expect_explained(const Application& application, const Machine& m, bool drawn = false) {
  const Explanation e = explain(application, m, SIZE_MAX);
  if (e.stages.empty()) return;
  expect_limiters_of_the_report(estimate(application, m), e.layers);
  expect_worked_out(e.terms);
  for (const FilledTerm& term : e.terms) EXPECT_NE(term.numbers, "") << term.what;
  expect_worked_out(e.load);
  for (const LayerExplanation& layer : e.worst) {
    expect_layer_holds(layer);
    const auto& program = application.stages[layer.layer.stage].program;
    const auto number = program.instructions[layer.layer.index].instruction_class;
    const auto kind = program.classes[static_cast<std::size_t>(number)].compound;
    if (m.granularity == Granularity::per_operator && m.sequencer != Sequencer::distributed &&
        m.operator_dsram == OperatorDsram::common) {
      EXPECT_NE(term_named(layer, "overhead")->numbers, "");
    }
    EXPECT_TRUE(layer.written_out) << static_cast<int>(kind);
  }
  for (std::size_t s = 0; s < e.stages.size(); ++s) {
    std::vector<LayerNeeds> of_stage;
    std::ranges::copy_if(e.layers, std::back_inserter(of_stage), [&](const LayerNeeds& l) { return l.stage == s; });
    expect_stage_holds(e.stages[s], of_stage);
    // What a drawn program says of its inputs and weights as a whole is not what its instructions move.
    EXPECT_TRUE(drawn || e.stages[s].bound_dram_bytes <= e.stages[s].dram_bytes);
  }
}

/// One core whose memories hold next to nothing of tiny-sd.
Machine small_memories() {
  Machine m;
  m.cores = 1;
  m.psram_bytes = 96 * 1024;
  m.dsram_bytes = 16 * 1024;
  m.stackram_bytes = 24 * 1024;
  m.dram_channels = 1, m.dram_channel_bits = 8, m.dram_rate_mtps = 4000;
  return m;
}

TEST(explain, every_formula_of_tiny_sd_comes_to_the_engines_figure_on_every_preset) {
  for (const Preset& preset : diffusion_presets())
    expect_explained(compile(tiny_sd(preset.machine), preset.machine), preset.machine);
}

TEST(explain, every_formula_comes_to_it_with_a_host) {
  for (const HostOperators operators : {HostOperators::softmax, HostOperators::softmax_and_norm}) {
    Machine m;
    m.host_operators = operators;
    for (const std::int64_t hundredths : {1000, 150}) {
      m.host_cycles_per_element = Decimal{hundredths};
      m.host_command_cycles = hundredths / 10;
      m.host_access_cycles = hundredths == 150 ? 3 : 1;
      expect_explained(compile(tiny_sd(m), m), m);
    }
  }
}

TEST(explain, every_formula_comes_to_it_where_nothing_fits) {
  Machine m = small_memories();
  expect_explained(compile(tiny_sd(m), m), m);
  for (const Dataflow flow : {Dataflow::weight_stationary, Dataflow::input_stationary}) {
    m.dataflow = flow;
    expect_explained(compile(tiny_sd(m), m), m);
  }
  m.fusion = Fusion::norm;
  m.fused_attention = FusedAttention::on;
  m.activation_memory = ActivationMemory::unified;
  expect_explained(compile(tiny_sd(m), m), m);
}

TEST(explain, every_formula_comes_to_it_on_random_applications) {
  for (std::uint64_t seed = 1; seed <= 80 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    Machine m = random_frame_machine(dice);
    const Application application = random_application(dice, application_roles(seed), m);
    set_hierarchy(seed / application_kinds, m);
    set_circuits(seed / application_kinds / 3, m);
    expect_explained(application, m, true);
  }
}

/// MACs a cycle that the array of a layer's family has for a stage, each making as many products as any of it.
std::int64_t roof_of(const InstructionClass& c, const StageExplanation& s, const Machine& m) {
  const Family family = c.compound == Compound::strips ? Family::conv2d : c.work.family;
  const ArrayLanes lanes = array_lanes(family, m);
  return lanes.rows * lanes.channels * lanes.sum * s.products_in_mac * s.active_cores * s.spread_cores;
}

/// Layers by what became of their MACs.
struct DrawnDots {
  std::int64_t whole = 0, skipping = 0, in_memory = 0;
};
void expect_no_dot_above_its_roof(const Application& application, const Machine& m, DrawnDots& dots) {
  const Explanation e = explain(application, m, 0);
  if (e.stages.empty()) return;
  const Report report = estimate(application, m);
  for (const LayerNeeds& layer : e.layers) {
    const StageReport& reported = report.stages[layer.stage];
    const Macs of_one_core = reported.instructions[layer.index].lane_macs;
    EXPECT_EQ(of_one_core.value * e.stages[layer.stage].active_cores, layer.lane_macs) << layer.index;
    EXPECT_EQ(reported.instructions[layer.index].all_lane_macs.value, layer.lane_macs) << layer.index;
    EXPECT_EQ(reported.spread_cores, e.stages[layer.stage].spread_cores);
    EXPECT_LE(layer.lane_macs, layer.macs) << layer.index;
    if (layer.macs == 0) continue;
    (layer.lane_macs == 0 ? dots.in_memory : layer.lane_macs < layer.macs ? dots.skipping : dots.whole) += 1;
    const Program& program = application.stages[layer.stage].program;
    const auto number = static_cast<std::size_t>(program.instructions[layer.index].instruction_class);
    const StageExplanation& stage = e.stages[layer.stage];
    EXPECT_LE(layer.lane_macs, layer.cycles * roof_of(program.classes[number], stage, m)) << layer.index;
    EXPECT_LE(layer.lane_macs, layer.cycles * stage.mac_lanes) << layer.index;
  }
}

TEST(explain, no_layer_makes_more_macs_on_lanes_than_there_are) {
  DrawnDots dots;
  for (std::uint64_t seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    Machine m = random_frame_machine(dice);
    const Application application = random_application(dice, application_roles(seed), m);
    expect_no_dot_above_its_roof(application, m, dots);
  }
  EXPECT_GT(dots.whole, 100);
  EXPECT_GT(dots.skipping, 60);
  EXPECT_GT(dots.in_memory, 100);
}

TEST(explain, layers_of_pruned_weights_and_of_products_in_memory_are_below_the_roof) {
  Machine skipping = small_memories();
  skipping.weight_format = NumberFormat::int8;
  skipping.sparsity = Sparsity::skipping;
  skipping.weight_density = Decimal{50};
  skipping.sparsity_group = 4;
  Machine in_memory = small_memories();
  in_memory.weight_format = in_memory.activation_format = NumberFormat::int8;
  in_memory.in_memory_weights = InMemoryWeights::fefet;
  for (const Machine& m : {skipping, in_memory}) {
    DrawnDots dots;
    expect_no_dot_above_its_roof(compile(tiny_sd(m), m), m, dots);
    EXPECT_GT(m.sparsity == Sparsity::skipping ? dots.skipping : dots.in_memory, 10);
    EXPECT_GT(dots.whole, 0) << "products of activations";
  }
}

TEST(explain, operators_that_stand_alone_are_written_out_and_move_what_is_said) {
  Machine m = small_memories();
  const Application application = compile(tiny_sd(m), m);
  const Explanation e = explain(application, m, SIZE_MAX);
  ASSERT_TRUE(e.feasible);
  for (const LayerExplanation& layer : e.worst) {
    EXPECT_TRUE(layer.written_out) << layer.layer.index;
    if (const FilledTerm* bytes = term_named(layer, "dram_bytes")) {
      EXPECT_NE(bytes->numbers, "") << layer.layer.index;
    }
  }
}

TEST(explain, no_more_kinds_of_layers_are_written_out_than_asked_for) {
  const Machine& m = find_preset("essay")->machine;
  const Application application = compile(tiny_sd(m), m);
  const Explanation all = explain(application, m, SIZE_MAX);
  for (const std::size_t most : {0U, 1U, 3U}) {
    const Explanation e = explain(application, m, most);
    ASSERT_EQ(e.worst.size(), most);
    for (std::size_t i = 0; i < most; ++i) EXPECT_EQ(e.worst[i].layer, all.worst[i].layer);
    EXPECT_EQ(e.layers.size(), all.layers.size());
  }
}

TEST(explain, what_is_infeasible_has_its_reason) {
  const Machine& m = find_preset("essay")->machine;
  Application application = compile(tiny_sd(m), m);
  application.feasible = false;
  application.reason = "for a test";
  const Explanation e = explain(application, m, 1);
  EXPECT_FALSE(e.feasible);
  EXPECT_EQ(e.reason, "for a test");
  EXPECT_TRUE(e.stages.empty());
}

TEST(explain, of_stages_in_series_that_last_the_same_the_first_sets_the_pace) {
  Machine m;
  const Application one = example_of("machine\ni0 vector length=4 a=dsram to=dsram\n", m);
  Application both = one;
  both.stages.push_back(one.stages[0]);
  both.stages[0].part = {0, 2};
  both.stages[1].part = {1, 2};
  EXPECT_EQ(explain(both, m, 0).pace, 0U);
  both.stages[1].program.classes[0].work.row_length = 5;
  EXPECT_EQ(explain(both, m, 0).pace, 1U);
}

/// Stages of these roles, each of one vector of so many elements.
struct OneVector {
  Role role;
  std::int64_t elements;
};
std::size_t pace_of(std::initializer_list<OneVector> wanted, std::int32_t in_series = 1) {
  Machine m;
  Application application;
  for (const OneVector& one : wanted) {
    Application its = example_of("machine\ni0 vector length=4 a=dsram to=dsram\n", m);
    its.stages[0].role = one.role;
    its.stages[0].program.classes[0].work.row_length = one.elements;
    if (one.role == Role::network) its.stages[0].part = {std::ssize(application.stages) > 1 ? 1 : 0, in_series};
    application.stages.push_back(its.stages[0]);
  }
  application.feasible = true;
  m.vae_stage = VaeStage::core;
  m.prompt_per_frame = false;
  m.cores = m.steps = 1;
  const Explanation e = explain(application, m, 0);
  for (const FilledTerm& term : e.terms) EXPECT_NE(term.numbers, "") << term.what;
  return e.pace;
}

TEST(explain, a_text_made_once_sets_the_pace_only_where_no_other_stage_is_the_main_one) {
  constexpr Role text = Role::text_encoder;
  EXPECT_EQ(pace_of({{text, 100}}), 0U);
  EXPECT_EQ(pace_of({{text, 100}, {Role::decoder, 50}}), 0U);
  EXPECT_EQ(pace_of({{text, 100}, {Role::decoder, 200}}), 1U);
  EXPECT_EQ(pace_of({{text, 100}, {Role::decoder, 100}}), 1U);
  EXPECT_EQ(pace_of({{text, 100}, {Role::network, 50}}), 1U);
  EXPECT_EQ(pace_of({{text, 100}, {Role::network, 20}, {Role::network, 50}}, 2), 2U);
  EXPECT_EQ(pace_of({{text, 100}, {Role::core, 50}, {Role::decoder, 5}}), 1U);
}

/// 9 elements of A and 15 results of a linear of 3 x 3 by 3 x 5, of which 3 bytes have room.
TEST(explain, the_least_traffic_of_a_layer_is_in_its_own_formats) {
  Machine m;
  Application application = example_of(
      "machine dsram_bytes=1 stackram_bytes=1\n"
      "i0 linear rows=3 sums=3 channels=5 a=dram b=psram to=dram\n",
      m);
  EXPECT_EQ(explain(application, m, 1).worst[0].least_dram_bytes, (9 - 3) + (15 - 3));
  application.stages[0].program.classes[0].formats =
      Formats{NumberFormat::int8, NumberFormat::fp16, NumberFormat::fp32, {}};
  EXPECT_EQ(explain(application, m, 1).worst[0].least_dram_bytes, (2 * 9 - 3) + (4 * 15 - 3));
}

/// The bounds of a linear of 2 x 3 by 3 x 4 and a product of 2 x 3 by 3 x 4, 24 MACs each, on a machine so set.
std::vector<FilledTerm> bounds_on(const std::string& settings) {
  Machine m;
  Application application = example_of("machine linear_lanes_k=2 " + settings +
                                           "\ni0 linear rows=2 sums=3 channels=4 a=dram b=psram to=dsram\n"
                                           "i1 matmul rows=2 sums=3 channels=4 a=dsram b=stackram to=dram\n",
                                       m);
  Program& program = application.stages[0].program;
  program.distinct_weight_bytes = Bytes(100);
  program.input_bytes = Bytes(6);
  program.output_bytes = Bytes(8);
  return explain(application, m, 0).stages.at(0).bounds;
}

TEST(explain, bounds_of_a_stage_read_as_their_numbers_do) {
  const std::vector<FilledTerm> usual = bounds_on("psram_bytes=64");
  EXPECT_EQ(usual[0].formula, "ceil(MACs/lanes), by array: linear, matmul");
  EXPECT_EQ(usual[0].numbers, "ceil(24/2) + 24");
  EXPECT_EQ(usual[1].formula, "max(0, distinct weights - psram_bytes) + active cores x (in + out)");
  EXPECT_EQ(usual[1].numbers, "100 - 64 + 6 + 8");
  EXPECT_EQ(bounds_on("psram_bytes=100")[1].numbers, "6 + 8");
  const std::vector<FilledTerm> wired = bounds_on("weight_storage=hard_coded");
  EXPECT_EQ(wired[0].formula, usual[0].formula);
  EXPECT_EQ(wired[1].formula, "active cores x (in + out)");
  EXPECT_EQ(wired[1].numbers, "6 + 8");
  const std::vector<FilledTerm> in_memory = bounds_on("in_memory_weights=fefet");
  EXPECT_EQ(in_memory[0].formula, "ceil(MACs/lanes) + cycles of products in memory, by array: linear, matmul");
  EXPECT_EQ(in_memory[0].numbers, "2048 + 24") << "2 rows of 8 bits by 128 columns";
  EXPECT_EQ(in_memory[1].formula, "active cores x (in + out)");
  const std::vector<FilledTerm> beside = bounds_on("operator_dsram=per_operator activation_memory=separate");
  EXPECT_EQ(beside[0].formula, "the largest of ceil(MACs/lanes), by array: linear, matmul");
  EXPECT_EQ(beside[0].numbers, "max(ceil(24/2), 24)");
  const std::vector<FilledTerm> pruned = bounds_on("sparsity=skipping weight_density=0.5");
  EXPECT_EQ(pruned[0].formula, "ceil(MACs not skipped/lanes), by array: linear, matmul");
  EXPECT_EQ(pruned[0].numbers, "ceil(16/2) + 24") << "2 of 3 are kept";
}

TEST(explain, a_period_of_several_frames_says_so) {
  Machine m = find_preset("essay")->machine;
  const auto period = [](const Machine& on) { return explain(compile(tiny_sd(on), on), on, 0).terms.at(0).what; };
  EXPECT_EQ(period(m), "period");
  m.memory_hierarchy = MemoryHierarchy::crossbar;
  EXPECT_EQ(period(m), "period of " + std::to_string(m.cores) + " frames");
}

TEST(explain, formulas_of_a_layer_hold_where_options_change_them) {
  const auto worst = [](const std::string& settings, const std::string& layer) {
    Machine m;
    const Application application = example_of("machine " + settings + "\n" + layer + "\n", m);
    return explain(application, m, 1).worst.at(0);
  };
  const auto formula = [](const LayerExplanation& layer, const std::string& what) {
    for (const FilledTerm& term : layer.terms)
      if (term.what == what) return term.formula;
    return std::string();
  };
  const std::string stacked = "i0 vector length=8 a=stackram to=stackram";
  const LayerExplanation shared = worst("memory_hierarchy=writable_psram cores=3", stacked);
  EXPECT_TRUE(shared.written_out);
  EXPECT_NE(formula(shared, "psram_read").find("cores x their stack's"), std::string::npos);
  const std::string linear = "i0 linear rows=2 sums=9 channels=4 a=dsram b=psram to=dsram";
  EXPECT_EQ(formula(worst("cores=3", linear), "psram_read").find("stack"), std::string::npos);
  // 3 x 0.67 = 2.01: all three of a group stay.
  EXPECT_TRUE(worst("sparsity=skipping sparsity_group=3 weight_density=0.67 linear_lanes_k=2", linear).written_out);
  const std::string scores = "i0 matmul rows=2 sums=9 channels=4 a=dsram b=stackram to=dsram";
  const std::string skipping = "sparsity=skipping weight_density=0.5";
  EXPECT_EQ(formula(worst(skipping, scores), "compute").find("kept"), std::string::npos);
  EXPECT_NE(formula(worst(skipping, linear), "compute").find("kept"), std::string::npos);
}

TEST(explain, groups_of_one_channel_are_products_apart) {
  Machine m;
  Application application = example_of("machine\ni0 linear rows=2 sums=3 channels=1 a=dsram b=psram to=dsram\n", m);
  InstructionClass& c = application.stages[0].program.classes[0];
  c.work.nest.groups = c.mapping.tile_channels = 8;
  c.out_elements = 16;
  EXPECT_TRUE(explain(application, m, 1).worst[0].written_out);
}

TEST(explain, heads_on_several_cores_are_counted_on_all) {
  Machine m;
  Application application =
      example_of("machine cores=2\ni0 matmul rows=4 sums=4 channels=4 a=dsram b=stackram to=dsram\n", m);
  application.stages[0].program.classes[0].spread_cores = 3;
  const Report report = estimate(application, m);
  ASSERT_TRUE(report.outcome.feasible) << report.outcome.reason;
  EXPECT_EQ(report.stages[0].instructions[0].lane_macs, Macs(64 * 3));
  const Explanation e = explain(application, m, 1);
  EXPECT_EQ(e.layers[0].lane_macs, 64 * 3 * m.cores);
  bool told = false;
  for (const FilledTerm& term : e.worst[0].terms) told |= term.what == "overhead" && !term.numbers.empty();
  EXPECT_TRUE(told);
}

TEST(explain, the_most_products_of_any_layer_are_the_stages) {
  Machine m;
  const Application application = example_of(
      "machine composable_macs=on weight_format=int4 activation_format=int8\n"
      "i0 linear a=dsram b=psram to=dsram\ni1 softmax a=dsram to=dsram\n",
      m);
  EXPECT_EQ(estimate(application, m).stages[0].products_in_mac, 2);
}

TEST(explain, a_frame_is_told_by_the_formulas_of_its_machine) {
  Machine m = find_preset("essay")->machine;
  m.mode = Mode::image_to_image;
  m.cores = 3;
  m.steps = 7;
  const auto terms = [&] { return explain(compile(tiny_sd(m), m), m, 0).terms; };
  std::vector<FilledTerm> told = terms();
  EXPECT_EQ(told.at(0).formula, "max(s x step + link, encoder, decoder) + text encoder, if prompt_per_frame");
  EXPECT_NE(told.at(1).formula.find("active cores x link"), std::string::npos);
  for (const FilledTerm& term : told) EXPECT_NE(term.numbers, "") << term.what;
  m.memory_hierarchy = MemoryHierarchy::crossbar;
  m.prompt_per_frame = true;
  told = terms();
  EXPECT_EQ(told.at(0).formula,
            "max(T x step + link, N x encoder, N x decoder) + N x text encoder, if prompt_per_frame");
  EXPECT_EQ(told.at(1).formula, "text encoder + encoder + T passes from cold + link + decoder");
  for (const FilledTerm& term : told) EXPECT_NE(term.numbers, "") << term.what;
  const Report report = estimate(compile(tiny_sd(m), m), m);
  EXPECT_EQ(report.stages.at(1).products_in_mac, 1);
  m.composable_macs = ComposableMacs::on;
  m.weight_format = NumberFormat::int4;
  m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  const Report split = estimate(compile(tiny_sd(m), m), m);
  for (const StageReport& stage : split.stages) EXPECT_EQ(stage.products_in_mac, 2) << stage.name;
}

TEST(explain, layers_of_a_class_are_of_one_kind_only_where_they_last_and_move_the_same) {
  Machine m;
  Application application = example_of(
      "machine program_storage=streamed imem_bytes=256 dram_bytes_per_cycle=100\n"
      "i0 vector length=400 words=4 a=dsram to=dsram\n",
      m);
  Program& program = application.stages[0].program;
  for (const std::int64_t words : {4, 4, 6})
    program.instructions.emplace_back(program.instructions[0]).words = words;
  const Explanation e = explain(application, m, SIZE_MAX);
  std::vector<std::vector<std::size_t>> alike;
  for (const LayerExplanation& kind : e.worst) alike.push_back(kind.alike);
  std::ranges::sort(alike);
  EXPECT_EQ(alike, (std::vector<std::vector<std::size_t>>{{0}, {1, 2}, {3}}));
}

TEST(explain, kinds_of_layers_are_listed_by_what_they_take_of_a_frame) {
  const Machine& m = find_preset("essay")->machine;
  const Explanation e = explain(compile(tiny_sd(m), m), m, SIZE_MAX);
  std::size_t layers = 0;
  std::int64_t before = INT64_MAX;
  for (const LayerExplanation& kind : e.worst) {
    const std::int64_t of_a_frame =
        kind.layer.cycles * std::ssize(kind.alike) * e.stages[kind.layer.stage].passes_per_frame;
    EXPECT_LE(of_a_frame, before);
    before = of_a_frame;
    layers += kind.alike.size();
  }
  EXPECT_EQ(layers, e.layers.size());
}

}  // namespace
}  // namespace sdip
