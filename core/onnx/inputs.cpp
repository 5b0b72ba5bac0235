// Inputs of a model's graph.
#include "core/onnx/inputs.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/onnx/tensor.h"
#include "core/onnx/value_text.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

std::string described(const onnx::ValueInfoProto& input) { return "input '" + input.name() + "'"; }

void bind_size(GivenInputs& given, const std::string& name, std::int64_t size) {
  const auto [at, fresh] = given.bound.emplace(name, size);
  if (fresh || at->second == size) return;
  throw Error("value_conflict", name, fmt::format("dimension '{}' would be {} and {}", name, at->second, size));
}

/// Checks a value given for an input; its sizes bind the input's free dimensions.
void bind_by_value(GivenInputs& given, const onnx::ValueInfoProto& input, const Tensor& value) {
  const auto& type = input.type().tensor_type();
  const auto held = static_cast<std::int64_t>(value.ints.size() + value.floats.size());
  const auto refuse = [&](const std::string& what) { throw Error("shape_mismatch", input.name(), what); };
  if (element_type_of_onnx(type.elem_type()) != value.type) {
    refuse(fmt::format("the value given for {} is {}, which is another type than the input's", described(input),
                       element_type_text(value.type)));
  }
  bool same =
      held == element_count(value.shape) && type.has_shape() && type.shape().dim_size() == std::ssize(value.shape);
  for (int axis = 0; same && axis < type.shape().dim_size(); ++axis) {
    const auto& dimension = type.shape().dim(axis);
    const std::int64_t size = value.shape[at(axis)];
    if (has_size(dimension)) {
      same = dimension.dim_value() == size;
    } else {
      bind_size(given, dimension_name(dimension, input.name(), axis), size);
    }
  }
  if (!same) refuse("the value given for " + described(input) + " has another shape: " + shape_text(value.shape));
}

}  // namespace

std::string GivenInputs::unbound_text() const {
  std::string list;
  for (std::size_t i = 0; i < unbound.size(); ++i) {
    if (list.size() > 4000) {
      list += fmt::format(", and {} others", unbound.size() - i);
      break;
    }
    list += (list.empty() ? "" : ", ") + unbound[i];
  }
  return list.empty() ? "" : "these dimensions have no size: " + list;
}

std::string dimension_name(const onnx::TensorShapeProto::Dimension& dimension, const std::string& input, int axis) {
  if (dimension.has_dim_param() && !dimension.dim_param().empty()) return dimension.dim_param();
  return fmt::format("{}[{}]", input, axis);
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

std::vector<std::string> assumed_dimensions(const onnx::GraphProto& graph, const ImportOptions& options) {
  std::vector<std::string> first;
  std::set<std::string> seen, later;
  for (const auto* input : free_inputs(graph)) {
    const auto& shape = input->type().tensor_type().shape();
    const bool has_value = options.values.contains(input->name()) || options.given.contains(input->name());
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      if (has_size(shape.dim(axis))) continue;
      const std::string name = dimension_name(shape.dim(axis), input->name(), axis);
      if (axis > 0 || has_value) {
        later.insert(name);
      } else if (seen.insert(name).second) {
        first.push_back(name);
      }
    }
  }
  std::erase_if(first,
                [&](const std::string& name) { return later.contains(name) || options.dims.contains(name); });
  return first;
}

namespace {

/// The tensor that is given for an input, if any. Throws value_conflict, and what tensor_of_text throws.
std::optional<Tensor> value_given(const onnx::ValueInfoProto& input, const ImportOptions& options) {
  const auto value = options.values.find(input.name());
  const auto text = options.given.find(input.name());
  if (text == options.given.end())
    return value == options.values.end() ? std::nullopt : std::optional(value->second);
  if (value != options.values.end())
    throw Error("value_conflict", input.name(), described(input) + " is given two values");
  const auto& declared = input.type().tensor_type();
  const auto type = element_type_of_onnx(declared.elem_type());
  if (!type || !declared.has_shape())
    throw Error("shape_mismatch", input.name(),
                described(input) + " is declared without a type or shape that is known: it takes no value");
  Shape shape;
  for (const auto& dimension : declared.shape().dim())
    shape.push_back(has_size(dimension) ? dimension.dim_value() : any_size);
  try {
    return tensor_of_text(*type, shape, text->second);
  } catch (const Error& error) {
    throw Error(
        error.code, input.name(),
        fmt::format("the value given for {}, {}: {}", described(input), element_type_text(*type), error.what()));
  }
}

/// Refuses a value for what is no input.
void require_inputs(const std::vector<const onnx::ValueInfoProto*>& inputs, const auto& values) {
  for (const auto& value : values) {
    const std::string& name = value.first;  // a structured binding is not captured by clang 14
    if (std::any_of(inputs.begin(), inputs.end(), [&](const auto* input) { return input->name() == name; }))
      continue;
    std::string names;
    for (const auto* input : inputs) {
      if (names.size() > 1000) break;
      names += (names.empty() ? "" : ", ") + input->name();
    }
    throw Error("unknown_input", name,
                "there is no input '" + name + "' to take a value; the inputs are: " + names);
  }
}

}  // namespace

GivenInputs given_inputs(const onnx::GraphProto& graph, const ImportOptions& options) {
  GivenInputs given;
  given.bound = options.dims;
  const auto inputs = free_inputs(graph);
  for (const auto* input : inputs) {
    auto value = value_given(*input, options);
    if (!value) continue;
    bind_by_value(given, *input, *value);
    given.values.emplace(input->name(), std::move(*value));
  }
  require_inputs(inputs, options.values);
  require_inputs(inputs, options.given);
  for (const std::string& name : assumed_dimensions(graph, options)) given.bound.emplace(name, 1);
  std::set<std::string> named;
  for (const auto* input : inputs) {
    const auto& shape = input->type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      if (has_size(shape.dim(axis))) continue;
      const std::string name = dimension_name(shape.dim(axis), input->name(), axis);
      if (named.insert(name).second && !given.bound.contains(name)) given.unbound.push_back(name);
    }
  }
  for (const auto& [name, size] : options.dims) {
    if (named.contains(name)) continue;
    std::string names;
    for (const std::string& one : named) names += (names.empty() ? "" : ", ") + one;
    throw Error("unknown_dimension", name,
                "no input has a free dimension '" + name + "'; " +
                    (named.empty() ? "all have their sizes" : "free are: " + names.substr(0, 1000)));
  }
  return given;
}

void read_inputs(ModelReading& reading, const BodyPlace& place, Scope& scope, const onnx::GraphProto& graph,
                 const GivenInputs& given) {
  for (const auto* input : free_inputs(graph)) {
    const auto& declared = input->type().tensor_type();
    const auto type = element_type_of_onnx(declared.elem_type());
    if (!input->type().has_tensor_type() || !type) {
      throw Error(
          "invalid_graph", input->name(),
          described(*input) + " is no tensor of a known type; sequences, maps and optional values are not read");
    }
    if (!declared.has_shape())
      throw Error("shape_unknown", input->name(),
                  described(*input) + " has no shape: export the model with one, sizes may have names");
    Shape shape;
    for (int axis = 0; axis < declared.shape().dim_size(); ++axis) {
      const auto& dimension = declared.shape().dim(axis);
      shape.push_back(has_size(dimension) ? dimension.dim_value()
                                          : given.bound.at(dimension_name(dimension, input->name(), axis)));
    }
    check_shape(shape, described(*input), reading.options);
    const ValueId id = define(reading, place, scope, input->name());
    Value& value = reading.graph.values[id];
    value.operand.type = *type;
    value.operand.shape = std::move(shape);
    const auto known = given.values.find(input->name());
    value.kind = known == given.values.end() ? ValueKind::input : ValueKind::weight;
    if (value.kind == ValueKind::input) {
      reading.graph.inputs.push_back(id);
    } else {
      value.operand.value = known->second;
      value.operand.weight = true;
    }
  }
}

}  // namespace sdip
