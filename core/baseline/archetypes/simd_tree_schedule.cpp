// A network on the tree: mappings chosen together, and times at the machine's rates.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/baseline/archetypes/simd_tree.h"

namespace sdip {
namespace {

double schedule_real(std::int64_t count) { return static_cast<double>(count); }

/// The candidates of the products of a list, and the plan's problem: a chain, each layer as often as it is run.
struct TreeChain {
  std::vector<std::vector<ProductMapping>> mappings;
  PairwiseProblem problem;
};
TreeChain tree_chain(std::span<const Layer> layers, const SimdTree& tree, const MatrixRate& rate) {
  constexpr std::size_t candidates = 48;
  const std::span<const TreeLevel> above(tree.levels.data(), tree.levels.size() - 1);
  TreeChain chain;
  for (const Layer& layer : layers) {
    if (!is_product(layer)) continue;
    const double bytes = schedule_real(layer.a_elements * rate.element_bytes), times = schedule_real(layer.times);
    const bool fed = chain.mappings.empty() || !stays_in_leaves(tree, bytes);
    std::vector<ProductMapping> mappings = mappings_of(layer, tree, rate, fed, candidates);
    std::vector<double> costs;
    for (const ProductMapping& mapping : mappings) costs.push_back(times * mapping.cycles);
    if (!chain.mappings.empty()) {
      PairwiseEdge edge{chain.mappings.size() - 1, chain.mappings.size(), {}};
      for (const ProductMapping& from : chain.mappings.back())
        for (const ProductMapping& to : mappings)
          edge.costs.push_back(
              fed ? 0 : times * conversion_cycles(result_layout(from), operand_layout(to), bytes, above));
      chain.problem.edges.push_back(std::move(edge));
    }
    chain.problem.costs.push_back(std::move(costs));
    chain.mappings.push_back(std::move(mappings));
  }
  return chain;
}

/// Cycles of the conversion before a product, as often as it is run.
double tree_converted(const TreeChain& chain, const LayoutPlan& plan, std::size_t node) {
  if (node == 0) return 0;
  const std::size_t from = plan.chosen[node - 1] * chain.mappings[node].size();
  return chain.problem.edges[node - 1].costs[from + plan.chosen[node]];
}

/// Bytes through DRAM: what does not stay, the first operand, the last result, weights. Elementwise work on a
/// result only reads its other operands.
double tree_dram_bytes(const Layer& layer, const SimdTree& tree, const MatrixRate& rate, bool first, bool last,
                       double weight_passes) {
  const auto bytes = [&](std::int64_t elements) { return schedule_real(elements * rate.element_bytes); };
  const auto through = [&](std::int64_t elements, bool always) {
    return always || !stays_in_leaves(tree, bytes(elements)) ? bytes(elements) : 0.0;
  };
  if (layer.joint == Joint::fused)
    return through(layer.other_elements, false) +
           (last && stays_in_leaves(tree, bytes(layer.output_elements)) ? bytes(layer.output_elements) : 0);
  return weight_passes * bytes(layer.weight_elements) + through(layer.a_elements, first) +
         through(layer.b_elements * (layer.weighted ? 0 : 1), false) + through(layer.other_elements, first) +
         through(layer.output_elements, last);
}

}  // namespace

TreeSchedule schedule_of(std::span<const Layer> layers, const SimdTree& tree, std::string_view format) {
  const MatrixRate& rate = rate_of(tree, format);
  const TreeChain chain = tree_chain(layers, tree, rate);
  const LayoutPlan plan = plan_layouts(chain.problem);
  TreeSchedule schedule;
  schedule.planned_cycles = plan.cost;
  schedule.greedy_cycles = plan_greedily(chain.problem).cost;
  schedule.overlaps = tree.overlaps;
  schedule.latency_cycles =
      2 * schedule_real(static_cast<std::int64_t>(tree.levels.size()) * tree.hazard_steps * tree.step_cycles);
  const double lanes = schedule_real(rate.vector_macs * matrix_units(tree));
  for (std::size_t number = 0; number < layers.size(); ++number) {
    const Layer& layer = layers[number];
    TreeLayer& scheduled = schedule.layers.emplace_back();
    double weight_passes = 1;
    if (is_product(layer)) {
      const std::size_t node = schedule.chosen.size();
      const ProductMapping& mapping = chain.mappings[node][plan.chosen[node]];
      scheduled.compute_cycles = mapping.compute_cycles;
      scheduled.down_cycles = mapping.broadcast_cycles + mapping.feed_cycles;
      scheduled.moved_cycles =
          mapping.exchange_cycles + tree_converted(chain, plan, node) / schedule_real(layer.times);
      weight_passes = mapping.weight_passes;
      schedule.chosen.push_back(mapping);
    } else {
      const double steps = std::ceil(schedule_real(operations_of(layer)) / lanes / schedule_real(tree.step_cycles));
      scheduled.vector_cycles = steps * schedule_real(tree.step_cycles);
    }
    scheduled.dram_bytes =
        tree_dram_bytes(layer, tree, rate, number == 0, number + 1 == layers.size(), weight_passes);
  }
  return schedule;
}

std::vector<LayerTime> times_at(const TreeSchedule& schedule, const MachineRates& rates) {
  std::vector<LayerTime> times;
  times.reserve(schedule.layers.size());
  for (const TreeLayer& layer : schedule.layers) {
    LayerTime time{.overhead_s = schedule.latency_cycles / rates.clock_hz};
    const double broadcast = layer.down_cycles / rates.clock_hz;
    time.compute_s = layer.compute_cycles / rates.clock_hz;
    time.vector_s = layer.vector_cycles / rates.clock_hz;
    time.on_chip_s = broadcast + layer.moved_cycles / rates.clock_hz;
    time.dram_bytes = layer.dram_bytes;
    time.memory_s = time.dram_bytes / rates.dram_bytes_per_s;
    const double work = time.compute_s + time.vector_s + time.on_chip_s - broadcast;
    time.seconds = time.overhead_s + (schedule.overlaps ? std::max({work, broadcast, time.memory_s})
                                                        : work + broadcast + time.memory_s);
    times.push_back(time);
  }
  return times;
}

std::vector<LayerTime> times_of(std::span<const Layer> layers, const SimdTree& tree) {
  return times_at(schedule_of(layers, tree), {tree.clock_hz, tree.dram_bytes_per_s});
}

}  // namespace sdip
