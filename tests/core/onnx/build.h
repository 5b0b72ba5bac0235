// Small ONNX models for tests, made with ONNX's own messages, and files of models read.
#pragma once

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/onnx/import.h"

namespace sdip {

inline onnx::ModelProto empty_model(std::int64_t opset = 17) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.mutable_graph()->set_name("g");
  model.add_opset_import()->set_version(opset);
  return model;
}

inline void add_input(onnx::ModelProto& model, const std::string& name, const Shape& shape, int type = 1) {
  auto* input = model.mutable_graph()->add_input();
  input->set_name(name);
  auto* tensor = input->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (std::int64_t size : shape) tensor->mutable_shape()->add_dim()->set_dim_value(size);
}

inline void add_output(onnx::ModelProto& model, const std::string& name) {
  auto* output = model.mutable_graph()->add_output();
  output->set_name(name);
  output->mutable_type()->mutable_tensor_type()->set_elem_type(1);
}

inline onnx::NodeProto& add_node(onnx::ModelProto& model, const std::string& type,
                                 const std::vector<std::string>& inputs, const std::string& output,
                                 const std::string& name = "") {
  auto* node = model.mutable_graph()->add_node();
  node->set_op_type(type);
  node->set_name(name.empty() ? "/net/" + output : name);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return *node;
}

inline void set_ints(onnx::NodeProto& node, const std::string& name, const std::vector<std::int64_t>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (std::int64_t value : values) attribute->add_ints(value);
}

inline void set_int(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

/// An initializer of floats without data, as when weights are in another file that is absent.
inline onnx::TensorProto& add_weight(onnx::ModelProto& model, const std::string& name, const Shape& shape) {
  auto* tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(1);
  for (std::int64_t size : shape) tensor->add_dims(size);
  return *tensor;
}

inline void add_floats(onnx::ModelProto& model, const std::string& name, const Shape& shape,
                       const std::vector<float>& values) {
  auto& tensor = add_weight(model, name, shape);
  for (float value : values) tensor.add_float_data(value);
}

inline void add_ints(onnx::ModelProto& model, const std::string& name, const std::vector<std::int64_t>& values) {
  auto* tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(7);
  tensor->add_dims(static_cast<std::int64_t>(values.size()));
  for (std::int64_t value : values) tensor->add_int64_data(value);
}

inline Graph import_bytes(const std::string& bytes, const ImportOptions& options = {}) {
  return import_onnx(std::as_bytes(std::span(bytes)), options);
}

inline Graph import_model(const onnx::ModelProto& model, const ImportOptions& options = {}) {
  return import_bytes(model.SerializeAsString(), options);
}

/// The error that importing throws; a test failure when it throws none.
inline Error error_of(const std::string& bytes, const ImportOptions& options = {}) {
  try {
    import_bytes(bytes, options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "imported without an error";
  return Error("", "", "");
}

/// Empty when the file cannot be read.
inline std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// A model of ../shared/models, or a skipped test.
#define SDIP_SHARED_MODEL(variable, name)                                       \
  const std::string variable = file_bytes(SDIP_SHARED_DIR "/models/" + (name)); \
  if ((variable).empty()) GTEST_SKIP() << "no " SDIP_SHARED_DIR "/models/" << (name)

/// Whether what is told of the error has this text.
inline bool mentions(const Error& error, const std::string& text) {
  return std::string(error.what()).find(text) != std::string::npos;
}

}  // namespace sdip
