// Limits that a machine which runs an application may break all the same.
#include "core/cost/price/limits.h"

#include <algorithm>

#include "core/cost/price/stage.h"
#include "core/machine/dram.h"

namespace sdip {
namespace {

constexpr std::int64_t mib = 1024LL * 1024;

}  // namespace

std::int64_t results_bytes(const Program& program, NumberFormat activations) {
  std::int64_t end = 0;
  for (const Instruction& i : program.instructions) {
    const InstructionClass& c = program.classes[i.instruction_class];
    if (!c.to_dram) continue;
    const std::int64_t bits = c.out_elements * bits_of(c.formats ? c.formats->results : activations);
    end = std::max(end, i.dram_address.value + ceil_div(bits, std::int64_t{8}));
  }
  return end;
}

std::int64_t dram_held_bytes(const CompiledStage& stage, std::int64_t words, std::int64_t results,
                             const Machine& m) {
  if (m.host_memory || !on_chip(stage.role, m)) return 0;
  std::int64_t held = cores_fed(stage, m) * results;
  if (words > m.imem_bytes) held += words;
  if (weight_place(m, stage.role) == WeightPlace::psram) held += stage.program.stored_weight_bytes.value;
  return held;
}

std::string lacking_imem(const CompiledStage& stage, const ProgramSize& size, const Machine& machine) {
  const bool streamed = machine.program_storage == ProgramStorage::streamed;
  const std::int64_t needed = streamed ? size.longest_bytes : size.bytes;
  if (needed <= machine.imem_bytes) return {};
  const std::string what = streamed ? stage.program.instructions[size.longest].name : "the program";
  return fmt::format("{}: {} needs {} B of IMEM, which has {}", stage.name, what, needed, machine.imem_bytes);
}

std::string broken_limit(const Machine& m, std::int64_t held_bytes) {
  if (std::string misfit = dram_misfit(m); !misfit.empty()) return misfit;
  const DramChannels dram = dram_channels(m);
  if (held_bytes <= dram.channels * dram.channel_mib * mib) return {};
  return fmt::format(
      "DRAM is to hold {} MiB, {} channels of {} MiB have {}: more dram_channels or a larger dram_channel_mib",
      ceil_div(held_bytes, mib), dram.channels, dram.channel_mib, dram.channels * dram.channel_mib);
}

}  // namespace sdip
