// What the host of the accelerator on a PYNQ-Z2 computes, as functions of ONNX's own operators.
#include <google/protobuf/text_format.h>

#include "core/base/error.h"
#include "tests/agree/models.h"

namespace sdip::agree {
namespace {

/// e^(x / T) over its sum.
constexpr const char* temperature_softmax = R"(
  name: "TemperatureSoftmax" domain: "pynq" input: "x" output: "y" attribute: "temperature"
  opset_import { domain: "" version: 17 }
  node { op_type: "Cast" input: "x" output: "number" attribute { name: "to" type: INT i: 1 } }
  node { op_type: "Constant" output: "t"
         attribute { name: "value_float" type: FLOAT ref_attr_name: "temperature" } }
  node { op_type: "Div" input: "number" input: "t" output: "cool" }
  node { op_type: "Softmax" input: "cool" output: "y" attribute { name: "axis" type: INT i: -1 } })";

/// The sign is ignored; below 1 256 |x| cut to a whole number, below 2 255, else 0.
constexpr const char* shift_quantize = R"(
  name: "ShiftQuantize" domain: "pynq" input: "x" output: "y"
  opset_import { domain: "" version: 17 }
  node { op_type: "Constant" output: "steps" attribute { name: "value_float" type: FLOAT f: 256 } }
  node { op_type: "Constant" output: "most" attribute { name: "value_float" type: FLOAT f: 255 } }
  node { op_type: "Constant" output: "two" attribute { name: "value_float" type: FLOAT f: 2 } }
  node { op_type: "Constant" output: "zero" attribute { name: "value_float" type: FLOAT f: 0 } }
  node { op_type: "Abs" input: "x" output: "size" }
  node { op_type: "Mul" input: "size" input: "steps" output: "places" }
  node { op_type: "Floor" input: "places" output: "whole" }
  node { op_type: "Min" input: "whole" input: "most" output: "kept" }
  node { op_type: "Less" input: "size" input: "two" output: "small" }
  node { op_type: "Where" input: "small" input: "kept" input: "zero" output: "code" }
  node { op_type: "Cast" input: "code" output: "y" attribute { name: "to" type: INT i: 2 } })";

}  // namespace

std::string for_runtime(const std::string& bytes) {
  onnx::ModelProto model;
  check(model.ParseFromString(bytes), "a model is ONNX");
  for (const auto& import : model.opset_import())
    if (import.domain() == "pynq")
      for (const char* text : {temperature_softmax, shift_quantize})
        check(google::protobuf::TextFormat::ParseFromString(text, model.add_functions()), "a function is ONNX");
  return model.SerializeAsString();
}

}  // namespace sdip::agree
