// Models that nobody drew by hand, from ONNX bytes to counters and tensors; ONNX's node tests and every case the
// same way. More by hand: build/dev/tests/generate.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/core/exec/random_machine.h"
#include "tests/generate/census.h"
#include "tests/generate/corpus.h"
#include "tests/generate/model.h"
#include "tests/generate/rows.h"

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
  check_apart(1, pair_count(500), 1, check_seed, [&](const Checked& checked) { census.count(checked); });
  std::cout << census.text();
  EXPECT_EQ(complaints_of(census, [](std::uint64_t seed) { return "--models 1 --seed " + std::to_string(seed); }),
            "");
  EXPECT_GE(census.median_nodes(), 8);
  EXPECT_GE(census.compiled_share(), 0.9);
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

/// Operators that no row draws yet: their own cases go through validation alone. What gets a row is taken out.
constexpr std::string_view not_drawn[] = {
    "BitCast",
    "CausalConvWithState",
    "CumProd",
    "LinearAttention",
    "com.microsoft::CausalConvWithState",
    "com.microsoft::LinearAttention",
    "com.microsoft::MatMulNBits",
    "com.microsoft::QAttention",
    "com.microsoft::QLinearAdd",
    "com.microsoft::QLinearLeakyRelu",
    "com.microsoft::QLinearMul",
    "com.microsoft::QLinearSigmoid",
};

/// Every operator that a file may hold: a new row of core/ops asks for one here.
TEST(generate, every_operator_of_the_list_has_a_row_or_is_named_as_without_one) {
  std::set<std::string> drawn;
  for (const std::string& choice : all_choices()) drawn.insert(choice.substr(0, choice.find(' ')));
  for (const Operator& op : operators()) {
    if (op.domain == "sdip" || op.type == "Constant") continue;
    const std::string name = (op.domain.empty() ? "" : std::string(op.domain) + "::") + std::string(op.type);
    const bool named = std::ranges::find(not_drawn, name) != std::ranges::end(not_drawn);
    EXPECT_NE(drawn.contains(name), named) << name;
  }
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
