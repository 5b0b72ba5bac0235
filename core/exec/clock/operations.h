// The tile operations of an instruction, with the beats of each port and the bytes of each tile counted one by one.
// Written from docs/model/ alone: nothing here is shared with core/cost, nor with what core/program counts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip::exec {

using Count = std::int64_t;

/// Ports of a core's memories; last the read ports of the DSRAM pairs of all families, for those that are not the
/// instruction's own.
enum class Port { dsram_read, dsram_write, stackram_read, stackram_write, psram_read, other_pairs };
inline constexpr std::size_t port_count = 5 + pair_families;
inline Port other_pair(Family family) { return static_cast<Port>(at(Port::other_pairs) + at(family)); }

/// Beats of each port.
using Beats = Array<std::int64_t, port_count>;

/// Cycles of the circuit and beats of each port, counted one by one.
struct Needs {
  std::int64_t compute = 0;
  Beats beats{};
  std::int64_t psram_stack = 0;  // of psram_read what one core moved of its stack, where PSRAM holds that
  // Partial sums that accumulators took and gave, weights that registers took.
  std::int64_t accumulator_writes = 0, accumulator_reads = 0, register_writes = 0;
  std::int64_t& operator[](Port port) { return beats[port]; }
  std::int64_t operator[](Port port) const { return beats[port]; }
  Needs& operator+=(const Needs& other);
  std::int64_t longest() const;
};

inline constexpr std::int64_t no_tile = -1;

/// One tile operation: how long it lasts, which tiles it needs, and their bytes (one core, no bursts).
struct Operation {
  Needs needs;
  std::int64_t steps_cycles = 0;  // of a compound's operation: its steps one after the other; else 0
  std::int64_t a_tile = no_tile, b_tile = no_tile, weight_tile = no_tile;  // numbers of tiles
  std::int64_t a_bytes = 0, b_bytes = 0, other_bytes = 0;                  // through DRAM, when the tile changes
  std::int64_t partial_bytes = 0, out_bytes = 0;                           // partial sums in; results or they out
  std::int64_t weight_psram_bytes = 0, weight_dram_bytes = 0;
  std::int64_t weight_elements = 0;  // of a nest's tile of weights, bias apart
  std::int64_t lane_operations = 0;  // elementwise steps of a nest: before, fused behind it, and for sums
  std::int64_t scalings = 0;         // partial sums of groups of weights, each by its scale
  std::int64_t commands = 1;         // to dispatch: its micro-operations, or itself
  bool on_host = false;
  bool leaves_partials = false;  // out_bytes are partial sums
  std::int64_t cycles() const { return steps_cycles > 0 ? steps_cycles : needs.longest(); }
};

/// docs/model/memory.md: a stage has its weights in ROM; in ROM or a FeFET memory, so that they are not fetched;
/// in a FeFET memory, which multiplies by them.
bool weights_in_rom(const Machine& machine, Role role);
bool weights_wired(const Machine& machine, Role role);
bool weights_multiply(const Machine& machine, Role role);

/// docs/model/sharing.md: cores' stacks lie in PSRAM.
inline bool psram_holds_stacks(const Machine& m) { return m.memory_hierarchy == MemoryHierarchy::writable_psram; }

/// Tiling, work: an instruction's tile operations in the order they run, in a stage of that role. `owner`: the
/// family of the compound that it is a step of, whose pair its own results lie in; nothing: its own. The machine's
/// cores are those in lockstep.
std::vector<Operation> expand(const InstructionClass& c, const Machine& machine, Role role = Role::network,
                              std::optional<Family> owner = {});

/// The same of a nest alone.
std::vector<Operation> expand_nest(const InstructionClass& c, const Machine& machine, Role role, Family owner);
/// The same of a compound instruction of strips, one operation a strip, more where weights are
/// streamed; and its weights that are held.
std::vector<Operation> expand_strips(const InstructionClass& c, const Machine& machine, Role role);
std::int64_t strips_psram_bytes(const InstructionClass& c, const Machine& machine);
/// The same of row-wise work alone.
std::vector<Operation> expand_rows(const InstructionClass& c, const Machine& machine, Role role, Family owner);
/// The same of a fused attention: compound instructions, attention.
std::vector<Operation> expand_attention(const InstructionClass& c, const Machine& machine, Role role);

/// How many of a tile's weights stay with sparsity=skipping, in rows of so many sums; group by group where they are
/// of an n:m pattern.
std::int64_t kept_weights(std::int64_t elements, std::int64_t sums, const Machine& machine);

/// How many operations `expand` gives.
std::int64_t operation_count(const InstructionClass& c);

/// One unit's work on a tile operation: the micro-operations of an operation in order. `first`, `last`: of the sums
/// tiles, or of the passes of a row's chunks; `apart`: passes that run apart; `rescales`, `divides`: of attention.
enum class Micro { read, product, pass, write };
std::vector<Micro> micro_operations_of_nest(const InstructionClass& c, const Machine& machine, Role role,
                                            bool first, bool last);
std::vector<Micro> micro_operations_of_rows(const InstructionClass& c, const Machine& machine, Role role,
                                            std::int64_t apart, bool last);
std::vector<Micro> micro_operations_of_attention(const InstructionClass& c, const Machine& machine, Role role,
                                                 bool rescales, bool divides);

/// Operators on the host.
bool host_computes(const InstructionClass& c, const Machine& machine);

/// Bytes of an instruction's words, given its operations.
std::int64_t words_bytes(const Instruction& instruction, const std::vector<Operation>& operations,
                         const Machine& machine);

/// Bits of the scale of a group of weights.
std::int64_t bits_of_scale(const Machine& machine);

/// Bits of a weight that no product multiplies by: beside blocks 16.
inline std::int64_t bits_beside_products(const Machine& m) {
  return is_block_format(m.weight_format) ? 16 : bits_of(m.weight_format);
}

/// Weights of so many channels: `elements` that products multiply by, of each channel rows of so many `sums` at so
/// many `kernels` positions; beside them of each channel `bias_elements`, and its scale.
struct WeightTile {
  std::int64_t channels, elements, kernels, sums, bias_elements;
  bool with_bias_and_scale = true;
};
/// As PSRAM holds them.
std::int64_t psram_bytes_of(const WeightTile& tile, const Machine& machine);

/// Held weights of a class, as PSRAM and DRAM hold them.
std::int64_t held_psram_bytes(const InstructionClass& c, const Machine& machine);
std::int64_t packed_bytes(std::int64_t bytes, const Machine& machine);

/// Branches on several cores: the parts of operands on chip sent to each of the other cores, one after the other
/// over the first link; their results coming back.
std::int64_t sent_cycles(const InstructionClass& c, const Machine& machine);
std::int64_t returned_cycles(const InstructionClass& c, const Machine& machine);

}  // namespace sdip::exec
