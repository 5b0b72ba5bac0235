// What one tile operation costs its circuit and each SRAM port, and what it moves through DRAM.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "core/cost/work/expansion.h"
#include "core/cost/work/fold.h"
#include "core/cost/work/scoreboard.h"
#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip {

/// Beats of reading DSRAM pairs of other families than the instruction's own; `any` says whether there are some,
/// since mostly there are none. `Number`: std::int64_t or Filled (fold.h).
template <class Number>
struct OtherPairsOf {
  bool any = false;
  std::array<Number, pair_families> beats{};

  void add(std::size_t pair, const Number& more) {
    any = true;
    beats[pair] += more;
  }
  Number sum() const { return std::accumulate(beats.begin(), beats.end(), Number{}); }
  Number longest() const { return *std::ranges::max_element(beats); }
};

/// A counted need of each on-chip resource, in cycles (compute) or beats (ports).
template <class Number>
struct BusyOf {
  Number compute{}, dsram_read{}, dsram_write{}, stackram_read{}, stackram_write{}, psram_read{};
  OtherPairsOf<Number> other_pairs;
  // Of psram_read, with memory_hierarchy=writable_psram: beats of one core's stack, and of all that are in
  // lockstep.
  Number psram_stack{}, psram_stacks{};
  // No needs, but events: partial sums written to and read from accumulators, weights put into registers.
  Number accumulator_writes{}, accumulator_reads{}, register_writes{};

  BusyOf& operator+=(const BusyOf& other) { return add(other, 1); }
  BusyOf& add(const BusyOf& other, std::int64_t times) {
    const Number factor(times);
    compute += factor * other.compute;
    dsram_read += factor * other.dsram_read;
    dsram_write += factor * other.dsram_write;
    stackram_read += factor * other.stackram_read;
    stackram_write += factor * other.stackram_write;
    psram_read += factor * other.psram_read;
    psram_stack += factor * other.psram_stack;
    psram_stacks += factor * other.psram_stacks;
    accumulator_writes += factor * other.accumulator_writes;
    accumulator_reads += factor * other.accumulator_reads;
    register_writes += factor * other.register_writes;
    if (!other.other_pairs.any) return *this;
    for (std::size_t pair = 0; pair < pair_families; ++pair)
      other_pairs.add(pair, factor * other.other_pairs.beats[pair]);
    return *this;
  }
  Number longest() const {
    return std::max({compute, longest_dsram_read(), dsram_write, stackram_read, stackram_write, psram_read});
  }
  /// Beats of PSRAM's port that bring weights, to all cores at once.
  Number weight_beats() const { return psram_read - psram_stacks; }
  /// Of all DSRAM read ports, in beats; of the one that is busy longest.
  Number all_dsram_reads() const { return other_pairs.any ? dsram_read + other_pairs.sum() : dsram_read; }
  Number longest_dsram_read() const {
    return other_pairs.any ? std::max(dsram_read, other_pairs.longest()) : dsram_read;
  }
};
using Busy = BusyOf<std::int64_t>;

/// One shape of tile operation. DRAM bytes are of one core, bursts not yet rounded.
struct TileCost {
  Busy busy;
  std::int64_t cycles = 0;               // the longest need
  std::int64_t times{};                  // how many operations have this shape
  std::int64_t micro_operations = 1;     // with granularity=micro those it is made of
  std::int64_t b_bytes = 0;              // of a nest's second activations that lie in DRAM
  std::int64_t weight_bytes = 0;         // of the tile of weights of a core, as PSRAM holds them
  std::int64_t weight_stored_bytes = 0;  // and as DRAM does
  std::int64_t split_in_bytes = 0;       // other DRAM operands: an equal part each operation that writes results
  std::int64_t partial_in_bytes = 0;     // partial sums that come back
  std::int64_t out_bytes = 0;            // to DRAM: results, or partial sums
  cost::TileExtent size{};               // of a class that is no compound; its place in the sum
  bool first{}, last{};
};

/// Beats of the ports of the reading side's and the writing side's DSRAM and of PSRAM that transfers through DRAM
/// take.
template <class Number>
struct DmaBeatsOf {
  Number read{}, write{}, psram{};
};
using DmaBeats = DmaBeatsOf<std::int64_t>;

/// Tile operations of one shape that the same transfers are for: `a` the window of A, of which `fresh` says whether
/// its fresh part alone is loaded; `b` B or the weights.
struct OperationKind {
  std::int32_t shape = 0, window = 0;
  bool a = false, fresh = false, b = false;
  std::int64_t times = 0;
  std::int64_t cycles = 0;  // the longest need, transfers included
  bool is(std::int32_t other_shape, std::int32_t other_window, const TileStep& step) const {
    return shape == other_shape && a == step.a && b == step.b &&
           (!a || (window == other_window && fresh == step.fresh));
  }
};

/// Bytes of a window of operand A that lies in DRAM; and of what the window one step before had not.
struct WindowBytes {
  std::int64_t all, fresh;
};

/// An instruction class on a machine: its tile operations, `order` over `shapes` and `windows`, and their sums.
struct ClassCost {
  TileLoops order;
  FewOf<TileCost, 2> shapes;
  FewOf<WindowBytes, 1> windows;  // at least one
  FewOf<OperationKind, 4> kinds;  // of the operations, where any exchanges something with DRAM; else none
  DmaBeats dma;                   // sum over all operations, where they take beats of the instruction's ports
  cost::TilePlan plan;
  std::int64_t operations = 0;
  bool weighted = false, streams_activations = false;
  std::int64_t held_weight_bytes{}, held_weight_stored_bytes{};  // row-wise and fused: with the first operation
  Busy busy;                                                     // sum over all operations
  std::int64_t cycles = 0;                                       // sum of the operations' cycles
  std::int64_t macs = 0, lane_operations = 0;                    // multiply-accumulates; elementwise steps
  std::int64_t spent_macs = 0;                                   // of them, the lanes': no zeros skipped, none
                                                                 // that a memory makes
  std::int64_t products_in_mac = 1;                              // that a MAC makes a cycle
  std::int64_t memory_cycles = 0;                                // the least that products in a memory take
  double conversions = 0;                                        // of their columns, analog to digital
  std::int64_t scalings = 0;                                     // of groups' partial sums, each by its scale
  bool on_host = false;                                          // the host computes it, by a command
  std::int64_t cores = 1;         // that do this at once, each its part: all above but beats of weights is one's
  std::int64_t weight_parts = 1;  // cores that each need a tile of weights of their own
  std::int64_t link_in_cycles = 0, link_out_cycles = 0;  // parts going to the others, results coming back
  Circuit circuit = Circuit::vector;
  Owned owned;  // with operator_dsram=per_operator
};

/// Beats of each port of an instruction's memories, those of its transfers included: of all DSRAM pairs that it
/// reads the one in use longest.
struct PortBeats {
  std::int64_t dsram_read, dsram_write, psram;
};
inline PortBeats port_beats(const ClassCost& cost) {
  return {std::max(cost.busy.longest_dsram_read(), cost.busy.dsram_read + cost.dma.read),
          cost.busy.dsram_write + cost.dma.write, cost.busy.psram_read + cost.dma.psram};
}

/// Cycles of one MAC that all its products take at the least: spent MACs, as many at once as a MAC makes.
std::int64_t mac_cycles(const ClassCost& cost);

/// Place among `kinds` of an operation that the loops' steps have load so much.
std::size_t kind_of(const ClassCost& cost, std::int32_t shape, std::int32_t window, const TileStep& step);

/// Which ports transfers meet, and whether weights come.
struct DmaPorts {
  std::int64_t dsram_bits, psram_bits;
  bool unified, weights;
};
DmaPorts dma_ports(const InstructionClass& c, const Machine& machine, Role role);

/// Beats that the transfers of a kind take: those for which its operation's tiles come, those of what it leaves.
/// docs/model/time.md#beats-of-transfers.
template <class Number>
DmaBeatsOf<Number> dma_beats(const ClassCost& cost, const OperationKind& kind, const DmaPorts& ports) {
  const TileCost& tile = cost.shapes[at(kind.shape)];
  const WindowBytes& window = cost.windows[at(kind.window)];
  const auto beats_of = [](std::int64_t bytes, std::int64_t bits) { return beats<Number>({8, bytes}, bits); };
  DmaBeatsOf<Number> all;
  // Loads land in the reading side; of a unified memory they take the port that writes, stores the one that reads.
  Number& loads = ports.unified ? all.write : all.read;
  Number& stores = ports.unified ? all.read : all.write;
  if (kind.a) loads += beats_of(kind.fresh ? window.fresh : window.all, ports.dsram_bits);
  if (kind.b) loads += beats_of(tile.b_bytes, ports.dsram_bits);
  loads += beats_of(tile.split_in_bytes, ports.dsram_bits);
  all.write += beats_of(tile.partial_in_bytes, ports.dsram_bits);
  stores += beats_of(tile.out_bytes, ports.dsram_bits);
  if (kind.b && ports.weights) all.psram += beats_of(tile.weight_bytes * cost.weight_parts, ports.psram_bits);
  return all;
}

/// Whether its products are made in a weight memory.
inline bool made_in_memory(const ClassCost& cost) { return cost.memory_cycles > 0; }

/// Whether activations pass through DRAM in any of its operations.
bool moves_activations(const ClassCost& cost);

/// MACs of a nest's array over rows, channels and the summed dimension, after sharing.
struct ArrayLanes {
  std::int64_t rows, channels, sum;
};
ArrayLanes array_lanes(Family family, const Machine& machine);

/// MACs of a core's arrays, those that families share once: products a cycle at most where none splits.
std::int64_t mac_lanes(const Machine& machine);

/// Lanes of the circuit of row-wise work, after sharing.
std::int64_t row_lanes(Family family, const Machine& machine);

/// Whether PSRAM holds the stacks of the cores.
bool stack_in_psram(const Machine& machine);

/// The machine as a stage's classes meet it when `cores` run them in lockstep: PSRAM's port serves the stacks of
/// all.
Machine in_lockstep(Machine machine, std::int64_t cores);

/// The class with operands in the instruction's own pair saying no other.
InstructionClass own_pair_unsaid(InstructionClass c);

/// What an instruction of that class costs in a stage of `role`, whose weights may lie in place. The machine's
/// cores are those in lockstep, and matter where stack_in_psram alone.
ClassCost class_cost(const InstructionClass& c, const Machine& machine, Role role = Role::network);

/// Makes of the `cost` of one machine that of another: class_cost(c, machine, role). Requires that they have the
/// same compile_key, so that tiles and bytes stay as they are.
void cost_anew(const InstructionClass& c, const Machine& machine, Role role, ClassCost& cost);

/// The same of a step of a compound instruction, or of one whose operands name no pair that is the instruction's
/// own; what it owns is left out.
ClassCost step_cost(const InstructionClass& c, const Machine& machine, Role role);

}  // namespace sdip
