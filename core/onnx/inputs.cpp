// Inputs of a model's graph.
#include "core/onnx/inputs.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/onnx/tensor.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

std::string described(const onnx::ValueInfoProto& input) { return "input '" + input.name() + "'"; }

void bind_size(FreeDimensions& free, const std::string& name, std::int64_t size) {
  const auto [at, fresh] = free.bound.emplace(name, size);
  if (fresh || at->second == size) return;
  throw Error("value_conflict", name,
              "dimension '" + name + "' would be " + std::to_string(at->second) + " and " + std::to_string(size));
}

/// Checks a value given for an input; its sizes bind the input's free dimensions.
void bind_by_value(FreeDimensions& free, const onnx::ValueInfoProto& input, const Tensor& value) {
  const auto& type = input.type().tensor_type();
  const auto held = static_cast<std::int64_t>(value.ints.size() + value.floats.size());
  const auto refuse = [&](const std::string& what) { throw Error("shape_mismatch", input.name(), what); };
  if (element_type_of_onnx(type.elem_type()) != value.type) {
    refuse("the value given for " + described(input) + " is " + std::string(element_type_text(value.type)) +
           ", which is another type than the input's");
  }
  bool same =
      held == element_count(value.shape) && type.has_shape() && type.shape().dim_size() == std::ssize(value.shape);
  for (int axis = 0; same && axis < type.shape().dim_size(); ++axis) {
    const auto& dimension = type.shape().dim(axis);
    const std::int64_t size = value.shape[static_cast<std::size_t>(axis)];
    if (has_size(dimension)) {
      same = dimension.dim_value() == size;
    } else {
      bind_size(free, dimension_name(dimension, input.name(), axis), size);
    }
  }
  if (!same) refuse("the value given for " + described(input) + " has another shape: " + shape_text(value.shape));
}

}  // namespace

std::string FreeDimensions::unbound_text() const {
  std::string list;
  for (std::size_t i = 0; i < unbound.size(); ++i) {
    if (list.size() > 4000) {
      list += ", and " + std::to_string(unbound.size() - i) + " others";
      break;
    }
    list += (list.empty() ? "" : ", ") + unbound[i];
  }
  return list.empty() ? "" : "these dimensions have no size, give one for each: " + list;
}

std::string dimension_name(const onnx::TensorShapeProto::Dimension& dimension, const std::string& input, int axis) {
  if (dimension.has_dim_param() && !dimension.dim_param().empty()) return dimension.dim_param();
  return input + "[" + std::to_string(axis) + "]";
}

bool has_size(const onnx::TensorShapeProto::Dimension& dimension) {
  return dimension.has_dim_value() && dimension.dim_value() >= 0;
}

std::vector<const onnx::ValueInfoProto*> free_inputs(const onnx::GraphProto& graph) {
  std::unordered_set<std::string_view> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  std::vector<const onnx::ValueInfoProto*> inputs;
  for (const auto& input : graph.input()) {
    if (!initializers.contains(input.name())) inputs.push_back(&input);
  }
  return inputs;
}

FreeDimensions free_dimensions(const onnx::GraphProto& graph, const ImportOptions& options) {
  FreeDimensions free;
  free.bound = options.dims;
  const auto inputs = free_inputs(graph);
  std::size_t given = 0;
  for (const auto* input : inputs) {
    const auto value = options.values.find(input->name());
    if (value == options.values.end()) continue;
    bind_by_value(free, *input, value->second);
    given += 1;
  }
  for (const auto& value : options.values) {
    if (given == options.values.size()) break;
    const std::string& name = value.first;  // a structured binding is not captured by clang 14
    if (std::none_of(inputs.begin(), inputs.end(), [&](const auto* input) { return input->name() == name; })) {
      throw Error("unknown_input", name, "there is no input '" + name + "' to take a value");
    }
  }
  std::set<std::string> named;
  for (const auto* input : inputs) {
    const auto& shape = input->type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      if (has_size(shape.dim(axis))) continue;
      const std::string name = dimension_name(shape.dim(axis), input->name(), axis);
      if (named.insert(name).second && !free.bound.contains(name)) free.unbound.push_back(name);
    }
  }
  for (const auto& [name, size] : options.dims) {
    if (!named.contains(name)) {
      throw Error("unknown_dimension", name, "no input has a free dimension '" + name + "'");
    }
  }
  return free;
}

void read_inputs(ModelReading& reading, const BodyPlace& place, Scope& scope, const onnx::GraphProto& graph,
                 const FreeDimensions& free) {
  for (const auto* input : free_inputs(graph)) {
    const auto& declared = input->type().tensor_type();
    const auto type = element_type_of_onnx(declared.elem_type());
    if (!input->type().has_tensor_type() || !type) {
      throw Error("invalid_graph", input->name(), described(*input) + " is no tensor of a known type");
    }
    if (!declared.has_shape()) throw Error("shape_unknown", input->name(), described(*input) + " has no shape");
    Shape shape;
    for (int axis = 0; axis < declared.shape().dim_size(); ++axis) {
      const auto& dimension = declared.shape().dim(axis);
      shape.push_back(has_size(dimension) ? dimension.dim_value()
                                          : free.bound.at(dimension_name(dimension, input->name(), axis)));
    }
    check_shape(shape, described(*input), reading.options);
    const ValueId id = define(reading, place, scope, input->name());
    Value& value = reading.graph.values[static_cast<std::size_t>(id)];
    value.operand.type = *type;
    value.operand.shape = std::move(shape);
    const auto given = reading.options.values.find(input->name());
    value.kind = given == reading.options.values.end() ? ValueKind::input : ValueKind::weight;
    if (value.kind == ValueKind::input) {
      reading.graph.inputs.push_back(id);
    } else {
      value.operand.value = given->second;
      value.operand.weight = true;
    }
  }
}

}  // namespace sdip
