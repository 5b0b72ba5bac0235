// Patterns that stay as they are, counted: what a rewritten graph still shows of the modules it was made from. An
// adaLN block is LayerNormalization -> Mul(., Add(scale, 1)) -> Add(., shift): one "adaln_modulate".
#include <algorithm>

#include "core/graph/rewrite/match.h"
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// The values that this one is a part of, by Slice, Split, Gather and views, itself first.
std::vector<ValueId> wholes_of(const Graph& graph, ValueId part) {
  std::vector<ValueId> wholes;
  for (int step = 0; step < 8 && part != none; ++step) {
    wholes.push_back(part);
    const NodeId id = value_at(graph, part).producer;
    if (id == none || !node_at(graph, id).op->domain.empty()) break;
    const std::string_view type = node_at(graph, id).op->type;
    constexpr std::string_view cuts[] = {"Slice",   "Split",     "Gather",   "Reshape",
                                         "Squeeze", "Unsqueeze", "Transpose"};
    if (std::find(std::begin(cuts), std::end(cuts), type) == std::end(cuts)) break;
    part = node_at(graph, id).inputs[0];
  }
  return wholes;
}

bool are_parts_of_one(const Graph& graph, const Match& found) {
  const ValueId a = found.values.at("a"), b = found.values.at("b");
  const auto of_a = wholes_of(graph, a), of_b = wholes_of(graph, b);
  return a != b && std::find_first_of(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()) != of_a.end();
}

/// a and b, which change places, are parts of x, whose places stay.
bool are_parts_of_x(const Graph& graph, const Match& found) {
  const auto is_part = [&](const char* name) {
    const auto wholes = wholes_of(graph, found.values.at(name));
    return std::find(wholes.begin() + 1, wholes.end(), found.values.at("x")) != wholes.end();
  };
  return are_parts_of_one(graph, found) && is_part("a") && is_part("b");
}

bool follows_norm(const Graph& graph, const Match& found) {
  const NodeId norm = value_at(graph, found.values.at("n")).producer;
  if (norm == none || is_weight(graph, found.values.at("scale")) || is_weight(graph, found.values.at("shift")))
    return false;
  const std::string_view type = node_at(graph, norm).op->type;
  return type == "LayerNormalization" || type == "RMSNorm" || type == "GroupNorm";
}

bool has_constant_frequencies(const Graph& graph, const Match& found) {
  return found.values.contains("freqs") && !is_weight(graph, found.values.at("t"));
}

bool moves_patches(const Graph& graph, const Match& found) {
  const NodeUse use = use_of(graph, node_at(graph, found.nodes.at("t")));
  return ints_attribute(use.use, "perm", {}) == std::vector<std::int64_t>{0, 5, 1, 3, 2, 4} &&
         value_at(graph, node_at(graph, found.pattern.back()).outputs[0]).operand.shape.size() == 4;
}

bool doubles(const Graph& graph, const Match& found) {
  const Node& resize = node_at(graph, found.pattern.back());
  const Shape& in = value_at(graph, resize.inputs[0]).operand.shape;
  const Shape& out = value_at(graph, resize.outputs[0]).operand.shape;
  return in.size() == 4 && out == Shape{in[0], in[1], 2 * in[2], 2 * in[3]} &&
         string_attribute(use_of(graph, resize).use, "mode", "nearest") == "nearest";
}

struct Counted {
  const char* name;
  const char* pattern;
  bool (*holds)(const Graph&, const Match&);
};

constexpr Counted counted[] = {
    {"geglu", "Mul(a, (sdip.Gelu(b)|Gelu(b)))", are_parts_of_one},
    {"swiglu", "Mul(a, sdip.Silu(b))", nullptr},
    {"adaln_modulate", "Add(Mul(n, Unsqueeze?(Add(scale, 1), ...)), shift)", follows_norm},
    {"timestep_embedding",
     "(Concat(Sin(f:Mul(t, #freqs)), Cos(f))|Concat(Cos(f:Mul(t, #freqs)), Sin(f))|Concat(Sin(Mul(t, #freqs)), "
     "Cos(Mul(t, #freqs)))|Concat(Cos(Mul(t, #freqs)), Sin(Mul(t, #freqs))))",
     has_constant_frequencies},
    {"rotary",
     "(Add(Mul(x, c), Mul(Reshape?(Concat(Unsqueeze?(Neg(b), ...), Unsqueeze?(a, ...))), s))|"
     "Add(Mul(x, c), Mul(Reshape?(Concat(Unsqueeze?(Neg(b), ...), Unsqueeze?(a, ...)), shape), s)))",
     are_parts_of_x},
    {"rotary",
     "Concat((Sub(Mul(a, c), Mul(b, s))|Unsqueeze(Sub(Mul(a, c), Mul(b, s)), ...)|Reshape(Sub(Mul(a, c), Mul(b, "
     "s)), "
     "...)), (Add(Mul(b, c), Mul(a, s))|Unsqueeze(Add(Mul(b, c), Mul(a, s)), ...)|Reshape(Add(Mul(b, c), Mul(a, "
     "s)), "
     "...)))",
     are_parts_of_one},
    {"unpatchify", "Reshape(t:Transpose(Reshape(x, ...)), ...)", moves_patches},
    {"upsample_nearest_2x", "(Resize(x, ...)|Upsample(x, ...))", doubles},
};

std::int64_t count_of(const Graph& graph, const Counted& row) {
  const PatternNode pattern = parse_pattern(row.pattern);
  return count_each(graph, [&](NodeId n) {
    const auto found = match(graph, n, pattern);
    return found && (row.holds == nullptr || row.holds(graph, *found));
  });
}

}  // namespace

RewriteCounts count_patterns(const Graph& graph) {
  RewriteCounts counts = {{"attention", count_attention(graph)}};
  for (const Counted& row : counted) {
    const std::int64_t count = count_of(graph, row);
    if (counts.back().first == row.name) {
      counts.back().second += count;
    } else {
      counts.emplace_back(row.name, count);
    }
  }
  const Skips skips = skips_of(graph);
  counts.emplace_back("residual_add", skips.adds);
  counts.emplace_back("skip_concat", skips.concats);
  return counts;
}

}  // namespace sdip
