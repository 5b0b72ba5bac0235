// Functions of a model: a call becomes the nodes of the function's body.
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/onnx/reading.h"
#include "core/onnx/versions.h"

namespace sdip {
namespace {

/// Bytes of the fields of a number that the message, as built here, does not know.
std::vector<std::string> unknown_fields(const google::protobuf::Message& message, int number) {
  std::vector<std::string> found;
  const auto& fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    if (field.number() == number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      found.push_back(field.length_delimited());
    }
  }
  return found;
}

std::string overload_of(const google::protobuf::Message& message, int number) {
  const auto found = unknown_fields(message, number);
  return found.empty() ? std::string() : found.back();
}

constexpr int node_overload = 8, function_overload = 13, function_attribute_proto = 11;

Function function_of(const onnx::FunctionProto& proto) {
  Function function;
  function.proto = &proto;
  function.opsets = read_opsets(proto.opset_import());
  for (const std::string& bytes : unknown_fields(proto, function_attribute_proto)) {
    onnx::AttributeProto attribute;
    if (!attribute.ParseFromString(bytes)) {
      throw Error("not_onnx", proto.name(), "function '" + proto.name() + "': a default is damaged");
    }
    function.defaults.emplace_back(attribute.name(), std::move(attribute));
  }
  return function;
}

/// The call's attributes, else the function's defaults.
AttributeEnvironment environment_of(const NodeCall& call, const Function& function) {
  AttributeEnvironment environment;
  for (const std::string& attribute : function.proto->attribute()) environment[attribute] = nullptr;
  for (const auto& [attribute, value] : function.defaults) environment[attribute] = &value;
  std::unordered_set<std::string_view> given;
  for (const auto& attribute : call.node.attribute()) {
    if (!given.insert(attribute.name()).second) {
      call.refuse("invalid_graph", "attribute '" + attribute.name() + "' stands twice");
    }
    const auto formal = environment.find(attribute.name());
    if (formal == environment.end() || attribute.has_g()) {
      call.refuse("unsupported_attribute",
                  "attribute '" + attribute.name() + "' is not one of the function, or is a subgraph");
    }
    const std::string what = fmt::format("node '{}', attribute '{}'", call.name, attribute.name());
    if (const auto* value = resolved_attribute(attribute, what, call.place.attributes)) formal->second = value;
  }
  return environment;
}

void refuse_recursion(const NodeCall& call, const Function& function) {
  for (const BodyPlace* at = &call.place; at != nullptr; at = at->caller) {
    if (at->function == &function) call.refuse("invalid_graph", "the function calls itself");
  }
  if (call.place.depth >= call.reading.options.most_nesting) {
    call.refuse("limit_exceeded",
                "calls and subgraphs are nested deeper than " + std::to_string(call.reading.options.most_nesting));
  }
}

const BodyOrder& order_of_function(ModelReading& reading, const onnx::FunctionProto& proto) {
  const std::vector<std::string_view> own(proto.input().begin(), proto.input().end());
  const std::vector<std::string_view> results(proto.output().begin(), proto.output().end());
  const BodyOrder& order = order_of_body(reading, proto.node(), own, results);
  if (!order.captured.empty()) {
    throw Error("invalid_graph", proto.name(),
                fmt::format("function '{}': value '{}' is used, but made by no node of it", proto.name(),
                            order.captured[0]));
  }
  return order;
}

}  // namespace

FunctionName function_called(const onnx::NodeProto& node) {
  return {std::string(domain_of(node.domain())), node.op_type(), overload_of(node, node_overload)};
}

FunctionName name_of(const onnx::FunctionProto& function) {
  return {std::string(domain_of(function.domain())), function.name(), overload_of(function, function_overload)};
}

const Function* find_function(const ModelReading& reading, const onnx::NodeProto& node) {
  if (reading.functions.empty()) return nullptr;
  const auto found = reading.functions.find(function_called(node));
  return found == reading.functions.end() ? nullptr : &found->second;
}

void read_functions(ModelReading& reading, const onnx::ModelProto& model) {
  for (const auto& proto : model.functions()) {
    for (const auto* names : {&proto.input(), &proto.output()}) {
      if (std::find(names->begin(), names->end(), "") == names->end()) continue;
      throw Error("invalid_graph", proto.name(),
                  "function '" + operator_text(proto.domain(), proto.name()) + "': an input or output has no name");
    }
    if (!reading.functions.emplace(name_of(proto), function_of(proto)).second) {
      throw Error("invalid_graph", proto.name(),
                  "function '" + operator_text(proto.domain(), proto.name()) + "' is defined twice");
    }
  }
}

void inline_function(const NodeCall& call, const Function& function) {
  ModelReading& reading = call.reading;
  const onnx::NodeProto& node = call.node;
  const onnx::FunctionProto& proto = *function.proto;
  refuse_recursion(call, function);
  if (node.input_size() > proto.input_size() || node.output_size() > proto.output_size()) {
    call.refuse("invalid_graph",
                fmt::format("has {} inputs and {} outputs, but the function {} and {}", node.input_size(),
                            node.output_size(), proto.input_size(), proto.output_size()));
  }
  const BodyOrder& order = order_of_function(reading, proto);
  BodyPlace inside{&function.opsets, environment_of(call, function), call.name, call.place.depth + 1, &call.place,
                   &function};
  Scope own;
  spend(reading, call.name, 1 + (proto.input_size() + proto.output_size()) / 16);
  for (int i = 0; i < proto.input_size(); ++i) {
    own.values.emplace(proto.input(i), call.input(i));
  }
  const std::size_t first_made = reading.graph.values.size();
  reading.graph.imported.functions += 1;
  read_body(reading, inside, own, proto.node(), order);
  std::vector<ValueId> results;
  for (const std::string& output : proto.output()) results.push_back(find_value(own, output));
  deliver(call, results, first_made);
}

}  // namespace sdip
