// Resources of an FPGA part that a machine uses.
#include "core/cost/price/fpga.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/cost/price/area.h"
#include "core/cost/price/stage.h"
#include "core/cost/work/micro_operations.h"

namespace sdip {
namespace {

struct Memory {
  std::int64_t bytes, port_bits, copies;
};

/// Whole numbers below 2^43 by each other: their quotients as doubles round up as they do.
double blocks(const Memory& memory, double block_bits, double block_port_bits) {
  const double deep = std::ceil(8.0 * static_cast<double>(memory.bytes) / block_bits);
  const double wide = std::ceil(static_cast<double>(memory.port_bits) / block_port_bits);
  return std::max(deep, wide) * static_cast<double>(memory.copies);
}

std::vector<Memory> memories_of(const Application& application, const Machine& m) {
  std::vector<Memory> memories;
  const auto add_core = [&](const Machine& its, std::int64_t cores) {
    if (!has_own_pairs(its))
      memories.push_back({its.dsram_bytes, its.dsram_port_bits, 2 * dsram_pairs(its) * cores});
    for (std::size_t f = 0; f < pair_families && has_own_pairs(its); ++f)
      memories.push_back({dsram_bytes_of(its, static_cast<Family>(f)), its.dsram_port_bits, 2 * cores});
    if (its.stackram_bytes > 0 && !stack_in_psram(its))
      memories.push_back({its.stackram_bytes, its.stackram_port_bits, cores});
  };
  add_core(m, cores_alike(application, m));
  for (const CompiledStage* own : own_blocks(application, m)) add_core(machine_of_stage(m, own->role), 1);
  for (const BuiltMemory& memory : psram_memories(application, m))
    if (memory.bytes > 0) memories.push_back({memory.bytes, memory.port_bits, memory.copies});
  memories.push_back({m.imem_bytes, 1, 1});  // as wide as a block is
  for (const CompiledStage& stage : application.stages)
    if (hard_coded(m, stage.role) && on_chip(stage.role, m))
      memories.push_back({stage.program.stored_weight_bytes.value, m.psram_port_bits, 1});
  std::ranges::stable_sort(memories, std::greater{}, &Memory::bytes);
  return memories;
}

/// DSP blocks and LUTs of the lanes of a core or circuit.
struct LaneBlocks {
  double dsp{}, luts{};
};

/// LUTs of an array's accumulators and weight registers: RAMs one bit wide, as many one upon the other as hold
/// them.
double held_luts(const Machine& m, Family family, NumberFormat weights, NumberFormat sums, const Process& process) {
  const HeldBits bits = held_bits(m, family, weights, sums);
  const auto deep = [&](std::int64_t entries) {
    return std::ceil(static_cast<double>(entries) / fpga_lut_ram_bits(process));
  };
  return deep(m.accumulator_folds) * static_cast<double>(bits.sums) +
         deep(m.weight_registers) * static_cast<double>(bits.weights);
}

LaneBlocks lane_blocks(const CoreLanes& lanes, Widest widest, const Machine& m, const Process& process) {
  const double scalers = group_scalers(lanes, widest);
  double held = 0;
  if (lanes.conv2d > 0) held += held_luts(m, Family::conv2d, wider_of(widest), widest.sums, process);
  if (lanes.linear > 0) held += held_luts(m, Family::linear, wider_of(widest), widest.sums, process);
  if (lanes.matmul > 0) held += held_luts(m, Family::matmul, widest.activations, widest.sums, process);
  const double products = lanes.conv2d + lanes.linear;
  const double others = lanes.matmul + lanes.vector + lanes.softmax + lanes.norm;
  const auto dsp = [&](double count, NumberFormat format) {
    return std::ceil(count * fpga_dsp_blocks(process, format) - 1e-9);
  };
  const NumberFormat weighted = wider_of(widest), plain = widest.activations;
  return {dsp(products, weighted) + dsp(others, plain) + dsp(scalers, m.accumulator_format),
          products * fpga_lane_luts(process, weighted) + others * fpga_lane_luts(process, plain) +
              scalers * fpga_lane_luts(process, m.accumulator_format) + held};
}

}  // namespace

const CompiledStage* stage_in_fefet(const Application& application, const Machine& m) {
  const auto found = std::ranges::find_if(application.stages, [&](const CompiledStage& stage) {
    return on_chip(stage.role, m) && weight_place(m, stage.role) == WeightPlace::fefet;
  });
  return found == application.stages.end() ? nullptr : &*found;
}

std::optional<FpgaUse> fpga_use(const Application& runs, const Machine& m) {
  const Application& application = built_for(runs);
  if (!is_fpga(m.technology_node)) return std::nullopt;
  const Process process = process_of(m);
  const FpgaPart part = fpga_part(process);
  const FpgaMemories ram = fpga_memories(process);
  const Widest widest = widest_formats(application, m);
  const LaneBlocks core = lane_blocks(core_lanes(m), widest, m, process);
  const auto cores = static_cast<double>(cores_alike(application, m));
  LaneBlocks all{cores * core.dsp, cores * core.luts};
  for (const CompiledStage* own : own_blocks(application, m)) {
    const StageMachine its_machine(m, own->role);
    const LaneBlocks its = lane_blocks(stage_lanes(*own, m), widest, *its_machine, process);
    all.dsp += its.dsp;
    all.luts += its.luts;
  }
  double bram = 0, uram = 0;
  for (const Memory& memory : memories_of(application, m)) {
    const double in_uram = blocks(memory, ram.uram_bits, ram.port_bits);
    if (uram + in_uram <= part.uram)
      uram += in_uram;
    else
      bram += blocks(memory, ram.bram_bits, ram.port_bits);
  }
  const double crossbar_luts =
      has_crossbar(m) ? fpga_crossbar_luts(process, crossbar_ports(m), Bits(m.link_bits)) : 0.0;
  FpgaUse use;
  use.resources[0] = {"dsp", all.dsp, part.dsp};
  use.resources[1] = {"bram", bram, part.bram};
  use.resources[2] = {"uram", uram, part.uram};
  use.resources[3] = {"lut", all.luts + fpga_control_luts(process) + crossbar_luts, part.lut};
  const auto share = [](const FpgaUse::Resource& r) { return r.needed > 0 ? r.needed / r.available : 0.0; };
  std::array<double, std::tuple_size_v<decltype(use.resources)>> shares{};
  std::ranges::transform(use.resources, shares.begin(), share);
  const auto most = std::ranges::max_element(shares);
  use.limit = use.resources[at(most - shares.begin())].name;
  use.fits = *most <= 1;
  if (stage_in_fefet(application, m) != nullptr) use.limit = no_fefet, use.fits = false;
  return use;
}

}  // namespace sdip
