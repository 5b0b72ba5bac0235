// Attributes of a node, from ONNX's messages.
#include "core/onnx/attribute.h"

#include "core/base/error.h"
#include "core/onnx/tensor.h"

namespace sdip {
namespace {

using onnx::AttributeProto;

/// A small tensor with its values; a large one by its shape alone.
Tensor constant_of(const onnx::TensorProto& tensor, const std::string& what, const ImportOptions& options) {
  const ReadTensor read = read_tensor(tensor, what, options);
  return read.operand.value ? *read.operand.value : Tensor{read.operand.type, read.operand.shape, {}, {}};
}

/// Whether an attribute holds nothing but what its type says. A number or text that is not there is 0 or "", as
/// writers that leave out defaults have it.
bool holds_only_its_type(const AttributeProto& a) {
  const auto type = a.type();
  return (!a.has_f() || type == AttributeProto::FLOAT) && (!a.has_i() || type == AttributeProto::INT) &&
         (!a.has_s() || type == AttributeProto::STRING) && a.has_t() == (type == AttributeProto::TENSOR) &&
         a.has_g() == (type == AttributeProto::GRAPH) && (a.floats_size() == 0 || type == AttributeProto::FLOATS) &&
         (a.ints_size() == 0 || type == AttributeProto::INTS) &&
         (a.strings_size() == 0 || type == AttributeProto::STRINGS);
}

Attribute value_of(const AttributeProto& proto, const std::string& what, const ImportOptions& options) {
  switch (proto.type()) {
    case AttributeProto::FLOAT:
      return static_cast<double>(proto.f());
    case AttributeProto::INT:
      return static_cast<std::int64_t>(proto.i());
    case AttributeProto::STRING:
      return proto.s();
    case AttributeProto::TENSOR:
      return constant_of(proto.t(), what, options);
    case AttributeProto::FLOATS:
      return std::vector<double>(proto.floats().begin(), proto.floats().end());
    case AttributeProto::INTS:
      return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
    case AttributeProto::STRINGS:
      return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
    default:
      throw Error("unsupported_attribute", "",
                  fmt::format("{}: values of kind {} are not supported", what, proto.type()));
  }
}

}  // namespace

const AttributeProto* resolved_attribute(const AttributeProto& attribute, const std::string& what,
                                         const AttributeEnvironment& environment) {
  if (attribute.ref_attr_name().empty()) {
    if (!holds_only_its_type(attribute)) {
      throw Error("invalid_graph", "",
                  fmt::format("{} is of kind {}, but holds something else, or nothing", what, attribute.type()));
    }
    return &attribute;
  }
  const auto given = environment.find(attribute.ref_attr_name());
  if (given == environment.end()) {
    throw Error("invalid_graph", "",
                what + " refers to '" + attribute.ref_attr_name() + "', which is no attribute of a function");
  }
  if (given->second != nullptr && given->second->type() != attribute.type()) {
    throw Error("invalid_graph", "",
                fmt::format("{} is of kind {}, but the call's '{}' is of kind {}", what, attribute.type(),
                            attribute.ref_attr_name(), given->second->type()));
  }
  return given->second;
}

Attributes read_attributes(const onnx::NodeProto& node, const std::string& name,
                           const AttributeEnvironment& environment, const ImportOptions& options) {
  Attributes attributes;
  try {
    for (const AttributeProto& written : node.attribute()) {
      const std::string what = fmt::format("node '{}' ({}), attribute '{}'", name, node.op_type(), written.name());
      const AttributeProto* proto = resolved_attribute(written, what, environment);
      if (proto == nullptr) continue;
      if (!attributes.emplace(written.name(), value_of(*proto, what, options)).second) {
        throw Error("invalid_graph", "", what + " stands twice");
      }
    }
  } catch (const Error& error) {
    throw Error(error.code, name, error.what());
  }
  return attributes;
}

}  // namespace sdip
