// Attributes of a node, from ONNX's messages.
#include "core/onnx/attribute.h"

#include "core/base/error.h"
#include "core/onnx/tensor.h"

namespace sdip {
namespace {

/// A small tensor with its values; a large one by its shape alone.
Tensor constant_of(const onnx::TensorProto& tensor, const std::string& what, const ImportOptions& options) {
  const ReadTensor read = read_tensor(tensor, what, options);
  return read.operand.value ? *read.operand.value : Tensor{read.operand.type, read.operand.shape, {}, {}};
}

}  // namespace

Attributes read_attributes(const onnx::NodeProto& node, const std::string& name, const ImportOptions& options) {
  Attributes attributes;
  for (const auto& proto : node.attribute()) {
    const std::string what = "node '" + name + "' (" + node.op_type() + "), attribute '" + proto.name() + "'";
    Attribute value;
    switch (proto.type()) {
      case onnx::AttributeProto::FLOAT:
        value = static_cast<double>(proto.f());
        break;
      case onnx::AttributeProto::INT:
        value = static_cast<std::int64_t>(proto.i());
        break;
      case onnx::AttributeProto::STRING:
        value = proto.s();
        break;
      case onnx::AttributeProto::TENSOR:
        value = constant_of(proto.t(), what, options);
        break;
      case onnx::AttributeProto::FLOATS:
        value = std::vector<double>(proto.floats().begin(), proto.floats().end());
        break;
      case onnx::AttributeProto::INTS:
        value = std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
        break;
      case onnx::AttributeProto::STRINGS:
        value = std::vector<std::string>(proto.strings().begin(), proto.strings().end());
        break;
      default:
        throw Error("unsupported_attribute", options.label + ": " + name,
                    options.label + ": " + what + ": values of kind " + std::to_string(proto.type()) +
                        " are not supported");
    }
    if (!attributes.emplace(proto.name(), std::move(value)).second) {
      throw Error("invalid_graph", options.label + ": " + name, options.label + ": " + what + " stands twice");
    }
  }
  return attributes;
}

}  // namespace sdip
