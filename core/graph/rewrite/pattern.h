// Questions of rewrites to a graph, and the changes that they make. Questions about consumers rest on links as
// they were before the pass, so within a pass they can only be too careful; `rewrite` drops dead nodes and links
// again after each. Internal to its room.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

const Value& value_at(const Graph& graph, ValueId id);
Value& value_at(Graph& graph, ValueId id);
const Node& node_at(const Graph& graph, NodeId id);

/// Whether `id` is a node of ai.onnx of this type.
bool is_node(const Graph& graph, NodeId id, std::string_view type);

/// The node that makes a value, if it is of this type; else `none`.
NodeId made_by(const Graph& graph, ValueId id, std::string_view type);

/// The one use of a node's first output, if it has exactly one and is no output of the graph; else `none`.
NodeId only_consumer(const Graph& graph, NodeId id);

/// The input of a node with two inputs that is not `id`; `none` when neither or both are.
ValueId other_input(const Graph& graph, NodeId node, ValueId id);

/// Whether all elements of a value are known to be `number`.
bool is_filled(const Graph& graph, ValueId id, double number);

/// The number a value holds, when it is a constant with one element or one number throughout.
std::optional<double> number_in(const Graph& graph, ValueId id);

/// For a node of two inputs, one of which is a constant number: that number and the other input.
struct Scaled {
  ValueId operand = none;
  double number = 0;
};
std::optional<Scaled> scaled(const Graph& graph, NodeId node);

/// Whether a value is made at compile time: an initializer, or of weights and constants alone.
bool is_weight(const Graph& graph, ValueId id);

/// Whether a weight broadcast to `shape` has one value a channel: [C,1,1] or [1,C,1,1] into [N,C,H,W].
bool is_one_per_channel(const Graph& graph, ValueId id, const Shape& shape);

/// The axes that a reduction (ReduceMean, ReduceSum, ReduceMax) goes over, from the front in ascending order;
/// nothing when it does not keep them as axes of size 1, or they are not known.
std::vector<std::size_t> reduced_axes(const Graph& graph, NodeId reduction);

/// The first of `axes` if they are the last ones of a tensor of this rank, else -1.
std::int64_t trailing_axis(const std::vector<std::size_t>& axes, std::size_t rank);

/// The one user of a value, if it has exactly one and is no output of the graph; else `none`.
NodeId only_user(const Graph& graph, ValueId id);

/// A new value, which no node makes yet.
ValueId add_value(Graph& graph, std::string name, ValueKind kind, ElementType type, Shape shape);

/// A new constant. Links of other values stay as they are.
ValueId add_constant(Graph& graph, const std::string& name, Tensor tensor);

/// Puts an operator in the place of the last node of a pattern, with its output. Its name is the path that all
/// nodes of the pattern share, and the operator's type.
void replace_last(Graph& graph, const std::vector<NodeId>& pattern, std::string_view domain, std::string_view type,
                  std::vector<ValueId> inputs, Attributes attributes);

/// Lets all uses of a node's first output use `instead`. Requires that it is no output of the graph.
void bypass(Graph& graph, NodeId id, ValueId instead);

bool is_graph_output(const Graph& graph, ValueId id);

/// Calls `at` for every node, also for those it adds, and returns how often it rewrote, or said that it holds.
template <class At>
std::int64_t count_each(const Graph& graph, const At& at) {
  std::int64_t count = 0;
  for (NodeId n = 0; n < std::ssize(graph.nodes); ++n) count += at(n) ? 1 : 0;
  return count;
}

/// The same; what it puts into `made` becomes nodes, which are sorted then: before all others where they make
/// weights of weights.
enum class Made { before, behind };
std::int64_t rewrite_each(Graph& graph, Made where, bool (*at)(Graph&, NodeId, std::vector<Node>& made));

}  // namespace sdip
