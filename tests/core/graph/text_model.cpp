// Small models written as text, and what they compute before and after rewriting.
#include "tests/core/graph/text_model.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/encode.h"

namespace sdip {
namespace {

int type_number(const std::string& name) {
  const std::map<std::string, int> numbers = {{"", 1},         {"float32", 1}, {"uint8", 2},
                                              {"int8", 3},     {"int32", 6},   {"int64", 7},
                                              {"float16", 10}, {"bool", 9},    {"float64", 11}};
  return numbers.at(name);
}

struct Writer {
  onnx::ModelProto model;
  std::string text;
  std::size_t at = 0;
  int count = 0;

  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n')) ++at;
  }
  bool takes(char c) {
    skip();
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!takes(c)) throw std::runtime_error(std::string("expected ") + c + " before: " + text.substr(at));
  }
  std::string word() {
    skip();
    const std::size_t start = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                std::string("_.-").find(text[at]) != std::string::npos)) {
      ++at;
    }
    return text.substr(start, at - start);
  }
  std::string fresh() { return "v" + std::to_string(count++); }

  std::vector<std::int64_t> list() {
    std::vector<std::int64_t> numbers;
    while (!takes(']')) {
      numbers.push_back(std::stoll(word()));
      takes(',');
    }
    return numbers;
  }

  void float_list(onnx::NodeProto& node, const std::string& name) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::FLOATS);
    while (!takes(']')) {
      attribute->add_floats(std::stof(word()));
      takes(',');
    }
  }

  void attributes(onnx::NodeProto& node) {
    while (!takes('}')) {
      const std::string name = word();
      expect('=');
      if (takes('[')) {
        const std::string_view numbers = std::string_view(text).substr(at, text.find(']', at) - at);
        if (numbers.find('.') == std::string_view::npos) {
          set_ints(node, name, list());
        } else {
          float_list(node, name);
        }
      } else if (takes('\'')) {
        auto* attribute = node.add_attribute();
        attribute->set_name(name);
        attribute->set_type(onnx::AttributeProto::STRING);
        const std::size_t end = text.find('\'', at);
        attribute->set_s(text.substr(at, end - at));
        at = end + 1;
      } else {
        const std::string number = word();
        if (number.find_first_of(".e") == std::string::npos) {
          set_int(node, name, std::stoll(number));
        } else {
          auto* attribute = node.add_attribute();
          attribute->set_name(name);
          attribute->set_type(onnx::AttributeProto::FLOAT);
          attribute->set_f(std::stof(number));
        }
      }
      takes(',');
    }
  }

  std::string expression(const std::vector<std::string>& outputs);
  void body();
  void values(const std::string& text);
};

std::int32_t half_bits(float x) { return static_cast<std::int32_t>(encoded(NumberFormat::fp16, x)); }

std::string constant(Writer& writer, const std::string& word) {
  const std::string name = writer.fresh();
  if (word.back() == 'h') {
    auto& tensor = add_weight(writer.model, name, {});
    tensor.set_data_type(10);
    tensor.add_int32_data(half_bits(std::stof(word)));
  } else {
    add_floats(writer.model, name, {}, {std::stof(word)});
  }
  return name;
}

std::string Writer::expression(const std::vector<std::string>& outputs) {
  if (takes('[')) {
    const std::string name = fresh();
    add_ints(model, name, list());
    return name;
  }
  const std::string first = word();
  skip();
  const bool node_follows = at < text.size() && (text[at] == '(' || text[at] == '{');
  if (!node_follows) {
    if (first == "-") return "";
    const bool number = std::isdigit(static_cast<unsigned char>(first.at(first[0] == '-' ? 1 : 0))) != 0;
    return number || first == "-inf" ? constant(*this, first) : first;
  }
  onnx::NodeProto node;
  const std::size_t dot = first.rfind('.');
  node.set_op_type(dot == std::string::npos ? first : first.substr(dot + 1));
  if (dot != std::string::npos) node.set_domain(first.substr(0, dot));
  if (takes('{')) attributes(node);
  expect('(');
  while (!takes(')')) {
    node.add_input(expression({}));
    takes(',');
  }
  const std::vector<std::string> names = outputs.empty() ? std::vector<std::string>{fresh()} : outputs;
  node.set_name("/net/" + names[0]);
  for (const std::string& name : names) node.add_output(name);
  *model.mutable_graph()->add_node() = node;
  return names[0];
}

void Writer::body() {
  for (skip(); at < text.size(); skip()) {
    std::vector<std::string> outputs = {word()};
    while (takes(',')) outputs.push_back(word());
    expect('=');
    expression(outputs);
    takes(';');
  }
}

void Writer::values(const std::string& list) {
  text = list;
  at = 0;
  std::minstd_rand random(7);
  for (skip(); at < text.size(); skip()) {
    const bool weight = takes('#');
    const std::string name = word();
    Shape shape;
    skip();
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
      shape.push_back(std::stoll(word()));
      takes(',');
      skip();
    }
    const int type = type_number(word());
    takes(';');
    if (!weight) {
      add_input(model, name, shape, type);
      continue;
    }
    auto& tensor = add_weight(model, name, shape);
    tensor.set_data_type(type);
    for (std::int64_t i = 0; i < element_count(shape); ++i) {
      const float value = static_cast<float>(random() % 1024) / 512.0F - 1.0F;
      if (type == 1) tensor.add_float_data(value);
      if (type == 10) tensor.add_int32_data(half_bits(value));
      if (type == 7) tensor.add_int64_data(static_cast<std::int64_t>(random() % 4));
      if (type == 2 || type == 3 || type == 6 || type == 9)
        tensor.add_int32_data(static_cast<std::int32_t>(random() % (type == 9 ? 2 : 4)));
    }
  }
}

}  // namespace

onnx::ModelProto model_of(const std::string& values, const std::string& body, std::int64_t opset) {
  Writer writer{empty_model(opset), {}};
  if (body.find("com.microsoft.") != std::string::npos) {
    auto* domain = writer.model.add_opset_import();
    domain->set_domain("com.microsoft");
    domain->set_version(1);
  }
  writer.values(values);
  writer.text = body;
  writer.at = 0;
  writer.body();
  auto* output = writer.model.mutable_graph()->add_output();
  output->set_name("y");
  return writer.model;
}

std::vector<Tensor> random_inputs(const Graph& graph) {
  std::minstd_rand random(3);
  std::vector<Tensor> inputs;
  for (ValueId id : graph.inputs) {
    const Operand& operand = graph.values[static_cast<std::size_t>(id)].operand;
    Tensor tensor = zero_tensor(operand.type, operand.shape);
    for (double& x : tensor.floats) x = rounded(operand.type, static_cast<double>(random() % 4096) / 1024.0 - 2.0);
    for (std::int64_t& x : tensor.ints)
      x = static_cast<std::int64_t>(random() % (operand.type == ElementType::boolean ? 2 : 4));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

std::vector<Tensor> values_of(const Graph& graph, const std::vector<Tensor>& inputs) {
  return compute(graph, inputs, [](const Value&) -> std::optional<Tensor> { return std::nullopt; });
}

void expect_equal(const std::vector<Tensor>& got, const std::vector<Tensor>& want, double share,
                  const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].type, want[i].type) << what;
    ASSERT_EQ(got[i].shape, want[i].shape) << what;
    ASSERT_EQ(got[i].ints, want[i].ints) << what;
    double largest = 1e-3;
    for (double x : want[i].floats) largest = std::isfinite(x) ? std::max(largest, std::fabs(x)) : largest;
    for (std::size_t j = 0; j < want[i].floats.size(); ++j) {
      if (got[i].floats.at(j) == want[i].floats[j]) continue;  // infinities, too
      if (std::isnan(got[i].floats[j]) && std::isnan(want[i].floats[j])) continue;
      ASSERT_NEAR(got[i].floats.at(j), want[i].floats[j], share * largest) << what << " element " << j;
    }
  }
}

std::string Rewritten::types() const {
  std::string found;
  for (const Node& node : graph.nodes) {
    if (graph.values[static_cast<std::size_t>(node.outputs[0])].kind == ValueKind::weight) continue;
    found += (found.empty() ? "" : " ") + std::string(node.op->type);
  }
  return found;
}

Rewritten rewritten_equal(const std::string& values, const std::string& body, std::int64_t opset) {
  Rewritten result{import_model(model_of(values, body, opset)), {}};
  const std::vector<Tensor> inputs = random_inputs(result.graph);
  const std::vector<Tensor> before = values_of(result.graph, inputs);
  const RewriteCounts counts = rewrite(result.graph);
  result.counts = {counts.begin(), counts.end()};
  const bool half = !before[0].floats.empty() && bits_of(before[0].type) == 16;
  expect_equal(values_of(result.graph, inputs), before, half ? 0x1p-9 : 1e-5, body);
  return result;
}

}  // namespace sdip
