// Writing the body of a composite operator: nodes by type, constants as they are needed.
#pragma once

#include <string_view>
#include <vector>

#include "core/ops/operator.h"
#include "core/ops/use.h"

namespace sdip {

/// The number that ONNX gives a type, as Cast wants it.
std::int64_t onnx_number_of(ElementType type);

/// A body being written. Values are numbers that mean nothing outside; the use's inputs are 0, 1, ..., -1 is
/// absent.
struct BodyWriter {
  explicit BodyWriter(const OperatorUse& of) : use(of) {}

  const OperatorUse& use;
  Body body;

  /// Input `i` of the composite, or -1 when it is absent.
  int given(std::size_t i) const;
  /// A scalar of a float type.
  int number(ElementType type, double value);
  /// A list of numbers of a float type.
  int floats(ElementType type, std::vector<double> values);
  /// A list of integers; with `scalar` of one, without an axis.
  int ints(std::vector<std::int64_t> values, ElementType type = ElementType::int64, bool scalar = false);
  /// A node of one output, by type; "sdip.Gelu" for other domains. Returns the output.
  int node(std::string_view type, std::vector<int> inputs, Attributes attributes = {});
  /// A node of several outputs.
  std::vector<int> nodes(std::string_view type, std::vector<int> inputs, Attributes attributes, int outputs);

  int cast(int x, ElementType type) { return node("Cast", {x}, {{"to", onnx_number_of(type)}}); }
  int reshape(int x, Shape shape) { return node("Reshape", {x, ints(std::move(shape))}); }
  int transpose(int x, std::vector<std::int64_t> order) {
    return node("Transpose", {x}, {{"perm", std::move(order)}});
  }
  /// The elements [from, to) along an axis.
  int slice(int x, std::int64_t axis, std::int64_t from, std::int64_t to) {
    return node("Slice", {x, ints({from}), ints({to}), ints({axis})});
  }

  /// Values one behind the other along an axis.
  int concat(std::vector<int> parts, std::int64_t axis) {
    return node("Concat", std::move(parts), {{"axis", axis}});
  }
  /// first, first + 1, ..., end - 1.
  int range(std::int64_t first, std::int64_t end, ElementType type = ElementType::int64) {
    return node("Range", {ints({first}, type, true), ints({end}, type, true), ints({1}, type, true)});
  }

  /// The body with these results, -1 for what it does not make.
  Body finish(std::vector<int> results);

 private:
  int constant(Tensor tensor);

  int next_ = 0;  // of nodes' outputs
};

/// The row of a composite: `write` writes its nodes and returns the value of each output, -1 for what it does not
/// make.
template <std::vector<int> (*write)(BodyWriter&, const OperatorUse&)>
constexpr Operator composite(std::string_view domain, std::string_view type, std::string_view mnemonic,
                             std::size_t least_inputs, std::size_t most_inputs, std::string_view attributes,
                             std::string_view since = "1") {
  Operator row{domain, type, mnemonic, least_inputs, most_inputs, attributes};
  row.since = since;
  row.expand = [](const OperatorUse& use) {
    BodyWriter writer(use);
    return writer.finish(write(writer, use));
  };
  return row;
}

/// Refuses an input of another rank.
const Shape& shape_of_rank(const OperatorUse& use, std::size_t i, std::size_t rank);

/// Refuses with unsupported_attribute and this text unless it holds.
void require(const OperatorUse& use, bool holds, const char* what);

/// The sizes' product, refused when it does not fit.
std::int64_t product(std::initializer_list<std::int64_t> sizes);

}  // namespace sdip
