// Built-in models with random weights and inputs as onnxruntime reads them, and what the executor makes of them.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/base/tensor.h"
#include "core/machine/machine.h"
#include "core/workload/workload.h"

namespace sdip::agree {

/// How a model is written: as it is, in fp32 or, where that is its own form, uint8; every float in 16 bits; its
/// convolutions and products on integers.
enum class Form { fp32, fp16, int8, uint8 };
std::string_view form_text(Form form);

/// `tolerance`: the largest difference over the largest magnitude of an output; 0: every element equal. `stored`:
/// what the runtime gives stands in tests/golden/onnxruntime, so that every ./test compares with it. `large`: takes
/// long, and is compared only when asked for.
struct Row {
  std::string_view model;
  Form form = Form::fp32;
  ModelOptions options;
  double tolerance = 0;
  bool stored = false, large = false;
};
std::span<const Row> rows();
/// "tiny-sd-unet.fp16", with its image size where that is not the model's own: "resnet50-64px.int8".
std::string name_of(const Row& row);

/// A model's bytes and values of its inputs. Weights stand in the model or, where `weights` names a file, there.
struct Made {
  std::string bytes;
  std::vector<Tensor> inputs;
  std::filesystem::path weights{};
};
/// A model of floats has its weights in `folder`, as NAME.weights; those of a U-Net are more than a message holds.
Made made(const Row& row, const std::filesystem::path& folder);

/// The model as the runtime takes it: with operators that it does not know defined by its own.
std::string for_runtime(const std::string& bytes);

/// Compiled for preset essay in the row's format and executed by so many threads, weights in a file mapped.
std::vector<Tensor> executed(const Row& row, const Made& model, std::int64_t threads = 1);

/// A built-in model with random weights written into it.
onnx::ModelProto with_weights(std::string_view name, const ModelOptions& options);
/// The same with its weights in a file beside it, `file`; with `half` all of it in 16 bits.
onnx::ModelProto with_weight_file(std::string_view name, const ModelOptions& options,
                                  const std::filesystem::path& file, bool half);
/// Every float32 in it, inputs and outputs too, as float16; of weights in a file where they then stand.
void make_half(onnx::ModelProto& model);
/// The elements of a float32 tensor that is written inline, and such a tensor.
std::vector<float> floats_of(const onnx::TensorProto& tensor);
onnx::TensorProto floats_named(const std::string& name, const Shape& shape, const std::vector<float>& values);

/// A classifier of convolutions, batch norms, Relu, Clip, MaxPool, Add, GlobalAveragePool, Flatten and Gemm on
/// integers: activations of uint8 with ranges from one run on `input`, weights of int8, QLinearConv, MatMulInteger;
/// sums of residuals in fp32 and quantised again; its output the integers of the last product. Throws
/// Error("unsupported", ...) for other models.
onnx::ModelProto quantised(const onnx::ModelProto& model, const Tensor& input);

}  // namespace sdip::agree
