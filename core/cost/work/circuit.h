// The cost of one tile operation in its circuit and at each SRAM port, and the bytes that it moves through DRAM.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "core/cost/work/expansion.h"
#include "core/cost/work/fold.h"
#include "core/cost/work/resolve.h"
#include "core/cost/work/scoreboard.h"

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

/// A counted need of each of a core's resources: cycles of the circuit, beats of the ports.
template <class Number>
struct BusyOf {
  ByCoreResource<Number> needs{};
  OtherPairsOf<Number> other_pairs;
  // The part of psram_read that is the stack's, with memory_hierarchy=writable_psram: of one core, and of all in
  // lockstep.
  Number psram_stack{}, psram_stacks{};
  // No needs, but events: partial sums written to and read from accumulators, weights put into registers.
  Number accumulator_writes{}, accumulator_reads{}, register_writes{};

  Number& operator[](Resource resource) { return needs[resource]; }
  const Number& operator[](Resource resource) const { return needs[resource]; }
  /// To nothing; other pairs, which are many, where there are some.
  void clear() {
    needs = {};
    psram_stack = psram_stacks = accumulator_writes = accumulator_reads = register_writes = Number{};
    if (other_pairs.any) other_pairs = {};
  }
  BusyOf& operator+=(const BusyOf& other) { return add(other, 1); }
  BusyOf& add(const BusyOf& other, std::int64_t times) {
    const Number factor(times);
    for (std::size_t need = 0; need < core_resources; ++need) needs[need] += factor * other.needs[need];
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
  Number longest() const { return std::max(*std::ranges::max_element(needs), longest_dsram_read()); }
  /// Beats of PSRAM's port that bring weights, to all cores at once.
  Number weight_beats() const { return needs[Resource::psram_read] - psram_stacks; }
  /// Beats of all DSRAM read ports together, and below of the one that is busy longest.
  Number all_dsram_reads() const {
    const Number& own = needs[Resource::dsram_read];
    return other_pairs.any ? own + other_pairs.sum() : own;
  }
  Number longest_dsram_read() const {
    const Number& own = needs[Resource::dsram_read];
    return other_pairs.any ? std::max(own, other_pairs.longest()) : own;
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
  FewOf<WindowBytes, 1> windows;       // at least one
  FewOf<OperationKind, 4> kinds;       // of the operations, where any exchanges something with DRAM; else none
  ByCoreResource<std::int64_t> dma{};  // sum over all operations, where they take beats of the instruction's ports
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

/// The cycles that an instruction needs of each of its core's resources, with the beats of its transfers; of all
/// DSRAM pairs that it reads, of the one in use longest.
inline ByCoreResource<std::int64_t> core_needs(const ClassCost& cost) {
  ByCoreResource<std::int64_t> needs = cost.busy.needs;
  for (std::size_t need = 0; need < core_resources; ++need) needs[need] += cost.dma[need];
  std::int64_t& reads = needs[Resource::dsram_read];
  reads = std::max(reads, cost.busy.longest_dsram_read());
  return needs;
}

/// Cycles of one MAC that all its products take at the least: spent MACs, as many at once as a MAC makes.
std::int64_t mac_cycles(const ClassCost& cost);

/// Place among `kinds` of an operation that the loops' steps have load so much.
std::size_t kind_of(const ClassCost& cost, std::int32_t shape, std::int32_t window, const TileStep& step);

/// Beats that the transfers of a kind take: those for which its operation's tiles come, those of what it leaves.
/// docs/model/time.md#beats-of-transfers.
template <class Number>
ByCoreResource<Number> dma_beats(const InstructionClass& c, const Resolved& r, const ClassCost& cost,
                                 const OperationKind& kind) {
  const TileCost& tile = cost.shapes[at(kind.shape)];
  const WindowBytes& window = cost.windows[at(kind.window)];
  ByCoreResource<Number> beats{};
  const auto add = [&](Resource port, std::int64_t bytes) {
    if (bytes > 0) beats[port] += ceiling(product_of<Number>({8, bytes}), r.port_bits[port]);
  };
  // Loads land in the reading side; of a unified memory they take the port that writes, stores the one that reads.
  const Resource loads = r.unified ? Resource::dsram_write : Resource::dsram_read;
  const Resource stores = r.unified ? Resource::dsram_read : Resource::dsram_write;
  if (kind.a) add(loads, kind.fresh ? window.fresh : window.all);
  if (kind.b) add(loads, tile.b_bytes);
  add(loads, tile.split_in_bytes);
  add(Resource::dsram_write, tile.partial_in_bytes);
  add(stores, tile.out_bytes);
  if (kind.b && !c.pinned && !r.wired()) add(Resource::psram_read, tile.weight_bytes * cost.weight_parts);
  return beats;
}

/// Whether its products are made in a weight memory.
inline bool made_in_memory(const ClassCost& cost) { return cost.memory_cycles > 0; }

/// Whether activations pass through DRAM in any of its operations.
bool moves_activations(const ClassCost& cost);

/// The cost of an instruction of that class; `r`: resolve() of that class.
ClassCost class_cost(const InstructionClass& c, const Resolved& r);
inline ClassCost class_cost(const InstructionClass& c, const Machine& its, Role role = Role::network) {
  return class_cost(c, resolve(c, its, role));
}

/// Makes of the `cost` on one machine class_cost(c, r) on another. Requires that they have the same compile_key, so
/// that tiles and bytes stay as they are.
void cost_anew(const InstructionClass& c, const Resolved& r, ClassCost& cost);

/// The same of a step of an instruction, `r` being that of the instruction; what it owns is left out.
ClassCost step_cost(const InstructionClass& c, const Resolved& r);

}  // namespace sdip
