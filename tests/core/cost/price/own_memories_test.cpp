// What memories, ports and lanes of a stage's own cost and bring.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/cost/price/area.h"
#include "core/cost/price/estimate.h"
#include "core/cost/price/stage.h"
#include "core/machine/stage_rows.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

constexpr Role stage_roles[own_stages.size()] = {Role::text_encoder, Role::encoder, Role::decoder};
Role role_of_own(OwnStage stage) { return stage_roles[static_cast<std::size_t>(stage)]; }

Machine streaming_images() {
  Machine m = find_preset("edge")->machine;
  m.mode = Mode::image_to_image;
  m.prompt_per_frame = true;
  return m;
}

double own_metric(const Report& report, Metric which) {
  return report.outcome.values[static_cast<std::size_t>(which)];
}
double own_block_of(const Breakdown& area, std::string_view name) {
  const auto found = std::ranges::find(area, name, [](const auto& block) { return std::string_view(block.first); });
  return found == area.end() ? -1 : found->second;
}
double own_sum_of(const Breakdown& parts) {
  double sum = 0;
  for (const auto& part : parts) sum += part.second;
  return sum;
}
const StageReport& own_stage_of(const Report& report, Role role) {
  return *std::ranges::find(report.stages, role, &StageReport::role);
}
Report own_report_of(const Machine& m) {
  const Application application = compile(tiny_sd(m), m);
  EXPECT_TRUE(application.feasible) << application.reason;
  return estimate(application, m);
}

/// Every row at the cores' value: encoder and decoder are what they were, a text encoder is one core more.
TEST(own_memories, equal_to_the_cores_are_what_the_cores_are) {
  const Machine plain = streaming_images();
  const Report before = own_report_of(plain);
  for (const OwnStage stage : own_stages) {
    Machine m = plain;
    for (const StageRow& row : stage_rows(stage)) m.*row.own = m.*row.cores;
    const Report after = own_report_of(m);
    for (std::size_t s = 0; s < before.stages.size(); ++s) {
      EXPECT_EQ(after.stages[s].steady_cycles, before.stages[s].steady_cycles);
      EXPECT_EQ(after.stages[s].dram_activations, before.stages[s].dram_activations);
    }
    if (stage != OwnStage::text_encoder) {
      EXPECT_NEAR(own_metric(after, Metric::area_mm2), own_metric(before, Metric::area_mm2), 1e-9);
      EXPECT_NEAR(own_metric(after, Metric::energy_j_per_frame), own_metric(before, Metric::energy_j_per_frame),
                  1e-12);
      EXPECT_EQ(own_metric(after, Metric::sram_bytes), own_metric(before, Metric::sram_bytes));
      continue;
    }
    const auto cores = static_cast<double>(plain.cores + 2);
    for (const char* block : {"conv2d", "vector", "dsram", "stackram"})
      EXPECT_NEAR(own_block_of(after.area_mm2, block), own_block_of(before.area_mm2, block) * (cores + 1) / cores,
                  1e-9)
          << block;
    EXPECT_NEAR(own_block_of(after.area_mm2, "psram"), own_block_of(before.area_mm2, "psram") * 4 / 3, 1e-9)
        << "of cores, encoder, decoder, and its own";
  }
}

/// The worked example of docs/model/frames.md: on `edge`, three of whose cores would have 2 x 2 MiB of DSRAM.
TEST(own_memories, are_built_once_in_place_of_a_core_s) {
  Machine m = find_preset("edge")->machine;
  m.cores = 3;
  const Application application = compile(tiny_sd(m), m);
  EXPECT_EQ(built_cores(application, m), 4) << "and the decoder's";
  const std::int64_t mib = std::int64_t{1} << 20;
  EXPECT_EQ(sram_bytes(application, m), 4 * (2 * 2 + 2) * mib + 2 * 2 * mib + m.imem_bytes);
  m.vae_decoder_dsram_bytes = 8 * mib;
  EXPECT_EQ(sram_bytes(application, m), 3 * (2 * 2 + 2) * mib + (2 * 8 + 2) * mib + 2 * 2 * mib + m.imem_bytes);
  m.text_encoder_stackram_bytes = mib;  // one core more, on the cores' PSRAM
  EXPECT_EQ(built_cores(application, m), 5);
  EXPECT_EQ(sram_bytes(application, m),
            3 * (2 * 2 + 2) * mib + (2 * 8 + 2) * mib + (2 * 2 + 1) * mib + 2 * 2 * mib + m.imem_bytes);
  m.text_encoder_psram_bytes = 3 * mib;
  EXPECT_EQ(sram_bytes(application, m),
            3 * (2 * 2 + 2) * mib + (2 * 8 + 2) * mib + (2 * 2 + 1) * mib + (2 * 2 + 3) * mib + m.imem_bytes);
  m.vae_decoder_psram_bytes = mib;
  EXPECT_EQ(sram_bytes(application, m),
            3 * (2 * 2 + 2) * mib + (2 * 8 + 2) * mib + (2 * 2 + 1) * mib + (2 + 1 + 3) * mib + m.imem_bytes);
}

/// Two text encoders run on one block.
TEST(own_memories, of_two_text_encoders_are_one_block) {
  Machine m = find_preset("edge")->machine;
  m.text_encoder_vector_lanes = 64;
  m.text_encoder_psram_bytes = 1 << 20;
  Workload workload = tiny_sd(m);
  const double one = own_sum_of(area_of(compile(workload, m), m));
  workload.stages.insert(workload.stages.begin(), workload.stages.front());
  const Application two = compile(workload, m);
  EXPECT_EQ(std::ssize(own_blocks(two, m)), 1);
  EXPECT_EQ(own_sum_of(area_of(two, m)), one);
  const Report report = estimate(two, m);
  EXPECT_EQ(std::ranges::count_if(report.waiting_energy_j, [](const auto& part) { return part.first != "link"; }),
            3)
      << "cores, text encoder, decoder";
}

/// All energy of a frame is that of its layers and of what waits, whatever each core leaks.
TEST(own_memories, leak_by_their_area) {
  Machine m = streaming_images();
  m.vae_decoder_dsram_bytes = 16 << 20;
  m.text_encoder_conv_lanes_out = 1;
  const Report report = own_report_of(m);
  double joules = own_sum_of(report.waiting_energy_j);
  for (const StageReport& stage : report.stages) joules += total_of(stage.frame_energy.value);
  EXPECT_NEAR(joules, own_metric(report, Metric::energy_j_per_frame), 1e-9 * joules);
  const Application application = compile(tiny_sd(m), m);
  for (const CompiledStage& stage : application.stages) {
    const double as_cores = leaking_cores(stage, m);
    if (stage.role == Role::decoder)
      EXPECT_GT(as_cores, 2);
    else if (stage.role == Role::text_encoder)
      EXPECT_LT(as_cores, 1);
    else
      EXPECT_EQ(as_cores, 1);
  }
}

/// Only its stage is another: its bytes are never more in more room.
TEST(own_memories, of_more_room_move_no_more_bytes_of_their_stage_and_none_of_others) {
  Machine m = streaming_images();
  for (const OwnStage stage : own_stages) {
    const StageRow dsram = stage_rows(stage)[0];
    ASSERT_EQ(dsram.cores, &Machine::dsram_bytes);
    Report before;
    bool fell = false;
    for (std::int64_t kib = 2; kib <= 4096; kib = kib * 3 / 2) {
      Machine changed = m;
      changed.dsram_bytes = changed.psram_bytes = changed.stackram_bytes = 64 << 10;
      changed.*dsram.own = kib << 10;
      const Application application = compile(tiny_sd(changed), changed);
      if (!application.feasible) continue;
      const Report report = estimate(application, changed);
      for (const StageReport& now : report.stages) {
        if (before.stages.empty()) break;
        const StageReport& then = own_stage_of(before, now.role);
        const Bytes moved = now.dram_weights + now.dram_activations,
                    moved_then = then.dram_weights + then.dram_activations;
        if (now.role != role_of_own(stage)) {
          EXPECT_EQ(moved, moved_then) << now.name;
        } else {
          EXPECT_LE(moved, moved_then) << now.name << " of " << kib << " KiB";
          fell |= moved < moved_then;
        }
      }
      before = report;
    }
    EXPECT_TRUE(fell) << own_stage_text(stage);
  }
}

/// Each DSRAM of an operator has its own area; equal ones are as without sizes.
TEST(own_memories, of_operators_are_built_in_their_sizes) {
  Machine m = find_preset("edge")->machine;
  m.operator_dsram = OperatorDsram::per_operator;
  const Application application = compile(tiny_sd(m), m);
  const Report before = estimate(application, m);
  Machine equal = m;
  equal.conv2d_dsram_bytes = equal.softmax_dsram_bytes = m.dsram_bytes;
  const Report same = estimate(compile(tiny_sd(equal), equal), equal);
  EXPECT_NEAR(own_metric(same, Metric::area_mm2), own_metric(before, Metric::area_mm2), 1e-9);
  EXPECT_NEAR(own_metric(same, Metric::energy_j_per_frame), own_metric(before, Metric::energy_j_per_frame), 1e-9);
  EXPECT_EQ(own_metric(same, Metric::step_cycles), own_metric(before, Metric::step_cycles));
  Machine small = m;
  small.linear_dsram_bytes = small.transpose_dsram_bytes = m.dsram_bytes / 4;
  const Report less = estimate(compile(tiny_sd(small), small), small);
  const double cores = static_cast<double>(m.cores + 1);
  EXPECT_NEAR(
      own_block_of(before.area_mm2, "dsram") - own_block_of(less.area_mm2, "dsram"),
      cores * 2 * 2 *
          (memory_area(m, m.dsram_bytes, m.dsram_port_bits) - memory_area(m, m.dsram_bytes / 4, m.dsram_port_bits)),
      1e-9);
  const auto dsram = [](const Report& r) { return own_block_of(r.energy_j, "dsram"); };
  EXPECT_LT(dsram(less), dsram(before)) << "beats of smaller memories are cheaper";
}

}  // namespace
}  // namespace sdip
