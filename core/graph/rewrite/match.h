// Patterns written as text, and where they stand in a graph. Internal to its room.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {

/// One place of a pattern. The text reads as the expression it stands for, with
///   Mul(x, Sigmoid(x))     nodes of ai.onnx, by type ("sdip.Gelu" of another domain); x, y, ...: any value, the
///                          same each time; the operands of Add and Mul in either order
///   d:Sub(x, m)            a name for a node and for its value, which may stand again: Mul(d, d)
///   0.5   $eps             a constant that is this number, as near as its type holds it; any number
///   #gamma                 any weight
///   Cast?(x)               the node or, without it, its operand
///   ReduceMean(x, ...)     further inputs as they are
///   (Pow(x, 2)|Mul(x, x))  either
struct PatternNode {
  enum class Kind { any, weight, number, some_number, node, either };
  Kind kind = Kind::any;
  std::string name;  // of what is captured; empty: nothing is
  double number = 0;
  std::string domain, type;
  bool optional = false, more_inputs = false;
  std::vector<PatternNode> parts;  // inputs, or alternatives
};

/// Requires that the text is as above: patterns are ours, a mistake is a bug.
PatternNode parse_pattern(std::string_view text);

struct Match {
  std::map<std::string, ValueId, std::less<>> values;
  std::map<std::string, NodeId, std::less<>> nodes;
  std::map<std::string, double, std::less<>> numbers;
  std::vector<NodeId> pattern;  // every node of the pattern once, in the graph's order, the root last
};

/// The pattern with `root` as its last node, if it stands there and nothing else uses what is inside. The values
/// inside that are in `shared` may be used elsewhere, too. Looks at no more places than the pattern's alternatives
/// give: the time does not depend on the graph.
std::optional<Match> match(const Graph& graph, NodeId root, const PatternNode& pattern,
                           const std::vector<std::string>& shared = {});

/// Whether a constant of type `type` is `wanted`, written with few digits or rounded to that type.
bool is_near(ElementType type, double number, double wanted);

/// Calls `rewrites(node, match)` for each match of a form until it does, and returns how often it did.
template <class Rewrites>
std::int64_t rewrite_matches(Graph& graph, const std::vector<PatternNode>& forms, const Rewrites& rewrites) {
  return count_each(graph, [&](NodeId n) {
    return std::ranges::any_of(forms, [&](const PatternNode& form) {
      const auto found = match(graph, n, form);
      return found && rewrites(n, *found);
    });
  });
}

}  // namespace sdip
