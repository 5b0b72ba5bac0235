// Writing the body of a composite operator. While it is written, constants are numbered from 2^20 and nodes'
// outputs from 2^21; at the end they move down to where the body has them. In a use with 2 inputs and 1 constant,
// the constant is 2 and the first node's output 3.
#include "core/ops/body.h"

#include <algorithm>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr int first_constant = 1 << 20;
constexpr int first_output = 1 << 21;

}  // namespace

int BodyWriter::given(std::size_t i) const { return optional_input(use, i) == nullptr ? -1 : static_cast<int>(i); }

int BodyWriter::constant(Tensor tensor) {
  body.constants.push_back(std::move(tensor));
  return first_constant + static_cast<int>(body.constants.size()) - 1;
}

int BodyWriter::number(ElementType type, double value) {
  if (!is_floating(type)) refuse(use, "shape_mismatch", "operands must be of a float type");
  return constant({type, {}, {}, {rounded(type, value)}});
}

int BodyWriter::floats(ElementType type, std::vector<double> values) {
  for (double& value : values) value = rounded(type, value);
  const std::int64_t count = std::ssize(values);
  return constant({type, {count}, {}, std::move(values)});
}

int BodyWriter::ints(std::vector<std::int64_t> values, ElementType type, bool scalar) {
  Shape shape;
  if (!scalar) shape.push_back(std::ssize(values));
  return constant({type, std::move(shape), std::move(values), {}});
}

int BodyWriter::node(std::string_view type, std::vector<int> inputs, Attributes attributes) {
  return nodes(type, std::move(inputs), std::move(attributes), 1)[0];
}

std::vector<int> BodyWriter::nodes(std::string_view type, std::vector<int> inputs, Attributes attributes,
                                   int outputs) {
  const std::size_t dot = type.rfind('.');
  const bool plain = dot == std::string_view::npos;
  body.nodes.push_back({plain ? std::string_view() : type.substr(0, dot), plain ? type : type.substr(dot + 1),
                        std::move(inputs), std::move(attributes), outputs});
  std::vector<int> made;
  for (int i = 0; i < outputs; ++i) made.push_back(first_output + next_++);
  return made;
}

Body BodyWriter::finish(std::vector<int> results) {
  results.resize(use.output_count, -1);  // what nobody asks for needs no node
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool again = std::find(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(i), results[i]) !=
                       results.begin() + static_cast<std::ptrdiff_t>(i);
    if (results[i] >= 0 && (results[i] < first_output || again)) results[i] = node("Identity", {results[i]});
  }
  const int inputs = static_cast<int>(use.inputs.size()), constants = static_cast<int>(body.constants.size());
  const auto place = [&](int& value) {
    if (value >= first_output) {
      value += inputs + constants - first_output;
    } else if (value >= first_constant) {
      value += inputs - first_constant;
    }
  };
  for (BodyNode& each : body.nodes) {
    for (int& value : each.inputs) place(value);
  }
  for (int& value : results) place(value);
  body.results = std::move(results);
  return std::move(body);
}

std::int64_t onnx_number_of(ElementType type) {
  for (std::int64_t number = 1;; ++number) {
    if (element_type_of_onnx(number) == type) return number;
  }
}

const Shape& shape_of_rank(const OperatorUse& use, std::size_t i, std::size_t rank) {
  const Shape& shape = input(use, i).shape;
  if (shape.size() != rank) {
    refuse(use, "shape_mismatch",
           fmt::format("input {} of shape {} must have rank {}", i, shape_text(shape), rank));
  }
  return shape;
}

void require(const OperatorUse& use, bool holds, const char* what) {
  if (!holds) refuse(use, "unsupported_attribute", what);
}

std::int64_t product(std::initializer_list<std::int64_t> sizes) { return element_count(Shape(sizes)); }

}  // namespace sdip
