// One core while it runs a program: its memories, registers and what the current instruction may read.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/addresses.h"
#include "core/exec/execute.h"
#include "core/exec/memory.h"
#include "core/exec/norms.h"
#include "core/exec/views.h"
#include "core/program/weight_region.h"
#include "core/program/weights.h"

namespace sdip::exec {

/// How many instructions of each family have been. A pair's first instruction reads side 0 and writes side 1.
using Turns = std::array<std::int64_t, pair_families>;

struct Chip {
  const CompiledStage& stage;
  const Graph& graph;
  const Machine& machine;
  const StoredTensors& stored;
  const ActivationScales& scales;
  Views views;
  std::map<Slot, std::int64_t> addresses;  // addresses_of
  // DSRAM0, DSRAM1, STACKRAM, DRAM, then, with a DSRAM pair for each family, their sides 0 and 1; unified: the
  // first three are memory 0.
  std::array<Memory, 4 + 2 * pair_families> memories{};
  std::vector<Turns> turns{};                   // by instruction, with pairs
  std::map<ValueId, std::size_t> written_to{};  // results in a pair: number of the memory
  std::map<ValueId, Tensor> registers{};
  std::map<ValueId, Tensor> constants{};                                         // weights as the model has them
  const WeightFile* file = nullptr;                                              // `.weight`; else of `stored`
  std::map<std::size_t, WeightRegion> regions{};                                 // by instruction
  std::map<std::pair<std::int64_t, std::size_t>, CircuitWeight> held_weights{};  // as `.weight` has them, by region
  std::map<ValueId, Tensor> other_results{};    // of a nest of several results, until copied
  std::int64_t dram_end_bytes = 0;              // what the program has in DRAM ends there
  std::map<const Node*, NormSums> norm_sums{};  // in general registers
  std::vector<NormRule> summed{};               // norms that the current results are summed for
  std::size_t now = 0;                          // number of the instruction
  std::string who{};                            // "instruction 3 'conv2d+silu' (/net/conv)"
  RunCounts counts{};

  const Value& value(ValueId v) const { return graph.values[static_cast<std::size_t>(v)]; }
  const Instruction& instruction() const { return stage.program.instructions[now]; }
  const InstructionClass& instruction_class() const {
    return stage.program.classes[static_cast<std::size_t>(instruction().instruction_class)];
  }
};

/// The memory in which a source of the current instruction lies.
Memory& memory_of(Chip& chip, const PlacedOperand& source);

/// The memory that `place` means to the current instruction's tiles and, with `result`, its result.
Memory& memory_of(Chip& chip, Place place, bool result);

/// The elements `at` of a value as the current instruction reads it: a weight, a register, or what lies where its
/// source says. Throws as `read`, and when no source of the instruction is that value.
Tensor read_operand(Chip& chip, ValueId v, std::span<const std::int64_t> at);

/// The whole of it, in its own shape.
Tensor read_whole(Chip& chip, ValueId v);

/// A weight as the current instruction's circuit gets it: in weight_format when it comes from `.weight`, else (an
/// immediate, a shape) as it is.
const Tensor& read_weight(Chip& chip, ValueId v);

/// The same with the steps of its codes; nullptr when it has none.
const CircuitWeight* read_weight_codes(Chip& chip, ValueId v);

/// Makes room for the current instruction's result wherever its class sends it.
void open_result(Chip& chip);

/// Writes elements of the result there, as activation_format holds them.
void write_result(Chip& chip, std::span<const std::int64_t> at, Tensor numbers);

/// Step of an integer activation format for a value; 1 where none is needed. Throws Error("scale_absent", ...).
WeightScale scale_of(const Chip& chip, ValueId v);

/// 0, 1, ..., count - 1.
std::vector<std::int64_t> all_elements(std::int64_t count);

/// The elements `at` of a tensor, in a row.
Tensor picked(const Tensor& tensor, std::span<const std::int64_t> at);

/// Runs the current instruction.
void run_instruction(Chip& chip);

}  // namespace sdip::exec
