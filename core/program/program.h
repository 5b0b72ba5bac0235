// What SDIP runs: a straight-line program a stage, one instruction an operator, with every mapping chosen.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/machine/machine.h"
#include "core/ops/operator.h"
#include "core/program/workload.h"

namespace sdip {

/// Where an operand lies. `scalar`: a general register or an immediate; it is duplicated to the lanes at no cost.
enum class Place : std::int8_t { nowhere, dsram, stackram, dram, psram, scalar };
std::string_view place_text(Place place);

/// Tile sizes and loop order. A nest (conv2d, linear, matmul) is cut into tiles of `tile_rows` output rows and
/// `tile_channels` output channels; other work into tiles of `tile_rows` rows, or, where one row is too long, into
/// chunks of `tile_channels` elements of one row.
struct Mapping {
  std::int64_t tile_rows = 1;
  std::int64_t tile_channels = 1;
  bool channels_outer = true;  // for each channel tile every row tile; else the other way round
  friend auto operator<=>(const Mapping&, const Mapping&) = default;
};

/// An operand read beside the nest's two: of row-wise work, or of an operator fused behind a nest.
struct Fetch {
  Place place = Place::nowhere;
  std::int64_t elements = 0;  // of the operand, a pass
  std::int64_t passes = 1;    // how often the circuit reads it
  bool per_fold = false;      // as many as the lanes work on in each fold; else read once and held
  friend auto operator<=>(const Fetch&, const Fetch&) = default;
};

/// Everything an instruction's cost depends on. Instructions of equal classes cost the same.
struct InstructionClass {
  Work work;  // read_elements is left empty: `fetches` has them
  Mapping mapping;
  Place operand_a = Place::nowhere;  // of a nest: activations, out_h x in_channels
  Place operand_b = Place::nowhere;  // of a nest: weights (psram) or the second activations
  std::vector<Fetch> fetches;
  bool to_dsram = true, push = false, to_dram = false;
  std::int64_t out_elements = 0;
  std::int64_t fused_operators = 0;              // elementwise operators behind the main one
  std::int64_t fused_passes = 0;                 // uses of the busiest of their circuits
  std::int64_t weight_elements_per_channel = 0;  // of a nest, by output channel of all groups; bias apart
  std::int64_t bias_elements_per_channel = 0;
  std::int64_t weight_elements = 0;  // of row-wise work, or of fused operators: fetched once over the instruction
  bool pinned = false;               // weights stay in PSRAM after the first pass
  friend auto operator<=>(const InstructionClass&, const InstructionClass&) = default;
};

struct PlacedOperand {
  Place place = Place::nowhere;
  std::int32_t value = none;  // of the graph
  bool pop = false;           // last use of a STACKRAM entry
};

struct Instruction {
  std::string name;      // of the node it came from
  std::string mnemonic;  // with fused ones behind: "conv2d+silu"
  std::int32_t instruction_class = 0;
  std::vector<PlacedOperand> sources;
  std::int32_t destination = none;
  std::vector<std::int32_t> weights;  // values of the graph whose bytes stand at weight_offset in .weight
  Bytes weight_offset, weight_bytes;  // as stored in DRAM
  Bytes dsram_read_side, dsram_write_side, stackram;  // occupancy while it runs
};

/// One stage's instructions, in the order they run.
struct Program {
  std::vector<Instruction> instructions;
  std::vector<InstructionClass> classes;
  Bytes weight_bytes;  // fetched from DRAM in a pass, as stored there; of a lookup table the rows looked up
  Bytes distinct_weight_bytes;      // of them, what two instructions share (two passes of guidance) counted once
  Bytes stored_weight_bytes;        // all that DRAM (or ROM) keeps for it
  Bytes pinned_bytes;               // kept in PSRAM after the first pass
  Bytes input_bytes, output_bytes;  // through DRAM, a pass
  Bytes latent_bytes;               // handed to the next stage (roles core and encoder)
  Bytes context_bytes;              // inputs on chip that travel with the frame from core to core (role core)
};

struct CompiledStage {
  Role role = Role::network;
  std::string name;
  Program program;
  std::int64_t passes_per_step = 1;
};

struct Application {
  std::string name;
  std::vector<CompiledStage> stages;
  bool feasible = true;
  std::string reason;  // when not: "stage: instruction: what does not fit, by how much"
};

/// Programs for every stage. Depends only on the workload and compile_key(machine). What cannot be placed makes the
/// application infeasible, with the reason.
Application compile(const Workload& workload, const Machine& machine);

/// Bits of an instruction word in IMEM: the essay's six fields and our extensions (docs/formats.md).
inline constexpr std::int64_t instruction_word_bits = 512;

/// Scales of an instruction's quantised weights, one a tensor in the order of Instruction::weights; nothing where
/// each output channel has its own, in `.weight`. Empty when the format needs none.
using InstructionScales = std::vector<std::optional<float>>;
using WeightScales = std::vector<InstructionScales>;  // by instruction

/// The `.graph` text of a program: one line an instruction (docs/formats.md). `scales` of its `.weight` file, or
/// nothing.
std::string graph_text(const CompiledStage& stage, const Graph& graph, const WeightScales& scales = {});

}  // namespace sdip
