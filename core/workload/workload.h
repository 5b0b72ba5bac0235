// The built-in models, written as ONNX the way PyTorch's exporter writes them, and the pipelines made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/tensor.h"

namespace sdip {

namespace workload {
struct Draft;
struct Sizes;
}  // namespace workload

enum class ModelKind : std::int64_t {
  text_encoder,
  vae_encoder,
  unet,
  vae_decoder,
  classifier,
  language,
  transformer
};

/// The name of a kind, as in JSON: "text_encoder", "unet", ...
std::string_view name_of(ModelKind kind);

/// The sizes that a model is written for. 0 stands for the model's native size, which its row states.
struct ModelOptions {
  std::int64_t batch = 1;
  std::int64_t image_height_px = 0;
  std::int64_t image_width_px = 0;
  std::int64_t tokens = 0;
};

/// A built-in model. `parameters`, at the native size, counts what PyTorch counts: every trained tensor and frozen
/// nn.Parameter, and no buffer; so a BatchNormalization's running mean and variance are not in it, though they are
/// in the weights file.
struct ModelRow {
  std::string_view name;
  std::string_view title;
  ModelKind kind;
  std::int64_t parameters;
  std::int64_t native_image_px;    ///< side of the square picture; 0: the model knows no picture
  std::int64_t image_multiple_px;  ///< height and width are multiples of it; 0: the model knows no picture
  std::int64_t native_tokens;      ///< length of the text; 0: the model knows no text
  void (*build)(workload::Draft&, const workload::Sizes&);
};

/// Every built-in model, names unique.
std::span<const ModelRow> built_in_models();

/// The row of that name, or nullptr.
const ModelRow* find_model(std::string_view name);

/// The model as ONNX (opset 17, IR 8). A weight is an external-data entry of the file NAME.weights, which need not
/// exist: packed fp32 in the order of the initializers. A constant (reshape targets, scales, masks) is inline. The
/// image size is that of the picture, also for the models that work on its latent; a text encoder's graph does not
/// depend on it. Throws Error unknown_model, value_out_of_range.
std::string write_model(std::string_view name, const ModelOptions& options);

/// A diffusion pipeline: the names of the models it is made of. `text_encoder_2` is empty where there is only one.
struct PipelineRow {
  std::string_view name;
  std::string_view title;
  std::string_view text_encoder;
  std::string_view text_encoder_2;
  std::string_view vae_encoder;
  std::string_view unet;
  std::string_view vae_decoder;
  std::int64_t native_image_px;
};

/// Every built-in pipeline, names unique and none a model's.
std::span<const PipelineRow> built_in_pipelines();

/// The row of that name, or nullptr.
const PipelineRow* find_pipeline(std::string_view name);

/// Streams random weights for `model`, the bytes that write_model returned: the content of NAME.weights, piece by
/// piece. A tensor's values depend on seed, its name and its shape alone: the same for any batch, image size and
/// computer. Throws Error not_a_built_in_model where `model` is something else.
void write_weights(std::string_view model, std::uint64_t seed,
                   const std::function<void(std::span<const std::byte>)>& sink);

/// The elements that write_weights makes of a weight of this name and shape, of which the first reader is an ONNX
/// node of type `op`, that takes it as its operand `operand` (from 0). Requires a shape that such a node takes.
std::vector<float> random_weight(std::string_view name, const Shape& shape, std::string_view op,
                                 std::size_t operand, std::uint64_t seed);

}  // namespace sdip
