// A written model read back with libonnx, and counts of it that share nothing with the code under test.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/workload/workload.h"

namespace sdip::test {

struct MacCount {
  std::int64_t weighted = 0;   ///< Conv, and MatMul and Gemm by an initializer
  std::int64_t attention = 0;  ///< MatMul of two activations
  std::int64_t total() const { return weighted + attention; }
};

onnx::ModelProto read_model(const std::string& bytes);

/// write_model, read back.
onnx::ModelProto written(std::string_view name, const ModelOptions& options = {});

/// Elements of the weights in the external file, running means and variances aside.
std::int64_t parameters_of(const onnx::ModelProto& model);

/// MACs with the shapes of libonnx's strict inference; throws where a shape stays unknown.
MacCount macs_of(const onnx::ModelProto& model);

/// The model with its external weights turned into inputs, as libonnx's checker wants their file to exist.
onnx::ModelProto without_weights(const onnx::ModelProto& model);

std::map<std::string, int> op_histogram(const onnx::ModelProto& model);

/// Shapes of the external tensors of 1024 elements or more that are matrices or kernels, all of them sorted.
/// Extents are sorted too, as storing a matrix transposed is an exporter's own affair, and those of 1 are left out.
std::vector<std::vector<std::int64_t>> kernel_shapes(const onnx::ModelProto& model);

}  // namespace sdip::test
