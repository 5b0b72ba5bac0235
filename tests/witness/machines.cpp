// Machines with every row of parameters.def drawn.
#include <algorithm>

#include "core/base/error.h"
#include "core/machine/scale_groups.h"
#include "core/machine/stage_rows.h"
#include "core/machine/technology.h"
#include "tests/witness/cases.h"

namespace sdip::witness {

std::int64_t drawn_value(Dice& dice, const ParameterRow& row, const ValidationCase& one) {
  if (row.type == ParameterType::flag) return dice.between(0, 1);
  if (row.type != ParameterType::choice)
    return dice.one_in(5) ? row.standard : one.unit * dice.between(one.least, one.most);
  return dice.between(0, std::ssize(row.choices) - 1);
}

bool is_possible(const Machine& machine) {
  if (is_fpga(machine.technology_node)) return false;
  try {
    check_machine(machine);
  } catch (const Error&) {
    return false;
  }
  return true;
}

namespace {

/// Sums and weights that arrays keep, and parts of an attention.
void reconcile_held(Machine& m, std::string_view kept) {
  if (kept == "accumulator_folds" && m.weight_registers == 0) m.weight_registers = 2;
  if (kept == "weight_registers" && m.accumulator_folds == 0) m.accumulator_folds = 2;
  const bool keeps = m.accumulator_folds > 0 && m.weight_registers > 0;
  if (!keeps || (m.dataflow == Dataflow::input_stationary && kept == "dataflow"))
    m.accumulator_folds = m.weight_registers = 0;
  else if (m.dataflow == Dataflow::input_stationary)
    m.dataflow = Dataflow::weight_stationary;
  if (m.accumulator_folds > 0 && scale_group_of(m) > 0) {
    if (kept == "scale_granularity" || kept == "weight_format") {
      m.accumulator_folds = m.weight_registers = 0;
    } else {
      if (is_block_format(m.weight_format)) m.weight_format = NumberFormat::int8;
      if (scale_group_of(m) > 0) m.scale_granularity = ScaleGranularity::channel;
    }
  }
  if (m.attention_parts > 1 && m.granularity == Granularity::micro_operation) {
    if (kept == "attention_parts")
      m.granularity = Granularity::per_tile;
    else
      m.attention_parts = 1;
  }
}

/// Blocks are of weights alone; weights that share scales by groups are summed in floats, and none is skipped.
void reconcile_groups(Machine& m, std::string_view kept) {
  for (NumberFormat* format : {&m.activation_format, &m.accumulator_format})
    if (is_block_format(*format))
      *format = static_cast<NumberFormat>(static_cast<std::size_t>(*format) - plain_format_count);
  const auto no_groups = [&] {
    if (is_block_format(m.weight_format)) m.weight_format = NumberFormat::int8;
    if (scale_group_of(m) > 0) m.scale_granularity = ScaleGranularity::channel;
  };
  if (m.in_memory_weights == InMemoryWeights::fefet) {
    if (kept == "scale_granularity" || kept == "weight_format")
      m.in_memory_weights = scale_group_of(m) > 0 ? InMemoryWeights::off : m.in_memory_weights;
    else
      no_groups();
  }
  if (scale_group_of(m) == 0) return;
  const bool floats = number_formats[static_cast<std::size_t>(m.accumulator_format)].floating;
  const bool skips = m.sparsity == Sparsity::skipping;
  if ((kept == "accumulator_format" && !floats) || (kept == "sparsity" && skips)) return no_groups();
  if (!floats) m.accumulator_format = NumberFormat::fp32;
  if (skips) m.sparsity = Sparsity::gating;
}

/// Zeros that are spared, and weights that a memory multiplies by.
void reconcile_zeros(Machine& m, std::string_view kept) {
  if (m.sparsity == Sparsity::dense) {
    if (kept == "weight_density" || kept == "sparsity_group" || kept == "activation_density") {
      m.sparsity = scale_group_of(m) > 0 ? Sparsity::gating : Sparsity::skipping;
    } else {
      m.weight_density = m.activation_density = Decimal{100};
      m.sparsity_group = 0;
    }
  }
  if (m.in_memory_weights == InMemoryWeights::fefet) {
    const auto whole = [](NumberFormat& format) {
      if (number_formats[static_cast<std::size_t>(format)].floating)
        format = bits_of(format) > 8 ? NumberFormat::int16 : NumberFormat::int8;
    };
    whole(m.weight_format);
    whole(m.activation_format);
    if (scale_group_of(m) > 0) m.scale_granularity = ScaleGranularity::channel;
    m.weight_compression = Decimal{100};
    if (m.sparsity == Sparsity::skipping) m.sparsity = Sparsity::gating;
  }
}

void reconcile_dies(Machine& m, std::string_view kept) {
  if (m.dies == 1) return;
  const bool others = kept.empty() && m.die_link_bits % 3 != 0;  // or they would hardly be drawn
  if (others || kept == "memory_hierarchy" || kept == "branches" || kept == "core_weights" ||
      kept == "host_memory") {
    m.dies = 1;
    return;
  }
  m.memory_hierarchy = MemoryHierarchy::private_memories;
  m.branches = Branches::serial;
  m.core_weights = CoreWeights::common;
  m.host_memory = false;
}

}  // namespace

void reconcile(Machine& m, std::string_view kept) {
  reconcile_groups(m, kept);
  // A part of FPGA holds few of these machines: its node stands for it.
  if (is_fpga(m.technology_node)) m.technology_node = TechnologyNode::n28;
  if (m.operator_dsram == OperatorDsram::per_operator) {
    if (kept == "activation_memory" || kept == "granularity") {
      m.operator_dsram = OperatorDsram::common;
    } else {
      m.activation_memory = ActivationMemory::separate;
      m.granularity = Granularity::per_operator;
    }
  }
  if (m.memory_hierarchy == MemoryHierarchy::writable_psram && m.activation_memory == ActivationMemory::unified) {
    if (kept == "activation_memory")
      m.memory_hierarchy = MemoryHierarchy::private_memories;
    else
      m.activation_memory = ActivationMemory::separate;
  }
  reconcile_held(m, kept);
  if (m.fusion != Fusion::norm) {
    if (kept == "norm_statistics")
      m.fusion = Fusion::norm;
    else
      m.norm_statistics = NormStatistics::own_pass;
  }
  if (m.strips == Strips::off && m.norm_statistics == NormStatistics::recompute) {
    if (kept == "norm_statistics")
      m.strips = Strips::halo_recompute;
    else
      m.norm_statistics = NormStatistics::producer;
  }
  reconcile_zeros(m, kept);
  if (m.branches != Branches::serial && m.core_weights == CoreWeights::per_core) {
    if (kept == "core_weights")
      m.branches = Branches::serial;
    else
      m.core_weights = CoreWeights::common;
  }
  reconcile_dies(m, kept);
  if ((m.image_height_px == 0) != (m.image_width_px == 0)) {
    if (m.image_height_px == 0)
      m.image_height_px = m.image_width_px;
    else
      m.image_width_px = m.image_height_px;
  }
  if (bits_of(m.accumulator_format) < bits_of(m.activation_format)) {
    if (kept == "accumulator_format")
      m.activation_format = m.accumulator_format;
    else
      m.accumulator_format =
          bits_of(m.activation_format) == 16 && scale_group_of(m) == 0 ? NumberFormat::q15_16 : NumberFormat::fp32;
  }
}

Machine drawn_machine(Dice& dice) {
  Machine m;
  for (const ParameterRow& row : parameters()) {
    const ValidationCase* one = find_case(row.name);
    const bool sized =
        row.name.ends_with("psram_bytes") || row.name == "psram_pinned_bytes" || row.name == "imem_bytes";
    const bool counted = one != nullptr && one->proof != Proof::price;  // no counter depends on the others
    if (!counted || sized) continue;
    row.write(m, drawn_value(dice, row, *one));
  }
  if (dice.one_in(2)) m = without_stage_rows(m);
  if (!dice.one_in(3)) m.host_memory = false;
  if (dice.one_in(2)) m.weight_storage = WeightStorage::streamed;
  if (dice.one_in(3)) m.vae_stage = VaeStage::core;
  if (bits_of(m.activation_format) == 4 && dice.one_in(2))
    m.accumulator_format = dice.one_of({NumberFormat::int4, NumberFormat::uint4});  // nothing else is as narrow
  if (dice.one_in(3)) m.operator_dsram = OperatorDsram::common;
  if (!dice.one_in(5)) m.in_memory_weights = InMemoryWeights::off;
  if (dice.one_in(2)) m.accumulator_folds = m.weight_registers = 0;
  if (dice.one_in(2)) m.sparsity_group = 0;
  if (!dice.one_in(3)) reconcile_groups(m, "sparsity");  // most skip weights as often as others do
  reconcile(m);
  check(is_possible(m), "a drawn machine is none");
  return m;
}

}  // namespace sdip::witness
