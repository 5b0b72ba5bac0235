// The state while a model is read: its graph so far, and the scopes in which names mean values.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/graph/graph.h"
#include "core/onnx/attribute.h"
#include "core/onnx/import.h"

namespace sdip {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using ValuesByName = std::unordered_map<std::string_view, ValueId>;  // views of the model's messages

/// Names of one body of nodes; what it does not have itself, the one it stands in may have. A function's has no
/// outer one.
struct Scope {
  const Scope* outer = nullptr;
  const ValuesByName* initializers = nullptr;  // of a subgraph: the same values in each of its iterations
  ValuesByName values;
};

/// A body's nodes as they are to be read, and the names that it takes from outside.
struct BodyOrder {
  std::vector<std::int32_t> nodes;
  std::vector<std::string_view> captured;
};

struct Function {
  const onnx::FunctionProto* proto = nullptr;
  std::map<std::string, std::int64_t> opsets;                          // by domain
  std::vector<std::pair<std::string, onnx::AttributeProto>> defaults;  // of attributes
};

/// Domain, name, overload.
using FunctionName = std::tuple<std::string, std::string, std::string>;

/// Where nodes stand: in the model's graph, or in a function, a branch or an iteration of a loop.
struct BodyPlace {
  const std::map<std::string, std::int64_t>* opsets = nullptr;
  AttributeEnvironment attributes;  // of the function's call
  std::string path;                 // "" in the model's graph
  std::int64_t depth = 0;
  const BodyPlace* caller = nullptr;
  const Function* function = nullptr;
};

struct ModelReading {
  const ImportOptions& options;
  Graph graph;
  std::map<std::string, std::int64_t> opsets;
  std::map<FunctionName, Function> functions;
  std::unordered_map<const void*, BodyOrder> orders;           // by the body's nodes
  std::unordered_map<const void*, ValuesByName> initializers;  // by subgraph
  std::unordered_map<std::string, std::int64_t> paths;         // of inlined nodes; the last number tried
  std::int64_t steps = 0, inlined_name_bytes = 0, inlined_elements = 0;
};

/// A node's own name, or one made of its type and its place in the file.
std::string own_name(const onnx::NodeProto& node, std::int64_t index);
/// "/loop/iteration_3" and "Add": "/loop/iteration_3/Add".
std::string path_of(const std::string& path, std::string_view name);

/// Throws Error(code, node, "node 'n' (Type): " + what).
[[noreturn]] void refuse_node(const std::string& name, const onnx::NodeProto& node, const char* code,
                              const std::string& what);

/// Counts work that inlining and unrolling make. Throws limit_exceeded.
void spend(ModelReading& reading, const std::string& name, std::int64_t nodes, std::int64_t elements = 0);

/// The value of a name, or `none` when no scope has it.
ValueId find_value(const Scope& scope, std::string_view name);

/// A new value under a name that the scope itself does not have. Throws invalid_graph.
ValueId define(ModelReading& reading, const BodyPlace& place, Scope& scope, const std::string& name);

/// Values of initializers, under their names. Throws what read_tensor throws.
void read_initializers(ModelReading& reading, const BodyPlace& place, Scope& scope, const onnx::GraphProto& graph);

/// A node into the graph, its inputs and outputs being values of the graph. Throws what append_node throws, and
/// limit_exceeded.
void append(ModelReading& reading, Node node);

/// The order of a body's nodes, found once. `own` are the names that it has without its nodes: inputs and
/// initializers; `results` those it gives. Throws invalid_graph for a name made twice, graph_cycle.
const BodyOrder& order_of_body(ModelReading& reading, const Nodes& nodes, const std::vector<std::string_view>& own,
                               const std::vector<std::string_view>& results);
/// The same of a graph.
const BodyOrder& order_of_graph(ModelReading& reading, const onnx::GraphProto& graph);

/// Every node of a body, in order, into the graph.
void read_body(ModelReading& reading, const BodyPlace& place, Scope& scope, const Nodes& nodes,
               const BodyOrder& order);

/// Refuses the nodes' operators that are not known, all at once: those of their subgraphs and of functions they
/// call, too, but not those of branches, which may not be taken. `also` is appended to the message.
/// Throws unknown_operator.
void refuse_unknown(const ModelReading& reading, const Nodes& nodes,
                    const std::map<std::string, std::int64_t>& opsets, const std::string& also = "");

FunctionName function_called(const onnx::NodeProto& node);
FunctionName name_of(const onnx::FunctionProto& function);
/// The function that a node calls, or nullptr. A model's own function goes before an operator of the same name.
const Function* find_function(const ModelReading& reading, const onnx::NodeProto& node);
/// The model's functions. Throws invalid_graph for two of one name.
void read_functions(ModelReading& reading, const onnx::ModelProto& model);

/// A node that becomes others: where it stands, what it sees, and its name.
struct NodeCall {
  ModelReading& reading;
  const BodyPlace& place;
  Scope& scope;
  const onnx::NodeProto& node;
  const std::string& name;

  [[noreturn]] void refuse(const char* code, const std::string& what) const { refuse_node(name, node, code, what); }
  /// The value of an input, or `none` where it is absent.
  ValueId input(int i) const {
    const bool given = i < node.input_size() && !node.input(i).empty();
    return given ? find_value(scope, node.input(i)) : none;
  }
};

void inline_function(const NodeCall& call, const Function& function);

/// Results of what a node became, under the names of its outputs. Values from `first_made` on were made for it, and
/// take these names. Throws invalid_graph.
void deliver(const NodeCall& call, const std::vector<ValueId>& results, std::size_t first_made);

/// Operators with subgraphs: If, Loop, Scan of ai.onnx, FlexAttention of ai.onnx.preview.
bool is_control(const onnx::NodeProto& node);
/// The branch taken, every iteration, or an attention's nodes with its subgraphs' between. Throws shape_unknown
/// where that depends on what is not known.
void read_control(const NodeCall& call);

}  // namespace sdip
