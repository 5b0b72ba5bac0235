// Are layouts those of PFN's talk, conversions what enumerating elements gives, and plans the cheapest?
#include "core/baseline/archetypes/layout.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

#include "core/baseline/archetypes/simd_tree.h"

namespace sdip {
namespace {

using testing::ElementsAre;
using Index = std::vector<std::int64_t>;

constexpr int kept = LayoutDigit::kept, copied = LayoutDigit::copied;

std::vector<TreeLevel> tree_of(const Index& branchings, bool broadcasts = true) {
  std::vector<TreeLevel> levels;
  for (const std::int64_t branching : branchings)
    levels.push_back(
        {.name = "level", .branching = branching, .link_bytes = 3, .port_bytes = 7, .broadcasts = broadcasts});
  return levels;
}

/// What is in each leaf, in order of address: flat indices in row order, -1 where nothing is.
std::vector<Index> leaves_with(const TreeLayout& layout, const Index& shape, const Index& branchings,
                               std::size_t addresses) {
  const auto levels = tree_of(branchings);
  std::vector<Index> leaves(static_cast<std::size_t>(leaves_of(levels)), Index(addresses, -1));
  Index index(shape.size(), 0);
  for (std::int64_t flat = 0;; ++flat) {
    for (const TreePlace& place : places_of(layout, index, levels.size())) {
      std::int64_t leaf = 0;
      for (std::size_t level = 0; level < levels.size(); ++level)
        leaf = leaf * branchings[level] + place.path[level];
      std::int64_t& at = leaves[static_cast<std::size_t>(leaf)].at(static_cast<std::size_t>(place.address));
      EXPECT_EQ(at, -1) << "two elements in one place";
      at = flat;
    }
    std::size_t at = shape.size();
    while (at > 0 && ++index[at - 1] == shape[at - 1]) index[--at] = 0;
    if (at == 0) return leaves;
  }
}

/// The talk's first example: 12 elements over four PEs, in runs and dealt out in turn.
TEST(layout, twelve_elements_over_four) {
  const TreeLayout runs{{{0, 4, 0}, {0, 3, kept}}}, dealt{{{0, 3, kept}, {0, 4, 0}}};
  EXPECT_THAT(leaves_with(runs, {12}, {4}, 3),
              ElementsAre(Index{0, 1, 2}, Index{3, 4, 5}, Index{6, 7, 8}, Index{9, 10, 11}));
  EXPECT_THAT(leaves_with(dealt, {12}, {4}, 3),
              ElementsAre(Index{0, 4, 8}, Index{1, 5, 9}, Index{2, 6, 10}, Index{3, 7, 11}));
  EXPECT_EQ(place_of(runs, Index{5}, 1), (TreePlace{{1}, 2}));
  EXPECT_EQ(place_of(dealt, Index{5}, 1), (TreePlace{{1}, 1}));
}

/// Its second: 4 x 6 over four PEs, a row each, or two rows of half the columns each.
TEST(layout, four_by_six_over_two_by_two) {
  const TreeLayout rows{{{0, 4, 0}, {1, 6, kept}}};
  const TreeLayout quarters{{{0, 2, 0}, {1, 2, 0}, {0, 2, kept}, {1, 3, kept}}};
  EXPECT_THAT(leaves_with(rows, {4, 6}, {4}, 6),
              ElementsAre(Index{0, 1, 2, 3, 4, 5}, Index{6, 7, 8, 9, 10, 11}, Index{12, 13, 14, 15, 16, 17},
                          Index{18, 19, 20, 21, 22, 23}));
  EXPECT_THAT(leaves_with(quarters, {4, 6}, {4}, 6),
              ElementsAre(Index{0, 1, 2, 6, 7, 8}, Index{3, 4, 5, 9, 10, 11}, Index{12, 13, 14, 18, 19, 20},
                          Index{15, 16, 17, 21, 22, 23}));
  EXPECT_EQ(layout_text(quarters, "hw", 1), "h0:2 w0:2 H:2 W:3");
  // A + B with A in rows and B in quarters: (0, 5) is in PE 0 of one and PE 1 of the other.
  EXPECT_EQ(place_of(rows, Index{0, 5}, 1).path, Index{0});
  EXPECT_EQ(place_of(quarters, Index{0, 5}, 1).path, Index{1});
}

TEST(layout, axes_are_split_over_several_levels) {
  // n2 h1 w1 h0 w0 C H W c, as the talk writes it.
  const TreeLayout layout{{{0, 2, 0},
                           {2, 2, 1},
                           {3, 2, 1},
                           {2, 2, 2},
                           {3, 2, 2},
                           {1, 2, kept},
                           {2, 1, kept},
                           {3, 2, kept},
                           {1, 3, kept}}};
  EXPECT_EQ(layout_text(layout, "nchw", 3), "n2:2 h1:2 w1:2 h0:2 w0:2 C:2 H:1 W:2 C:3");
  EXPECT_TRUE(fits_tree(layout, Index{2, 6, 4, 8}, tree_of({2, 4, 4})));
  EXPECT_EQ(place_of(layout, Index{1, 4, 3, 5}, 3), (TreePlace{{1, 3, 2}, 10}));
  leaves_with(layout, {2, 6, 4, 8}, {2, 4, 4}, 12);
}

TEST(layout, copies_are_in_every_node_and_padding_stays_empty) {
  const TreeLayout copies{{{0, 2, 0}, {copied, 2, 0}, {0, 2, kept}}};
  EXPECT_THAT(leaves_with(copies, {3}, {4}, 2), ElementsAre(Index{0, 1}, Index{0, 1}, Index{2, -1}, Index{2, -1}));
}

TEST(layout, what_does_not_fit_is_said) {
  const auto levels = tree_of({4});
  EXPECT_TRUE(fits_tree({{{0, 4, 0}, {0, 3, kept}}}, Index{12}, levels));
  EXPECT_FALSE(fits_tree({{{0, 4, 0}, {0, 3, kept}}}, Index{13}, levels)) << "too many elements";
  EXPECT_FALSE(fits_tree({{{0, 6, 0}, {0, 2, kept}}}, Index{12}, levels)) << "too many nodes";
  EXPECT_FALSE(fits_tree({{{0, 12, 1}}}, Index{12}, levels)) << "no such level";
  EXPECT_FALSE(fits_tree({{{1, 12, kept}}}, Index{12}, levels)) << "no such dimension";
  EXPECT_FALSE(fits_tree({{{0, 12, kept}, {copied, 2, kept}}}, Index{12}, levels)) << "copies in one leaf";
}

/// Twelve in runs to twelve dealt out in turn: each PE keeps one of its three elements, gives two and gets two.
TEST(layout_conversion, twelve_elements_over_four_change_place) {
  const TreeLayout runs{{{0, 4, 0}, {0, 3, kept}}}, dealt{{{0, 3, kept}, {0, 4, 0}}};
  const auto levels = tree_of({4});
  const LayoutConversion conversion = conversion_of(runs, dealt, Index{12}, 2, levels);
  EXPECT_EQ(conversion.stays_bytes, 4 * 2);
  EXPECT_EQ(conversion.levels[0].climbed_bytes, 8 * 2);
  EXPECT_EQ(conversion.levels[0].link_bytes, (2 + 2) * 2);
  EXPECT_EQ(conversion.levels[0].port_bytes, (8 + 8) * 2);
  EXPECT_EQ(conversion.cycles, 5);  // ceil(max(8 / 3, 32 / 7))
  EXPECT_EQ(conversion_of(runs, runs, Index{12}, 2, levels).cycles, 0);
}

/// Rows of four by six to quarters: PE 0 and PE 3 keep a half row, PE 1 and PE 2 likewise; half of all moves.
TEST(layout_conversion, four_by_six_from_rows_to_quarters) {
  const TreeLayout rows{{{0, 4, 0}, {1, 6, kept}}};
  const TreeLayout quarters{{{0, 2, 0}, {1, 2, 0}, {0, 2, kept}, {1, 3, kept}}};
  const LayoutConversion one = conversion_of(rows, quarters, Index{4, 6}, 1, tree_of({4}));
  EXPECT_EQ(one.stays_bytes, 12);
  EXPECT_EQ(one.levels[0].climbed_bytes, 12);
  // Over two levels of two the same halves stay below the lower one: nothing climbs to the upper.
  const TreeLayout deep_rows{{{0, 2, 0}, {0, 2, 1}, {1, 6, kept}}};
  const TreeLayout deep{{{0, 2, 0}, {1, 2, 1}, {0, 2, kept}, {1, 3, kept}}};
  const LayoutConversion two = conversion_of(deep_rows, deep, Index{4, 6}, 1, tree_of({2, 2}));
  EXPECT_EQ(two.levels[0].climbed_bytes, 0);
  EXPECT_EQ(two.levels[1].climbed_bytes, 12);
}

/// A layout drawn: each level split among dimensions and copies, what is left of a dimension kept, digits in any
/// order.
TreeLayout drawn_layout(std::mt19937& draws, const Index& shape, const Index& branchings, bool copies) {
  TreeLayout layout;
  Index left = shape;
  for (std::size_t level = 0; level < branchings.size(); ++level) {
    std::int64_t room = branchings[level];
    for (int digit = 0; digit < 3 && room > 1; ++digit) {
      const std::int64_t extent = 1 + static_cast<std::int64_t>(draws()) % room;
      const int dimension = static_cast<int>(draws() % (shape.size() + (copies ? 1 : 0))) - (copies ? 1 : 0);
      layout.digits.push_back({dimension, extent, static_cast<int>(level)});
      if (dimension >= 0) {
        std::int64_t& rest = left[static_cast<std::size_t>(dimension)];
        rest = (rest + extent - 1) / extent;
      }
      room /= extent;
    }
  }
  for (std::size_t dimension = 0; dimension < shape.size(); ++dimension)
    layout.digits.push_back({static_cast<int>(dimension), left[dimension], kept});
  std::shuffle(layout.digits.begin(), layout.digits.end(), draws);
  return layout;
}

/// One element walked through the tree, node by node.
struct Walk {
  const std::vector<TreeLevel>& levels;
  std::vector<TreePlace> have, need;
  std::map<Index, std::int64_t>&up, &down, &port;

  static bool any_under(const std::vector<TreePlace>& places, const Index& node) {
    return std::ranges::any_of(
        places, [&](const TreePlace& place) { return std::equal(node.begin(), node.end(), place.path.begin()); });
  }
  void visit(const Index& node, bool asked) {  // asked: someone above wants what is here
    if (node.size() == levels.size()) return;
    std::vector<Index> holding, lacking;
    for (std::int64_t at = 0; at < levels[node.size()].branching; ++at) {
      Index child = node;
      child.push_back(at);
      const bool holds = any_under(have, child);
      if (holds) holding.push_back(child);
      if (!holds && any_under(need, child)) lacking.push_back(child);
    }
    const bool sends = !holding.empty() && (asked || !lacking.empty());
    if (sends) ++up[holding[0]], ++port[node];
    for (const Index& child : lacking) ++down[child];
    port[node] += static_cast<std::int64_t>(
        levels[node.size()].broadcasts ? std::min<std::size_t>(1, lacking.size()) : lacking.size());
    for (const Index& child : holding) visit(child, sends && child == holding[0]);
    for (const Index& child : lacking) visit(child, false);
  }
};

TEST(layout_conversion, conversions_are_those_of_enumerating_all_elements) {
  std::mt19937 draws(1);
  for (int round = 0; round < 300; ++round) {
    const Index branchings = std::vector<Index>{{4}, {2, 2}, {2, 3}, {2, 2, 4}}[draws() % 4];
    const Index shape = std::vector<Index>{{12}, {4, 6}, {5, 3}, {8, 8}, {2, 3, 4}}[draws() % 5];
    const auto levels = tree_of(branchings, round % 3 != 0);
    const TreeLayout from = drawn_layout(draws, shape, branchings, round % 4 == 1),
                     to = drawn_layout(draws, shape, branchings, round % 2 == 1);
    ASSERT_TRUE(fits_tree(from, shape, levels) && fits_tree(to, shape, levels));
    std::map<Index, std::int64_t> up, down, port;
    Index index(shape.size(), 0), climbed(levels.size() + 1, 0);
    for (bool more = true; more;) {
      Walk walk{levels, places_of(from, index, levels.size()), places_of(to, index, levels.size()), up, down, port};
      for (const TreePlace& place : walk.need) {
        std::size_t nearest = 0;
        for (const TreePlace& copy : walk.have)
          nearest = std::max(nearest, static_cast<std::size_t>(std::ranges::mismatch(copy.path, place.path).in1 -
                                                               copy.path.begin()));
        climbed[nearest] += 5;
      }
      walk.visit({}, false);
      std::size_t at = shape.size();
      while (at > 0 && ++index[at - 1] == shape[at - 1]) index[--at] = 0;
      more = at > 0;
    }
    const LayoutConversion conversion = conversion_of(from, to, shape, 5, levels);
    EXPECT_EQ(conversion.stays_bytes, climbed.back());
    std::int64_t cycles = 0;
    for (std::size_t level = 0; level < levels.size(); ++level) {
      std::int64_t all_up = 0, all_down = 0, link = 0, most_port = 0;
      for (const auto& [node, count] : up) all_up += node.size() == level + 1 ? count : 0;
      for (const auto& [node, count] : down) all_down += node.size() == level + 1 ? count : 0;
      for (const auto* one : {&up, &down})
        for (const auto& [node, count] : *one)
          if (node.size() == level + 1) link = std::max(link, up[node] + down[node]);
      for (const auto& [node, count] : port)
        if (node.size() == level) most_port = std::max(most_port, count);
      EXPECT_EQ(conversion.levels[level].climbed_bytes, climbed[level]);
      EXPECT_EQ(conversion.levels[level].up_bytes, 5 * all_up);
      EXPECT_EQ(conversion.levels[level].down_bytes, 5 * all_down);
      EXPECT_EQ(conversion.levels[level].link_bytes, 5 * link);
      EXPECT_EQ(conversion.levels[level].port_bytes, 5 * most_port);
      cycles = std::max({cycles, (5 * link + 2) / 3, (5 * most_port + 6) / 7});
    }
    EXPECT_EQ(conversion.cycles, cycles);
  }
}

/// A layout of powers of two that leaves no node empty.
TreeLayout drawn_bits(std::mt19937& draws, const Index& branchings, bool copies) {
  TreeLayout layout;
  Index left = {32, 32};
  for (std::size_t level = 0; level < branchings.size(); ++level)
    for (std::int64_t node = branchings[level]; node > 1; node /= 2) {
      const int dimension = static_cast<int>(draws() % (copies ? 3 : 2)) - (copies ? 1 : 0);
      layout.digits.push_back({dimension, 2, static_cast<int>(level)});
      if (dimension >= 0) left[static_cast<std::size_t>(dimension)] /= 2;
    }
  std::shuffle(layout.digits.begin(), layout.digits.end(), draws);
  for (int dimension = 0; dimension < 2; ++dimension)
    layout.digits.push_back({dimension, left[static_cast<std::size_t>(dimension)], kept});
  return layout;
}

TEST(layout_conversion, the_closed_form_of_a_conversion_is_the_count) {
  std::mt19937 draws(2);
  for (int round = 0; round < 100; ++round) {
    const Index branchings = std::vector<Index>{{4}, {2, 4}, {2, 2, 4}, {4, 8}}[draws() % 4];
    const auto levels = tree_of(branchings);
    const TreeLayout from = drawn_bits(draws, branchings, false),
                     to = drawn_bits(draws, branchings, round % 2 == 1);
    const LayoutConversion counted = conversion_of(from, to, Index{32, 32}, 4, levels);
    const double cycles = conversion_cycles(from, to, 32 * 32 * 4, levels);
    EXPECT_EQ(static_cast<std::int64_t>(std::ceil(cycles - 1e-9)), counted.cycles);
  }
}

/// Layers as the planner sees them: a few layouts each, equal ones joined at no cost, others at a random one.
PairwiseProblem drawn(std::mt19937& draws, std::size_t nodes, std::size_t candidates,
                      const std::vector<std::pair<std::size_t, std::size_t>>& edges, bool agreeing) {
  std::uniform_real_distribution<double> cost(0, 1);
  PairwiseProblem problem;
  problem.costs.assign(nodes, std::vector<double>(candidates));
  for (auto& costs : problem.costs)
    for (double& one : costs) one = cost(draws);
  for (const auto& [from, to] : edges) {
    PairwiseEdge edge{from, to, {}};
    for (std::size_t one = 0; one < candidates; ++one)
      for (std::size_t two = 0; two < candidates; ++two)
        edge.costs.push_back(agreeing && one == two ? 0 : cost(draws));
    problem.edges.push_back(edge);
  }
  return problem;
}

/// A network's shape: each node reads the one before it, and every so often one further back.
std::vector<std::pair<std::size_t, std::size_t>> network(std::mt19937& draws, std::size_t nodes, std::size_t skips,
                                                         std::size_t reach) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t node = 1; node < nodes; ++node) edges.emplace_back(node - 1, node);
  for (std::size_t skip = 0; skip < skips; ++skip) {
    const std::size_t to = 2 + draws() % (nodes - 2);
    edges.emplace_back(to - 2 - draws() % std::min(reach, to - 1), to);
  }
  return edges;
}

double least_of_all(const PairwiseProblem& problem) {
  std::vector<std::size_t> chosen(problem.costs.size(), 0);
  double least = plan_cost(problem, chosen);
  for (;;) {
    std::size_t at = chosen.size();
    while (at > 0 && ++chosen[at - 1] == problem.costs[at - 1].size()) chosen[--at] = 0;
    if (at == 0) return least;
    least = std::min(least, plan_cost(problem, chosen));
  }
}

TEST(layout_plan, is_the_cheapest_of_all_on_small_graphs) {
  std::mt19937 draws(1);
  for (int round = 0; round < 100; ++round) {
    const std::size_t nodes = 3 + draws() % 5;
    const PairwiseProblem problem =
        drawn(draws, nodes, 2 + draws() % 2, network(draws, nodes, draws() % 5, 5), round % 2 == 0);
    const double least = least_of_all(problem);
    const LayoutPlan exact = plan_layouts(problem);
    EXPECT_TRUE(exact.exact);
    EXPECT_NEAR(exact.cost, least, 1e-9);
    EXPECT_NEAR(plan_cost(problem, exact.chosen), exact.cost, 1e-9);
    const LayoutPlan bounded = plan_layouts(problem, 1);  // no table is small enough
    EXPECT_FALSE(bounded.exact);
    EXPECT_LE(bounded.lower_bound, least + 1e-9);
    EXPECT_NEAR(bounded.cost, least, 1e-9);
    EXPECT_GE(plan_greedily(problem).cost, least - 1e-9);
  }
}

TEST(layout_plan, is_exact_on_long_chains_and_on_residual_blocks) {
  std::mt19937 draws(2);
  for (const std::size_t skips : {0U, 40U}) {
    const PairwiseProblem problem = drawn(draws, 300, 8, network(draws, 300, skips, 3), true);
    const LayoutPlan plan = plan_layouts(problem), greedy = plan_greedily(problem);
    EXPECT_TRUE(plan.exact);
    EXPECT_LT(plan.cost, greedy.cost);
    const LayoutPlan bounded = plan_layouts(problem, 1);
    EXPECT_LE(bounded.lower_bound, plan.cost + 1e-9);
    EXPECT_LE(bounded.cost, 1.05 * plan.cost);
    std::printf("300 layers of 8 layouts, %zu joins: %.2f, greedy %.2f (%.1f %% more); the heuristic alone %.2f\n",
                static_cast<std::size_t>(skips), plan.cost, greedy.cost, 100 * (greedy.cost / plan.cost - 1),
                bounded.cost);
  }
}

TEST(layout_plan, of_300_nodes_that_join_anywhere_is_within_a_twentieth_of_its_bound) {
  std::mt19937 draws(3);
  for (const bool agreeing : {true, false}) {
    const PairwiseProblem problem = drawn(draws, 300, 6, network(draws, 300, 100, 290), agreeing);
    const LayoutPlan plan = plan_layouts(problem), greedy = plan_greedily(problem);
    EXPECT_FALSE(plan.exact);
    EXPECT_LE(plan.cost, 1.05 * plan.lower_bound);
    EXPECT_LE(plan.cost, greedy.cost);
    EXPECT_EQ(plan.chosen, plan_layouts(problem).chosen);
    std::printf("300 nodes, 399 edges, %s: %.2f, bound %.2f (%.2f %% below), greedy %.2f (%.1f %% more)\n",
                agreeing ? "equal layouts agree" : "all costs drawn", plan.cost, plan.lower_bound,
                100 * (1 - plan.lower_bound / plan.cost), greedy.cost, 100 * (greedy.cost / plan.cost - 1));
  }
}

TEST(layout_plan, of_one_candidate_each_is_that_one) {
  const PairwiseProblem problem{{{1}, {2}}, {{0, 1, {4}}}};
  EXPECT_EQ(plan_layouts(problem).cost, 7);
  EXPECT_EQ(plan_greedily(problem).cost, 7);
  EXPECT_EQ(plan_layouts(PairwiseProblem{}).cost, 0);
}

}  // namespace
}  // namespace sdip
