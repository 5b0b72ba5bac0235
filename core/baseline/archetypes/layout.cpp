// Layouts over a tree, and plans by elimination or by messages and forests.
#include "core/baseline/archetypes/layout.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/index.h"

namespace sdip {
namespace {

/// What one step of a digit adds: to the index of its dimension, and to its level's node or the address.
struct LayoutStep {
  std::int64_t in_dimension = 1, in_place = 1;
};
std::vector<LayoutStep> layout_steps(const TreeLayout& layout) {
  std::vector<LayoutStep> steps(layout.digits.size());
  std::map<int, std::int64_t> dimension, place;
  for (std::size_t at = layout.digits.size(); at-- > 0;) {
    const LayoutDigit& digit = layout.digits[at];
    std::int64_t& index = dimension.try_emplace(digit.dimension, 1).first->second;
    std::int64_t& node = place.try_emplace(digit.level, 1).first->second;
    steps[at] = {index, node};
    index *= digit.extent;
    node *= digit.extent;
  }
  return steps;
}

/// The bits of each level's node number, most significant first, as places in the layout: bit n of a dimension,
/// from its most significant, is number n times the dimensions, copies among them, plus the dimension.
std::vector<std::vector<std::size_t>> tree_bits(const TreeLayout& layout, std::size_t levels,
                                                std::size_t dimensions) {
  std::vector<std::vector<std::size_t>> bits(levels);
  std::vector<std::size_t> next(dimensions);
  std::iota(next.begin(), next.end(), std::size_t{0});
  for (const LayoutDigit& digit : layout.digits)
    for (std::int64_t bit = 1; bit < digit.extent; bit *= 2) {
      std::size_t& number = next[as_size(digit.dimension + 1)];
      if (digit.level != LayoutDigit::kept) bits[as_size(digit.level)].push_back(number);
      number += dimensions;
    }
  return bits;
}

/// Bits that have to be equal, joined step by step.
struct EqualBits {
  std::vector<std::size_t> above;
  std::size_t root(std::size_t bit) {
    for (std::size_t at = above.size(); at <= bit; ++at) above.push_back(at);
    while (above[bit] != bit) bit = above[bit];
    return bit;
  }
  /// Whether they were apart: half of all values fit then.
  bool join(std::size_t one, std::size_t other) {
    one = root(one), other = root(other);
    above[one] = other;
    return one != other;
  }
  /// Whether some values of these bits fit with none of the others.
  bool clash(std::span<const std::size_t> bits) {
    std::vector<std::size_t> roots;
    for (const std::size_t bit : bits) roots.push_back(root(bit));
    std::ranges::sort(roots);
    return std::ranges::adjacent_find(roots) != roots.end();
  }
};

}  // namespace

bool fits_tree(const TreeLayout& layout, std::span<const std::int64_t> shape, std::span<const TreeLevel> levels) {
  std::vector<std::int64_t> covered(shape.size(), 1), used(levels.size(), 1);
  const auto within = [](int number, std::size_t size) { return number >= 0 && as_size(number) < size; };
  for (const LayoutDigit& digit : layout.digits) {
    const bool kept = digit.level == LayoutDigit::kept, copied = digit.dimension == LayoutDigit::copied;
    if (digit.extent < 1 || (kept && copied)) return false;
    if ((!kept && !within(digit.level, levels.size())) || (!copied && !within(digit.dimension, shape.size())))
      return false;
    if (!kept) used[as_size(digit.level)] *= digit.extent;
    if (!copied) covered[as_size(digit.dimension)] *= digit.extent;
  }
  for (std::size_t at = 0; at < levels.size(); ++at)
    if (used[at] > levels[at].branching) return false;
  return std::ranges::equal(covered, shape, std::ranges::greater_equal());
}

std::string layout_text(const TreeLayout& layout, std::string_view names, std::size_t levels) {
  std::string text;
  for (const LayoutDigit& digit : layout.digits) {
    if (!text.empty()) text += ' ';
    const char name = digit.dimension == LayoutDigit::copied ? '*' : names[as_size(digit.dimension)];
    if (digit.level == LayoutDigit::kept) {
      text += static_cast<char>(std::toupper(static_cast<unsigned char>(name)));
    } else {
      text += name + std::to_string(levels - 1 - as_size(digit.level));
    }
    text += ":" + std::to_string(digit.extent);
  }
  return text;
}

TreePlace place_of(const TreeLayout& layout, std::span<const std::int64_t> index, std::size_t levels) {
  const std::vector<LayoutStep> steps = layout_steps(layout);
  TreePlace place{.path = std::vector<std::int64_t>(levels, 0)};
  for (std::size_t at = 0; at < layout.digits.size(); ++at) {
    const LayoutDigit& digit = layout.digits[at];
    if (digit.dimension == LayoutDigit::copied) continue;
    const std::int64_t value =
        index[as_size(digit.dimension)] / steps[at].in_dimension % digit.extent * steps[at].in_place;
    (digit.level == LayoutDigit::kept ? place.address : place.path[as_size(digit.level)]) += value;
  }
  return place;
}

std::vector<TreePlace> places_of(const TreeLayout& layout, std::span<const std::int64_t> index,
                                 std::size_t levels) {
  const std::vector<LayoutStep> steps = layout_steps(layout);
  std::vector<TreePlace> places = {place_of(layout, index, levels)};
  for (std::size_t at = 0; at < layout.digits.size(); ++at) {
    const LayoutDigit& digit = layout.digits[at];
    if (digit.dimension != LayoutDigit::copied) continue;
    const std::size_t before = places.size();
    for (std::int64_t value = 1; value < digit.extent; ++value)
      for (std::size_t copy = 0; copy < before; ++copy) {
        places.push_back(places[copy]);
        places.back().path[as_size(digit.level)] += value * steps[at].in_place;
      }
  }
  std::sort(places.begin(), places.end());
  return places;
}

double conversion_cycles(const TreeLayout& from, const TreeLayout& to, double bytes,
                         std::span<const TreeLevel> levels) {
  int last = 0;
  for (const TreeLayout* layout : {&from, &to})
    for (const LayoutDigit& digit : layout->digits) last = std::max(last, digit.dimension);
  const std::size_t dimensions = as_size(last) + 2;
  const auto from_bits = tree_bits(from, levels.size(), dimensions),
             to_bits = tree_bits(to, levels.size(), dimensions);
  EqualBits equal;
  std::vector<std::size_t> source, goal;                  // that a node's number fixes
  double alike = 1, copies = 1, parents = 1, cycles = 0;  // alike: the share whose paths agree down to this level
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const double copies_above = copies;
    check(from_bits[level].size() == to_bits[level].size(), "conversion_cycles: no node is empty");
    for (std::size_t bit = 0; bit < to_bits[level].size(); ++bit) {
      const bool apart = equal.join(from_bits[level][bit], to_bits[level][bit]);
      const bool copied = to_bits[level][bit] % dimensions == 0;
      (copied ? copies : alike) *= copied ? 2 : apart ? 0.5 : 1;
    }
    // The busiest node keeps nothing where its number alone says so, else the share that all keep.
    const auto moved = [&](double all, std::span<const std::size_t> fixed) {
      return all - (equal.clash(fixed) ? 0 : alike);
    };
    const double up_port = copies > 1 ? 1 : moved(1, source);
    const double down_port = copies > copies_above ? copies_above : moved(copies_above, goal);
    source.insert(source.end(), from_bits[level].begin(), from_bits[level].end());
    goal.insert(goal.end(), to_bits[level].begin(), to_bits[level].end());
    const double up = copies > 1 ? 1 : moved(1, source), down = moved(copies, goal);
    const double nodes = parents * static_cast<double>(levels[level].branching);
    cycles = std::max({cycles, bytes * (up + down) / nodes / levels[level].link_bytes,
                       bytes * (up_port + down_port) / parents / levels[level].port_bytes});
    parents = nodes;
  }
  return cycles;
}

namespace {

void plan_check(const PairwiseProblem& problem) {
  const std::size_t nodes = problem.costs.size();
  for (const std::vector<double>& costs : problem.costs) check(!costs.empty(), "a plan: a node without candidates");
  for (const PairwiseEdge& edge : problem.edges)
    check(edge.from < nodes && edge.to < nodes && edge.from != edge.to &&
              edge.costs.size() == problem.costs[edge.from].size() * problem.costs[edge.to].size(),
          "a plan: an edge fits its nodes");
}

std::size_t plan_least(std::span<const double> costs) {
  return as_size(std::ranges::min_element(costs) - costs.begin());
}

double plan_pair(const PairwiseProblem& problem, const PairwiseEdge& edge, std::size_t from, std::size_t to) {
  return edge.costs[from * problem.costs[edge.to].size() + to];
}

/// The edges at each node.
std::vector<std::vector<std::size_t>> plan_edges_at(const PairwiseProblem& problem) {
  std::vector<std::vector<std::size_t>> at(problem.costs.size());
  for (std::size_t edge = 0; edge < problem.edges.size(); ++edge) {
    at[problem.edges[edge].from].push_back(edge);
    at[problem.edges[edge].to].push_back(edge);
  }
  return at;
}

/// A cost of each joint choice of some nodes, in order of their number, the last fastest.
struct PlanTable {
  std::vector<std::size_t> nodes;
  std::vector<double> costs;
};
std::size_t plan_entry(const PlanTable& table, const PairwiseProblem& problem,
                       std::span<const std::size_t> chosen) {
  std::size_t entry = 0;
  for (const std::size_t node : table.nodes) entry = entry * problem.costs[node].size() + chosen[node];
  return entry;
}

/// The result of choosing the best candidate of a node: a table of its neighbours, and the best candidate for each
/// entry.
struct PlanStep {
  std::size_t node = 0;
  PlanTable rest;
  std::vector<std::size_t> best;
};
PlanStep plan_eliminate(std::size_t node, std::vector<PlanTable>& tables, const PairwiseProblem& problem) {
  const auto has_node = [node](const PlanTable& table) { return std::ranges::count(table.nodes, node) > 0; };
  std::vector<PlanTable> joined;
  std::ranges::copy_if(tables, std::back_inserter(joined), has_node);
  std::erase_if(tables, has_node);
  PlanStep step{.node = node, .rest = {}, .best = {}};
  for (const PlanTable& table : joined)
    for (const std::size_t other : table.nodes)
      if (other != node) step.rest.nodes.push_back(other);
  std::ranges::sort(step.rest.nodes);
  step.rest.nodes.erase(std::unique(step.rest.nodes.begin(), step.rest.nodes.end()), step.rest.nodes.end());
  std::vector<std::size_t> chosen(problem.costs.size(), 0);
  for (bool more = true; more;) {
    double least = std::numeric_limits<double>::infinity();
    std::size_t best = 0;
    for (chosen[node] = 0; chosen[node] < problem.costs[node].size(); ++chosen[node]) {
      double cost = 0;
      for (const PlanTable& table : joined) cost += table.costs[plan_entry(table, problem, chosen)];
      if (cost < least) least = cost, best = chosen[node];
    }
    step.rest.costs.push_back(least);
    step.best.push_back(best);
    more = false;
    for (std::size_t at = step.rest.nodes.size(); at-- > 0 && !more;) {
      std::size_t& digit = chosen[step.rest.nodes[at]];
      more = ++digit < problem.costs[step.rest.nodes[at]].size();
      if (!more) digit = 0;
    }
  }
  return step;
}

/// In which order to eliminate, so that each table is as small as can be then; nothing when one exceeds the limit.
std::optional<std::vector<std::size_t>> plan_order(const PairwiseProblem& problem, double most_entries) {
  std::vector<std::set<std::size_t>> beside(problem.costs.size());
  for (const PairwiseEdge& edge : problem.edges) {
    beside[edge.from].insert(edge.to);
    beside[edge.to].insert(edge.from);
  }
  const auto entries_of = [&](std::size_t node) {
    auto entries = static_cast<double>(problem.costs[node].size());
    for (const std::size_t other : beside[node]) entries *= static_cast<double>(problem.costs[other].size());
    return entries;
  };
  std::vector<double> entries;  // of the table over a node and its neighbours; infinite when it is gone
  for (std::size_t node = 0; node < beside.size(); ++node) entries.push_back(entries_of(node));
  std::vector<std::size_t> order;
  while (order.size() < beside.size()) {
    const std::size_t node = plan_least(entries);
    if (entries[node] > most_entries) return std::nullopt;
    for (const std::size_t one : beside[node]) {
      beside[one].insert(beside[node].begin(), beside[node].end());
      beside[one].erase(one);
      beside[one].erase(node);
    }
    for (const std::size_t one : beside[node]) entries[one] = entries_of(one);
    entries[node] = std::numeric_limits<double>::infinity();
    order.push_back(node);
  }
  return order;
}

LayoutPlan plan_exactly(const PairwiseProblem& problem, std::span<const std::size_t> order) {
  std::vector<PlanTable> tables;
  for (std::size_t node = 0; node < problem.costs.size(); ++node) tables.push_back({{node}, problem.costs[node]});
  for (const PairwiseEdge& edge : problem.edges) {
    PlanTable table{{std::min(edge.from, edge.to), std::max(edge.from, edge.to)}, {}};
    for (std::size_t low = 0; low < problem.costs[table.nodes[0]].size(); ++low)
      for (std::size_t high = 0; high < problem.costs[table.nodes[1]].size(); ++high)
        table.costs.push_back(edge.from < edge.to ? plan_pair(problem, edge, low, high)
                                                  : plan_pair(problem, edge, high, low));
    tables.push_back(std::move(table));
  }
  std::vector<PlanStep> steps;
  for (const std::size_t node : order) {
    steps.push_back(plan_eliminate(node, tables, problem));
    tables.push_back(steps.back().rest);
  }
  LayoutPlan plan{.chosen = std::vector<std::size_t>(problem.costs.size(), 0), .exact = true};
  for (std::size_t at = steps.size(); at-- > 0;)
    plan.chosen[steps[at].node] = steps[at].best[plan_entry(steps[at].rest, problem, plan.chosen)];
  plan.cost = plan.lower_bound = plan_cost(problem, plan.chosen);
  return plan;
}

/// A message to each end of each edge: what its candidates cost on the other side.
struct PlanMessages {
  std::vector<std::vector<double>> to_from, to_to;
};

double plan_lower(std::vector<double>& costs) {
  const double least = *std::ranges::min_element(costs);
  for (double& cost : costs) cost -= least;
  return least;
}

std::size_t plan_other(const PairwiseEdge& edge, std::size_t node) {
  return edge.from == node ? edge.to : edge.from;
}

/// One pass of sequential tree-reweighted messages (Kolmogorov 2006), forwards or backwards in the order of nodes.
/// Returns what the pass took off: a lower bound when it went backwards.
double plan_pass(const PairwiseProblem& problem, std::span<const std::vector<std::size_t>> edges_at, bool forwards,
                 PlanMessages& messages) {
  double taken = 0;
  for (std::size_t step = 0; step < problem.costs.size(); ++step) {
    const std::size_t node = forwards ? step : problem.costs.size() - 1 - step;
    std::vector<double> held = problem.costs[node];
    std::size_t later = 0;
    for (const std::size_t at : edges_at[node]) {
      const PairwiseEdge& edge = problem.edges[at];
      const std::vector<double>& message = edge.from == node ? messages.to_from[at] : messages.to_to[at];
      for (std::size_t one = 0; one < held.size(); ++one) held[one] += message[one];
      later += plan_other(edge, node) > node;
    }
    taken += plan_lower(held);
    const std::size_t most = std::max(later, edges_at[node].size() - later);
    for (const std::size_t at : edges_at[node]) {
      const PairwiseEdge& edge = problem.edges[at];
      const std::size_t other = plan_other(edge, node);
      if ((other > node) != forwards) continue;
      const bool from_here = edge.from == node;
      const std::vector<double>& back = from_here ? messages.to_from[at] : messages.to_to[at];
      std::vector<double>& message = from_here ? messages.to_to[at] : messages.to_from[at];
      for (std::size_t two = 0; two < message.size(); ++two) {
        message[two] = std::numeric_limits<double>::infinity();
        for (std::size_t one = 0; one < held.size(); ++one)
          message[two] = std::min(message[two], held[one] / static_cast<double>(most) - back[one] +
                                                    (from_here ? plan_pair(problem, edge, one, two)
                                                               : plan_pair(problem, edge, two, one)));
      }
      taken += plan_lower(message);
    }
  }
  return taken;
}

/// The cost of each candidate of a node with its neighbours as chosen; candidates that `counts` refuses are left
/// out.
template <class Counts>
std::vector<double> plan_costs_at(const PairwiseProblem& problem, std::span<const std::size_t> edges,
                                  std::size_t node, std::span<const std::size_t> chosen, Counts counts) {
  std::vector<double> costs = problem.costs[node];
  for (const std::size_t at : edges) {
    const PairwiseEdge& edge = problem.edges[at];
    const std::size_t other = plan_other(edge, node);
    if (!counts(other)) continue;
    for (std::size_t one = 0; one < costs.size(); ++one)
      costs[one] += edge.from == node ? plan_pair(problem, edge, one, chosen[other])
                                      : plan_pair(problem, edge, chosen[other], one);
  }
  return costs;
}

/// A fixed sequence (splitmix64), so that each run gives the same plan.
struct PlanDraws {
  std::uint64_t state = 1;
  std::size_t below(std::size_t limit) {
    std::uint64_t mixed = state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return as_size((mixed ^ (mixed >> 31)) % limit);
  }
};

/// Draws nodes among which the edges form a forest: each in turn, when it meets no tree of those in twice.
std::vector<char> plan_forest(const PairwiseProblem& problem, std::span<const std::vector<std::size_t>> edges_at,
                              PlanDraws& draws) {
  const std::size_t nodes = problem.costs.size();
  std::vector<std::size_t> order(nodes), tree(nodes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::iota(tree.begin(), tree.end(), std::size_t{0});
  for (std::size_t at = nodes; at-- > 1;) std::swap(order[at], order[draws.below(at + 1)]);
  const auto root_of = [&tree](std::size_t node) {
    while (tree[node] != node) node = tree[node] = tree[tree[node]];
    return node;
  };
  std::vector<char> in(nodes, 0);
  for (const std::size_t node : order) {
    std::vector<std::size_t> met;
    for (const std::size_t at : edges_at[node])
      if (const std::size_t other = plan_other(problem.edges[at], node); in[other]) met.push_back(root_of(other));
    std::ranges::sort(met);
    if (std::ranges::adjacent_find(met) != met.end()) continue;
    in[node] = 1;
    for (const std::size_t root : met) tree[root] = node;
  }
  return in;
}

/// The best choice for the nodes of a forest, the others held.
void plan_replan(const PairwiseProblem& problem, std::span<const std::vector<std::size_t>> edges_at,
                 std::span<const char> in, std::vector<std::size_t>& chosen) {
  PairwiseProblem part;
  std::vector<std::size_t> number(chosen.size(), 0), nodes;
  for (std::size_t node = 0; node < chosen.size(); ++node) {
    if (!in[node]) continue;
    number[node] = nodes.size();
    nodes.push_back(node);
    part.costs.push_back(
        plan_costs_at(problem, edges_at[node], node, chosen, [&in](std::size_t other) { return !in[other]; }));
  }
  for (const PairwiseEdge& edge : problem.edges)
    if (in[edge.from] && in[edge.to]) part.edges.push_back({number[edge.from], number[edge.to], edge.costs});
  const LayoutPlan best = plan_exactly(part, *plan_order(part, std::numeric_limits<double>::max()));
  for (std::size_t at = 0; at < nodes.size(); ++at) chosen[nodes[at]] = best.chosen[at];
}

/// Forest after forest; every few of them some choices are drawn anew, and the best plan seen is kept.
void plan_improve(const PairwiseProblem& problem, std::span<const std::vector<std::size_t>> edges_at,
                  LayoutPlan& plan) {
  constexpr int restarts = 60, forests = 6;
  PlanDraws draws;
  for (int restart = 0; restart < restarts; ++restart) {
    std::vector<std::size_t> chosen = plan.chosen;
    for (std::size_t change = 0; restart > 0 && change < 1 + chosen.size() / 20; ++change) {
      const std::size_t node = draws.below(chosen.size());
      chosen[node] = draws.below(problem.costs[node].size());
    }
    for (int forest = 0; forest < forests; ++forest)
      plan_replan(problem, edges_at, plan_forest(problem, edges_at, draws), chosen);
    if (const double cost = plan_cost(problem, chosen); cost < plan.cost) {
      plan.cost = cost;
      plan.chosen = std::move(chosen);
    }
  }
}

}  // namespace

double plan_cost(const PairwiseProblem& problem, std::span<const std::size_t> chosen) {
  double cost = 0;
  for (std::size_t node = 0; node < problem.costs.size(); ++node) cost += problem.costs[node][chosen[node]];
  for (const PairwiseEdge& edge : problem.edges)
    cost += plan_pair(problem, edge, chosen[edge.from], chosen[edge.to]);
  return cost;
}

LayoutPlan plan_greedily(const PairwiseProblem& problem) {
  plan_check(problem);
  const auto edges_at = plan_edges_at(problem);
  LayoutPlan plan{.chosen = std::vector<std::size_t>(problem.costs.size(), 0)};
  for (std::size_t node = 0; node < problem.costs.size(); ++node)
    plan.chosen[node] = plan_least(plan_costs_at(problem, edges_at[node], node, plan.chosen,
                                                 [node](std::size_t other) { return other < node; }));
  plan.cost = plan_cost(problem, plan.chosen);
  return plan;
}

LayoutPlan plan_layouts(const PairwiseProblem& problem, std::size_t most_entries) {
  constexpr int passes = 300;
  plan_check(problem);
  if (const auto order = plan_order(problem, static_cast<double>(most_entries)))
    return plan_exactly(problem, *order);
  const auto edges_at = plan_edges_at(problem);
  PlanMessages messages;
  for (const PairwiseEdge& edge : problem.edges) {
    messages.to_from.emplace_back(problem.costs[edge.from].size());
    messages.to_to.emplace_back(problem.costs[edge.to].size());
  }
  LayoutPlan plan = plan_greedily(problem);
  plan.lower_bound = -std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < passes; ++pass) {
    plan_pass(problem, edges_at, true, messages);
    plan.lower_bound = std::max(plan.lower_bound, plan_pass(problem, edges_at, false, messages));
  }
  plan_improve(problem, edges_at, plan);
  plan.lower_bound = std::min(plan.lower_bound, plan.cost);  // equal, but for rounding
  return plan;
}

}  // namespace sdip
