// A network being written as ONNX: its nodes, weights and constants, under the module path an exporter gives them.
// Internal to its room.
#pragma once

#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace sdip::workload {

using Shape = std::vector<std::int64_t>;

/// The sizes that a model is built for, every number resolved and checked.
struct Sizes {
  std::int64_t batch;
  std::int64_t height_px;
  std::int64_t width_px;
  std::int64_t tokens;
};

/// A tensor of the graph: what nodes name it, and its shape.
struct Value {
  std::string name;
  Shape shape;
};

struct Draft {
  explicit Draft(std::string_view model_name);

  google::protobuf::Arena arena;
  onnx::ModelProto& model;
  std::string weights_file;
  std::int64_t weight_bytes = 0;
  std::string path;                                  ///< of the module being written: "/down_blocks.0/resnets.0"
  std::unordered_map<std::string, int> nodes_named;  ///< how often a name was asked for
  std::unordered_map<std::string, std::string>
      constants;  ///< type, shape and bytes of a constant -> its initializer
};

/// While it lives, nodes and weights are written under that module: "conv1" or "ff/net.0".
struct Module {
  Module(Draft& draft, std::string_view name);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  Draft& of;
  std::size_t outer_length;
};

struct Attribute {
  std::string_view name;
  std::variant<std::int64_t, float, std::string_view, Shape> value;
};

using Inputs = std::initializer_list<std::string_view>;
using Attributes = std::initializer_list<Attribute>;

/// Writes a node with one output of that shape; an empty input name is an absent one.
Value node(Draft& draft, std::string_view op, Inputs inputs, Shape shape, Attributes attributes = {});

/// Writes a node with as many outputs as shapes are given.
std::vector<Value> node_with_outputs(Draft& draft, std::string_view op, Inputs inputs,
                                     std::span<const Shape> shapes, Attributes attributes = {});

Value float_input(Draft& draft, std::string_view name, Shape shape);
Value int64_input(Draft& draft, std::string_view name, Shape shape);
Value int32_input(Draft& draft, std::string_view name, Shape shape);

/// Makes `value` an output of the graph, under that name. Requires a node's output.
void output(Draft& draft, std::string_view name, const Value& value,
            onnx::TensorProto::DataType type = onnx::TensorProto::FLOAT);

/// Adds a weight of the current module (`leaf` is "weight", "bias", ...) to the weights file; returns its name.
std::string weight(Draft& draft, std::string_view leaf, const Shape& shape);

/// Inline constants; equal ones share an initializer. Return its name.
std::string int64_constant(Draft& draft, const Shape& values);
std::string int64_scalar(Draft& draft, std::int64_t value);
std::string float_constant(Draft& draft, const Shape& shape, std::span<const float> values);
std::string float_scalar(Draft& draft, float value);

}  // namespace sdip::workload
