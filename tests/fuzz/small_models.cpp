// Seeds: a small model of each construct, as protobuf text.
#include <google/protobuf/text_format.h>
#include <onnx/onnx_pb.h>

#include "core/base/error.h"
#include "tests/fuzz/target.h"

namespace sdip::fuzz {
namespace {

constexpr const char* head =
    R"(ir_version: 8 opset_import { version: 17 } opset_import { domain: "local" version: 1 }
  opset_import { domain: "com.microsoft" version: 1 } )";

constexpr const char* products = R"(graph {
  node { op_type: "Conv" input: "x" input: "w" output: "c" attribute { name: "pads" type: INTS ints: [1, 1, 1, 1] } }
  node { op_type: "Sigmoid" input: "c" output: "s" }
  node { op_type: "Mul" input: "c" input: "s" output: "m" }
  node { op_type: "GlobalAveragePool" input: "m" output: "p" }
  node { op_type: "Flatten" input: "p" output: "f" }
  node { op_type: "Gemm" input: "f" input: "v" output: "y" attribute { name: "transB" type: INT i: 1 } }
  initializer { name: "w" data_type: 1 dims: [8, 4, 3, 3] }
  initializer { name: "v" data_type: 1 dims: [2, 8] float_data: [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_value: 4 }
    dim { dim_value: 8 } dim { dim_value: 8 } } } } }
  output { name: "y" } })";

constexpr const char* shapes = R"(graph {
  node { op_type: "Shape" input: "x" output: "s" }
  node { op_type: "Gather" input: "s" input: "one" output: "g" }
  node { op_type: "Div" input: "g" input: "two" output: "d" }
  node { op_type: "Unsqueeze" input: "d" input: "zero" output: "u" }
  node { op_type: "Concat" input: "u" input: "minus" output: "c" attribute { name: "axis" type: INT i: 0 } }
  node { op_type: "Reshape" input: "x" input: "c" output: "r" }
  node { op_type: "Slice" input: "r" input: "zero" input: "end" input: "zero" output: "l" }
  node { op_type: "ConstantOfShape" input: "c" output: "k" attribute { name: "value" type: TENSOR
    t { data_type: 7 dims: [1] int64_data: [3] } } }
  node { op_type: "Softmax" input: "l" output: "y" }
  initializer { name: "one" data_type: 7 int64_data: [1] }
  initializer { name: "two" data_type: 7 int64_data: [2] }
  initializer { name: "zero" data_type: 7 dims: [1] int64_data: [0] }
  initializer { name: "end" data_type: 7 dims: [1] int64_data: [2] }
  initializer { name: "minus" data_type: 7 dims: [1] int64_data: [-1] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 6 }
    dim { dim_value: 4 } } } } }
  output { name: "y" } output { name: "k" } })";

constexpr const char* control = R"(graph {
  node { op_type: "Size" input: "x" output: "n" }
  node { op_type: "Greater" input: "n" input: "two" output: "large" }
  node { op_type: "If" input: "large" output: "a"
    attribute { name: "then_branch" type: GRAPH g { node { op_type: "Relu" input: "x" output: "t" } output { name: "t" } } }
    attribute { name: "else_branch" type: GRAPH g { node { op_type: "Abs" input: "x" output: "e" } output { name: "e" } } } }
  node { op_type: "Loop" input: "two" input: "" input: "a" output: "b" output: "stack"
    attribute { name: "body" type: GRAPH g {
      node { op_type: "Add" input: "state" input: "a" output: "next" }
      node { op_type: "Less" input: "i" input: "two" output: "go_on" }
      input { name: "i" } input { name: "go" } input { name: "state" }
      output { name: "go_on" } output { name: "next" } output { name: "next" } } } }
  node { op_type: "Scan" input: "b" input: "stack" output: "last" output: "all"
    attribute { name: "num_scan_inputs" type: INT i: 1 }
    attribute { name: "body" type: GRAPH g {
      node { op_type: "Add" input: "p" input: "q" output: "r" }
      node { op_type: "Identity" input: "r" output: "r2" }
      input { name: "p" } input { name: "q" } output { name: "r" } output { name: "r2" } } } }
  initializer { name: "two" data_type: 7 int64_data: [2] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
  output { name: "last" } output { name: "all" } })";

constexpr const char* calls = R"(graph {
  node { op_type: "twice" domain: "local" input: "x" output: "y" attribute { name: "dim" type: INT i: 0 } }
  node { op_type: "FastGelu" domain: "com.microsoft" input: "y" output: "z" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
  output { name: "y" } }
  functions { name: "twice" domain: "local" input: "a" output: "c" attribute: "dim"
    opset_import { version: 17 } opset_import { domain: "local" version: 1 }
    node { op_type: "once" domain: "local" input: "a" output: "b"
      attribute { name: "dim" type: INT ref_attr_name: "dim" } }
    node { op_type: "once" domain: "local" input: "b" output: "c" } }
  functions { name: "once" domain: "local" input: "a" output: "b" attribute: "dim" opset_import { version: 17 }
    node { op_type: "Softmax" input: "a" output: "b" attribute { name: "axis" type: INT ref_attr_name: "dim" } } })";

constexpr const char* narrow = R"(graph {
  node { op_type: "DequantizeLinear" input: "q" input: "scale" output: "w" }
  node { op_type: "Cast" input: "h" output: "f" attribute { name: "to" type: INT i: 1 } }
  node { op_type: "MatMul" input: "x" input: "w" output: "m" }
  node { op_type: "Add" input: "m" input: "f" output: "y" }
  initializer { name: "q" data_type: 3 dims: [4, 2] raw_data: "\001\377\002\376\003\375\004\374" }
  initializer { name: "scale" data_type: 1 float_data: [0.5] }
  initializer { name: "h" data_type: 22 dims: [2] int32_data: [33] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } dim { dim_value: 4 } } } } }
  output { name: "y" } })";

}  // namespace

std::vector<std::string> small_models() {
  std::vector<std::string> models;
  for (const char* text : {products, shapes, control, calls, narrow}) {
    onnx::ModelProto model;
    check(google::protobuf::TextFormat::ParseFromString(std::string(head) + text, &model),
          "fuzz: a seed is damaged");
    models.push_back(model.SerializeAsString());
  }
  return models;
}

}  // namespace sdip::fuzz
