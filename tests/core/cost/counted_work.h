// What an instruction comes to by docs/model/ alone: products, steps of lanes, conversions.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "core/exec/clock/operations.h"
#include "core/exec/walk/resolve.h"
#include "tests/core/cost/counted_frame.h"
#include "tests/core/cost/price/counted_technology.h"

namespace sdip::counting {

inline bool in_place(const Machine& m, Role role) { return exec::weights_wired(m, role); }
inline bool vae(Role role) { return role == Role::encoder || role == Role::decoder; }
inline bool left_out(const Machine& m, Role role) { return vae(role) && m.vae_stage == VaeStage::off_chip; }
inline bool micro(const Machine& m) { return m.granularity == Granularity::micro_operation; }
inline bool one_array(const Machine& m) { return micro(m) || m.mac_sharing == MacSharing::shared; }
inline bool crossed(const Machine& m) { return m.memory_hierarchy == MemoryHierarchy::crossbar; }
inline bool stack_in_psram(const Machine& m) { return m.memory_hierarchy == MemoryHierarchy::writable_psram; }
inline double real(std::int64_t n) { return static_cast<double>(n); }

inline bool in_memory(const InstructionClass& c, const Machine& m, Role role) {
  return exec::weights_multiply(m, role) && c.operand_b == Place::psram && c.work.family <= Family::matmul;
}

/// Parts of an activation's bits that a weight memory takes one after the other, and cycles of a row.
inline std::int64_t input_parts(const Machine& m) {
  return (bits_of(m.activation_format) + m.fefet_input_bits - 1) / m.fefet_input_bits;
}
inline std::int64_t rows_in_memory(const InstructionClass& c) {
  const LoopNest& n = c.work.nest;
  return n.groups * n.batch * n.out_h * n.out_w;
}

/// Conversions: for each row and output channel each bit of weights, each part of inputs and each array of 128 sums
/// of each tile.
inline double conversions_of(const InstructionClass& c, const Machine& m) {
  const LoopNest& n = c.work.nest;
  std::int64_t arrays = 0;
  for (std::int64_t sum = 0; sum < n.in_channels; sum += std::max<std::int64_t>(1, c.mapping.tile_sums)) {
    const std::int64_t sums = std::min(c.mapping.tile_sums, n.in_channels - sum) * n.kernel_h * n.kernel_w;
    arrays += (sums + 127) / 128;
  }
  return real(rows_in_memory(c) * n.out_channels * bits_of(m.weight_format) * input_parts(m)) * real(arrays);
}

/// How many of so many consecutive weights stay, counted one after the other.
inline std::int64_t grouped(std::int64_t sums, const Machine& m) {
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < sums; ++i)
    kept += i % m.sparsity_group * 100 < m.sparsity_group * m.weight_density.hundredths ? 1 : 0;
  return kept;
}

/// MACs of a class, of one core's part, and of them those that are not skipped as zeros.
inline std::int64_t macs_of(const InstructionClass& c, const Machine& m, bool skipping) {
  const LoopNest& n = c.work.nest;
  if (c.work.family != Family::conv2d && c.work.family != Family::linear && c.work.family != Family::matmul)
    return 0;
  const std::int64_t results = n.groups * n.batch * n.out_channels * n.out_h * n.out_w;
  if (c.compound == Compound::attention) return results * (n.in_channels + c.parts[2].work.nest.out_channels);
  const std::int64_t sum = n.in_channels * n.kernel_h * n.kernel_w;
  const bool skips = skipping && m.sparsity == Sparsity::skipping && c.operand_b == Place::psram;
  if (skips && m.sparsity_group > 0) return results * n.kernel_h * n.kernel_w * grouped(n.in_channels, m);
  return results * (skips ? (sum * m.weight_density.hundredths + 99) / 100 : sum);
}

/// The same in cycles of one MAC, several products in each.
inline std::int64_t mac_cycles_of(const InstructionClass& c, const Machine& m) {
  const std::int64_t beside = exec::multipliers_found(c, m);
  return (macs_of(c, m, true) + beside - 1) / beside;
}

/// The share of products whose operands are not zero: weights by their density, activations by theirs.
inline double spent_share(const Machine& m, bool weights) {
  const double activations = real(m.activation_density.hundredths) / 100;
  if (!weights) return activations * activations;
  if (m.sparsity == Sparsity::dense) return 1;
  const double group = real(m.sparsity_group);
  return activations *
         (m.sparsity_group > 0 ? real(grouped(m.sparsity_group, m)) / group : m.weight_density.value());
}

/// Elementwise steps: elements by passes, results by fused operators and by passes that sum them.
inline std::int64_t lane_steps(const InstructionClass& c, const Machine& m) {
  if (c.compound == Compound::attention) {
    const LoopNest& n = c.work.nest;
    const std::int64_t scores = n.groups * n.out_h * n.out_channels;
    const std::int64_t results = n.groups * n.out_h * c.parts[2].work.nest.out_channels;
    const std::int64_t key_tiles = (n.out_channels + c.mapping.tile_channels - 1) / c.mapping.tile_channels;
    return (2 + c.fused_operators) * scores + results * (key_tiles > 1 ? 1 + key_tiles : 1);
  }
  if (exec::host_computes(c, m)) return 0;
  std::int64_t steps = 0;
  const bool nest = c.work.family <= Family::matmul;
  for (const exec::Operation& o : exec::expand(c, m)) steps += o.lane_operations;
  if (nest) return steps;
  return c.work.rows * c.work.row_length * c.work.passes * c.work.element_cycles +
         (c.fused_operators + c.statistics_passes) * c.out_elements;
}

/// Partial sums of groups of weights, each by its scale.
inline std::int64_t scalings_of(const InstructionClass& c, const Machine& m) {
  std::int64_t scalings = 0;
  if (c.work.family <= Family::matmul && c.compound != Compound::attention)
    for (const exec::Operation& o : exec::expand(c, m)) scalings += o.scalings;
  return scalings;
}

inline void add(Joules8& sum, const Joules8& more, double times = 1) {
  for (const auto& [part, joules] : more) sum[part] += joules * times;
}
inline double all_of(const Joules8& sum) {
  double joules = 0;
  for (const auto& part : sum) joules += part.second;
  return joules;
}

}  // namespace sdip::counting
