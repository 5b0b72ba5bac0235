// Do the formulas of an explanation, worked out from their text, come to what the engine says?
#include "core/cost/explain.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "tests/core/cost/evaluate_filled.h"
#include "tests/core/cost/random_application.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

const FilledTerm* term_of(const LayerExplanation& e, std::string_view what) {
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
    if (const FilledTerm* floor = term_of(e, what)) {
      EXPECT_LE(floor->value, e.layer.cycles) << what;
    }
  EXPECT_EQ(term_of(e, "time")->value, e.layer.cycles);
  for (const char* what : {"time", "dram_bytes", "dram_channel"})
    if (const FilledTerm* term = term_of(e, what)) {
      EXPECT_NE(term->numbers, "") << what;
    }
}

void expect_stage_holds(const StageExplanation& s, std::span<const LayerNeeds> layers) {
  expect_worked_out(s.bounds);
  EXPECT_LE(s.bound_cycles, s.cycles);
  std::int64_t bytes = 0;
  Needs needs{};
  for (const LayerNeeds& layer : layers) {
    bytes += layer.dram_bytes;
    for (std::size_t i = 0; i < needed_count; ++i) needs[i] += layer.needs[i];
  }
  EXPECT_EQ(needs, s.needs);
  EXPECT_EQ(bytes, s.dram_bytes);
}

void expect_explained(const Application& application, const Machine& m, bool drawn = false) {
  const Explanation e = explain(application, m, SIZE_MAX);
  if (!e.feasible) return;
  expect_worked_out(e.terms);
  for (const FilledTerm& term : e.terms) EXPECT_NE(term.numbers, "") << term.what;
  for (const LayerExplanation& layer : e.worst) {
    expect_layer_holds(layer);
    const auto& program = application.stages[layer.layer.stage].program;
    const auto number = program.instructions[layer.layer.index].instruction_class;
    const auto kind = program.classes[static_cast<std::size_t>(number)].compound;
    EXPECT_TRUE(layer.written_out || m.host_operators != HostOperators::no_operators) << static_cast<int>(kind);
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
  m.dram_bus_bits = 8;
  return m;
}

TEST(explain, every_formula_of_tiny_sd_comes_to_the_engines_figure_on_every_preset) {
  for (const Preset& preset : diffusion_presets())
    expect_explained(compile(tiny_sd(preset.machine), preset.machine), preset.machine);
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
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    Machine m = random_frame_machine(dice);
    const Application application = random_application(dice, application_roles(seed), m);
    expect_explained(application, m, true);
  }
}

TEST(explain, operators_that_stand_alone_are_written_out_and_move_what_is_said) {
  Machine m = small_memories();
  const Application application = compile(tiny_sd(m), m);
  const Explanation e = explain(application, m, SIZE_MAX);
  ASSERT_TRUE(e.feasible);
  for (const LayerExplanation& layer : e.worst) {
    EXPECT_TRUE(layer.written_out) << layer.layer.index;
    if (const FilledTerm* bytes = term_of(layer, "dram_bytes")) {
      EXPECT_NE(bytes->numbers, "") << layer.layer.index;
    }
  }
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
