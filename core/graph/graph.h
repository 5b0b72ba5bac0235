// The graph of a network: nodes and values with every shape known.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/index.h"
#include "core/base/number_format.h"
#include "core/base/tensor.h"
#include "core/ops/operator.h"

namespace sdip {

struct OwnOperators;  // core/ops/custom.h

using ValueId = std::int32_t;
using NodeId = std::int32_t;
inline constexpr std::int32_t none = -1;

/// input: fed from outside; weight: an initializer, or computed from weights and constants alone (then it is made
/// at compile time and is stored like any other); activation: made by a node.
enum class ValueKind { input, weight, activation };

/// Where an initializer's bytes lie, unread.
struct WeightBytes {
  std::string file;  // empty: in the model file itself
  std::int64_t offset = 0, length = 0;
};

struct Value {
  std::string name;
  ValueKind kind = ValueKind::activation;
  Operand operand;  // type, shape, small value
  NodeId producer = none;
  std::vector<NodeId> consumers;         // in node order, once per use
  std::optional<WeightBytes> bytes;      // weights that stand in the file: initializers and large constants
  bool initializer = false;              // a stored parameter of the model, not a constant of its arithmetic
  bool parameter = false;                // a stored parameter, perhaps in another shape: its nodes stay
  std::optional<NumberFormat> format{};  // in which a machine keeps it; nothing: in that of the machine
  std::optional<NumberFormat> sums{};    // of a product: in which the sums that make it are kept; likewise
  std::optional<std::int64_t> density_hundredths{};  // of a product's weight: what stays of it; likewise
};

/// Whether an initializer of this type may be a parameter: floats, and integers of 4 and 8 bits, which are where a
/// scale goes with them.
bool may_be_parameter(ElementType type);

struct Node {
  std::string name;
  const Operator* op = nullptr;
  std::int64_t opset = 17;
  Attributes attributes;
  std::vector<ValueId> inputs;   // `none` where an optional input is absent
  std::vector<ValueId> outputs;  // `none` where an optional output is unused
  bool in_place = false;         // of a Split, Slice, Gather or Concat: compiled to no copy, read where bytes lie
};

/// Whether nodes of an operator may be in_place.
bool may_be_in_place(const Operator& op);

/// Counts of what became of nodes while a model was read.
struct ImportCounts {
  std::int64_t folded_nodes = 0;                                                  // known small values now
  std::int64_t folded_elements = 0;                                               // computed for them
  std::int64_t composites = 0, functions = 0, branches = 0, loop_iterations = 0;  // replaced by what they stand for
};

struct Graph {
  std::string name;
  List<Node> nodes;  // in an order in which every value is made before it is used
  List<Value> values;
  std::vector<ValueId> inputs, outputs;
  std::string producer;  // exporter and version
  std::int64_t opset = 0;
  ImportCounts imported;
  std::shared_ptr<const OwnOperators> own_operators;  // the rows of nodes that a file defines
};

/// Fills producer and consumers of every value from the nodes.
void link(Graph& graph);

/// Orders nodes so that every value is made before it is used, keeping the file's order where it can (Boost.Graph).
/// Throws Error("graph_cycle", node, ...).
void sort_nodes(Graph& graph);

/// Multiply-accumulates or elements that one node may take to be computed at import.
inline constexpr std::int64_t most_folding_work = std::int64_t{1} << 20;

/// Infers a node whose inputs are inferred and appends it. What depends on weights and constants alone becomes a
/// weight. A node whose outputs are all known small values is left out, its values stay; a node that makes a larger
/// weight, or changes a parameter, or would take more than `most_folding_work` to compute, is appended, and its
/// work is of family `constant`. A composite becomes the nodes it stands for. Links are stale afterwards. Throws
/// what the rules throw.
void append_node(Graph& graph, Node node);

/// Types, shapes and small values of everything: every node appended anew. Requires sorted nodes. Throws what the
/// rules throw.
void infer(Graph& graph);

/// Values of the graph's outputs, in order, for values of its inputs, in order: every node computed as its
/// operator's arithmetic says, float by float. Weights of which the file has bytes come from `stored`, which is
/// asked once for each. Shapes follow from the values given, so that what depends on data is resolved. For what
/// fits in memory. Throws Error("shape_mismatch", ...) when `inputs` are not what the graph takes,
/// ("not_computable", node, ...) for an operator without arithmetic (random numbers) or a weight without values,
/// what the rules throw, and what `stop` does, which is asked before each node and within products and
/// convolutions. `change` may alter what a node makes before others read it.
using ChangeResult = std::function<void(const Node& node, std::size_t output, Tensor& made)>;
std::vector<Tensor> compute(const Graph& graph, std::span<const Tensor> inputs,
                            const std::function<std::optional<Tensor>(const Value&)>& stored, const Stop& stop = {},
                            const ChangeResult& change = {});

/// How far each element of each output moves from `outputs` when `change` alters what nodes make, the most of
/// `times` computations: infinite where an integer changes, or a number becomes none or other than finite. Throws
/// what `compute` does.
std::vector<std::vector<double>> moved_by(const Graph& graph, std::span<const Tensor> inputs,
                                          const std::function<std::optional<Tensor>(const Value&)>& stored,
                                          std::span<const Tensor> outputs, const ChangeResult& change, int times,
                                          const Stop& stop = {});

/// Drops nodes that reach no output, and values nobody uses.
void remove_dead(Graph& graph);

/// How often each pattern was found by `rewrite`: {"groupnorm": 61, ...}: what was rewritten, in the order of the
/// passes, then what is recognised and stays ("attention", "geglu", "residual_add", ...).
using RewriteCounts = std::vector<std::pair<std::string, std::int64_t>>;

/// Recognises what exporters decompose (group and layer norm, SiLU, GELU, linear with bias, ...) and drops what
/// does nothing. Results stay equal. The list of passes, with the reason for each one's place, is in
/// graph/rewrite.cpp; every form is in docs/patterns.md.
RewriteCounts rewrite(Graph& graph);

/// A pattern that is usually recognised but stands in a rewritten graph in parts: how often, and its first node.
struct Decomposed {
  std::string pattern, node;
  std::int64_t count = 0;
};
std::vector<Decomposed> decomposed(const Graph& graph);

/// Adds that join a value with one computed from it; Concats that do, and whether these nest, so that a stack can
/// hold what they join. `complete` is false when the graph is too large to look at all of them.
struct Skips {
  std::int64_t adds = 0, concats = 0;
  bool is_stack = true, complete = true;
};
Skips skips_of(const Graph& graph);

/// The use of an operator by a node: views into the graph, valid while neither changes.
struct NodeUse {
  std::vector<const Operand*> inputs;
  OperatorUse use;
};
NodeUse use_of(const Graph& graph, const Node& node);

/// The work of a node.
Work work_of(const Graph& graph, const Node& node);

/// Figures of a network. Parameters are elements of float initializers that the outputs depend on, without the
/// running statistics of batch norms, and those of 4- and 8-bit initializers that are what a DequantizeLinear
/// dequantises or a quantised product multiplies.
struct GraphFacts {
  std::int64_t parameters = 0;
  std::int64_t macs_conv = 0, macs_linear = 0, macs_matmul = 0;
  std::map<std::string, std::int64_t> operator_counts;  // by ONNX type
};
GraphFacts facts_of(const Graph& graph);

}  // namespace sdip
