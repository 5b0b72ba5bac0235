// Rules between parameters that a single row cannot say.
#include "core/base/error.h"
#include "core/machine/machine.h"
#include "core/machine/memory_stair.h"
#include "core/machine/rate.h"
#include "core/machine/scale_groups.h"
#include "core/machine/stage_rows.h"
#include "core/machine/technology.h"

namespace sdip {
namespace {

void require(bool holds, const char* where, const char* message) {
  if (!holds) throw Error("value_conflict", where, message);
}

constexpr const char* blocks_of_weights =
    "blocks that share a scale are of weights alone: expected a format of numbers that stand on their own";

void check_formats(const Machine& m) {
  require(!is_block_format(m.activation_format), "activation_format", blocks_of_weights);
  require(!is_block_format(m.accumulator_format), "accumulator_format", blocks_of_weights);
  if (scale_group_of(m) == 0) return;
  require(is_floating(m.accumulator_format), "accumulator_format",
          "partial sums of groups of weights are multiplied by their scales and added: expected a floating "
          "accumulator_format");
  require(m.sparsity != Sparsity::skipping, "sparsity",
          "weights that share a scale by groups stand in their places: expected sparsity=none or gating");
  require(
      m.accumulator_folds == 0, "accumulator_folds",
      "sums that stay in the array are of weights with one scale: expected scale_granularity=tensor or channel");
  require(m.in_memory_weights == InMemoryWeights::off, "in_memory_weights",
          "a weight memory adds all sums of a row at once: expected scale_granularity=tensor or channel");
}

void check_in_memory(const Machine& m) {
  constexpr const char* of_bits = "a weight memory multiplies bit by bit: expected integers or fixed point";
  require(!is_floating(m.weight_format), "weight_format", of_bits);
  require(!is_floating(m.activation_format), "activation_format", of_bits);
  require(m.sparsity != Sparsity::skipping, "sparsity",
          "a weight memory has a cell for every weight, zero or not: expected sparsity=none or gating");
  require(m.weight_compression.hundredths == 100, "weight_compression",
          "a weight memory holds weights as they are multiplied: expected weight_compression=1");
}

void check_held(const Machine& m) {
  require((m.accumulator_folds == 0) == (m.weight_registers == 0), "weight_registers",
          "a weight serves the row folds whose sums stay in the array: expected both accumulator_folds and "
          "weight_registers 0, or both at least 1");
  require(
      m.accumulator_folds == 0 || m.dataflow != Dataflow::input_stationary, "dataflow",
      "accumulators and weight registers hold sums and weights, not inputs: expected dataflow=output or weight, "
      "or accumulator_folds=0");
  require(
      m.attention_parts == 1 || m.granularity != Granularity::micro_operation, "attention_parts",
      "the one vector unit of micro-operations does softmax and what is fused to the scores in turn, not beside "
      "each other: expected attention_parts=1, or granularity=operator or tile");
}

void check_dies(const Machine& m) {
  if (m.dies == 1) return;
  require(m.memory_hierarchy == MemoryHierarchy::private_memories, "dies",
          "a crossbar or a common memory of all cores' stacks is on one die: expected memory_hierarchy=private, or "
          "dies=1");
  require(m.core_weights == CoreWeights::common, "dies",
          "one PSRAM feeds the cores of all dies: expected core_weights=common, or dies=1");
  require(m.branches == Branches::serial, "dies",
          "cores that share the branches of one frame are on one die: expected branches=serial, or dies=1");
  require(!is_fpga(m.technology_node), "dies", "a part of programmable logic is one die: expected dies=1");
  require(!m.host_memory, "dies", "a host's bus serves one die: expected host_memory=false, or dies=1");
}

void check_stair(const Machine& m, const std::string& row) {
  if (!m.memory_stair) return;
  const std::int64_t count = count_on_stair(m);
  if (count > most_on_stair)
    throw Error("value_conflict", row,
                "programs for " + std::to_string(count) +
                    " combinations of less memory are too many to compile: expected memories that have at most " +
                    std::to_string(most_on_stair) + ", or memory_stair=false");
}

void check_rows_of(OwnStage stage, const Machine& m) {
  if (!says_rows(m, stage)) return;
  const Machine its = with_rows_of(m, stage);
  const std::string name(own_stage_text(stage));
  if (its.psram_port_bits % 8 != 0 || its.dsram_port_bits % 8 != 0 || its.stackram_port_bits % 8 != 0)
    throw Error("value_conflict", name + "_psram_port_bits",
                "port widths: expected whole bytes (" + name + "_psram_port_bits, " + name + "_dsram_port_bits, " +
                    name + "_stackram_port_bits)");
  if (its.psram_pinned_bytes >= its.psram_bytes)
    throw Error("value_conflict", name + "_psram_bytes",
                "the pinned part must leave PSRAM some room to stream: expected more than psram_pinned_bytes");
  check_stair(its, name + "_dsram_bytes");
}

}  // namespace

void check_machine(const Machine& m) {
  require(
      m.encoder_dram_share.hundredths + m.decoder_dram_share.hundredths < 100, "decoder_dram_share",
      "encoder_dram_share + decoder_dram_share must leave the cores some of the channel: expected a sum below 1");
  check_formats(m);
  require(bits_of(m.accumulator_format) >= bits_of(m.activation_format), "accumulator_format",
          "partial sums narrower than activations: expected an accumulator at least as wide");
  require(m.dram_channel_bits % 8 == 0, "dram_channel_bits", "expected a whole number of bytes");
  require(m.psram_port_bits % 8 == 0 && m.dsram_port_bits % 8 == 0 && m.stackram_port_bits % 8 == 0,
          "psram_port_bits",
          "port widths: expected whole bytes (psram_port_bits, dsram_port_bits, stackram_port_bits)");
  require(m.psram_pinned_bytes < m.psram_bytes, "psram_pinned_bytes",
          "the pinned part must leave PSRAM some room to stream: expected less than psram_bytes");
  check_stair(m, "memory_stair");
  for (const OwnStage stage : own_stages) check_rows_of(stage, m);
  require((m.image_height_px == 0) == (m.image_width_px == 0), "image_width_px",
          "expected both image_height_px and image_width_px, or neither");
  require(m.norm_statistics == NormStatistics::own_pass || m.fusion == Fusion::norm, "norm_statistics",
          "sums from elsewhere are for norms fused into what reads them: expected fusion=norm");
  require(m.norm_statistics != NormStatistics::recompute || m.strips != Strips::off, "norm_statistics",
          "making a norm's operand twice is for strips: expected strips=halo_recompute or line_buffers");
  require(m.sparsity != Sparsity::dense || m.weight_density.hundredths == 100, "weight_density",
          "a density below 1 saves nothing unless sparsity is gating or skipping");
  require(m.sparsity != Sparsity::dense || m.activation_density.hundredths == 100, "activation_density",
          "a density below 1 saves nothing unless sparsity is gating or skipping");
  require(m.sparsity_group == 0 || m.sparsity != Sparsity::dense, "sparsity_group",
          "a pattern of weights that stay is of a machine that spares zeros: expected sparsity=gating or skipping");
  require(m.sparsity_group != 1, "sparsity_group",
          "a group of one weight leaves none out: expected 0 (weights anywhere) or at least 2");
  require(m.branches == Branches::serial || m.core_weights == CoreWeights::common, "branches",
          "cores that share the branches of one frame have no part of the network of their own: expected "
          "core_weights=common");
  require(
      m.memory_hierarchy != MemoryHierarchy::writable_psram || m.activation_memory == ActivationMemory::separate,
      "memory_hierarchy",
      "one activation memory has no stack of its own that PSRAM could hold: expected "
      "activation_memory=separate");
  require(m.composable_macs == ComposableMacs::off || !is_fpga(m.technology_node), "composable_macs",
          "DSP blocks of an FPGA part are multipliers of one width: expected composable_macs=off, or a node");
  if (m.in_memory_weights == InMemoryWeights::fefet) check_in_memory(m);
  check_held(m);
  check_dies(m);
  const bool overlaps = m.operator_dsram == OperatorDsram::per_operator;
  require(!overlaps || m.activation_memory == ActivationMemory::separate, "operator_dsram",
          "a DSRAM for each operator is not one memory for all: expected activation_memory=separate");
  require(!overlaps || m.granularity == Granularity::per_operator, "operator_dsram",
          "tiles of one operator are issued one after the other, not beside another's: expected "
          "granularity=operator");
}

}  // namespace sdip
