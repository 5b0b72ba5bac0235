// Patterns written as text, and where they stand in a graph. On s = Sigmoid(x), y = Mul(s, x) the pattern
// "Mul(x, Sigmoid(x))" first takes x for s, finds that x is no Sigmoid of s, and then takes the operands in the
// other order.
#include "core/graph/rewrite/match.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {
namespace {

/// Reads a pattern from left to right.
struct Reader {
  std::string_view text;
  std::size_t at = 0;

  void skip_spaces() {
    while (at < text.size() && text[at] == ' ') ++at;
  }
  bool takes(std::string_view token) {
    skip_spaces();
    if (!text.substr(at).starts_with(token)) return false;
    at += token.size();
    return true;
  }
  std::string word() {
    skip_spaces();
    const std::size_t start = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_' ||
                                text[at] == '.' || text[at] == '-')) {
      ++at;
    }
    check(at > start, "parse_pattern: expected a name or a number");
    return std::string(text.substr(start, at - start));
  }
  PatternNode either() {
    PatternNode first = one();
    if (!takes("|")) return first;
    PatternNode node;
    node.kind = PatternNode::Kind::either;
    node.parts.push_back(std::move(first));
    do node.parts.push_back(one());
    while (takes("|"));
    return node;
  }
  PatternNode one();
  void inputs_of(PatternNode& node);
};

void Reader::inputs_of(PatternNode& node) {
  while (!takes(")")) {
    if (takes("...")) {
      node.more_inputs = true;
    } else {
      node.parts.push_back(either());
    }
    takes(",");
    check(at < text.size(), "parse_pattern: a bracket is open");
  }
}

PatternNode Reader::one() {
  PatternNode node;
  if (takes("(")) {
    node = either();
    check(takes(")"), "parse_pattern: a bracket is open");
    return node;
  }
  const bool weight = takes("#"), number = takes("$");
  std::string name = word();
  if (weight || number) {
    node.kind = weight ? PatternNode::Kind::weight : PatternNode::Kind::some_number;
    node.name = std::move(name);
    return node;
  }
  if (std::isdigit(static_cast<unsigned char>(name[0])) != 0 || name[0] == '-') {
    node.kind = PatternNode::Kind::number;
    node.number = std::stod(name);
    return node;
  }
  if (takes(":")) {
    node.name = std::move(name);
    name = word();
  }
  node.optional = takes("?");
  if (!takes("(")) {
    node.name = std::move(name);
    return node;
  }
  node.kind = PatternNode::Kind::node;
  const std::size_t dot = name.rfind('.');
  node.domain = dot == std::string::npos ? "" : name.substr(0, dot);
  node.type = dot == std::string::npos ? name : name.substr(dot + 1);
  inputs_of(node);
  return node;
}

struct Goal {
  const PatternNode* place = nullptr;
  ValueId value = none;
};

/// The state of a search: what is found so far, and what is still to be found, the next one last.
struct Search {
  const Graph& graph;
  Match found;
  std::vector<Goal> goals;
};

bool solve(Search& search);

/// Whether all goals can be met when these come first, in order.
bool solve_with(const Search& search, const std::vector<Goal>& first, Match found, Search& result) {
  Search next{search.graph, std::move(found), search.goals};
  next.goals.insert(next.goals.end(), first.rbegin(), first.rend());
  if (!solve(next)) return false;
  result.found = std::move(next.found);
  return true;
}

bool capture(Match& found, const std::string& name, ValueId value) {
  return name.empty() || found.values.emplace(name, value).first->second == value;
}

bool solve_node(Search& search, const PatternNode& place, ValueId value) {
  if (place.optional && solve_with(search, {{&place.parts[0], value}}, search.found, search)) return true;
  const NodeId id = value == none ? none : value_at(search.graph, value).producer;
  if (id == none) return false;
  const Node& node = node_at(search.graph, id);
  if (node.op->type != place.type || node.op->domain != place.domain || node.outputs[0] != value) return false;
  std::size_t count = node.inputs.size();
  while (count > 0 && node.inputs[count - 1] == none) --count;
  if (count < place.parts.size() || (count > place.parts.size() && !place.more_inputs)) return false;
  Match found = search.found;
  if (!capture(found, place.name, value)) return false;
  if (!place.name.empty()) found.nodes[place.name] = id;
  found.pattern.push_back(id);
  std::vector<Goal> goals;
  for (std::size_t i = 0; i < place.parts.size(); ++i) goals.push_back({&place.parts[i], node.inputs[i]});
  if (solve_with(search, goals, found, search)) return true;
  if (goals.size() != 2 || (place.type != "Add" && place.type != "Mul")) return false;
  std::swap(goals[0].value, goals[1].value);
  return goals[0].value != goals[1].value && solve_with(search, goals, std::move(found), search);
}

bool solve(Search& search) {
  if (search.goals.empty()) return true;
  const auto [place, value] = search.goals.back();
  search.goals.pop_back();
  if (value == none) return false;
  switch (place->kind) {
    case PatternNode::Kind::either:
      return std::any_of(place->parts.begin(), place->parts.end(), [&, value = value](const PatternNode& part) {
        return solve_with(search, {{&part, value}}, search.found, search);
      });
    case PatternNode::Kind::node:
      return solve_node(search, *place, value);
    case PatternNode::Kind::weight:
      if (value_at(search.graph, value).kind != ValueKind::weight) return false;
      break;
    case PatternNode::Kind::number:
    case PatternNode::Kind::some_number: {
      const auto number = number_in(search.graph, value);
      if (!number) return false;
      const ElementType type = value_at(search.graph, value).operand.type;
      if (place->kind == PatternNode::Kind::number && !is_near(type, *number, place->number)) return false;
      if (place->kind == PatternNode::Kind::some_number) search.found.numbers[place->name] = *number;
      break;
    }
    case PatternNode::Kind::any:
      break;
  }
  return capture(search.found, place->name, value) && solve(search);
}

bool inside_is_its_own(const Graph& graph, NodeId root, const Match& found,
                       const std::vector<std::string>& shared) {
  for (NodeId id : found.pattern) {
    if (id == root) continue;
    const ValueId out = node_at(graph, id).outputs[0];
    const bool may_be_shared = std::any_of(shared.begin(), shared.end(), [&](const std::string& name) {
      const auto value = found.values.find(name);
      return value != found.values.end() && value->second == out;
    });
    if (may_be_shared) continue;
    if (is_graph_output(graph, out)) return false;
    for (NodeId user : value_at(graph, out).consumers) {
      if (!std::binary_search(found.pattern.begin(), found.pattern.end(), user)) return false;
    }
  }
  return true;
}

}  // namespace

PatternNode parse_pattern(std::string_view text) {
  Reader reader{text};
  PatternNode pattern = reader.either();
  reader.skip_spaces();
  check(reader.at == text.size(), "parse_pattern: text after the pattern");
  return pattern;
}

bool is_near(ElementType type, double number, double wanted) {
  double share = 1e-6;  // single precision, some exporters write eight digits
  if (type == ElementType::float16) share = 0x1p-10;
  if (type == ElementType::bfloat16) share = 0x1p-7;
  return std::fabs(number - wanted) <= share * std::fabs(wanted);
}

namespace {

/// Whether a pattern's last node is of the node's type: most are not.
bool may_end_in(const PatternNode& pattern, const Node& node) {
  if (pattern.kind == PatternNode::Kind::either) {
    return std::any_of(pattern.parts.begin(), pattern.parts.end(),
                       [&](const PatternNode& part) { return may_end_in(part, node); });
  }
  return pattern.optional || (pattern.type == node.op->type && pattern.domain == node.op->domain);
}

}  // namespace

std::optional<Match> match(const Graph& graph, NodeId root, const PatternNode& pattern,
                           const std::vector<std::string>& shared) {
  if (!may_end_in(pattern, node_at(graph, root))) return std::nullopt;
  const ValueId out = node_at(graph, root).outputs.empty() ? none : node_at(graph, root).outputs[0];
  Search search{graph, {}, {{&pattern, out}}};
  if (out == none || !solve(search)) return std::nullopt;
  auto& nodes = search.found.pattern;
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.empty() || nodes.back() != root || !inside_is_its_own(graph, root, search.found, shared))
    return std::nullopt;
  return std::move(search.found);
}

}  // namespace sdip
