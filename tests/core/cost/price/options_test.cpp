// Does every parameter that the engine claims to model change something?
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "core/cost/price/estimate.h"
#include "tests/core/channel.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

Machine roomy() {
  Machine m;
  m.cores = 4;
  set_channel(m, 8, 25);
  return m;
}

/// Everything spills, waits, is packed, sparse and quantised; a host issues.
Machine cramped() {
  Machine m = roomy();
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.psram_bytes = 96 * 1024;
  m.dsram_bytes = 16 * 1024;
  m.stackram_bytes = 24 * 1024;
  m.sparsity = Sparsity::skipping;
  m.weight_density = Decimal{50};
  m.weight_compression = Decimal{200};
  m.decompressor_bytes_per_cycle = 1;
  m.sequencer = Sequencer::host;
  m.mode = Mode::image_to_image;
  m.dram_channel_bits = 64;
  return m;
}

/// What is stored in DRAM makes the encoder the slowest stage.
Machine slow_encoder() {
  Machine m = roomy();
  m.mode = Mode::image_to_image;
  m.encoder_dram_share = Decimal{1};
  m.steps = m.cores = 20;
  return m;
}

/// The U-Net's skips just fill STACKRAM.
Machine full_stack() {
  Machine m = roomy();
  m.stackram_bytes = 65536;
  return m;
}

/// All weights wired.
Machine in_rom() {
  Machine m = roomy();
  m.psram_bytes = 96 * 1024;
  m.weight_storage = WeightStorage::hard_coded;
  return m;
}

/// Products made where weights lie.
Machine in_fefet() {
  Machine m = roomy();
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.in_memory_weights = InMemoryWeights::fefet;
  return m;
}

/// Linear weights factored, norms and attention fused.
Machine fused() {
  Machine m = roomy();
  m.low_rank = LowRank::on;
  m.fusion = Fusion::pointwise;
  return m;
}

/// Attention in one instruction.
Machine attending() {
  Machine m = roomy();
  m.fused_attention = FusedAttention::on;
  return m;
}

/// What options of norms and of strips ask for.
Machine norms_fused() {
  Machine m = cramped();
  m.fusion = Fusion::norm;
  return m;
}

Machine in_strips() {
  Machine m = norms_fused();
  m.psram_bytes = 256 * 1024;
  m.strips = Strips::halo_recompute;
  return m;
}

/// IMEM holds the longest instruction and little more; softmax and norms are the host's.
Machine streaming_program() {
  Machine m = roomy();
  m.program_storage = ProgramStorage::streamed;
  m.imem_bytes = 2048;
  m.host_operators = HostOperators::softmax_and_norm;
  return m;
}

/// Tiles so small that their results' port, not DRAM, is what the reference machine waits for.
Machine in_small_tiles() {
  Machine m = roomy();
  m.dsram_bytes = 2048;
  return m;
}

/// Where the fewest cycles are not easily found.
Machine in_fast_tiles() {
  Machine m = in_small_tiles();
  m.stackram_bytes = 4096;
  m.tile_goal = TileGoal::cycles;
  return m;
}

/// Encoder and decoder are circuits.
Machine in_circuits() {
  Machine m = roomy();
  m.vae_stage = VaeStage::circuit;
  return m;
}

/// Each operator has DSRAMs of its own.
Machine beside() {
  Machine m = roomy();
  m.operator_dsram = OperatorDsram::per_operator;
  return m;
}

/// Its cores are on two dies.
Machine on_dies() {
  Machine m = roomy();
  m.dies = 2;
  return m;
}

Outcome outcome_of(const Machine& m) { return evaluate(compile(tiny_sd(m), m), m); }

/// Some options are for networks that are not diffusion: the same U-Net, one pass a frame.
Outcome outcome_of_network(Machine m) {
  m.guidance = Guidance::off;
  Workload workload;
  workload.stages.push_back(built_in_stage(Role::network, "tiny-sd-unet", m));
  return evaluate(compile(workload, m), m);
}

/// Infeasible on one machine and not on the other counts as a change.
bool differ(const Outcome& a, const Outcome& b) {
  if (a.feasible != b.feasible) return true;
  for (std::size_t i = 0; i < metric_count; ++i)
    if (a.values[i] != b.values[i] && !(std::isnan(a.values[i]) && std::isnan(b.values[i]))) return true;
  return false;
}

/// Where rows are changed; each outcome before any change is worked out once.
struct Base {
  Machine machine;
  std::optional<Outcome> pipeline, network;
};

bool acts(const ParameterRow& row, std::int64_t value) {
  static std::vector<Base> bases;
  if (bases.empty())
    for (const Machine& m : {roomy(), attending(), cramped(), slow_encoder(), full_stack(), in_rom(), in_fefet(),
                             fused(), norms_fused(), in_strips(), streaming_program(), in_small_tiles(),
                             in_fast_tiles(), in_circuits(), beside(), on_dies()})
      bases.push_back({m, {}, {}});
  for (Base& known : bases) {
    Base other{known.machine, {}, {}};
    const bool same = row.read(known.machine) == value;
    if (same) row.write(other.machine, value == row.least ? row.most : row.least);
    Base& base = same ? other : known;
    Machine changed = base.machine;
    row.write(changed, value);
    if (row.group == "workload" && row.unit == "px") changed.image_height_px = changed.image_width_px = value;
    if (!base.pipeline) base.pipeline = outcome_of(base.machine);
    if (differ(*base.pipeline, outcome_of(changed))) return true;
    if (!base.network) base.network = outcome_of_network(base.machine);
    if (differ(*base.network, outcome_of_network(changed))) return true;
  }
  return false;
}

TEST(options, every_choice_changes_a_metric_of_tiny_sd) {
  for (const ParameterRow& row : parameters()) {
    if (row.type != ParameterType::choice) continue;
    for (std::int64_t value = row.least; value <= row.most; ++value) {
      if (value == row.standard) continue;
      EXPECT_TRUE(acts(row, value)) << row.name << " = " << value_text(row, value);
    }
  }
}

TEST(options, every_number_and_flag_changes_a_metric_of_tiny_sd) {
  for (const ParameterRow& row : parameters()) {
    if (row.type == ParameterType::choice) continue;
    if (row.name == "memory_stair") continue;  // tiny-sd fits its lowest rung: memory_stair_test.cpp
    std::int64_t value = row.standard >= 2 && row.standard / 2 >= row.least ? row.standard / 2 : 2 * row.standard;
    if (row.type == ParameterType::flag) value = 1;
    if (row.standard == 0 && row.type == ParameterType::count) value = row.unit == "px" ? 128 : 65536;
    value = std::clamp(value, row.least, row.most);
    ASSERT_NE(value, row.standard) << row.name;
    EXPECT_TRUE(acts(row, value)) << row.name << " = " << value_text(row, value);
  }
}

}  // namespace
}  // namespace sdip
