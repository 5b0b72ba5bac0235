// The layouts of a network's products, planned together.
#include "core/baseline/archetypes/network_layout.h"

#include <map>
#include <optional>
#include <tuple>

#include "core/baseline/archetypes/reading.h"

namespace sdip {
namespace {

/// The product whose layout a value has; nothing: what comes from outside.
class FlowMaker {
 public:
  explicit FlowMaker(const Graph& graph) : graph_(graph), reading_(graph), makers_(graph.values.size()) {}

  ProductFlow make() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!reading_.is_layer(n)) continue;
      const Node& node = graph_.nodes[n];
      const bool product = is_nest(reading_.work(n).family);
      const std::optional<std::size_t> maker = product ? add_product(n) : pass(node);
      for (const ValueId out : node.outputs)
        if (out != none) made_by(out) = maker;
    }
    return std::move(flow_);
  }

 private:
  std::optional<std::size_t>& made_by(ValueId value) { return makers_[reading_.root(value)]; }

  void connect(ValueId value, std::size_t to, bool joins) {
    const auto from = made_by(value);
    if (!from || *from == to) return;
    flow_.edges.push_back({*from, to, reading_.elements(value), joins});
  }

  std::size_t add_product(std::size_t n) {
    const Node& node = graph_.nodes[n];
    const std::size_t number = flow_.products.size();
    flow_.products.push_back(layer_of_node(graph_, n, reading_));
    if (!reading_.is_weight(node.inputs[0])) connect(node.inputs[0], number, false);
    return number;
  }

  /// Work between products: others meet its largest operand, of equal ones that which was made last.
  std::optional<std::size_t> pass(const Node& node) {
    ValueId largest = none;
    const auto rank = [&](ValueId value) { return std::pair(reading_.elements(value), *made_by(value)); };
    for (const ValueId in : node.inputs)
      if (in != none && made_by(in) && (largest == none || rank(in) > rank(largest))) largest = in;
    if (largest == none) return std::nullopt;
    const std::size_t to = *made_by(largest);
    for (const ValueId in : node.inputs)
      if (in != none && in != largest && reading_.elements(in) > 1) connect(in, to, true);
    return to;
  }

  const Graph& graph_;
  const Reading reading_;
  List<std::optional<std::size_t>> makers_;
  ProductFlow flow_;
};

/// Products alike have the same mappings.
auto shape_of(const Layer& layer, bool fed) {
  return std::tuple(layer.work, layer.weighted, layer.a_elements, layer.output_elements, fed);
}

double conversions_of(const PairwiseProblem& problem, const std::vector<std::size_t>& chosen) {
  double cycles = 0;
  for (const PairwiseEdge& edge : problem.edges)
    cycles += edge.costs[chosen[edge.from] * problem.costs[edge.to].size() + chosen[edge.to]];
  return cycles;
}

}  // namespace

ProductFlow product_flow(const Graph& rewritten) { return FlowMaker(rewritten).make(); }

NetworkLayout network_layout(const ProductFlow& flow, const SimdTree& tree, std::string_view format,
                             std::size_t candidates) {
  const MatrixRate& rate = rate_of(tree, format);
  const std::span<const TreeLevel> above(tree.levels.data(), tree.levels.size() - 1);
  const auto bytes_of = [&](std::int64_t elements) {
    return static_cast<double>(elements) * static_cast<double>(rate.element_bytes);
  };
  std::map<decltype(shape_of(Layer(), false)), std::vector<ProductMapping>> known;
  std::vector<const std::vector<ProductMapping>*> mappings;
  PairwiseProblem problem;
  for (const Layer& layer : flow.products) {
    const bool fed = mappings.empty() || !stays_in_leaves(tree, bytes_of(layer.a_elements));
    const auto [entry, fresh] = known.try_emplace(shape_of(layer, fed));
    if (fresh) entry->second = mappings_of(layer, tree, rate, fed, candidates);
    mappings.push_back(&entry->second);
    std::vector<double>& costs = problem.costs.emplace_back();
    for (const ProductMapping& mapping : entry->second) costs.push_back(mapping.cycles);
  }
  std::map<std::tuple<const void*, const void*, std::int64_t, bool>, std::vector<double>> conversions;
  for (const ProductEdge& edge : flow.edges) {
    const auto& from = *mappings[edge.from];
    const auto& to = *mappings[edge.to];
    std::vector<double>& costs = conversions[{mappings[edge.from], mappings[edge.to], edge.elements, edge.joins}];
    if (costs.empty())
      for (const ProductMapping& one : from)
        for (const ProductMapping& other : to)
          costs.push_back(!stays_in_leaves(tree, bytes_of(edge.elements))
                              ? 0
                              : conversion_cycles(result_layout(one),
                                                  edge.joins ? result_layout(other) : operand_layout(other),
                                                  bytes_of(edge.elements), above));
    problem.edges.push_back({edge.from, edge.to, costs});
  }
  NetworkLayout layout{.products = flow.products.size(), .edges = flow.edges.size(), .plan = plan_layouts(problem)};
  const LayoutPlan greedy = plan_greedily(problem);
  layout.greedy_cycles = greedy.cost;
  layout.converted = conversions_of(problem, layout.plan.chosen);
  layout.greedy_converted = conversions_of(problem, greedy.chosen);
  return layout;
}

}  // namespace sdip
