// Are programs of machines that differ in everything those made from scratch, whatever was compiled before?
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>

#include "core/base/error.h"
#include "core/explore/search/rows.h"
#include "core/explore/search/search.h"
#include "core/program/compile/stage_cache.h"
#include "core/program/form/parse.h"
#include "core/program/tiling/mapping_cache.h"
#include "tests/core/base/full_run.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

/// What a search varies, with memories as small as tiny-sd is.
SearchSpace drawn_space() {
  const Machine base = find_preset(default_preset)->machine;
  const auto axis = [](const char* name, std::vector<std::int64_t> values) {
    return Axis{find_parameter(name), std::move(values)};
  };
  const std::vector<std::int64_t> bytes = {1024, 2048, 3000, 4096, 6000, 8192, 16'384, 40'000, 262'144};
  std::vector<std::int64_t> stage_bytes = bytes;
  stage_bytes.insert(stage_bytes.begin(), 0);
  const std::vector<Axis> asked = {axis("dsram_bytes", bytes),
                                   axis("stackram_bytes", bytes),
                                   axis("psram_bytes", bytes),
                                   axis("psram_pinned_bytes", {0, 512, 1024, 4096}),
                                   axis("vae_decoder_dsram_bytes", stage_bytes),
                                   axis("vae_decoder_psram_bytes", stage_bytes),
                                   axis("dies", {1, 2})};
  return {base, searched_axes(base, {}, asked)};
}

bool keeps_rules(const Machine& machine) {
  try {
    check_machine(machine);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(drawn_machines, have_the_programs_that_are_made_from_scratch) {
  const SearchSpace space = drawn_space();
  CompileOptions scratch;
  scratch.say_needed_bytes = false;
  CompileOptions kept = scratch;
  kept.mappings = std::make_shared<MappingCache>();
  kept.stages = std::make_shared<StageCache>(64);
  std::map<bool, Workload> workloads;  // that have the same graphs, as a search has them
  for (const bool hoisted : {false, true}) {
    Machine machine = space.base;
    machine.hoisted_context = hoisted;
    workloads.emplace(hoisted, tiny_sd(machine));
  }
  const int wanted = full_run() ? 300 : 100;
  int compared = 0, fitting = 0;
  for (std::uint64_t number = 0; compared < wanted; ++number) {
    const Machine machine = machine_drawn(space, 7, number);
    if (!keeps_rules(machine)) continue;
    const Workload& workload = workloads.at(machine.hoisted_context);
    const Application with = compile(workload, machine, kept), without = compile(workload, machine, scratch);
    ASSERT_EQ(with.feasible, without.feasible) << number << " " << with.reason << " " << without.reason;
    ++compared;
    if (!with.feasible) continue;
    ++fitting;
    ASSERT_EQ(with.stages.size(), without.stages.size());
    for (std::size_t s = 0; s < with.stages.size(); ++s)
      ASSERT_TRUE(write_graph_binary(with.stages[s]) == write_graph_binary(without.stages[s]))
          << number << " " << with.stages[s].name;
  }
  std::printf("%d compared, %d fit; %zu of %zu mappings searched, %zu of %zu stages made\n", compared, fitting,
              kept.mappings->counts().searched, kept.mappings->counts().asked, kept.stages->counts().kept,
              kept.stages->counts().asked);
  EXPECT_GT(fitting, wanted / 3);
  EXPECT_LT(fitting, wanted);
  EXPECT_LT(kept.mappings->counts().searched, kept.mappings->counts().asked / 2);
}

}  // namespace
}  // namespace sdip
