// ONNX in: from what the walk left of a model to a graph with every shape known.
#include "core/onnx/import.h"

#include <google/protobuf/arena.h>

#include "core/base/error.h"
#include "core/onnx/external.h"
#include "core/onnx/inputs.h"
#include "core/onnx/model_message.h"
#include "core/onnx/reading.h"
#include "core/onnx/versions.h"

namespace sdip {
namespace {

void read_graph_outputs(ModelReading& reading, const Scope& scope, const onnx::GraphProto& graph) {
  if (graph.output_size() > most_outputs) {
    throw Error(
        "limit_exceeded", "",
        fmt::format("the graph has {} outputs, at most {} are accepted", graph.output_size(), most_outputs));
  }
  for (const auto& output : graph.output()) {
    const ValueId id = output.name().empty() ? none : find_value(scope, output.name());
    if (id == none) throw Error("invalid_graph", "", "an output of the graph has no name");
    reading.graph.outputs.push_back(id);
  }
  if (reading.graph.outputs.empty()) throw Error("invalid_graph", "", "the graph has no outputs");
}

/// Tells at once all of a model that cannot be used: operators that are not known, and dimensions without a size.
void refuse_unusable(const ModelReading& reading, const Nodes& nodes, const GivenInputs& given) {
  const std::string unbound = given.unbound_text();
  refuse_unknown(reading, nodes, reading.opsets, unbound.empty() ? "" : "; and " + unbound);
  if (!unbound.empty()) throw Error("unbound_dimension", "", unbound);
}

Graph read_model(const onnx::ModelProto& model, const ImportOptions& options) {
  ModelReading reading{options, {}, {}, {}, {}, {}, {}, 0, 0, 0};
  if (!model.has_graph()) {
    throw Error("not_onnx", "", "holds no graph: this is not an ONNX model, or it is truncated");
  }
  check_ir_version(model);
  reading.opsets = read_opsets(model.opset_import());
  const auto standard = reading.opsets.find("");
  if (standard == reading.opsets.end()) {
    throw Error("unsupported_opset", "", "the model does not say which opset of ai.onnx it is written in");
  }
  const auto& graph = model.graph();
  reading.graph.opset = standard->second;
  reading.graph.own_operators = options.own_operators;
  reading.graph.name = graph.name();
  reading.graph.producer =
      model.producer_name() + (model.producer_version().empty() ? "" : " " + model.producer_version());
  check_external(model, options);
  read_functions(reading, model);
  const GivenInputs given = given_inputs(graph, options);
  refuse_unusable(reading, graph.node(), given);
  const BodyOrder& order = order_of_graph(reading, graph);
  if (!order.captured.empty()) {
    throw Error("invalid_graph", "", fmt::format("value '{}' is used, but made by no node", order.captured[0]));
  }
  Scope scope;
  scope.values.reserve(as_size(graph.initializer_size()) + as_size(graph.node_size()));
  const BodyPlace place{&reading.opsets, {}, "", 0, nullptr, nullptr};
  read_initializers(reading, place, scope, graph);
  read_inputs(reading, place, scope, graph, given);
  read_body(reading, place, scope, graph.node(), order);
  read_graph_outputs(reading, scope, graph);
  remove_dead(reading.graph);
  return std::move(reading.graph);
}

}  // namespace

Graph import_onnx(std::span<const std::byte> bytes, const ImportOptions& options) {
  google::protobuf::Arena arena;
  const onnx::ModelProto& model = model_message(bytes, options, arena);
  try {
    return read_model(model, options);
  } catch (const Error& error) {
    throw Error(error.code, options.label + (error.where.empty() ? "" : ": " + error.where),
                options.label + ": " + error.what());
  }
}

}  // namespace sdip
