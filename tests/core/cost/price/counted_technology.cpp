// Area, wires and leakage of an application on a machine, from docs/model/energy.md and area.md alone.
#include "tests/core/cost/price/counted_technology.h"

#include "tests/core/cost/price/counted_dies.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "core/exec/clock/board.h"
#include "core/exec/clock/operations.h"
#include "core/exec/walk/resolve.h"
#include "core/machine/dram.h"
#include "core/machine/scale_groups.h"
#include "core/machine/technology.h"

namespace sdip {
namespace {

double row_of(const std::string& name) {
  return std::ranges::find(technology_rows(), name, &TechnologyRow::name)->value;
}
double row_of(const Machine& m, const std::string& name) {
  const ParameterRow& node = *find_parameter("technology_node");
  return row_of(value_text(node, node.read(m)) + name);
}

bool vae(Role role) { return role == Role::encoder || role == Role::decoder; }
bool left_out(const Machine& m, Role role) { return vae(role) && m.vae_stage == VaeStage::off_chip; }
bool holds_stacks(const Machine& m) { return m.memory_hierarchy == MemoryHierarchy::writable_psram; }
double real(std::int64_t n) { return static_cast<double>(n); }

/// mm2 per MiB, for bytes and for what the port bits of every bank take beside them.
double memory_mm2(const Machine& m, std::int64_t bytes, std::int64_t port_bits) {
  if (bytes <= 0) return 0;
  const double cells = row_of("sram.port_cells") * real(m.sram_banks * port_bits);
  return row_of(m, ".sram.area") * (real(8 * bytes) + cells) / (8 << 20) * m.sram_floor_plan_factor.value();
}

/// Sizes of the DSRAM pairs of a core.
std::vector<std::int64_t> pairs_of(const Machine& m) {
  if (m.operator_dsram != OperatorDsram::per_operator) return {m.dsram_bytes};
  std::vector<std::int64_t> sizes;
  for (int family = 0; family < 7; ++family) sizes.push_back(counted_pair_bytes(m, static_cast<Family>(family)));
  return sizes;
}

/// Whether any row of the group is set.
bool says_any(const Machine& m, std::string_view group) {
  return std::ranges::any_of(parameters(),
                             [&](const ParameterRow& row) { return row.group == group && row.read(m) != 0; });
}

/// Area of logic as a share of 45 nm's.
double logic_area(const Machine& m) {
  if (m.technology_node == TechnologyNode::n45) return 1;
  if (m.technology_node == TechnologyNode::n5)
    return row_of("n7.logic_area.over_n45") * row_of("n5.logic_area.over_n7");
  return row_of(m, ".logic_area.over_n45");
}

/// Lanes and memories of one core.
std::map<std::string, double> core_blocks(const Machine& m) {
  const bool micro = m.granularity == Granularity::micro_operation;
  const bool one_array = micro || m.mac_sharing == MacSharing::shared;
  const NumberFormat wider = wider_format(m.activation_format, m.weight_format);
  // One array for all meets activations where weights come in, too.
  const MacFormats weighted{one_array ? wider : m.weight_format, m.activation_format, m.accumulator_format};
  const MacFormats others{m.activation_format, m.activation_format, m.accumulator_format};
  const MacFormats steps{m.activation_format, m.activation_format, m.activation_format};
  const auto placed = [&](const MacFormats& formats, double splits) {
    const std::int64_t bits =
        std::max(bits_of(formats.weights), bits_of(formats.activations)) + bits_of(formats.sums);
    const double registers =
        row_of("n45.register.area") / 1e6 * real((m.pipeline_stages - 1) * bits) * logic_area(m);
    return (mac_area(m.technology_node, formats).value * splits + registers) * m.mac_floor_plan_factor.value();
  };
  const double lane = placed(steps, 1);
  const bool hosts = m.host_operators != HostOperators::no_operators;
  const bool softmax = !micro && (!hosts || m.fused_attention == FusedAttention::on);
  const bool norm = !micro && (m.host_operators != HostOperators::softmax_and_norm || m.fusion == Fusion::norm ||
                               m.fused_chains == FusedChains::on);
  std::map<std::string, double> mm2;
  const double mac = placed(weighted, composable_ratio(m, wider, "area"));
  const std::int64_t group = scales_by_shifts(m.weight_format) ? 0 : exec::group_length(m);
  const auto scalers = [&](std::int64_t results, std::int64_t along_sums) {
    const std::int64_t groups = group == 0 ? 0 : std::max<std::int64_t>(1, along_sums / group);
    return placed({m.accumulator_format, m.accumulator_format, m.accumulator_format}, 1) * real(results * groups);
  };
  mm2["conv2d"] = mac * real(m.conv_lanes_in * m.conv_lanes_out * m.conv_lanes_pixel) +
                  scalers(m.conv_lanes_out * m.conv_lanes_pixel, m.conv_lanes_in);
  mm2["linear"] = one_array ? 0
                            : mac * real(m.linear_lanes_m * m.linear_lanes_n * m.linear_lanes_k) +
                                  scalers(m.linear_lanes_m * m.linear_lanes_n, m.linear_lanes_k);
  mm2["matmul"] = one_array ? 0
                            : placed(others, composable_ratio(m, m.activation_format, "area")) *
                                  real(m.matmul_lanes_m * m.matmul_lanes_n * m.matmul_lanes_k);
  // Flip-flops: a fold's results are rows by channels, a fold's weights channels by sums.
  const double bit_mm2 = counted_flop(m.technology_node, "area") * 1e-6;
  const auto held = [&](std::int64_t rows, std::int64_t channels, std::int64_t sums, std::int64_t bits) {
    return bit_mm2 * (real(m.accumulator_folds * bits_of(m.accumulator_format)) * real(rows * channels) +
                      real(m.weight_registers * bits) * real(channels * sums));
  };
  const std::int64_t wide = bits_of(wider);
  mm2["conv2d"] += held(m.conv_lanes_pixel, m.conv_lanes_out, m.conv_lanes_in, wide);
  if (!one_array) mm2["linear"] += held(m.linear_lanes_m, m.linear_lanes_n, m.linear_lanes_k, wide);
  if (!one_array)
    mm2["matmul"] += held(m.matmul_lanes_m, m.matmul_lanes_n, m.matmul_lanes_k, bits_of(m.activation_format));
  mm2["vector"] = lane * real(m.vector_lanes);
  mm2["softmax"] = softmax ? lane * real(m.softmax_lanes) : 0;
  mm2["norm"] = norm ? lane * real(m.norm_lanes) : 0;
  for (const std::int64_t bytes : pairs_of(m)) mm2["dsram"] += 2 * memory_mm2(m, bytes, m.dsram_port_bits);
  mm2["stackram"] = holds_stacks(m) ? 0 : memory_mm2(m, m.stackram_bytes, m.stackram_port_bits);
  return mm2;
}

/// Those of the core or circuit that a stage runs on. The machine is that of the stage.
std::map<std::string, double> stage_blocks(const CompiledStage& stage, const Machine& m) {
  std::map<std::string, double> mm2 = core_blocks(m);
  for (const Family family :
       {Family::conv2d, Family::linear, Family::matmul, Family::vector, Family::softmax, Family::norm})
    if (!has_circuit(stage, family, m)) mm2[std::string(family_text(family))] = 0;
  return mm2;
}

double lanes_of(const std::map<std::string, double>& blocks) {
  double sum = 0;
  for (const char* block : {"conv2d", "linear", "matmul", "vector", "softmax", "norm"}) sum += blocks.at(block);
  return sum;
}

double sum_of(const std::map<std::string, double>& blocks) {
  double sum = 0;
  for (const auto& block : blocks) sum += block.second;
  return sum;
}

/// Cells of every copy, and converters of their columns: arrays of 128 x 128 cells of a bit.
double fefet_arrays(const CompiledStage& s, const Machine& m) {
  const bool frames = s.role == Role::network && s.part.count <= 1 && m.branches == Branches::serial;
  const std::int64_t copies = s.role == Role::core || frames ? m.cores : 1;
  const std::int64_t bits = 8 * s.program.stored_weight_bytes.value, columns = (bits + 16383) / 16384 * 128;
  const std::int64_t converters = (columns + m.fefet_columns_per_converter - 1) / m.fefet_columns_per_converter;
  const double levels = std::exp2(real(std::min(m.fefet_input_bits, bits_of(m.activation_format)) - 1));
  const double cells = row_of(m, ".sram.area") / (8 << 20) * row_of("fefet.cell.over_sram") * real(bits) *
                       m.sram_floor_plan_factor.value();
  return real(copies) * (cells + real(converters) * levels * row_of("fefet.converter") / 1e6);
}

double control(const Machine& m) {
  const double ratio = row_of("control.over_datapath");
  return m.sequencer == Sequencer::distributed ? ratio * row_of("control.distributed.over_central") : ratio;
}

}  // namespace

double composable_ratio(const Machine& m, NumberFormat format, const std::string& what) {
  if (m.composable_macs == ComposableMacs::off) return 1;
  const bool floats = number_formats[static_cast<std::size_t>(format)].floating;
  return row_of((floats ? "composable.float." : "composable.integer.") + what);
}
double counted_row(const std::string& name) { return row_of(name); }

double counted_flop(TechnologyNode node, const std::string& what) {
  const auto over = [&](const std::string& of, const std::string& under) {
    return row_of(of + ".logic_" + what + ".over_" + under);
  };
  const double n45 = row_of("n45.register." + what);
  if (node == TechnologyNode::n45) return n45;
  if (node == TechnologyNode::n5) return n45 * over("n7", "n45") * over("n5", "n7");
  const ParameterRow& names = *find_parameter("technology_node");
  return n45 * over(value_text(names, static_cast<std::int64_t>(node)), "n45");
}

bool has_circuit(const CompiledStage& stage, Family family, const Machine& m) {
  if (!is_circuit(m, stage.role)) return true;
  const bool micro = m.granularity == Granularity::micro_operation;
  const auto used = [&](std::initializer_list<std::size_t> circuits) {
    for (const InstructionClass& c : stage.program.classes)
      for (const std::size_t circuit : circuits)
        if ((exec::uses_of(c, {}, m) >> circuit & 1) != 0) return true;
    return false;
  };
  constexpr std::size_t all_products = pair_families;  // behind the families' own, as the board numbers them
  const auto its = [](Family one) { return static_cast<std::size_t>(one); };
  if (family == Family::conv2d && (micro || m.mac_sharing == MacSharing::shared))
    return used({its(Family::conv2d), its(Family::linear), its(Family::matmul), all_products});
  if (family == Family::vector && micro)
    return used({its(Family::vector), its(Family::softmax), its(Family::norm), its(Family::transpose)});
  return used({its(family)});
}

std::int64_t counted_pair_bytes(const Machine& m, Family family) {
  const std::string name = std::string(family_text(family)) + "_dsram_bytes";
  const std::int64_t own = m.operator_dsram == OperatorDsram::per_operator ? find_parameter(name)->read(m) : 0;
  return own != 0 ? own : m.dsram_bytes;
}

bool counted_own_rows(const Machine& m, Role role) {
  if (role == Role::text_encoder) return says_any(m, "text_encoder");
  if (!vae(role) || left_out(m, role)) return false;
  return says_any(m, role == Role::encoder ? "vae_encoder" : "vae_decoder");
}

std::vector<CountedBlock> counted_blocks(const Application& application, const Machine& m) {
  std::vector<CountedBlock> blocks{{nullptr, m, m.cores}};
  for (const CompiledStage& s : application.stages) {
    const bool own = counted_own_rows(m, s.role);
    if (vae(s.role) && !left_out(m, s.role)) blocks.push_back({&s, machine_of_stage(m, s.role), 1});
    const bool first = std::ranges::none_of(
        blocks, [](const CountedBlock& b) { return b.stage != nullptr && b.stage->role == Role::text_encoder; });
    if (s.role == Role::text_encoder && own && first) blocks.push_back({&s, machine_of_stage(m, s.role), 1});
  }
  return blocks;
}

double counted_leaking_cores(const Application& application, const Machine& m, const CompiledStage* stage) {
  double all = 0, its = 1;
  for (const CountedBlock& block : counted_blocks(application, m)) {
    const bool own = block.stage != nullptr && counted_own_rows(m, block.stage->role);
    const double cores =
        own ? sum_of(stage_blocks(*block.stage, block.machine)) / sum_of(core_blocks(m)) : real(block.copies);
    all += cores;
    const bool text = own && block.stage->role == Role::text_encoder;
    if (own && stage != nullptr && (block.stage == stage || (text && stage->role == Role::text_encoder)))
      its = cores;
  }
  return stage == nullptr ? all : its;
}

namespace {

/// Bytes and port of each PSRAM.
std::vector<std::pair<std::int64_t, std::int64_t>> psrams_of(const Application& application, const Machine& m) {
  const auto own_text = [&](Role role) {
    return role == Role::text_encoder && (m.text_encoder_psram_bytes != 0 || m.text_encoder_psram_port_bits != 0 ||
                                          (holds_stacks(m) && counted_own_rows(m, role)));
  };
  std::int64_t parts = 0;
  bool cores_stream = !exec::weights_wired(m, Role::core);
  for (const CompiledStage& s : application.stages) {
    parts += s.part.count > 1;
    if (!vae(s.role) && !own_text(s.role) && !exec::weights_wired(m, s.role)) cores_stream = true;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  const auto add = [&](const Machine& its, bool weights, std::int64_t stacks) {
    const std::int64_t stack = holds_stacks(m) ? stacks * its.stackram_bytes : 0;
    all.emplace_back((weights ? its.psram_bytes : 0) + stack, its.psram_port_bits);
  };
  if (parts == 0) add(m, cores_stream, m.cores);
  for (std::int64_t part = 0; part < parts; ++part) add(m, cores_stream, 1);
  for (std::int64_t core = parts; parts > 0 && core < m.cores; ++core) add(m, false, 1);
  for (const CountedBlock& block : counted_blocks(application, m))
    if (block.stage != nullptr && (vae(block.stage->role) || own_text(block.stage->role)))
      add(block.machine, !exec::weights_wired(m, block.stage->role), 1);
  return all;
}

}  // namespace

namespace {

std::string dram_name(const Machine& m) {
  const ParameterRow& kind = *find_parameter("dram_kind");
  return value_text(kind, kind.read(m));
}

/// The row of the PHYs that a kind needs.
double phy_row(const Machine& m, const std::string& what) {
  for (const std::string family : {"hbm", "lpddr", "gddr", "ddr"})
    if (dram_name(m).starts_with(family)) return row_of("phy." + family + "." + what);
  throw std::logic_error("no PHY");
}

bool has_phys(const Machine& m) { return !m.host_memory && !is_fpga(m.technology_node); }

double gigabits(const Machine& m) {
  const DramChannels dram = dram_channels(m);
  return real(dram.channels * dram.channel_bits) * real(dram.rate_mtps) / 1000;
}

double phys_mm2(const Machine& m) {
  if (!has_phys(m)) return 0;
  const DramChannels dram = dram_channels(m);
  return real(dram.channels * dram.channel_bits) * phy_row(m, "area") +
         gigabits(m) / 8 * row_of("dram.controller") * logic_area(m) / row_of("n7.logic_area.over_n45");
}

}  // namespace

double counted_placed_mm2(const CountedBlock& block, const Machine& m) {
  const bool circuit = block.stage != nullptr && is_circuit(m, block.stage->role);
  const auto its = block.stage == nullptr ? core_blocks(block.machine) : stage_blocks(*block.stage, block.machine);
  return sum_of(its) * (1 + (circuit ? row_of("control.over_datapath") : control(m))) +
         lanes_of(its) * row_of("other.over_lanes");
}

double counted_memory_mm2(std::int64_t bytes, std::int64_t port_bits, const Machine& m) {
  return memory_mm2(m, bytes, port_bits) * (1 + control(m));
}

double counted_rom_mm2(const CompiledStage& stage, const Machine& m) {
  const double plain = row_of(m, ".sram.area") / (1 << 20) * m.sram_floor_plan_factor.value();
  return plain * real(stage.program.stored_weight_bytes.value) * row_of("rom.over_sram") * (1 + control(m));
}

double counted_fefet_mm2(const CompiledStage& stage, const Machine& m) { return fefet_arrays(stage, m); }

double counted_fixed_mm2(const Machine& m) {
  return row_of("other.fixed") * logic_area(m) / row_of("n7.logic_area.over_n45");
}

double counted_phys_mm2(const Machine& m) { return phys_mm2(m); }

std::int64_t counted_sram_bytes(const Application& application, const Machine& m) {
  std::int64_t bytes = m.imem_bytes;
  for (const auto& [psram, port] : psrams_of(application, m)) bytes += psram;
  for (const CountedBlock& block : counted_blocks(application, m)) {
    for (const std::int64_t side : pairs_of(block.machine)) bytes += block.copies * 2 * side;
    if (!holds_stacks(m)) bytes += block.copies * block.machine.stackram_bytes;
  }
  return bytes;
}

std::map<std::string, double> counted_area(const Application& application, const Machine& m) {
  std::int64_t rom_bytes = 0;
  double fefet_mm2 = 0;
  for (const CompiledStage& s : application.stages) {
    if (left_out(m, s.role)) continue;
    if (exec::weights_in_rom(m, s.role)) rom_bytes += s.program.stored_weight_bytes.value;
    if (exec::weights_multiply(m, s.role)) fefet_mm2 += fefet_arrays(s, m);
  }
  std::map<std::string, double> mm2;
  double of_circuits = 0;
  for (const CountedBlock& block : counted_blocks(application, m)) {
    const bool circuit = block.stage != nullptr && is_circuit(m, block.stage->role);
    const auto its =
        block.stage == nullptr ? core_blocks(block.machine) : stage_blocks(*block.stage, block.machine);
    for (const auto& [name, area] : its) mm2[name] += real(block.copies) * area;
    if (circuit) of_circuits += sum_of(its);
  }
  for (const auto& [bytes, port] : psrams_of(application, m)) mm2["psram"] += memory_mm2(m, bytes, port);
  const double plain = row_of(m, ".sram.area") / (1 << 20) * m.sram_floor_plan_factor.value();
  mm2["imem"] = plain * real(m.imem_bytes);
  mm2["rom"] = plain * real(rom_bytes) * row_of("rom.over_sram");
  const double datapath = sum_of(mm2);
  if (m.in_memory_weights == InMemoryWeights::fefet) mm2["fefet"] = fefet_mm2;
  mm2["control"] = (datapath - of_circuits) * control(m) + of_circuits * row_of("control.over_datapath");
  mm2["other"] = real(counted_dies(m)) * counted_fixed_mm2(m) + lanes_of(mm2) * row_of("other.over_lanes");
  if (m.memory_hierarchy == MemoryHierarchy::crossbar) {
    const double side_mm = real((m.cores + 2) * m.link_bits) * row_of(m, ".crossbar.pitch") / 1000;
    mm2["crossbar"] = side_mm * side_mm;
  }
  if (const double phys = phys_mm2(m); phys > 0) mm2["dram"] = phys;
  if (counted_dies(m) > 1) mm2["die_links"] = real(2 * (counted_dies(m) - 1)) * counted_link_end_mm2(m);
  return mm2;
}

Wires counted_wires(const CompiledStage& stage, const Machine& machine) {
  const Machine m = machine_of_stage(machine, stage.role);
  const auto blocks = stage_blocks(stage, m);
  const double core = sum_of(blocks) * (1 + control(m)) + lanes_of(blocks) * row_of("other.over_lanes");
  const bool all = (stage.role == Role::core || stage.role == Role::network) && stage.part.count <= 1;
  const auto to_port = [&](double mm2) {
    const double side = std::sqrt(mm2), bank = std::sqrt(mm2 / real(m.sram_banks));
    return (side - bank) * 3 / 4;
  };
  const double dsram = memory_mm2(m, std::ranges::max(pairs_of(m)), m.dsram_port_bits),
               stackram = blocks.at("stackram");
  const bool unified = m.activation_memory == ActivationMemory::unified;
  Wires wires;
  wires.broadcast = (all ? real(m.cores) : 1) * std::sqrt(core);
  wires.psram_bytes = m.psram_bytes;
  if (holds_stacks(m)) {
    const bool block = vae(stage.role) || counted_own_rows(machine, stage.role);
    const bool own = block || stage.part.count > 1;
    const bool rom = exec::weights_wired(m, block ? stage.role : Role::network);
    wires.psram_bytes = (rom ? 0 : m.psram_bytes) + (own ? 1 : m.cores) * m.stackram_bytes;
  }
  wires.to_a_core = wires.broadcast * ((all ? real(m.cores) : 1) + 1) / 2 / (all ? real(m.cores) : 1);
  wires.psram = to_port(memory_mm2(m, wires.psram_bytes, m.psram_port_bits));
  wires.dsram = to_port(unified ? 2 * dsram + stackram : dsram);
  for (const std::int64_t bytes : pairs_of(m))
    wires.pairs.push_back(to_port(memory_mm2(m, bytes, m.dsram_port_bits)));
  wires.stackram = to_port(stackram);
  return wires;
}

std::int64_t counted_lanes(Family family, const Machine& m) {
  const bool one_array = m.granularity == Granularity::micro_operation || m.mac_sharing == MacSharing::shared;
  if (family == Family::conv2d || one_array) return m.conv_lanes_in * m.conv_lanes_out * m.conv_lanes_pixel;
  if (family == Family::linear) return m.linear_lanes_m * m.linear_lanes_n * m.linear_lanes_k;
  return m.matmul_lanes_m * m.matmul_lanes_n * m.matmul_lanes_k;
}

double counted_registers(const InstructionClass& c, const Machine& m) {
  if (c.work.family == Family::transpose) return 0;
  const bool products = c.work.family <= Family::matmul || c.compound != Compound::single;
  const std::int64_t wider = std::max(bits_of(m.weight_format), bits_of(m.activation_format));
  const std::int64_t bits = products ? wider + bits_of(m.accumulator_format) : 2 * bits_of(m.activation_format);
  const bool micro = m.granularity == Granularity::micro_operation;
  std::int64_t lanes = m.vector_lanes;
  if (!micro && c.work.family == Family::softmax) lanes = m.softmax_lanes;
  if (!micro && c.work.family == Family::norm) lanes = m.norm_lanes;
  if (products) lanes = counted_lanes(c.compound == Compound::strips ? Family::conv2d : c.work.family, m);
  return real(lanes) * real((m.pipeline_stages - 1) * bits) * register_energy(m.technology_node).value;
}

double counted_phy_byte(const Machine& m) { return has_phys(m) ? 8e-12 * phy_row(m, "energy") : 0; }

double counted_turn(const Machine& m) {
  if (m.host_memory) return 0;
  const std::string name = dram_name(m);
  const double kib = name.starts_with("ddr") ? (name == "ddr5" ? 4 : 8) : 2;
  return real(m.dram_channels) * kib * row_of("dram.row") * 1e-12;
}

CountedStanding counted_standing(const std::map<std::string, double>& area_mm2, double volts, const Machine& m) {
  const auto links = area_mm2.find("die_links");
  double logic_mm2 = sum_of(area_mm2) - phys_mm2(m) - (links == area_mm2.end() ? 0 : links->second), mib = 0;
  for (const char* memory : {"dsram", "stackram", "psram", "imem", "rom"}) {
    logic_mm2 -= area_mm2.at(memory);
    mib += area_mm2.at(memory) / m.sram_floor_plan_factor.value() / row_of(m, ".sram.area");
  }
  if (const auto fefet = area_mm2.find("fefet"); fefet != area_mm2.end())
    logic_mm2 -= fefet->second * (1 - row_of("fefet.leaks"));
  const double nominal = row_of(m, ".supply.nominal");
  const auto leaks = [&](double v) { return v / nominal * std::exp(row_of("leakage.of_volts") * (v - nominal)); };
  const double of_sram = std::max(volts, row_of(m, ".supply.sram_least"));
  CountedStanding standing;
  standing.leakage_w =
      (logic_mm2 * row_of(m, ".leakage") * leaks(volts) + mib * row_of(m, ".sram.leakage") * leaks(of_sram)) / 1000;
  standing.clock_j = clock_tree_energy(m.technology_node).value * logic_mm2 * std::pow(volts / nominal, 2);
  standing.logic = std::pow(volts / nominal, 2);
  standing.sram = std::pow(of_sram / nominal, 2);
  if (has_phys(m)) standing.phy_w = gigabits(m) * phy_row(m, "standing") / 1000;
  standing.links_w =
      real(2 * (counted_dies(m) - 1) * m.die_link_bits * m.core_clock_mhz) * row_of("link.standing") * 1e-6;
  if (!m.host_memory)
    standing.background_w = real(m.dram_channels) * row_of("dram." + dram_name(m) + ".background") / 1000;
  return standing;
}

double counted_clock_mhz(const Application& application, const Machine& m) {
  double slowest =
      clock_limit_mhz(m.technology_node, wider_format(m.activation_format, m.weight_format), m.pipeline_stages);
  const auto memory = [&](std::int64_t bytes, std::int64_t banks) {
    if (bytes <= 0) return;
    const double kib = std::sqrt(real((bytes + banks - 1) / banks) / 1024);
    const double ps = row_of(m, ".fo4") * (row_of("clock.sram.least") + row_of("clock.sram.root_kib") * kib);
    slowest = std::min(slowest, 1e6 / ps);
  };
  const bool unified = m.activation_memory == ActivationMemory::unified;
  for (const CountedBlock& block : counted_blocks(application, m)) {
    const Machine& its = block.machine;
    for (const std::int64_t side : pairs_of(its))
      memory(unified ? 2 * its.dsram_bytes + its.stackram_bytes : side, its.sram_banks);
    if (!unified && !holds_stacks(its)) memory(its.stackram_bytes, its.sram_banks);
  }
  for (const auto& [bytes, port] : psrams_of(application, m)) memory(bytes, m.sram_banks);
  memory(m.imem_bytes, m.sram_banks);
  return slowest;
}

double counted_volts(double slowest_mhz, const Machine& m) {
  const double nominal = row_of(m, ".supply.nominal"), threshold = row_of(m, ".supply.threshold");
  const auto limit = [&](double v) {
    return std::floor(slowest_mhz * nominal / v *
                      std::pow((v - threshold) / (nominal - threshold), row_of("supply.alpha")));
  };
  if (m.supply_mv > 0) return real(m.supply_mv) / 1000;
  const std::int64_t least = std::lround(100 * row_of(m, ".supply.least")),
                     most = std::lround(100 * row_of(m, ".supply.most"));
  for (std::int64_t tens = least; tens < most; ++tens)
    if (limit(real(tens) / 100) >= real(m.core_clock_mhz)) return real(tens) / 100;
  return real(most) / 100;
}

}  // namespace sdip
