// A model under construction: its values, whose types and shapes are known, and how operands are drawn from them.
#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/tensor.h"
#include "tests/core/exec/random_graph.h"

namespace sdip::generate {

/// Numbers of a constant or an input, both ends included; of integers whole ones.
struct Range {
  double least = -2, most = 2;
};

/// A value of the model. `value`: of what is known at import; `constant`: it is an initializer or of a Constant.
struct Known {
  std::string name;
  ElementType type = ElementType::float32;
  Shape shape;
  bool constant = false;
  Range range{};
  std::optional<onnx::TensorProto> value{};
};

/// An attribute of a node.
struct Given {
  onnx::AttributeProto proto;
  Given(const char* name, std::int64_t value);
  Given(const char* name, int value) : Given(name, static_cast<std::int64_t>(value)) {}
  Given(const char* name, double value);
  Given(const char* name, const std::string& value);
  Given(const char* name, const char* value) : Given(name, std::string(value)) {}
  Given(const char* name, const std::vector<std::int64_t>& values);
  Given(const char* name, const std::vector<double>& values);
  Given(const char* name, const std::vector<std::string>& values);
  Given(const char* name, const onnx::TensorProto& value);
  Given(const char* name, const onnx::GraphProto& value);
};
using AttributeList = std::vector<Given>;

/// A model with all that is needed to run it.
struct Generated {
  onnx::ModelProto model;
  std::map<std::string, std::int64_t> dims;  // of its symbolic dimensions
  std::map<std::string, Range> ranges;       // of its inputs
  std::map<std::string, Known> values;       // every value's type and shape, by name
  std::map<std::string, Tensor> inputs;      // of those that are not drawn
  std::vector<std::string> drawn;            // "Conv float32", one a node that a row of the table drew
};

/// Thrown when import refuses a node: the model ends with it, and is refused, too.
struct Refused {};

int number_of(ElementType type);  // ONNX's TensorProto.DataType
onnx::TensorProto proto_of(const Tensor& tensor, const std::string& name, bool raw);
Tensor random_tensor(ElementType type, const Shape& shape, Range range, Draw& draw);
std::size_t index(int value);
/// The names that a graph uses and does not make.
void free_names(const onnx::GraphProto& graph, std::set<std::string>& names);
/// The names that a node reads, its branches and body, too.
std::set<std::string> names_read(const onnx::NodeProto& node);
/// Name, type and shape.
void describe(onnx::ValueInfoProto& info, const Known& known, bool with_shape = true);

inline constexpr std::int64_t most_elements = 768;  // of an operand; what is larger becomes an output at most
inline constexpr int absent = -1;                   // an optional input that is left out

/// Operands are numbers of values, `absent` where one is left out.
class Making {
 public:
  Making(std::uint64_t seed, std::int64_t opset);
  /// Goes on with a model that is there.
  Making(std::uint64_t seed, const Generated& begun);

  Draw draw;
  std::int64_t opset = 17;
  bool zeros = false;     // dimensions may be 0
  bool symbolic = false;  // sizes of inputs may be names
  int depth = 0;          // of bodies of If, Loop, Scan

  const Known& at(int value) const { return values_[index(value)]; }
  const Shape& shape(int value) const { return at(value).shape; }

  /// A size of a dimension, small.
  std::int64_t size();
  Shape any_shape(std::int64_t least_rank, std::int64_t most_rank);

  /// An existing value of the type, rarely one made fit by Cast or Reshape, or a new input or constant.
  int any(ElementType type, std::int64_t least_rank, std::int64_t most_rank);
  /// As `any`, of this very shape.
  int like(ElementType type, const Shape& shape, Range range = {});
  /// What broadcasts with the shape, either way; `one_way`: without changing it.
  int broadcast(ElementType type, const Shape& shape, Range range = {}, bool one_way = false);
  /// Where networks have weights: a constant mostly; one that is there already, an input or another value now and
  /// then.
  int weight(ElementType type, const Shape& shape, Range range = {});
  int constant(ElementType type, const Shape& shape, Range range = {});
  int input(ElementType type, const Shape& shape, Range range = {});
  int ints(const std::vector<std::int64_t>& values, ElementType type = ElementType::int64);
  int scalar(ElementType type, double value);
  int scalar_in_one(ElementType type, double value);  // of shape [1]
  /// Values of this type that are there: is there any?
  bool has(ElementType type) const;

  /// Adds a node; its outputs. Throws Refused. `unused[i]` leaves an output without a name.
  std::vector<int> node(const std::string& domain, const std::string& type, const std::vector<int>& inputs,
                        const AttributeList& attributes = {}, int outputs = 1,
                        const std::vector<bool>& unused = {});
  int op(const std::string& type, const std::vector<int>& inputs, const AttributeList& attributes = {}) {
    return node("", type, inputs, attributes)[0];
  }
  /// The same elements in another shape.
  int reshaped(int value, const Shape& shape);
  int cast(int value, ElementType type);
  /// At most most_elements of them.
  int small(int value);

  /// A graph of its own, which may use what is outside: `fill` adds nodes and names the outputs.
  onnx::GraphProto body(const std::function<std::vector<int>(onnx::GraphProto&)>& fill);
  /// An input of a body.
  int body_input(onnx::GraphProto& graph, ElementType type, const Shape& shape);
  /// A function of the model, of one or two inputs; its name.
  std::string function(int inputs);
  bool takes_slope(const std::string& function) const;  // an attribute of it

  void count_drawn(const std::string& what) { made_.drawn.push_back(what); }
  std::size_t drawn() const { return made_.drawn.size(); }

  /// The model, its outputs chosen. `refused`: import refused the last node, which is kept and used.
  Generated finish(bool refused);

 private:
  int add(Known known);
  int pick(const std::function<bool(const Known&)>& wanted);
  std::string fresh(const char* prefix) { return prefix + std::to_string(count_++); }
  onnx::ModelProto alone(const onnx::NodeProto& node) const;
  void learn(const onnx::NodeProto& node, std::vector<int>& outputs);
  void choose_outputs(bool refused);
  void add_value_infos();

  Generated made_;
  std::vector<Known> values_;                // all, by number
  std::map<std::string, int> numbers_;       // by name
  std::vector<int> pool_;                    // numbers that can be used here
  std::vector<onnx::GraphProto*> graphs_;    // being filled, the innermost last
  std::optional<onnx::ModelProto> refused_;  // a node within a body that import refuses, as a model of its own
  std::int64_t count_ = 0;
};

}  // namespace sdip::generate
