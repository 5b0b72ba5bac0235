// Recognises what exporters decompose, and drops what does nothing: the list of passes, in order.
#include <string>
#include <unordered_map>

#include "core/graph/passes.h"

namespace sdip {
namespace {

struct Pass {
  const char* name;
  std::int64_t (*run)(Graph&);
};

constexpr Pass passes[] = {
    {"no_op", drop_no_ops},           // first: casts and multiplications by one stand in the middle of patterns
    {"groupnorm", fuse_groupnorm},    // before merge_reshapes, which would take its first Reshape away
    {"layernorm", fuse_layernorm},    // its last Mul and Add belong to it before any other pattern
    {"gelu", fuse_gelu},              //
    {"quick_gelu", fuse_quick_gelu},  //
    {"silu", fuse_silu},              //
    {"batchnorm_folded", fold_batchnorm},  //
    {"linear", fuse_linear},               // after the norms, whose beta would look like its bias
    {"reshape_merged", merge_reshapes},    // last: no pattern looks at views from here on
};

/// A name that stands again gets a number: "a", "a" become "a", "a#2".
void make_names_unique(Graph& graph) {
  std::unordered_map<std::string, std::int64_t> seen;  // by name: the last number tried
  for (Node& node : graph.nodes) {
    const std::string name = node.name;
    while (!seen.try_emplace(node.name, 1).second) node.name = name + "#" + std::to_string(++seen[name]);
  }
}

}  // namespace

RewriteCounts rewrite(Graph& graph) {
  RewriteCounts counts;
  link(graph);
  for (const Pass& pass : passes) {
    counts.emplace_back(pass.name, pass.run(graph));
    if (counts.back().second != 0) remove_dead(graph);
  }
  make_names_unique(graph);
  return counts;
}

}  // namespace sdip
