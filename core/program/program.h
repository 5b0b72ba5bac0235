// The programs that SDIP runs: a straight line for each stage, one instruction an operator, with every mapping
// chosen.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/machine/machine.h"
#include "core/ops/operator.h"
#include "core/program/capacity.h"
#include "core/program/workload.h"

namespace sdip {

/// Where an operand lies. `scalar`: a general register or an immediate; it is duplicated to the lanes at no cost.
enum class Place : std::int8_t { nowhere, dsram, stackram, dram, psram, scalar };
std::string_view place_text(Place place);

/// The tile loops of a nest: output rows, output columns, output channels (of all groups when weighted), and input
/// channels, whose products are summed. Kernel positions are never split.
enum class Loop : std::int8_t { rows, columns, channels, sums };
std::string_view loop_text(Loop loop);

/// Loop orders, outermost first.
using LoopOrder = std::array<Loop, 4>;
inline constexpr LoopOrder channels_outermost{Loop::channels, Loop::rows, Loop::columns, Loop::sums};
inline constexpr LoopOrder rows_outermost{Loop::rows, Loop::columns, Loop::channels, Loop::sums};

/// Tile sizes and loop order. A nest (conv2d, linear, matmul) is cut in its four loops; other work into tiles of
/// `tile_rows` rows, or, where one row is too long, into chunks of `tile_channels` elements of one row.
/// A tile of an operand is loaded when the one needed differs from the one before; a result tile left before its
/// last `sums` tile goes out as partial sums and comes back.
struct Mapping {
  std::int64_t tile_rows = 1, tile_columns = 1, tile_channels = 1, tile_sums = 1;
  LoopOrder order = channels_outermost;
  friend auto operator<=>(const Mapping&, const Mapping&) = default;

  /// Whether `a` runs outside `b`.
  bool outside(Loop a, Loop b) const {
    for (const Loop loop : order)
      if (loop == a || loop == b) return loop == a;
    return false;
  }
};

/// A user's rule for the mapping of layers: a line of the language in core/program/tiling/mapping_text.h. A size of
/// 0 is the whole loop. `result`: where it lies, Place::dsram (whole on chip) or Place::dram; without one, as the
/// compiler has it.
struct MappingRule {
  std::string pattern;  // as written between the quotes, its escapes kept
  std::int64_t rows = 0, columns = 0, channels = 0, sums = 0;
  LoopOrder order = channels_outermost;
  std::optional<Place> result{};
  std::int64_t line = 0;  // of the text it came from; no part of its meaning
};

/// Which DSRAM pair an operand on chip lies in, with one for each operator family (operator_dsram=per_operator):
/// that of the family that made it. Nothing: all share one pair, or it lies elsewhere.
using DsramPair = std::optional<Family>;

/// Whether one memory stands in place of DSRAM and STACKRAM; its bytes.
inline bool is_unified(const Machine& machine) { return machine.activation_memory == ActivationMemory::unified; }
inline std::int64_t unified_bytes(const Machine& machine) {
  return 2 * machine.dsram_bytes + machine.stackram_bytes;
}
/// Whether each operator family has a DSRAM pair of its own. One memory in place of all has no pairs.
bool has_pairs(const Machine& machine);
/// Families that have a circuit, and a pair where has_pairs.
inline constexpr std::size_t pair_families = 7;  // conv2d to transpose
/// Whether one has a size of its own.
bool has_own_pairs(const Machine& machine);
/// Capacity of each side of the DSRAM pair that instructions of a family use: of its own, else dsram_bytes.
std::int64_t dsram_bytes_of(const Machine& machine, Family family);
/// Capacity of the largest.
std::int64_t largest_dsram_bytes(const Machine& machine);
/// The machine with all pairs of dsram_bytes.
Machine without_own_pairs(Machine machine);

/// An operand read beside the nest's two: of row-wise work, or of an operator fused behind a nest.
struct Fetch {
  Place place = Place::nowhere;
  std::int64_t elements = 0;  // of the operand, a pass
  std::int64_t passes = 1;    // how often the circuit reads it
  bool per_fold = false;      // as many as the lanes work on in each fold; else read once and held
  DsramPair pair = {};
  friend auto operator<=>(const Fetch&, const Fetch&) = default;
};

/// The kinds of instructions beyond one operator (docs/model/fusion.md): attention, with its scores never leaving
/// the chip; a strip of rows carried depth-first through a chain of operators.
enum class Compound : std::int8_t { single, attention, strips };

/// Number formats of one instruction: of its weights, the operands that it reads and the results that it writes,
/// and of the sums that a product keeps; and what stays of a product's weights (nothing: as the machine has both).
struct Formats {
  NumberFormat weights = NumberFormat::fp16, activations = NumberFormat::fp16, results = NumberFormat::fp16;
  std::optional<NumberFormat> accumulators = {};
  std::optional<std::int64_t> density_hundredths = {};
  friend auto operator<=>(const Formats&, const Formats&) = default;
};
Formats formats_of(const Machine& machine);

/// A user's rule for the formats of layers: a line of the language in core/program/form/format_text.h. Formats that
/// it does not name are those of the machine.
struct FormatRule {
  std::string pattern;             // as written between the quotes; empty: of all layers of a family
  std::optional<Family> family{};  // of which every layer is meant
  std::optional<NumberFormat> weights{}, activations{}, accumulators{};
  std::optional<std::int64_t> density_hundredths{};  // of the weights of products
  std::int64_t line = 0;                             // of the text it came from; no part of its meaning
};

/// An operator, and the passes of what is fused to it.
struct FusedOperator {
  Work work;                         // read_elements is left empty: `fetches` has them
  Place operand_b = Place::nowhere;  // of a nest: weights (psram) or the second activations
  DsramPair pair_b = {};
  std::int64_t out_elements = 0;
  std::int64_t fused_operators = 0;    // elementwise operators behind the main one
  std::int64_t fused_passes = 0;       // uses of the busiest of their circuits
  std::int64_t prologue_passes = 0;    // elementwise uses of operand A as it is read: a norm and its activation
  std::int64_t statistics_passes = 0;  // passes over the results that make the sums of a norm behind it
  friend auto operator<=>(const FusedOperator&, const FusedOperator&) = default;
};

/// One operator of a compound instruction. Its results stay on chip, but for the last one's.
struct Part : FusedOperator {
  std::vector<Fetch> fetches;  // of it and of what is fused behind it
  std::int64_t weight_elements_per_channel = 0, bias_elements_per_channel = 0, weight_elements = 0;  // as a class's
  // In a part of strips that is no nest, these are the elements that it reads of what the part before made, in all.
  // In a nest that is a branch, which works on what the part before works on, they count that part's results, which
  // it takes beside, each element with its own.
  std::int64_t read_elements = 0;
  // Operands beside that are rows on chip in a part of strips, each element with its own: counts of those made by a
  // part before, and of those of operand A.
  std::int64_t rows_beside = 0, a_beside = 0;
  // The weights of a part's last `streamed_channels` output channels are fetched again for each strip, in tiles of
  // `tile_channels`; all others are held from the first strip to the last.
  std::int64_t streamed_channels = 0, tile_channels = 0;
  friend auto operator<=>(const Part&, const Part&) = default;
};

/// Everything an instruction's cost depends on. Instructions of equal classes cost the same.
struct InstructionClass : FusedOperator {
  Mapping mapping;
  Place operand_a = Place::nowhere;  // of a nest: activations, out_h x in_channels
  DsramPair pair_a = {};
  std::vector<Fetch> fetches;
  bool to_dsram = true, push = false, to_dram = false;
  std::int64_t weight_elements_per_channel = 0;  // of a nest, by output channel of all groups; bias apart
  std::int64_t bias_elements_per_channel = 0;
  std::int64_t weight_elements = 0;  // of row-wise work, or of fused operators: fetched once over the instruction
  bool prologue_sums = false;        // the prologue makes a norm's sums, too: tiles hold all summed channels
  bool pinned = false;               // weights stay in PSRAM after the first pass
  Compound compound = Compound::single;
  std::vector<Part> parts;        // of a compound, in order
  bool line_buffers = false;      // strips: rows that two strips need are kept, not made again
  std::int64_t spread_cores = 1;  // cores that share its groups; sizes above are of one core's part
  bool shares_channels = false;   // they share its output channels, and read the same
  // Results are written in another order than they are made (transposition=static), so many neighbours at a time;
  // 0: as they are made.
  std::int64_t turned_run = 0;
  std::optional<Formats> formats = {};  // nothing: those of the machine
  friend auto operator<=>(const InstructionClass&, const InstructionClass&) = default;
};

/// Bits of an element of a value where it lies.
std::int64_t value_bits(const Value& value, const Machine& machine);

/// The machine as an instruction of formats of its own finds it: what it reads, sums and multiplies is in these.
Machine machine_for(const InstructionClass& c, const Machine& machine);

/// Whether it makes products of weights; of compounds only strips do.
bool multiplies_weights(const InstructionClass& c);

/// How many cores' weights a tile operation needs, each a tile of its own: of a product of weights whose groups
/// cores share all of theirs, else 1.
std::int64_t weight_parts(const InstructionClass& c);

/// Whether its own formats make a floating product of weights, which no weight memory does.
bool multiplies_weights_in_floats(const InstructionClass& c);

/// Bits of a word in IMEM. The essay's six fields and our extensions take two (docs/formats.md); what does not fit
/// there goes on in further words.
inline constexpr std::int64_t instruction_word_bits = 256;
inline constexpr std::int64_t least_instruction_words = 2;

/// The meaning of the codes of a quantised tensor, or output channel: (code - zero) x scale. Signed formats are
/// symmetric and have no zero point.
struct WeightScale {
  float scale = 1;
  std::optional<std::uint8_t> zero{};  // of unsigned formats: the code of 0
  WeightScale(float s = 1, std::optional<std::uint8_t> z = {}) : scale(s), zero(z) {}  // NOLINT: a scale is one
  friend bool operator==(const WeightScale&, const WeightScale&) = default;
};

/// Scales of an instruction's quantised weights, one a tensor in the order of Instruction::weights; nothing where
/// each output channel has its own, in `.weight`. Empty when the format needs none, or no `.weight` was written.
using InstructionScales = std::vector<std::optional<WeightScale>>;
using WeightScales = std::vector<InstructionScales>;  // by instruction

struct PlacedOperand {
  Place place = Place::nowhere;
  std::int32_t value = none;  // of the graph
  bool pop = false;           // last use of a STACKRAM entry
  Bytes address;              // in that memory
  DsramPair pair = {};
  // Whether it lies in the pair's side that its last but one instruction before this one wrote, not the last.
  bool older = false;
};

/// Bytes of a memory.
struct MemorySpan {
  Bytes address, bytes;
};

struct Instruction {
  std::string name;      // of the node it came from
  std::string mnemonic;  // with fused ones behind: "conv2d+silu"
  std::int32_t instruction_class = 0;
  std::vector<NodeId> nodes;  // of the graph, in order: all that it computes
  std::vector<PlacedOperand> sources;
  std::int32_t destination = none;
  Bytes dsram_address, stackram_address, dram_address;  // of the result, where its class says that it goes there
  std::vector<std::int32_t> weights;  // values of the graph whose bytes stand at weight_offset in .weight
  Bytes weight_offset, weight_bytes;  // as stored in DRAM
  // Occupancy while it runs; of the sides of the pair of its own family, where each has one. In a unified memory
  // `stackram` is what is in use beyond the two: together they are its highest byte.
  Bytes dsram_read_side, dsram_write_side, stackram;
  MemorySpan read_tiles, write_tiles;  // buffers of what is loaded from and stored to DRAM, in DSRAM's sides
  InstructionScales scales;
  // Earlier instructions that must have retired before it starts, ascending, where others may still run (a DSRAM
  // pair for each operator): those whose results it reads, those that read what it overwrites, and the one of its
  // family before it; without those that these waited for (core/program/form/marks.h).
  std::vector<std::int32_t> after;
  std::int64_t words = least_instruction_words;  // of IMEM
};

/// One stage's instructions, in the order they run.
struct Program {
  List<Instruction> instructions;
  List<InstructionClass> classes;
  Bytes weight_bytes;  // fetched from DRAM in a pass, as stored there; of a lookup table the rows looked up
  Bytes distinct_weight_bytes;      // of them, what two instructions share (two passes of guidance) counted once
  Bytes stored_weight_bytes;        // all that DRAM (or ROM) keeps for it
  Bytes pinned_bytes;               // kept in PSRAM after the first pass
  Bytes input_bytes, output_bytes;  // through DRAM, a pass
  Bytes latent_bytes;               // handed to the next stage (roles core and encoder)
  Bytes context_bytes;              // inputs on chip that travel with the frame from core to core (role core)
};

/// The parameters of a machine that a program's sizes and bytes follow from, in the order of program_parameters()
/// and the coding of ParameterRow.
using MachineNeeds = std::vector<std::int64_t>;
std::span<const ParameterRow* const> program_parameters();
MachineNeeds needs_of(const Machine& machine);
/// A machine that is like this, and else as parameters stand when nothing is said.
Machine machine_like(const MachineNeeds& needs);

struct CompiledStage {
  Role role = Role::network;
  std::string name;
  std::shared_ptr<const Graph> graph;  // what the program computes: the stage's, as the graph passes left it
  Program program;
  std::int64_t passes_per_step = 1;
  MachineNeeds needs = needs_of(Machine());
  SeriesPart part = {};
  std::int64_t dram_thousandths = 1000;  // of the channel, fixed: of parts in series by the bytes each moves
};

struct Application {
  std::string name;
  std::vector<CompiledStage> stages;
  bool feasible = true;
  std::string reason;  // when not: "stage: instruction: what does not fit, by how much"
  // Capacities of PSRAM for which compile() makes an equal application, the machine being the same otherwise: its
  // own among them, and of an infeasible one that alone. Not all of them, and none of an application from
  // elsewhere.
  CapacityRange psram_bytes = no_capacity;
  // The application that the chip is built for, where it serves others, too: area, memories and the clock limit
  // read its stages. Nothing: this application alone.
  std::shared_ptr<const Application> chip{};
};

struct Compilation;
class MappingCache;
class StageCache;

/// Options of a compilation. `after_pass` is called after each pass of each stage, to print or time it.
struct CompileOptions {
  std::function<void(std::string_view stage, std::string_view pass, const Compilation&)> after_pass{};
  std::vector<MappingRule> mapping_rules{};  // the first that matches a layer decides its mapping
  // The first that names weights, activations or accumulators of a layer decides them.
  std::vector<FormatRule> format_rules{};
  bool say_needed_bytes = true;  // of a stage that finds no place, by trying: takes as long as a few compilations
  // Mappings that earlier compilations found, of whatever workload and machine: results are the same with and
  // without (core/program/tiling/mapping_cache.h). Nothing: they are kept for this compilation alone.
  std::shared_ptr<MappingCache> mappings{};
  // Stages that earlier compilations of these options made, of whatever workload and machine: results are the same
  // with and without (core/program/compile/stage_cache.h), but that a reason may say another stage.
  std::shared_ptr<StageCache> stages{};
  Stop stop{};  // asked before each pass and before each layer is mapped
};

/// Programs for every stage, each for the stage's machine (machine_of_stage): the passes of
/// core/program/compile/passes.h in order. Depends only on the workload, compile_key(machine) and the options; a
/// stage's on compile_key() of its own machine. A stage that cannot be placed makes the application infeasible,
/// with the reason. Throws Error("mapping_unmatched" or "format_unmatched", "line N", ...) for a rule that is for
/// no layer, and "formats_invalid" for one by which a product's accumulators are narrower than what it reads, or
/// weights are fewer on a machine that spares no zeros; and what `stop` does.
Application compile(const Workload& workload, const Machine& machine, const CompileOptions& options = {});

/// Bytes of the instructions in IMEM.
Bytes imem_bytes(const Program& program);

/// The `.graph` text of a program: its values, its nodes, and one line an instruction (docs/formats.md). `scales`
/// of its `.weight` file; nothing: those the instructions have.
std::string graph_text(const CompiledStage& stage, const WeightScales& scales = {});

}  // namespace sdip
