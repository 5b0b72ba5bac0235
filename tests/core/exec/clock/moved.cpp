// What instructions of a program moved, and what is said against it.
#include "tests/core/exec/clock/moved.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/exec/clock/charges.h"

namespace sdip {

const InstructionClass& class_of_instruction(const CompiledStage& stage, std::size_t i) {
  return stage.program.classes[static_cast<std::size_t>(stage.program.instructions[i].instruction_class)];
}

std::vector<InstructionTransfers> transfers_of(const CompiledStage& stage, const Machine& machine,
                                               const MadeNetwork& network) {
  std::vector<InstructionTransfers> moved(stage.program.instructions.size());
  ExecuteOptions options;
  options.threads = 2;
  options.moved = [&](std::size_t i, InstructionTransfers t) { moved[i] = std::move(t); };
  const StoredTensors stored = [&](const Value& v) { return network.stored(v); };
  try {
    const sdip::Run by_tiles = execute(stage, machine, network.inputs, stored, options);
    options.moved = {};
    const sdip::Run fast = execute(stage, machine, network.inputs, stored, options);
    for (std::size_t i = 0; i < fast.outputs.size(); ++i)
      EXPECT_EQ(fast.outputs[i].floats, by_tiles.outputs[i].floats);
    EXPECT_EQ(fast.counts.tile_operations, by_tiles.counts.tile_operations);
  } catch (const Error& error) {
    if (error.code != "not_computable") throw;
    return {};
  }
  return moved;
}

std::string difference_of(const CompiledStage& stage, const Machine& machine, std::size_t i,
                          const InstructionTransfers& moved) {
  const InstructionClass& c = class_of_instruction(stage, i);
  std::vector<exec::Operation> operations = exec::expand(c, machine, stage.role);
  try {
    exec::require_charged(operations, c, machine, moved, stage.program.instructions[i].name);
  } catch (const Error& error) {
    return std::string(error.code) + ": " + error.what();
  }
  return "";
}

}  // namespace sdip
