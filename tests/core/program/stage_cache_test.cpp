// Does a stage that was compiled before come out as if it had not been, and is nothing else compiled again?
#include "core/program/compile/stage_cache.h"

#include <gtest/gtest.h>

#include "core/program/form/form.h"
#include "core/program/form/parse.h"
#include "tests/core/program/built_in.h"

namespace sdip {
namespace {

Workload small_line() {
  Workload line;
  for (const char* name : {"tiny-sd-text", "tiny-sd-unet", "tiny-sd-vae-decoder"})
    for (const Workload& one : built_in_workloads())
      if (one.name == name) line.stages.push_back(one.stages[0]);
  return line;
}

Machine small_machine() {
  Machine m;
  m.psram_bytes = m.dsram_bytes = m.stackram_bytes = 64 << 10;
  return m;
}

void expect_same_programs(const Application& a, const Application& b) {
  ASSERT_EQ(a.feasible, b.feasible);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.psram_bytes, b.psram_bytes);
  ASSERT_EQ(a.stages.size(), b.stages.size());
  for (std::size_t s = 0; s < a.stages.size() && a.feasible; ++s)
    EXPECT_TRUE(write_graph_binary(a.stages[s]) == write_graph_binary(b.stages[s])) << a.stages[s].name;
}

TEST(stage_cache, compiles_again_only_the_stage_whose_machine_is_another) {
  const Workload line = small_line();
  ASSERT_EQ(line.stages.size(), 3U);
  CompileOptions cached;
  cached.stages = std::make_shared<StageCache>();
  std::size_t made = 0;
  for (const std::int64_t kib : {0, 96, 128, 0, 96}) {
    Machine m = small_machine();
    m.vae_decoder_dsram_bytes = kib << 10;
    expect_same_programs(compile(line, m, cached), compile(line, m));
    if (cached.stages->counts().asked <= 9) made = cached.stages->counts().kept;
  }
  EXPECT_EQ(cached.stages->counts().asked, 15U);
  EXPECT_EQ(made, 5U) << "three, and the decoder twice more";
  EXPECT_EQ(cached.stages->counts().kept, 5U);
  Machine lanes = small_machine();
  lanes.vae_decoder_conv_lanes_in = 2, lanes.text_encoder_dsram_port_bits = 64, lanes.cores = 9;
  compile(line, lanes, cached);
  EXPECT_EQ(cached.stages->counts().kept, 5U) << "rows that change no program";
}

TEST(stage_cache, finds_a_stage_for_every_capacity_of_psram_that_it_says) {
  const Workload line = small_line();
  CompileOptions cached;
  cached.stages = std::make_shared<StageCache>();
  Machine m = small_machine();
  m.vae_decoder_psram_bytes = 80 << 10;
  const Application first = compile(line, m, cached);
  ASSERT_TRUE(first.feasible) << first.reason;
  const std::int64_t most = std::min<std::int64_t>(first.psram_bytes.most, m.psram_bytes + 50'000);
  for (const std::int64_t bytes : {first.psram_bytes.least, most}) {
    m.psram_bytes = bytes;
    expect_same_programs(compile(line, m, cached), compile(line, m));
  }
  EXPECT_EQ(cached.stages->counts().kept, 3U);
  for (m.psram_bytes = 64 << 10; m.psram_bytes <= 80 << 10; m.psram_bytes += 1024)
    expect_same_programs(compile(line, m, cached), compile(line, m));
  EXPECT_LT(cached.stages->counts().kept, 3U + 2 * 17);
}

/// The decoder's PSRAM has a size of its own: what the range says is of the others.
TEST(stage_cache, of_a_stage_with_a_psram_of_its_own_says_nothing_of_psram_bytes) {
  Workload decoder = small_line();
  decoder.stages.erase(decoder.stages.begin(), decoder.stages.end() - 1);
  Machine m = small_machine();
  EXPECT_LT(compile(decoder, m).psram_bytes.most, CapacityRange().most);
  m.vae_decoder_psram_bytes = 64 << 10;
  EXPECT_EQ(compile(decoder, m).psram_bytes.most, CapacityRange().most);
  EXPECT_EQ(compile(decoder, m).psram_bytes.least, m.psram_pinned_bytes + 1);
}

TEST(stage_cache, starts_again_when_it_is_full) {
  const Workload line = small_line();
  CompileOptions cached;
  cached.stages = std::make_shared<StageCache>(2);
  for (int i = 0; i < 3; ++i)
    expect_same_programs(compile(line, small_machine(), cached), compile(line, small_machine()));
  EXPECT_GT(cached.stages->counts().kept, 3U);
}

}  // namespace
}  // namespace sdip
