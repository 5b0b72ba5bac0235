// Loads what a stage brings with it before processing.
#include "core/exec/clock/load.h"

#include "core/exec/clock/operations.h"

namespace sdip {
namespace {

/// Bytes of the words of all instructions; 0 of a circuit, which is wired and has none.
std::int64_t bytes_of_words(const CompiledStage& stage, const Machine& given) {
  if (is_circuit(given, stage.role)) return 0;
  const StageMachine its(given, stage.role);
  const Machine& machine = *its;
  std::int64_t bytes = 0;
  for (const Instruction& instruction : stage.program.instructions) {
    const InstructionClass& c = stage.program.classes[instruction.instruction_class];
    const bool alone = machine.granularity == Granularity::per_operator;
    const auto operations = alone ? std::vector<exec::Operation>() : exec::expand(c, machine, stage.role);
    bytes += exec::words_bytes(instruction, operations, machine);
  }
  return bytes;
}

std::int64_t packed_weights(const CompiledStage& stage, const Machine& machine, const WeightSource& weights) {
  std::int64_t bytes = 0;
  write_weight_file(stage, machine, weights, [&](std::span<const std::byte> piece) { bytes += std::ssize(piece); });
  return bytes;
}

}  // namespace

LoadedBytes& LoadedBytes::operator+=(const LoadedBytes& other) {
  imem += other.imem;
  dram += other.dram;
  fefet += other.fefet;
  return *this;
}

LoadedBytes load_stage(const CompiledStage& stage, const Machine& machine, const WeightSource& weights) {
  LoadedBytes loaded;
  const bool vae = stage.role == Role::encoder || stage.role == Role::decoder;
  if (vae && machine.vae_stage == VaeStage::off_chip) return loaded;  // another chip's
  std::int64_t elsewhere = 0;
  std::int64_t& dram = machine.host_memory ? elsewhere : loaded.dram;  // the host has what DRAM would
  const std::int64_t words = bytes_of_words(stage, machine);
  const bool from_dram = machine.program_storage == ProgramStorage::streamed && words > machine.imem_bytes;
  (from_dram ? dram : loaded.imem) += words;
  if (exec::weights_in_rom(machine, stage.role)) return loaded;
  (exec::weights_multiply(machine, stage.role) ? loaded.fefet : dram) += packed_weights(stage, machine, weights);
  return loaded;
}

}  // namespace sdip
