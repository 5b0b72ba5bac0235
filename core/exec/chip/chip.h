// One core while it runs a program: its memories, registers and what the current instruction may read.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/chip/execute.h"
#include "core/exec/chip/memory.h"
#include "core/exec/chip/norms.h"
#include "core/exec/clock/addresses.h"
#include "core/exec/clock/transfers.h"
#include "core/exec/kernels/kernels_team.h"
#include "core/exec/numbers/numbers.h"
#include "core/exec/numbers/scratch.h"
#include "core/exec/walk/elements.h"
#include "core/exec/walk/views.h"
#include "core/program/weights/weight_region.h"
#include "core/program/weights/weights.h"

namespace sdip::exec {

/// How many instructions of each family have been. A pair's first instruction reads side 0 and writes side 1.
using Turns = std::array<std::int64_t, pair_families>;

/// A weight as circuits get it.
struct HeldWeight {
  Shape shape;
  Numbers numbers{};                // of the graph's type; of one that is mapped only the type
  std::span<const float> floats{};  // its numbers, where single precision holds them; none: `codes` stand for them
  std::vector<WeightScale> scales{};
  WeightChannels channels{};
  std::vector<float> unscaled{};         // where scales are of groups: its elements before them
  std::vector<std::uint32_t> groups{};   // and by element the number of its scale
  Buffer<std::int8_t> codes{};           // of integer formats of at most 8 bits without zero points
  std::shared_ptr<const void> mapped{};  // what keeps mapped bytes alive
};

/// Which operand of which operator: one that names a value twice reads it twice.
using OperandPlace = std::pair<const Node*, std::size_t>;

struct Chip {
  const CompiledStage& stage;
  const Graph& graph;
  const Machine& machine;
  const StoredTensors& stored;
  const ActivationScales& scales;
  const ExecuteOptions& options;
  Views views;
  std::map<Slot, std::int64_t> addresses;  // addresses_of
  // DSRAM0, DSRAM1, STACKRAM, DRAM, then, with a DSRAM pair for each family, their sides 0 and 1; unified: the
  // first three are memory 0.
  std::array<Memory, 4 + 2 * pair_families> memories{};
  std::vector<Turns> turns{};                   // by instruction, with pairs
  std::map<ValueId, std::size_t> written_to{};  // results in a pair: number of the memory
  std::map<ValueId, Tensor> registers{};
  std::map<ValueId, Tensor> constants{};          // small or computed weights, as the model has them
  const WeightFile* file = nullptr;               // `.weight`; else of `stored`
  std::map<std::size_t, WeightRegion> regions{};  // by instruction
  std::map<std::pair<std::int64_t, std::size_t>, HeldWeight> held_weights{};  // as `.weight` has them, by region
  std::map<std::int64_t, std::size_t> last_use{};                             // of a region: the instruction
  std::map<ValueId, Tensor> other_results{};    // of an operator of several, until copied
  std::int64_t dram_end_bytes = 0;              // what the program has in DRAM ends there
  std::map<const Node*, NormSums> norm_sums{};  // in general registers
  std::vector<NormRule> summed{};               // norms that the current results are summed for
  std::size_t now = 0;                          // number of the instruction
  std::string who{};                            // "instruction 3 'conv2d+silu' (/net/conv)"
  RunCounts counts{};
  std::unique_ptr<Team> team{};
  std::unique_ptr<TransferLog> log{};  // where someone wants to know what moves
  Stream stream = Stream::others;      // what is read for
  // Operands from DRAM that are smaller than what they are combined with: read once and held by the circuit.
  std::map<OperandPlace, Numbers> held_operands{};
  // The elements that each core holds where cores share the groups of weights: each reads only what its own results
  // need.
  std::map<OperandPlace, List<Numbers>> held_elements{};
  std::unique_ptr<std::mutex> holding = std::make_unique<std::mutex>();
  Buffer<std::int8_t> spare_codes{};  // of a weight that was let go of: memory for the next one
  std::unique_ptr<Scratches> scratches = std::make_unique<Scratches>();

  const Value& value(ValueId v) const { return graph.values[v]; }
  const Instruction& instruction() const { return stage.program.instructions[now]; }
  const InstructionClass& instruction_class() const {
    return stage.program.classes[instruction().instruction_class];
  }
};

/// The memory in which a source of the current instruction lies.
Memory& memory_of(Chip& chip, const PlacedOperand& source);

/// The memory that `place` means to the current instruction's tiles and, with `result`, its result.
Memory& memory_of(Chip& chip, Place place, bool result);

/// The elements `at` of a value as the current instruction reads it: a weight, a register, or what lies where its
/// source says. Throws as `read`, and when no source of the instruction is that value.
Numbers read_operand(Chip& chip, ValueId v, const Elements& at);

/// The same into floats. Requires a type that single precision holds.
void read_floats(Chip& chip, ValueId v, const Elements& at, std::span<float> to);

/// The same: where they lie, or in `room`. Requires one line of step 1.
std::span<const float> floats_at(Chip& chip, ValueId v, const Elements& at, Buffer<float>& room);

/// The same, shared by the team where there is much to read.
void read_floats_together(Chip& chip, ValueId v, const Elements& at, std::span<float> to);

/// The whole of it, in its own shape.
Tensor read_whole(Chip& chip, ValueId v);

/// A weight as the current instruction's circuit gets it when it comes from `.weight`; nullptr of others (an
/// immediate, a shape), which are as the model has them.
const HeldWeight* read_weight(Chip& chip, ValueId v);

/// Makes room for the current instruction's result wherever its class sends it.
void open_result(Chip& chip);

/// The format that a value is kept in: its own, or activation_format. A view has that of its root.
NumberFormat format_of(const Chip& chip, ValueId v);

/// The format in which the current instruction keeps its sums.
NumberFormat accumulator_of(const Chip& chip);

/// Writes elements of the result there, as its format holds them.
void write_result(Chip& chip, const Elements& at, const Numbers& numbers);

/// The same of several parts, in order; the team puts their bytes.
struct ResultPart {
  Elements at{};
  Numbers numbers{};
};
void write_results(Chip& chip, const std::vector<ResultPart>& parts);

/// Whether write_codes may write a value: in codes of 8 bits, and nowhere else.
bool may_write_codes(const Chip& chip, ValueId v);

/// Parts of the current instruction's result as codes of its format. Requires may_write_codes.
struct CodePart {
  Elements at{};
  Buffer<std::int8_t> codes{};
};
void write_codes(Chip& chip, const std::vector<CodePart>& parts);

/// Step of an integer activation format for a value; 1 where none is needed. Throws Error("scale_absent", ...).
WeightScale scale_of(const Chip& chip, ValueId v);

/// How a value's elements stand in the machine's memories. Throws as scale_of.
Layout layout_of(const Chip& chip, ValueId v);

/// Whether the current instruction finds a value in a memory as codes, and where.
struct Placed {
  Memory& memory;
  Reading reading;
};
std::optional<Placed> placed_operand(Chip& chip, ValueId root);

/// Elements of a view as those of the value whose bytes they are.
Elements through_view(const Chip& chip, ValueId v, const Elements& at);

/// The elements `at` of a tensor, or of numbers, in a row.
Numbers picked(const Tensor& tensor, const Elements& at);
Numbers picked(const Numbers& all, const Elements& at);

/// Finds the weights that a node reads, before several threads look for them.
void find_weights(Chip& chip, const Node& node);

/// The whole of an operand that the circuit reads once and holds.
const Numbers& held_operand(Chip& chip, OperandPlace place);

/// Tasks 0 to count - 1, shared by the team. Where one throws all are done again in order, so that the first that
/// fails does not depend on how many threads there are: tasks must be repeatable.
void share_tasks(Team& team, std::int64_t count, const std::function<void(std::int64_t)>& task);

/// Begins a tile operation of the current instruction; `first_core`: of the first of the cores that share it.
void begin_operation(Chip& chip, bool first_core = true);

/// Notes that so many elements of a value went through a memory.
void note(Chip& chip, Stream stream, Place place, std::int64_t elements, ValueId v);

/// Runs the current instruction.
void run_instruction(Chip& chip);

}  // namespace sdip::exec
