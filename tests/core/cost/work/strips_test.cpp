// What strips bring: traffic of a chain without norms, and of the VAE decoder, with 8 MiB of SRAM in int8.
#include <gtest/gtest.h>

#include "core/cost/price/estimate.h"
#include "core/onnx/import.h"
#include "core/program/tiling/strips.h"
#include "tests/core/cost/tiny_sd.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

struct DramAndMacs {
  std::int64_t dram_bytes = 0, macs = 0;
};

DramAndMacs dram_and_macs(const Application& application, const Machine& machine) {
  EXPECT_TRUE(application.feasible) << application.reason;
  const Report report = estimate(application, machine);
  const StageReport& stage = report.stages.at(0);
  return {(stage.dram_weights + stage.dram_activations).value, stage.macs.value};
}

/// 8 MiB in all: 5 of weights, so that the largest convolution's lie there twice, and 1.5 on each side.
Machine eight_mib() {
  Machine m = find_preset("edge")->machine;
  m.psram_bytes = 5 * 1024 * 1024;
  m.dsram_bytes = 3 * 512 * 1024;
  m.stackram_bytes = 0;
  m.fusion = Fusion::no_fusion;
  return m;
}

/// Convolutions 3 x 3 of 64 channels on 256 x 256 values, one behind the other.
onnx::ModelProto convolutions(int count) {
  onnx::ModelProto model = model_of_x({1, 64, 256, 256});
  add_weight(model, "w", {64, 64, 3, 3});
  std::string x = "x";
  for (int i = 0; i < count; ++i) {
    const std::string y = "y" + std::to_string(i);
    set_ints(add_node(model, "Conv", {x, "w"}, y), "pads", {1, 1, 1, 1});
    x = y;
  }
  add_output(model, x);
  return model;
}

TEST(strips, bring_four_times_on_four_convolutions_at_one_resolution) {
  Machine m = eight_mib();
  for (const int count : {4, 8}) {
    m.strips = Strips::off;
    const onnx::ModelProto model = convolutions(count);
    const DramAndMacs without = dram_and_macs(compiled(model, m), m);
    m.strips = Strips::halo_recompute;
    const DramAndMacs again = dram_and_macs(compiled(model, m), m);
    m.strips = Strips::line_buffers;
    const DramAndMacs kept = dram_and_macs(compiled(model, m), m);
    std::cout << count << " convolutions: " << without.dram_bytes << " B; halo_recompute " << again.dram_bytes
              << " B, MACs x " << static_cast<double>(again.macs) / static_cast<double>(without.macs)
              << "; line_buffers " << kept.dram_bytes << " B\n";
    EXPECT_GE(without.dram_bytes, count * kept.dram_bytes);
    EXPECT_EQ(kept.macs, without.macs);
    EXPECT_GE(without.dram_bytes, (count == 4 ? 3 : 4) * again.dram_bytes) << "halo rows come in again";
    EXPECT_GT(again.macs, without.macs);
  }
}

TEST(strips, that_stream_weights_move_what_the_compiler_counts_and_less_than_no_strips) {
  Machine m = eight_mib();
  m.dram_burst_bytes = 1;
  m.psram_bytes = 120 * 1000;  // of 4 x 64 x 64 x 9
  m.strips = Strips::line_buffers;
  const Application application = compiled(convolutions(4), m);
  const DramAndMacs streaming = dram_and_macs(application, m);
  const InstructionClass& c = application.stages[0].program.classes.at(0);
  ASSERT_EQ(application.stages[0].program.instructions.size(), 1U);
  EXPECT_GT(c.parts[0].streamed_channels, 0);
  TileRoom room = machine_room(m, WeightPlace::psram);
  EXPECT_EQ(streaming.dram_bytes, strip_dram_bytes(c, room));
  m.strips = Strips::off;
  EXPECT_LT(streaming.dram_bytes, dram_and_macs(compiled(convolutions(4), m), m).dram_bytes);
}

TEST(strips, of_the_vae_decoder_stream_weights_on_the_edge_preset_and_move_fewer_bytes_than_chains_that_fit) {
  Machine m = find_preset("edge")->machine;
  m.fusion = Fusion::norm;
  m.norm_statistics = NormStatistics::producer;
  m.fused_attention = FusedAttention::on;
  m.strips = Strips::line_buffers;
  Workload workload;
  workload.stages.push_back(built_in_stage(Role::decoder, "sd15-vae-decoder", m));
  const Application application = compile(workload, m);
  const DramAndMacs streaming = dram_and_macs(application, m);
  std::int64_t chains = 0;
  for (const InstructionClass& c : application.stages[0].program.classes)
    chains += !strip_operations(c).empty() && c.compound == Compound::strips;
  EXPECT_GT(chains, 0);
  EXPECT_LT(streaming.dram_bytes, 1'500'000'000)
      << "1,610 MB when only chains whose weights fit are carried in strips";
}

TEST(strips, the_vae_decoder_moves_at_most_0_45_with_norms_fused_and_less_in_strips) {
  Machine m = eight_mib();
  const auto run = [&](const char* what) {
    Workload workload;
    workload.stages.push_back(built_in_stage(Role::decoder, "sd15-vae-decoder", m));
    const DramAndMacs result = dram_and_macs(compile(workload, m), m);
    std::cout << what << ": " << result.dram_bytes << " B, " << result.macs << " MACs\n";
    return result;
  };
  const DramAndMacs one_each = run("(a) one operation a node");
  m.fusion = Fusion::norm;
  m.norm_statistics = NormStatistics::producer;
  const DramAndMacs norms = run("(b) norms and activations in the convolutions");
  EXPECT_LE(norms.dram_bytes * 100, one_each.dram_bytes * 45);
  EXPECT_EQ(norms.macs, one_each.macs);
  m.strips = Strips::halo_recompute;
  const DramAndMacs again = run("(c) strips, halo_recompute");
  EXPECT_LT(again.dram_bytes, norms.dram_bytes);
  EXPECT_GT(again.macs, norms.macs);
  m.strips = Strips::line_buffers;
  const DramAndMacs kept = run("(c) strips, line_buffers");
  EXPECT_LT(kept.dram_bytes, norms.dram_bytes);
  m.norm_statistics = NormStatistics::recompute;
  const DramAndMacs twice = run("(c) strips, line_buffers, norm_statistics=recompute");
  EXPECT_LE(twice.dram_bytes, kept.dram_bytes);
  EXPECT_GE(twice.macs, kept.macs);
}

}  // namespace
}  // namespace sdip
