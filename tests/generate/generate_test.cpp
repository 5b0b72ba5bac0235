// Models that nobody drew by hand, from ONNX bytes to counters and tensors; ONNX's node tests and every case the
// same way. More by hand: build/dev/tests/generate.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "core/onnx/versions.h"
#include "tests/core/exec/random_machine.h"
#include "tests/generate/census.h"
#include "tests/generate/corpus.h"
#include "tests/generate/machines.h"
#include "tests/generate/model.h"
#include "tests/generate/rows/rows.h"

namespace sdip::generate {
namespace {

std::string complaints_of(const Census& census, const std::function<std::string(std::uint64_t)>& name) {
  std::string all;
  for (const auto& [code, count] : census.unexpected())
    all += code + ": " + std::to_string(count) + " times, first " + name(census.seeds.at(code).front()) + "\n";
  return all;
}

TEST(generate, drawn_models_on_drawn_machines_agree_on_everything_but_what_is_listed) {
  Census census;
  std::uint64_t turns = 0;
  check_apart(1, pair_count(500), 1, check_seed, [&](const Checked& checked) {
    census.count(checked);
    const Turn* turn = turn_of_seed(checked.seed);
    if (turn == nullptr) return;
    const std::string choice = choice_text(*turn->choice.row, turn->choice.type);
    turns += std::ranges::find(checked.drawn, choice) != checked.drawn.end();
  });
  std::cout << census.text();
  EXPECT_EQ(complaints_of(census, [](std::uint64_t seed) { return "--models 1 --seed " + std::to_string(seed); }),
            "");
  EXPECT_GE(census.median_nodes(), 8);
  EXPECT_GE(census.compiled_share(), 0.9);
  EXPECT_GE(10 * turns, 8 * census.models) << "whose turn it is was not drawn";  // five in six models have one
}

TEST(generate, node_tests_and_cases_agree_on_everything_but_what_is_listed) {
  if (corpus_names().empty()) GTEST_SKIP() << "no package libonnx-testdata";
  const bool full = pair_count(1) > 1;
  Census census;
  const auto check = [&](std::uint64_t round, int preset) {
    const Checker checker = [&](std::uint64_t number, const PhaseObserver& phase) {
      return check_corpus(number, round, preset, phase);
    };
    check_apart(0, corpus_names().size(), 1, checker, [&](const Checked& checked) { census.count(checked); });
  };
  check(0, -1);
  for (std::uint64_t round = 1; full && round <= 20; ++round)
    for (int preset = 0; preset < static_cast<int>(diffusion_presets().size()); ++preset) check(round, preset);
  std::cout << census.text();
  EXPECT_EQ(complaints_of(census, [](std::uint64_t number) { return corpus_names().at(number); }), "");
}

TEST(generate, a_seed_gives_the_same_model_again) {
  for (std::uint64_t seed = 1; seed < 20; ++seed)
    EXPECT_EQ(drawn_model(seed).model.SerializeAsString(), drawn_model(seed).model.SerializeAsString()) << seed;
}

/// Operators that no file may name: what rewrites make. Constants stand in every model without a row.
bool needs_row(const Operator& op) { return op.domain != "sdip" && op.type != "Constant"; }

TEST(generate, every_operator_that_a_file_may_hold_has_a_row) {
  std::set<std::string> drawn;
  for (const std::string& choice : all_choices()) drawn.insert(choice.substr(0, choice.find(' ')));
  for (const Operator& op : operators()) {
    const std::string name = operator_text(std::string(op.domain), std::string(op.type));
    EXPECT_EQ(drawn.contains(name), needs_row(op)) << name << ": tests/generate/rows/rows_*.cpp";
  }
  for (const char* name : {"If", "Loop", "Scan", "ai.onnx.preview::FlexAttention", "local::function"})
    EXPECT_TRUE(drawn.contains(name)) << name;  // those with graphs of their own are in no list
}

/// Changed models of others aside, whose turn it is goes once through the table, and then again.
TEST(generate, each_row_is_drawn_with_each_of_its_types_fifty_times_in_a_hundred_thousand_models) {
  std::map<std::string, int> turns;
  for (std::uint64_t seed = 1; seed <= 100'000; ++seed)
    if (const Turn* turn = turn_of_seed(seed)) ++turns[choice_text(*turn->choice.row, turn->choice.type)];
  for (const std::string& choice : all_choices()) EXPECT_GE(turns[choice], 50) << choice;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 10U, 11U}) {
    const Turn& turn = *turn_of_seed(seed);
    const auto drawn = drawn_model(seed).drawn;
    EXPECT_NE(std::ranges::find(drawn, choice_text(*turn.choice.row, turn.choice.type)), drawn.end()) << seed;
  }
}

TEST(generate, drawn_machines_take_every_value_of_every_option_from_every_preset_within_what_a_command_may_ask) {
  std::set<std::string> seen, near;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    const Machine machine = drawn_machine(seed);
    ASSERT_NO_THROW(check_machine(machine)) << seed;
    std::map<std::string_view, int> changed;
    for (const ParameterRow& row : parameters()) {
      const std::int64_t value = row.read(machine);
      ASSERT_TRUE(value >= row.least && value <= row.most) << row.name << " of seed " << seed;
      if (!row.choices.empty() || row.type == ParameterType::flag)
        seen.insert(std::string(row.name) + "=" + value_text(row, value));
      for (const Preset& preset : presets()) changed[preset.name] += value != row.read(preset.machine);
    }
    for (const auto& [preset, count] : changed)
      if (count <= 8) near.emplace(preset);
  }
  for (const ParameterRow& row : parameters()) {
    const std::int64_t end = row.type == ParameterType::flag ? 2 : std::ssize(row.choices);
    for (std::int64_t value = 0; value < end; ++value) {
      const std::string setting = std::string(row.name) + "=" + value_text(row, value);
      const bool of_weights_alone = row.name == "activation_format" || row.name == "accumulator_format";
      if (of_weights_alone && is_block_format(static_cast<NumberFormat>(value))) continue;  // no machine has it
      EXPECT_TRUE(seen.contains(setting)) << setting;
    }
  }
  for (const Preset& preset : presets()) EXPECT_TRUE(near.contains(std::string(preset.name))) << preset.name;
}

TEST(generate, a_crash_or_a_hang_of_one_model_is_one_finding) {
  std::map<std::string, int> codes;
  const Checker checker = [](std::uint64_t seed, const PhaseObserver& phase) -> Checked {
    phase("compile");
    if (seed == 3) std::abort();
    return {seed, {}, {}};
  };
  check_apart(1, 6, 2, checker, [&](const Checked& checked) { ++codes[checked.outcome.code]; });
  EXPECT_EQ(codes, (std::map<std::string, int>{{"", 5}, {"crash 6 compile", 1}}));
}

}  // namespace
}  // namespace sdip::generate
