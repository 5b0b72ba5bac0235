// A case of tests/cases as a model: kinds of attributes, graphs within, and elements as ONNX stores them.
#include "tests/core/onnx/case_model.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace sdip {
namespace {

using nlohmann::json;

[[noreturn]] void refuse_case(const std::string& what) { throw Error("invalid_case", what, what); }

/// Numbers of types in ONNX's TensorProto.DataType, in the order of ElementType.
constexpr std::array<int, 24> type_numbers = {1, 11, 10, 16, 3,  2,  5,  4,  6,  12, 7,  13,
                                              9, 8,  17, 18, 19, 20, 23, 22, 21, 24, 26, 25};

ElementType type_of(const std::string& name) {
  for (std::size_t i = 0; i < type_numbers.size(); ++i) {
    if (element_type_text(static_cast<ElementType>(i)) == name) return static_cast<ElementType>(i);
  }
  refuse_case("'" + name + "' is no type");
}

int number_of(ElementType type) { return type_numbers.at(static_cast<std::size_t>(type)); }

/// What stands under a key, or nothing to go through.
const json& below(const json& written, const char* key) {
  static const json nothing = json::array();
  const auto found = written.find(key);
  return found == written.end() ? nothing : *found;
}

/// What JSON has no number for is written as text: "NaN", "Infinity", integers beyond 2^53.
double float_of(const json& written) {
  return written.is_string() ? std::strtod(written.get<std::string>().c_str(), nullptr) : written.get<double>();
}
std::int64_t int_of(const json& written) {
  if (!written.is_string()) return written.get<std::int64_t>();
  const std::string digits = written.get<std::string>();
  return digits.starts_with('-') ? std::strtoll(digits.c_str(), nullptr, 10)
                                 : static_cast<std::int64_t>(std::strtoull(digits.c_str(), nullptr, 10));
}

/// Bits of exponent and fraction of a narrow float, its bias, and whether its largest exponent is of infinities.
struct NarrowFloat {
  int exponent = 0, fraction = 0, bias = 0;
  bool infinities = false;
};

NarrowFloat narrow_float(ElementType type) {
  switch (type) {
    case ElementType::float16:
      return {5, 10, 15, true};
    case ElementType::bfloat16:
      return {8, 7, 127, true};
    case ElementType::float8e4m3fn:
      return {4, 3, 7, false};
    case ElementType::float8e4m3fnuz:
      return {4, 3, 8, false};
    case ElementType::float8e5m2:
      return {5, 2, 15, true};
    case ElementType::float8e5m2fnuz:
      return {5, 2, 16, false};
    case ElementType::float4e2m1:
      return {2, 1, 1, false};
    default:
      refuse_case("no narrow float");
  }
}

/// The bits of a number that the type holds: 1.5 as float8e4m3fn is 0 0111 100.
int float_bits(ElementType type, double x) {
  if (type == ElementType::float8e8m0) return std::isnan(x) ? 255 : std::ilogb(x) + 127;
  const NarrowFloat format = narrow_float(type);
  const int sign = std::signbit(x) ? 1 << (format.exponent + format.fraction) : 0;
  const int top = ((1 << format.exponent) - 1) << format.fraction;
  const bool unsigned_zero = type == ElementType::float8e4m3fnuz || type == ElementType::float8e5m2fnuz;
  if (std::isnan(x)) {
    return unsigned_zero ? 1 << (format.exponent + format.fraction) : top | ((1 << format.fraction) - 1);
  }
  if (std::isinf(x)) {
    if (!format.infinities) refuse_case("the type has no infinity");
    return sign | top;
  }
  if (x == 0) return unsigned_zero ? 0 : sign;
  const int exponent = std::max(std::ilogb(x), 1 - format.bias);
  const double fraction = std::fabs(std::ldexp(x, format.fraction - exponent));
  if (fraction != std::floor(fraction)) refuse_case(std::to_string(x) + " is none of its type");
  // Subnormals have no leading bit, and the exponent code 0.
  return sign | (static_cast<int>(fraction) + ((exponent + format.bias - 1) << format.fraction));
}

onnx::TensorProto tensor_proto(const json& written, const std::string& name) {
  const Tensor tensor = case_tensor(written);
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(number_of(tensor.type));
  for (const std::int64_t size : tensor.shape) proto.add_dims(size);
  const auto append = [&](auto value) {
    proto.mutable_raw_data()->append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const auto append_bits = [&](std::int64_t bits, std::int64_t width, std::size_t i) {
    if (width > 4) {
      proto.mutable_raw_data()->append(reinterpret_cast<const char*>(&bits), static_cast<std::size_t>(width / 8));
      return;
    }
    const std::int64_t at = static_cast<std::int64_t>(i) % (8 / width) * width;
    if (at == 0) proto.mutable_raw_data()->push_back(0);
    proto.mutable_raw_data()->back() |= static_cast<char>((bits & ((1 << width) - 1)) << at);
  };
  proto.mutable_raw_data();
  for (std::size_t i = 0; i < tensor.ints.size(); ++i) append_bits(tensor.ints[i], bits_of(tensor.type), i);
  for (std::size_t i = 0; i < tensor.floats.size(); ++i) {
    if (tensor.type == ElementType::float64) {
      append(tensor.floats[i]);
    } else if (tensor.type == ElementType::float32) {
      append(static_cast<float>(tensor.floats[i]));
    } else {
      append_bits(float_bits(tensor.type, tensor.floats[i]), bits_of(tensor.type), i);
    }
  }
  return proto;
}

void fill_value_info(onnx::ValueInfoProto& info, const json& written) {
  info.set_name(written.at("name").get<std::string>());
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(number_of(type_of(written.at("type").get<std::string>())));
  tensor->mutable_shape();
  for (const json& size : written.at("shape")) {
    tensor->mutable_shape()->add_dim()->set_dim_value(size.get<std::int64_t>());
  }
}

void fill_graph(onnx::GraphProto& graph, const json& written);

void fill_attribute(onnx::AttributeProto& proto, const std::string& name, const json& written) {
  using Proto = onnx::AttributeProto;
  proto.set_name(name);
  const std::string kind = written.begin().key();
  const json& value = written.begin().value();
  if (kind == "int") {
    proto.set_type(Proto::INT);
    proto.set_i(value.get<std::int64_t>());
  } else if (kind == "float") {
    proto.set_type(Proto::FLOAT);
    proto.set_f(value.get<float>());
  } else if (kind == "string") {
    proto.set_type(Proto::STRING);
    proto.set_s(value.get<std::string>());
  } else if (kind == "tensor") {
    proto.set_type(Proto::TENSOR);
    *proto.mutable_t() = tensor_proto(value, "value");
  } else if (kind == "graph") {
    proto.set_type(Proto::GRAPH);
    fill_graph(*proto.mutable_g(), value);
  } else if (kind == "ints") {
    proto.set_type(Proto::INTS);
    for (const json& each : value) proto.add_ints(each.get<std::int64_t>());
  } else if (kind == "floats") {
    proto.set_type(Proto::FLOATS);
    for (const json& each : value) proto.add_floats(each.get<float>());
  } else if (kind == "strings") {
    proto.set_type(Proto::STRINGS);
    for (const json& each : value) proto.add_strings(each.get<std::string>());
  } else {
    refuse_case("attribute " + name + " is of no known kind");
  }
}

void fill_node(onnx::NodeProto& node, const json& written) {
  node.set_op_type(written.at("op").get<std::string>());
  node.set_domain(written.value("domain", ""));
  for (const auto& [name, value] : below(written, "attributes").items()) {
    fill_attribute(*node.add_attribute(), name, value);
  }
}

void fill_graph(onnx::GraphProto& graph, const json& written) {
  graph.set_name("body");
  for (const json& each : written.at("nodes")) {
    auto* node = graph.add_node();
    fill_node(*node, each);
    for (const json& name : each.at("inputs")) node->add_input(name.get<std::string>());
    for (const json& name : each.at("outputs")) node->add_output(name.get<std::string>());
    node->set_name("/body/" + node->output(0));
  }
  for (const json& each : below(written, "inputs")) fill_value_info(*graph.add_input(), each);
  for (const json& each : written.at("outputs")) fill_value_info(*graph.add_output(), each);
  for (const auto& [name, each] : below(written, "constants").items()) {
    *graph.add_initializer() = tensor_proto(each, name);
  }
}

}  // namespace

Tensor case_tensor(const json& written) {
  Tensor tensor{type_of(written.at("type").get<std::string>()), written.at("shape").get<Shape>(), {}, {}};
  for (const json& each : written.at("data")) {
    if (is_floating(tensor.type)) {
      tensor.floats.push_back(float_of(each));
    } else {
      tensor.ints.push_back(int_of(each));
    }
  }
  const auto count = static_cast<std::int64_t>(tensor.ints.size() + tensor.floats.size());
  if (count != element_count(tensor.shape))
    refuse_case(std::to_string(count) + " elements for " + shape_text(tensor.shape));
  return tensor;
}

onnx::ModelProto case_model(const json& one, bool inputs_are_constants) {
  const bool foreign = one.contains("domain");
  const auto opset = one.at("opset").get<std::int64_t>();
  onnx::ModelProto model = empty_model(foreign ? replacement_opset : opset);
  if (foreign) {
    auto* import = model.add_opset_import();
    import->set_domain(one.at("domain").get<std::string>());
    import->set_version(opset);
  }
  auto& graph = *model.mutable_graph();
  auto* node = graph.add_node();
  fill_node(*node, one);
  node->set_name(one.at("name").get<std::string>());
  for (std::size_t i = 0; i < one.at("inputs").size(); ++i) {
    json input = one.at("inputs")[i];
    node->add_input(input.is_null() ? "" : "in" + std::to_string(i));
    if (input.is_null()) continue;
    input["name"] = node->input(static_cast<int>(i));
    if (inputs_are_constants) {
      *graph.add_initializer() = tensor_proto(input, input["name"].get<std::string>());
    } else {
      fill_value_info(*graph.add_input(), input);
    }
  }
  const json& captured = below(one, "captured");
  for (std::size_t i = 0; i < captured.size(); ++i) {
    *graph.add_initializer() = tensor_proto(captured[i], "captured" + std::to_string(i));
  }
  for (std::size_t i = 0; i < one.at("outputs").size(); ++i) {
    const bool made = !one.at("outputs")[i].is_null();
    node->add_output(made ? "out" + std::to_string(i) : "");
    if (made) add_output(model, "out" + std::to_string(i));
  }
  return model;
}

}  // namespace sdip
