// A model being written as an exporter writes one: names, constants and shapes computed by nodes in its manner.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/generate/making.h"

namespace sdip::exports {

using generate::AttributeList;
using generate::Generated;
using generate::Range;
using Name = std::string;
using Names = std::vector<Name>;
using Ints = std::vector<std::int64_t>;

/// Whose names, and where small constants stand. torchscript and keras: Constant nodes; others: initializers.
enum class Manner { torchscript, dynamo, tensorflow, keras, onnxruntime };

/// A size of an input, or the name of one.
struct Size {
  std::int64_t size = 0;
  std::string name;
  Size(int known) : size(known) {}
  Size(std::int64_t known) : size(known) {}
  Size(const char* symbol) : name(symbol) {}
};
using Sizes = std::vector<Size>;

/// A size in a shape that is computed: a number, or an int64 scalar.
struct Part {
  std::int64_t size = 0;
  Name scalar;
  Part(int known) : size(known) {}
  Part(std::int64_t known) : size(known) {}
  Part(Name value) : scalar(std::move(value)) {}
};
using Parts = std::vector<Part>;

/// Values are known by name. Helpers write the form that the opset has (axes as attribute or input, ...).
class Writer {
 public:
  /// The seed draws weights, and one of the sizes that are given for each name.
  Writer(std::int64_t opset, Manner manner, std::uint64_t seed);

  const std::int64_t opset;
  const Manner manner;

  /// A name of inputs' sizes, bound to one of these.
  void dim(const std::string& name, const Ints& choices);
  Name input(const std::string& name, const Sizes& sizes, Range range = {-1, 1},
             ElementType type = ElementType::float32);
  Name ids(const std::string& name, const Sizes& sizes, std::int64_t count);  // int64, 0 to count - 1

  Name weight(const Shape& shape, double most = 0.4, ElementType type = ElementType::float32);
  Name weight_in(const Shape& shape, Range range, ElementType type = ElementType::float32);
  /// Constants: a list and a scalar of int64, a scalar and a tensor of float32.
  Name list(const Ints& values);
  Name whole(std::int64_t value);
  Name number(double value, ElementType type = ElementType::float32);
  Name tensor(const Shape& shape, const std::vector<double>& values, ElementType type = ElementType::float32);

  Name operator()(const std::string& type, const Names& inputs, const AttributeList& attributes = {});
  Names many(const std::string& type, const Names& inputs, const AttributeList& attributes, std::size_t outputs);
  /// The same for onnxruntime's own operators.
  Name contrib(const std::string& type, const Names& inputs, const AttributeList& attributes = {});
  /// Outputs with these names, an empty one left out.
  void node(const std::string& domain, const std::string& type, const Names& inputs, const Names& outputs,
            const AttributeList& attributes = {});
  Name fresh(const std::string& type);

  Name cast(const Name& x, ElementType type);
  Name unsqueeze(const Name& x, const Ints& axes);
  Name squeeze(const Name& x, const Ints& axes);
  Name reduce(const std::string& type, const Name& x, const Ints& axes, bool keep = true);
  Names split(const Name& x, std::int64_t axis, const Ints& sizes);
  Name slice(const Name& x, std::int64_t axis, std::int64_t from, std::int64_t to, std::int64_t step = 1);
  Name sliced(const Name& x, std::int64_t axis, const Name& from, const Name& to);  // by lists of one
  Name clip(const Name& x, double least, double most);
  Name pad(const Name& x, const Ints& pads, const char* mode = "constant");
  /// By scales or by sizes, the other "".
  Name resize(const Name& x, const Name& scales, const Name& sizes, const AttributeList& attributes);
  Name transpose(const Name& x, const Ints& order);
  Name concat(const Names& parts, std::int64_t axis);
  /// A size of a value at run time: a scalar.
  Name size(const Name& x, std::int64_t axis);
  /// A list of parts, computed where one is.
  Name shape(const Parts& parts);
  Name reshape(const Name& x, const Parts& parts);
  Name expand(const Name& x, const Parts& parts);

  /// A graph of a node: `fill` writes its nodes and names its outputs.
  onnx::GraphProto body(const std::vector<std::pair<std::string, ElementType>>& inputs,
                        const std::function<Names(const Names&)>& fill);
  /// A function of the model, called by `node`.
  void function(const std::string& domain, const std::string& name, const Names& inputs,
                const std::function<Names(const Names&)>& fill);

  void output(const Name& value) { outputs_.push_back(value); }
  Generated finish();

 private:
  Name small_constant(const Tensor& value);
  Name constant(const Tensor& value, const std::string& prefix, bool as_node);

  Generated made_;
  Draw draw_;
  std::vector<onnx::GraphProto*> graphs_;
  std::map<std::string, std::int64_t> counts_;
  Names outputs_;
};

}  // namespace sdip::exports
