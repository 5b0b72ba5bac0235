// Recognises what exporters decompose, and drops what does nothing: the list of passes, in order.
#include <string>
#include <unordered_map>

#include "core/graph/rewrite/passes.h"

namespace sdip {
namespace {

struct Pass {
  const char* name;
  std::int64_t (*run)(Graph&);
};

constexpr Pass passes[] = {
    {"no_op", drop_no_ops},           // first: casts and multiplications by one stand in the middle of patterns
    {"einsum", fuse_einsum},          // so that what follows meets one kind of product
    {"softmax", fuse_softmax},        // before the scores, which look for it
    {"layernorm", fuse_layernorm},    // its last Mul and Add belong to it before any other pattern
    {"rmsnorm", fuse_rmsnorm},        // after layer norm, in which it would find a part
    {"groupnorm", fuse_groupnorm},    // after layer norm, its middle in ReduceMean forms; before merge_reshapes
    {"gelu", fuse_gelu},              // before the others, which would take the sigmoid form's Mul and Sigmoid
    {"quick_gelu", fuse_quick_gelu},  //
    {"silu", fuse_silu},              //
    {"hard_swish", fuse_hard_swish},  //
    {"mish", fuse_mish},              //
    {"cast", drop_casts},             // after norms and activations, around which casts stand
    {"batchnorm_folded", fold_batchnorm},   //
    {"conv_bias", fuse_conv_bias},          //
    {"upsample", fuse_upsample},            // before merge_reshapes
    {"scores", fuse_scores},                // after the softmax; before linear, whose weight a scale may not meet
    {"quantized", fuse_quantized},          // before linear, which would take its products
    {"weight_second", put_weights_second},  // after quantized, whose products it takes, too
    {"linear", fuse_linear},                // after the norms, whose beta would look like its bias
    {"reshape_merged", merge_reshapes},     // last: no pattern looks at views from here on
};

/// A name that stands again gets a number: "a", "a" become "a", "a#2". The next number of each is kept, so that
/// many of one name take no longer than others.
void make_names_unique(Graph& graph) {
  std::unordered_map<std::string, int> last;
  for (Node& node : graph.nodes) {
    const std::string name = node.name;
    int& number = last[name];
    if (++number == 1) continue;
    while (!last.try_emplace(node.name = fmt::format("{}#{}", name, number), 1).second) ++number;
  }
}

}  // namespace

RewriteCounts rewrite(Graph& graph) {
  RewriteCounts counts;
  link(graph);
  for (const Pass& pass : passes) {
    counts.emplace_back(pass.name, pass.run(graph));
    if (counts.back().second == 0) continue;
    spread_weights(graph);
    remove_dead(graph);
  }
  make_names_unique(graph);
  for (auto& pattern : count_patterns(graph)) counts.push_back(std::move(pattern));
  return counts;
}

}  // namespace sdip
