// Machines of one instruction stream over a tree of memories (PFN MN-Core): their peaks, and times of layers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/baseline/archetypes/layer_time.h"
#include "core/baseline/archetypes/layers.h"
#include "core/baseline/archetypes/layout.h"

namespace sdip {

/// What one matrix unit does in a cycle in a number format: a matrix of rows x columns, held in it, times a vector,
/// added to another; or vector_macs elements each by each. A matrix is written in load_cycles, while another works.
struct MatrixRate {
  std::string_view format;
  std::int64_t element_bytes = 2;
  std::int64_t rows = 1, columns = 1;
  std::int64_t vector_macs = 1;
  std::int64_t load_cycles = 1;
};

/// The last level but one has the matrix units (MAB), the last the processing elements that feed one (PE), in whose
/// memories tensors lie. Every instruction takes step_cycles on all of them at once.
struct SimdTree {
  std::string_view name;
  std::vector<TreeLevel> levels;  // from the chip down
  double clock_hz = 0;
  std::vector<MatrixRate> rates;
  double dram_bytes_per_s = 0;  // of all nodes of the first level
  std::int64_t step_cycles = 4;
  std::int64_t accumulators = 1;  // vectors that a unit sums into at full rate
  std::int64_t hazard_steps = 3;  // until a result can be read, at most
  bool overlaps = false;          // transfers run beside the units' work, not one after the other
};
/// Units, memories, links: PFN's software developer manual; docs/model/simd_tree.md has the source of each figure.
SimdTree mn_core_2();
/// 4 dies. Links, memories and vectors are taken to be MN-Core 2's, since nothing is published of them; its 16 bits
/// have another layout than tf16, the same rate.
SimdTree mn_core_1();

/// Requires a format of the machine.
const MatrixRate& rate_of(const SimdTree& tree, std::string_view format);
std::int64_t matrix_units(const SimdTree& tree);
/// FLOP/s, two a multiply-accumulate: rows x columns x units x clock x 2.
/// Example: MN-Core 2 in tf16: 16 x 16 x 1024 x 750 MHz x 2 = 393.2e12.
double peak_flops(const SimdTree& tree, std::string_view format);

/// Words that cross the links between a level's nodes and their parents when a layout is converted.
struct LevelTraffic {
  std::int64_t climbed_bytes = 0;  // of elements and leaves: the nearest copy's path first differs at this level
  std::int64_t up_bytes = 0, down_bytes = 0;    // over all links
  std::int64_t link_bytes = 0, port_bytes = 0;  // of the busiest link, of the busiest parent; both ways together
};
struct LayoutConversion {
  std::vector<LevelTraffic> levels;
  std::int64_t stays_bytes = 0;  // already in the leaf that needs them
  std::int64_t cycles = 0;
};
/// Moves a tensor from one layout to another. An element goes up from a leaf to the lowest node under which a copy
/// is and another is needed, once, and down each link once below which it is needed and no copy is. A level moves
/// up or down in a cycle, not both; levels work at once, so cycles are those of the slowest: the busiest link over
/// link_bytes, or the busiest parent over port_bytes. New addresses within a leaf cost nothing here. Work grows
/// with the pairs of leaves that exchange anything. Requires layouts that fit.
LayoutConversion conversion_of(const TreeLayout& from, const TreeLayout& to, std::span<const std::int64_t> shape,
                               std::int64_t element_bytes, std::span<const TreeLevel> levels);
/// Whether a tensor stays in the leaves: it takes at most half of their memory.
bool stays_in_leaves(const SimdTree& tree, double bytes);

/// Into how many parts one level divides a product: 4 x 2 x 1 x 2 nodes of 16 each do a part of the rows, ...
struct TreeSplit {
  std::int64_t count = 1, rows = 1, columns = 1, terms = 1;
};
/// A product on the units: a split for each level above the PEs, and what it takes in cycles.
struct ProductMapping {
  std::vector<TreeSplit> splits;
  double compute_cycles = 0;  // idle lanes and units, whole steps, loads of matrices that nothing hides
  double exchange_cycles =
      0;  // partial sums up and results down, borders of images, a second operand of activations
  double broadcast_cycles = 0;  // weights down the tree
  double feed_cycles = 0;       // the first from DRAM, where it does not stay
  double weight_passes = 1;     // how often they are read: for each block of rows where a unit cannot hold its part
  double cycles = 0;            // both sums of compute + exchange, broadcast + feed: the larger, or all
};
/// The `most` mappings of fewest cycles, one for each number of parts in all (of equal ones that with most rows at
/// the outer levels); `fed` when the first operand comes from DRAM. They are chosen from all whose splits multiply
/// to the branching of each level, and whose operand, copies and result fit into the leaves.
std::vector<ProductMapping> mappings_of(const Layer& layer, const SimdTree& tree, const MatrixRate& rate, bool fed,
                                        std::size_t most);
/// Where the first operand has to be, and where the result is then, as [count x rows, terms or columns].
TreeLayout operand_layout(const ProductMapping& mapping);
TreeLayout result_layout(const ProductMapping& mapping);

/// The cycles of one layer, whatever the rates: of the units, of elementwise work, of conversions, sums and
/// borders, and of what comes down the tree.
struct TreeLayer {
  double compute_cycles = 0, vector_cycles = 0, moved_cycles = 0, down_cycles = 0, dram_bytes = 0;
};
/// A network with the mappings that cost least together, conversions between them included.
struct TreeSchedule {
  std::vector<TreeLayer> layers;
  std::vector<ProductMapping> chosen;  // of each product, in order
  double planned_cycles = 0;           // of all products and conversions, as often as layers run
  double greedy_cycles = 0;            // had each layer taken its best after those before
  double latency_cycles = 0;           // of each layer: dependent instructions come down the tree and up
  bool overlaps = false;               // as of the tree
};
/// A product reads what the product before it in the list makes (elementwise layers between keep the layout). A
/// tensor of at most half the leaves' memory stays in them, a larger one goes through DRAM; so do the first operand
/// and the last result. Weights come from DRAM once for each of weight_passes, and are broadcast meanwhile. No rate
/// of the machine is asked. Requires branchings that are powers of two, a format of the machine.
TreeSchedule schedule_of(std::span<const Layer> layers, const SimdTree& tree, std::string_view format = "tf16");
/// compute_s: the units. vector_s: elementwise work. on_chip_s: conversions, sums, borders, broadcasts. memory_s:
/// DRAM. overhead_s: until a stream of dependent instructions has come down the tree and up. Where transfers
/// overlap, seconds = max(compute + vector + conversion + exchange, broadcast and feed, memory) + overhead, else
/// the sum of all.
std::vector<LayerTime> times_at(const TreeSchedule& schedule, const MachineRates& rates);
/// At the tree's own rates.
std::vector<LayerTime> times_of(std::span<const Layer> layers, const SimdTree& tree);

}  // namespace sdip
