// The machine, conversions of layouts on it, and products mapped to its units.
#include "core/baseline/archetypes/simd_tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/base/units.h"

namespace sdip {
namespace {

double tree_real(std::int64_t count) { return static_cast<double>(count); }

/// Leaves under one node of each level.
std::vector<std::int64_t> tree_leaves_under(std::span<const TreeLevel> levels) {
  std::vector<std::int64_t> under(levels.size(), 1);
  for (std::size_t level = levels.size(); level-- > 1;) under[level - 1] = under[level] * levels[level].branching;
  return under;
}

std::int64_t tree_leaf(const TreePlace& place, std::span<const std::int64_t> under) {
  std::int64_t leaf = 0;
  for (std::size_t level = 0; level < under.size(); ++level) leaf += place.path[level] * under[level];
  return leaf;
}

struct LeafPair {
  std::int64_t from = 0, to = 0, elements = 0;
};
/// How many elements go from which first leaf to which: of each dimension alone, since what dimensions add to the
/// number of a leaf adds up, then of all together.
std::vector<LeafPair> tree_pairs(const TreeLayout& from, const TreeLayout& to, std::span<const std::int64_t> shape,
                                 std::span<const std::int64_t> under) {
  std::vector<LeafPair> all = {{0, 0, 1}};
  for (std::size_t dimension = 0; dimension < shape.size(); ++dimension) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counted;
    std::vector<std::int64_t> index(shape.size(), 0);
    for (index[dimension] = 0; index[dimension] < shape[dimension]; ++index[dimension])
      ++counted[{tree_leaf(place_of(from, index, under.size()), under),
                 tree_leaf(place_of(to, index, under.size()), under)}];
    std::vector<LeafPair> grown;
    for (const LeafPair& pair : all)
      for (const auto& [leaves, elements] : counted)
        grown.push_back({pair.from + leaves.first, pair.to + leaves.second, pair.elements * elements});
    all = std::move(grown);
  }
  return all;
}

/// The leaves of all copies of an element whose first copy is in a leaf, in order.
std::vector<std::int64_t> tree_copies(const TreeLayout& layout, std::size_t dimensions,
                                      std::span<const std::int64_t> under) {
  std::vector<std::int64_t> leaves;
  for (const TreePlace& place : places_of(layout, std::vector<std::int64_t>(dimensions, 0), under.size()))
    leaves.push_back(tree_leaf(place, under));
  return leaves;
}

/// Bytes on each link and through each parent's memory.
struct TreeLoads {
  std::vector<std::vector<std::int64_t>> up, down, port;  // of each level's nodes; of the parents of each level's
};

/// The nodes of a level over those leaves, each once. Requires leaves in order.
std::vector<std::int64_t> tree_over(std::span<const std::int64_t> leaves, std::int64_t under) {
  std::vector<std::int64_t> nodes;
  for (const std::int64_t leaf : leaves)
    if (nodes.empty() || nodes.back() != leaf / under) nodes.push_back(leaf / under);
  return nodes;
}

/// Sends one element, of so many bytes, from the leaves that have it to those that need it.
void tree_send(std::span<const std::int64_t> have, std::span<const std::int64_t> need, std::int64_t bytes,
               std::span<const TreeLevel> levels, std::span<const std::int64_t> under, TreeLoads& loads) {
  std::vector<std::int64_t> senders;  // of the level above
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const std::int64_t branching = levels[level].branching;
    const std::vector<std::int64_t> sources = tree_over(have, under[level]);
    std::vector<std::int64_t> lacking;
    std::ranges::set_difference(tree_over(need, under[level]), sources, std::back_inserter(lacking));
    std::int64_t served = -1;
    for (const std::int64_t node : lacking) {
      loads.down[level][as_size(node)] += bytes;
      if (node / branching != served || !levels[level].broadcasts)
        loads.port[level][as_size(node / branching)] += bytes;
      served = node / branching;
    }
    std::vector<std::int64_t> sending;
    for (const std::int64_t node : sources) {
      const std::int64_t parent = node / branching;
      if (!sending.empty() && sending.back() / branching == parent) continue;
      const auto under_parent = [&](std::int64_t other) { return other / branching == parent; };
      const bool wanted = std::ranges::any_of(lacking, under_parent) || std::ranges::binary_search(senders, parent);
      if (!wanted) continue;
      loads.up[level][as_size(node)] += bytes;
      loads.port[level][as_size(parent)] += bytes;
      sending.push_back(node);
    }
    senders = std::move(sending);
  }
}

/// The outermost level at which the path of `leaf` differs from that of its nearest copy; the number of levels when
/// it is one of them.
std::size_t tree_climb(std::span<const std::int64_t> have, std::int64_t leaf, std::span<const std::int64_t> under) {
  std::size_t highest = 0;
  for (const std::int64_t copy : have) {
    std::size_t level = 0;
    while (level < under.size() && copy / under[level] == leaf / under[level]) ++level;
    highest = std::max(highest, level);
  }
  return highest;
}

/// All ways to write a branching as count x rows x columns x terms, the most of each before less.
std::vector<TreeSplit> tree_splits(std::int64_t branching, bool counted) {
  std::vector<TreeSplit> splits;
  for (std::int64_t count = counted ? branching : 1; count >= 1; --count)
    for (std::int64_t rows = branching / count; rows >= 1; --rows)
      for (std::int64_t columns = branching / (count * rows); columns >= 1; --columns)
        if (branching % (count * rows * columns) == 0)
          splits.push_back({count, rows, columns, branching / (count * rows * columns)});
  return splits;
}

TreeSplit tree_product(std::span<const TreeSplit> splits) {
  TreeSplit all;
  for (const TreeSplit& split : splits)
    all = {all.count * split.count, all.rows * split.rows, all.columns * split.columns, all.terms * split.terms};
  return all;
}

/// Cycles in which `bytes` come down the tree, each node getting what its splits leave. DRAM is beside the nodes of
/// the first level: what these divide among them comes from each one's own.
template <class Parts>
double tree_down(double bytes, std::span<const TreeSplit> splits, const SimdTree& tree, Parts parts) {
  double cycles = 0;
  for (std::size_t level = 0; level < splits.size(); ++level) {
    const TreeLevel& at = tree.levels[level];
    const double node = bytes / tree_real(parts(splits[level]));
    if (level > 0 || parts(splits[level]) < at.branching)
      cycles = std::max(
          {cycles, node / at.link_bytes, (at.broadcasts ? bytes : node * tree_real(at.branching)) / at.port_bytes});
    bytes = node;
  }
  return cycles;
}

/// Cycles in which a second operand of activations is shared out: it lies in the leaves, divided as the mapping
/// divides count, columns and terms and then evenly; what nodes divide rows for, they get from each other.
double tree_shared(double bytes, std::span<const TreeSplit> splits, const SimdTree& tree) {
  double cycles = 0, need = bytes, own = bytes;
  for (std::size_t level = 0; level < splits.size(); ++level) {
    const TreeLevel& at = tree.levels[level];
    const TreeSplit& split = splits[level];
    const double above = need;
    need /= tree_real(split.count * split.columns * split.terms);
    own /= tree_real(at.branching);
    if (need <= own) continue;
    const double down = at.broadcasts ? above : (need - own) * tree_real(at.branching);
    cycles = std::max({cycles, need / at.link_bytes, (own * tree_real(at.branching) + down) / at.port_bytes});
  }
  return cycles;
}

/// A layer on one machine, as all its mappings see it.
struct MappedLayer {
  const SimdTree* tree = nullptr;
  const MatrixRate* rate = nullptr;
  MatrixProduct product;
  LoopNest nest;
  double operand_bytes = 0, second_bytes = 0, unit_bytes = 0;
  bool fed = false, weighted = true;
};

/// Partial sums, in 32 bits, go up as far as terms are split; results come down again, each to one of the nodes
/// that summed it.
double tree_exchange(const MappedLayer& layer, std::span<const TreeSplit> splits, double sums) {
  double cycles = 0;
  TreeSplit above = tree_product(splits);
  for (std::size_t level = splits.size(); level-- > 0 && above.terms > 1;) {
    const TreeLevel& at = layer.tree->levels[level];
    const TreeSplit& split = splits[level];
    const double up = 4 * sums;
    const double down = tree_real(layer.rate->element_bytes) * sums / tree_real(above.terms);
    const double joined = tree_real(at.branching / (at.reduces ? split.terms : 1));
    cycles = std::max(
        {cycles, (up + down) / at.link_bytes, (up * joined + down * tree_real(at.branching)) / at.port_bytes});
    sums *= tree_real(at.branching / split.terms);
    above.terms /= split.terms;
  }
  return cycles;
}

/// Rows of an image that a unit needs from its neighbours' parts: they go up to L1B and come down.
double tree_borders(const MappedLayer& layer, const TreeSplit& all) {
  const LoopNest& nest = layer.nest;
  const std::int64_t parts = ceil_div(all.rows, std::max<std::int64_t>(1, nest.batch));
  const std::int64_t lines = nest.kernel_h - nest.stride_h;
  if (parts <= 1 || lines <= 0) return 0;
  const TreeLevel& at = layer.tree->levels[layer.tree->levels.size() - 2];
  const double bytes = tree_real(lines * nest.in_w * ceil_div(nest.in_channels, all.terms) *
                                 ceil_div(layer.product.count, all.count) * layer.rate->element_bytes);
  return 2 * bytes * std::max(1 / at.link_bytes, tree_real(at.branching) / at.port_bytes);
}

/// Cycles of a unit that streams so many vectors past a matrix: in blocks that its accumulators hold.
double tree_streamed(const MappedLayer& layer, std::int64_t vectors) {
  const std::int64_t most = layer.tree->accumulators, step = layer.tree->step_cycles;
  const auto block = [&](std::int64_t size) {
    return std::max(ceil_div(size, step) * step, layer.rate->load_cycles);
  };
  return tree_real(vectors / most * block(most) + (vectors % most > 0 ? block(vectors % most) : 0));
}

/// Either the second operand stands in the matrix registers and rows stream past, or the first does and columns
/// stream, where a unit holds its part of the second or needs it once.
ProductMapping tree_mapped(const MappedLayer& layer, std::span<const TreeSplit> splits, const TreeSplit& all) {
  const MatrixRate& rate = *layer.rate;
  const double count = tree_real(ceil_div(layer.product.count, all.count));
  const std::int64_t rows = ceil_div(layer.product.rows, all.rows);
  const std::int64_t columns = ceil_div(layer.product.columns, all.columns);
  const double depth = count * tree_real(ceil_div(ceil_div(layer.product.terms, all.terms), rate.columns));
  const bool held = 4 * layer.second_bytes <= layer.unit_bytes * tree_real(all.count * all.columns * all.terms);
  ProductMapping mapping;
  mapping.compute_cycles = depth * tree_real(ceil_div(columns, rate.rows)) * tree_streamed(layer, rows);
  if (held || rows <= rate.rows)
    mapping.compute_cycles = std::min(mapping.compute_cycles,
                                      depth * tree_real(ceil_div(rows, rate.rows)) * tree_streamed(layer, columns));
  mapping.exchange_cycles =
      tree_exchange(layer, splits, count * tree_real(rows * columns)) + tree_borders(layer, all);
  if (layer.weighted) {
    mapping.weight_passes = held ? 1 : tree_real(ceil_div(rows, layer.tree->accumulators));
    mapping.broadcast_cycles =
        tree_down(layer.second_bytes * mapping.weight_passes, splits, *layer.tree,
                  [](const TreeSplit& split) { return split.count * split.columns * split.terms; });
  } else {
    mapping.exchange_cycles += tree_shared(layer.second_bytes, splits, *layer.tree);
  }
  if (layer.fed)
    mapping.feed_cycles = tree_down(layer.operand_bytes, splits, *layer.tree,
                                    [](const TreeSplit& split) { return split.count * split.rows * split.terms; });
  const double work = mapping.compute_cycles + mapping.exchange_cycles;
  const double down = mapping.broadcast_cycles + mapping.feed_cycles;
  mapping.cycles = layer.tree->overlaps ? std::max(work, down) : work + down;
  return mapping;
}

TreeLayout tree_layout(std::span<const TreeSplit> splits, bool result) {
  TreeLayout layout;
  const auto append = [&](int dimension, std::int64_t TreeSplit::*part) {
    for (std::size_t level = 0; level < splits.size(); ++level)
      if (splits[level].*part > 1)
        layout.digits.push_back({dimension, splits[level].*part, static_cast<int>(level)});
  };
  append(0, &TreeSplit::count);
  append(0, &TreeSplit::rows);
  append(result ? 0 : 1, &TreeSplit::terms);
  append(result ? 1 : LayoutDigit::copied, &TreeSplit::columns);
  return layout;
}

}  // namespace

bool stays_in_leaves(const SimdTree& tree, double bytes) {
  return 2 * bytes <= tree_real(leaves_of(tree.levels) * tree.levels.back().memory_bytes);
}

SimdTree mn_core_2() {
  return {.name = "MN-Core 2",
          .levels = {{"group", 4, 4 << 20, 32 * 8, 32 * 8},
                     {"L2B", 2, 256 << 10, 16 * 8, 32 * 8},
                     {"L1B", 8, 64 << 10, 16 * 8, 64 * 8},
                     {"MAB", 16, 0, 8 * 8, 64 * 8},
                     {"PE", 4, 32 << 10, 2 * 8, 8 * 8}},
          .clock_hz = 750e6,
          .rates = {{"fp64", 8, 2, 4, 2, 4},
                    {"fp32", 4, 8, 4, 8, 8},
                    {"tf32", 4, 8, 8, 8, 8},
                    {"tf16", 2, 16, 16, 16, 8}},
          .dram_bytes_per_s = 4 * 16 * 8 * 750e6,
          .step_cycles = 4,
          .accumulators = 256,
          .hazard_steps = 3};
}

SimdTree mn_core_1() {
  SimdTree tree = mn_core_2();
  tree.name = "MN-Core";
  tree.levels[0] = {"die", 4, 0, 32 * 8, 32 * 8};
  tree.levels[1].branching = 4;
  tree.clock_hz = 500e6;
  tree.rates = {{"fp64", 8, 4, 4, 4, 4}, {"fp32", 4, 8, 8, 8, 8}, {"tf16", 2, 16, 16, 16, 8}};
  tree.dram_bytes_per_s = 400e9;
  return tree;
}

const MatrixRate& rate_of(const SimdTree& tree, std::string_view format) {
  const auto found = std::ranges::find(tree.rates, format, &MatrixRate::format);
  check(found != tree.rates.end(), "rate_of: a format of the machine");
  return *found;
}

std::int64_t matrix_units(const SimdTree& tree) { return nodes_at(tree.levels, tree.levels.size() - 2); }

double peak_flops(const SimdTree& tree, std::string_view format) {
  const MatrixRate& rate = rate_of(tree, format);
  return 2 * tree_real(rate.rows * rate.columns * matrix_units(tree)) * tree.clock_hz;
}

LayoutConversion conversion_of(const TreeLayout& from, const TreeLayout& to, std::span<const std::int64_t> shape,
                               std::int64_t element_bytes, std::span<const TreeLevel> levels) {
  check(fits_tree(from, shape, levels) && fits_tree(to, shape, levels), "conversion_of: layouts that fit");
  const std::vector<std::int64_t> under = tree_leaves_under(levels);
  std::vector<std::int64_t> have = tree_copies(from, shape.size(), under);
  std::vector<std::int64_t> need = tree_copies(to, shape.size(), under);
  const std::vector<std::int64_t> have_at_first = have, need_at_first = need;
  LayoutConversion result{.levels = std::vector<LevelTraffic>(levels.size())};
  TreeLoads loads;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const std::size_t nodes = as_size(nodes_at(levels, level));
    loads.up.emplace_back(nodes);
    loads.down.emplace_back(nodes);
    loads.port.emplace_back(nodes / as_size(levels[level].branching));
  }
  for (const LeafPair& pair : tree_pairs(from, to, shape, under)) {
    const std::int64_t bytes = pair.elements * element_bytes;
    std::ranges::transform(have_at_first, have.begin(), [&](std::int64_t leaf) { return leaf + pair.from; });
    std::ranges::transform(need_at_first, need.begin(), [&](std::int64_t leaf) { return leaf + pair.to; });
    for (const std::int64_t leaf : need) {
      const std::size_t level = tree_climb(have, leaf, under);
      (level == levels.size() ? result.stays_bytes : result.levels[level].climbed_bytes) += bytes;
    }
    if (have != need) tree_send(have, need, bytes, levels, under, loads);
  }
  for (std::size_t level = 0; level < levels.size(); ++level) {
    LevelTraffic& traffic = result.levels[level];
    for (std::size_t node = 0; node < loads.up[level].size(); ++node) {
      traffic.up_bytes += loads.up[level][node];
      traffic.down_bytes += loads.down[level][node];
      traffic.link_bytes = std::max(traffic.link_bytes, loads.up[level][node] + loads.down[level][node]);
    }
    traffic.port_bytes = *std::ranges::max_element(loads.port[level]);
    const double cycles = std::max(tree_real(traffic.link_bytes) / levels[level].link_bytes,
                                   tree_real(traffic.port_bytes) / levels[level].port_bytes);
    result.cycles = std::max(result.cycles, static_cast<std::int64_t>(std::ceil(cycles)));
  }
  return result;
}

std::vector<ProductMapping> mappings_of(const Layer& layer, const SimdTree& tree, const MatrixRate& rate, bool fed,
                                        std::size_t most) {
  const TreeLevel& leaf = tree.levels.back();
  MappedLayer of{.tree = &tree, .rate = &rate, .product = product_of(layer), .nest = layer.work.nest, .fed = fed};
  const std::int64_t weights = of.product.count * of.product.columns * of.product.terms;
  of.weighted = layer.weighted;
  of.operand_bytes = tree_real(layer.a_elements * rate.element_bytes);
  of.second_bytes = tree_real((layer.weighted ? weights : layer.b_elements) * rate.element_bytes);
  of.unit_bytes = tree_real(leaf.branching * leaf.memory_bytes);
  const double result_bytes = tree_real(layer.output_elements * rate.element_bytes);
  const double room = of.unit_bytes * tree_real(matrix_units(tree));
  std::vector<std::vector<TreeSplit>> choices;
  for (std::size_t level = 0; level + 1 < tree.levels.size(); ++level)
    choices.push_back(tree_splits(tree.levels[level].branching, of.product.count > 1));
  std::map<std::array<std::int64_t, 3>, ProductMapping> best;  // of each count, rows, columns in all
  std::vector<std::size_t> chosen(choices.size(), 0);
  std::vector<TreeSplit> splits(choices.size());
  for (bool more = true; more;) {
    for (std::size_t level = 0; level < splits.size(); ++level) splits[level] = choices[level][chosen[level]];
    const TreeSplit all = tree_product(splits);
    if (fed || all.columns == 1 || of.operand_bytes * tree_real(all.columns) + result_bytes <= room) {
      ProductMapping mapping = tree_mapped(of, splits, all);
      ProductMapping& known = best[{all.count, all.rows, all.columns}];
      if (known.splits.empty() || mapping.cycles < known.cycles) {
        mapping.splits = splits;
        known = std::move(mapping);
      }
    }
    more = false;
    for (std::size_t level = splits.size(); level-- > 0 && !more;) {
      more = ++chosen[level] < choices[level].size();
      if (!more) chosen[level] = 0;
    }
  }
  std::vector<ProductMapping> sorted;
  for (auto& [parts, mapping] : best) sorted.push_back(std::move(mapping));
  std::ranges::stable_sort(sorted, {}, &ProductMapping::cycles);
  if (sorted.size() > most) sorted.resize(most);
  return sorted;
}

TreeLayout operand_layout(const ProductMapping& mapping) { return tree_layout(mapping.splits, false); }
TreeLayout result_layout(const ProductMapping& mapping) { return tree_layout(mapping.splits, true); }

}  // namespace sdip
