// Constants, inputs, attributes and functions of a model under construction.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/encode.h"
#include "tests/generate/making.h"

namespace sdip::generate {
namespace {

/// Numbers of types in ONNX's TensorProto.DataType, in the order of ElementType.
constexpr std::array<int, 21> type_numbers = {1,  11, 10, 16, 3,  2,  5,  4,  6,  12, 7,
                                              13, 9,  8,  17, 18, 19, 20, 23, 22, 21};

NumberFormat narrow_format(ElementType type) {
  switch (type) {
    case ElementType::float16:
      return NumberFormat::fp16;
    case ElementType::bfloat16:
      return NumberFormat::bf16;
    case ElementType::float8e4m3fn:
      return NumberFormat::fp8_e4m3;
    default:
      return NumberFormat::fp8_e5m2;
  }
}

/// The bits of element i as its type stores it.
std::uint64_t bits(const Tensor& tensor, std::size_t i) {
  if (!is_floating(tensor.type)) return static_cast<std::uint64_t>(tensor.ints[i]);
  const double x = tensor.floats[i];
  std::uint64_t code = 0;
  if (tensor.type == ElementType::float64) {
    std::memcpy(&code, &x, 8);
  } else if (tensor.type == ElementType::float32) {
    const auto narrow = static_cast<float>(x);
    std::memcpy(&code, &narrow, 4);
  } else if (tensor.type == ElementType::float16 && std::isinf(x)) {
    code = x < 0 ? 0xfc00 : 0x7c00;  // encoded() has no infinities
  } else if (tensor.type == ElementType::bfloat16 && std::isinf(x)) {
    code = x < 0 ? 0xff80 : 0x7f80;
  } else if (tensor.type == ElementType::float8e5m2 && std::isinf(x)) {
    code = x < 0 ? 0xfc : 0x7c;
  } else {
    code = encoded(narrow_format(tensor.type), static_cast<float>(x));
  }
  return code;
}

void put_fields(onnx::TensorProto& proto, const Tensor& tensor) {
  using enum ElementType;
  const std::size_t count = tensor.ints.size() + tensor.floats.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (tensor.type == float32)
      proto.add_float_data(static_cast<float>(tensor.floats[i]));
    else if (tensor.type == float64)
      proto.add_double_data(tensor.floats[i]);
    else if (tensor.type == int64)
      proto.add_int64_data(tensor.ints[i]);
    else if (tensor.type == uint32 || tensor.type == uint64)
      proto.add_uint64_data(bits(tensor, i));
    else
      proto.add_int32_data(static_cast<std::int32_t>(bits(tensor, i)));
  }
}

void put_raw(onnx::TensorProto& proto, const Tensor& tensor) {
  const std::size_t count = tensor.ints.size() + tensor.floats.size();
  const std::int64_t width = bits_of(tensor.type);
  std::string& raw = *proto.mutable_raw_data();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t code = bits(tensor, i);
    if (width == 4 && i % 2 == 1)
      raw.back() = static_cast<char>(raw.back() | static_cast<char>((code & 15) << 4));
    else
      raw.append(reinterpret_cast<const char*>(&code),
                 static_cast<std::size_t>(std::max<std::int64_t>(1, width / 8)));
    if (width == 4 && i % 2 == 0) raw.back() = static_cast<char>(raw.back() & 15);
  }
}

}  // namespace

int number_of(ElementType type) { return type_numbers.at(static_cast<std::size_t>(type)); }

onnx::TensorProto proto_of(const Tensor& tensor, const std::string& name, bool raw) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(number_of(tensor.type));
  for (const std::int64_t size : tensor.shape) proto.add_dims(size);
  if (raw || bits_of(tensor.type) == 4)
    put_raw(proto, tensor);
  else
    put_fields(proto, tensor);
  return proto;
}

Tensor random_tensor(ElementType type, const Shape& shape, Range range, Draw& draw) {
  Tensor tensor = zero_tensor(type, shape);
  const bool is_signed = type == ElementType::int8 || type == ElementType::int16 || type == ElementType::int32 ||
                         type == ElementType::int64 || type == ElementType::int4;
  if (!is_signed && !is_floating(type) && range.least < 0) range = {0, range.most - range.least};
  if (type == ElementType::boolean) range = {0, 1};
  const auto least = static_cast<std::int64_t>(std::ceil(range.least));
  const auto most = static_cast<std::int64_t>(std::floor(range.most));
  for (std::int64_t& x : tensor.ints) x = draw.between(least, std::max(least, most));
  for (double& x : tensor.floats)
    x = rounded(type, range.least + (range.most - range.least) * static_cast<double>(draw.between(0, 4096)) / 4096);
  return tensor;
}

int Making::constant(ElementType type, const Shape& shape, Range range) {
  if (draw.one_in(4)) {
    const int v = pick([&](const Known& k) {
      return k.constant && k.value && k.type == type && k.shape == shape && k.range.least == range.least &&
             k.range.most == range.most;
    });
    if (v != absent) return v;
  }
  const Tensor tensor = random_tensor(type, shape, range, draw);
  Known known{fresh("c"), type, shape, true, range, {}};
  known.value = proto_of(tensor, known.name, draw.one_in(2));
  if (draw.one_in(4)) {
    auto* node = graphs_.back()->add_node();
    node->set_op_type("Constant");
    node->add_output(known.name);
    *node->add_attribute() = Given("value", *known.value).proto;
    return add(std::move(known));
  }
  *(draw.one_in(2) ? graphs_.back() : graphs_.front())->add_initializer() = *known.value;
  if (depth == 0 && made_.model.ir_version() == 3) {  // there initializers are inputs, too
    auto* info = graphs_.front()->add_input();
    info->set_name(known.name);
    info->mutable_type()->mutable_tensor_type()->set_elem_type(number_of(type));
    info->mutable_type()->mutable_tensor_type()->mutable_shape();
    for (const std::int64_t d : shape)
      info->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(d);
  }
  return add(std::move(known));
}

int Making::input(ElementType type, const Shape& shape, Range range) {
  Known known{fresh("x"), type, shape, false, range, {}};
  made_.ranges[known.name] = range;
  auto* info = graphs_.front()->add_input();
  info->set_name(known.name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(number_of(type));
  tensor->mutable_shape();
  for (const std::int64_t d : shape) {
    auto* dimension = tensor->mutable_shape()->add_dim();
    if (symbolic && draw.one_in(2)) {
      const std::string name = (draw.one_in(2) ? "batch" : "size") + std::to_string(d);
      dimension->set_dim_param(name);
      made_.dims[name] = d;
    } else {
      dimension->set_dim_value(d);
    }
  }
  return add(std::move(known));
}

int Making::ints(const std::vector<std::int64_t>& values, ElementType type) {
  Tensor tensor{type, {std::ssize(values)}, values, {}};
  Known known{fresh("i"), type, tensor.shape, true, {}, {}};
  known.value = proto_of(tensor, known.name, draw.one_in(2));
  if (!draw.one_in(3)) {
    *graphs_.back()->add_initializer() = *known.value;
    if (depth == 0 && made_.model.ir_version() == 3) {
      auto* info = graphs_.front()->add_input();
      info->set_name(known.name);
      info->mutable_type()->mutable_tensor_type()->set_elem_type(number_of(type));
      info->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(std::ssize(values));
    }
    return add(std::move(known));
  }
  auto* node = graphs_.back()->add_node();
  node->set_op_type("Constant");
  node->add_output(known.name);
  if (opset >= 12 && type == ElementType::int64 && draw.one_in(2) && !values.empty())
    *node->add_attribute() = Given("value_ints", values).proto;
  else
    *node->add_attribute() = Given("value", *known.value).proto;
  return add(std::move(known));
}

int Making::scalar(ElementType type, double value) { return constant(type, {}, {value, value}); }
int Making::scalar_in_one(ElementType type, double value) { return constant(type, {1}, {value, value}); }

Given::Given(const char* name, std::int64_t value) {
  proto.set_name(name);
  proto.set_type(onnx::AttributeProto::INT);
  proto.set_i(value);
}
Given::Given(const char* name, double value) {
  proto.set_name(name);
  proto.set_type(onnx::AttributeProto::FLOAT);
  proto.set_f(static_cast<float>(value));
}
Given::Given(const char* name, const std::string& value) {
  proto.set_name(name);
  proto.set_type(onnx::AttributeProto::STRING);
  proto.set_s(value);
}
Given::Given(const char* name, const std::vector<std::int64_t>& values) {
  proto.set_name(name);
  proto.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) proto.add_ints(value);
}
Given::Given(const char* name, const std::vector<double>& values) {
  proto.set_name(name);
  proto.set_type(onnx::AttributeProto::FLOATS);
  for (const double value : values) proto.add_floats(static_cast<float>(value));
}
Given::Given(const char* name, const std::vector<std::string>& values) {
  proto.set_name(name);
  proto.set_type(onnx::AttributeProto::STRINGS);
  for (const std::string& value : values) proto.add_strings(value);
}
Given::Given(const char* name, const onnx::TensorProto& value) {
  proto.set_name(name);
  proto.set_type(onnx::AttributeProto::TENSOR);
  *proto.mutable_t() = value;
}
Given::Given(const char* name, const onnx::GraphProto& value) {
  proto.set_name(name);
  proto.set_type(onnx::AttributeProto::GRAPH);
  *proto.mutable_g() = value;
}

bool Making::takes_slope(const std::string& name) const {
  return std::ranges::any_of(made_.model.functions(),
                             [&](const auto& f) { return f.name() == name && f.attribute_size() > 0; });
}

/// x (and y): a few nodes of what every type of floats has.
std::string Making::function(int inputs) {
  auto* function = made_.model.add_functions();
  function->set_name(fresh("function"));
  function->set_domain("local");
  auto* import = function->add_opset_import();
  import->set_version(opset);
  function->add_input("x");
  if (inputs > 1) function->add_input("y");
  function->add_output("out");
  std::string last = "x";
  const std::int64_t nodes = draw.between(1, 4);
  for (std::int64_t i = 0; i < nodes; ++i) {
    auto* node = function->add_node();
    const bool pair = draw.one_in(2);
    node->set_op_type(pair ? draw.of(std::vector<std::string>{"Add", "Mul", "Sub"})
                           : draw.of(std::vector<std::string>{"Sigmoid", "Relu", "Tanh", "Neg", "LeakyRelu"}));
    node->add_input(last);
    if (pair) node->add_input(inputs > 1 && draw.one_in(2) ? "y" : "x");
    last = i + 1 == nodes ? "out" : "t" + std::to_string(i);
    node->add_output(last);
    if (node->op_type() != "LeakyRelu") continue;
    auto* alpha = node->add_attribute();
    alpha->set_name("alpha");
    alpha->set_type(onnx::AttributeProto::FLOAT);
    if (draw.one_in(2)) {
      alpha->set_ref_attr_name("slope");
      if (std::ranges::find(function->attribute(), "slope") == function->attribute().end())
        function->add_attribute("slope");
    } else {
      alpha->set_f(0.25F);
    }
  }
  return function->name();
}

}  // namespace sdip::generate
