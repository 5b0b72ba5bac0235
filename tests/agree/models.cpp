// The models that are compared, and executing them.
#include "tests/agree/models.h"

#include <memory>

#include "core/exec/chip/execute.h"
#include "core/graph/rewrite/passes.h"
#include "core/onnx/raw.h"
#include "core/ops/use.h"
#include "server/io/files.h"
#include "tests/core/exec/random_graph.h"
#include "tests/core/onnx/evaluated.h"

namespace sdip::agree {
namespace {

constexpr ModelOptions own = {};
constexpr ModelOptions small(std::int64_t px) { return {.image_height_px = px, .image_width_px = px}; }

constexpr ModelOptions eight_tokens = {.tokens = 8};

/// The runtime sums norms of a million numbers in fp32: one alone is 1e-5 from what double gives
/// (docs/model/executor.md).
constexpr double runtime_norms = 5e-5;

// clang-format off
constexpr Row all_rows[] = {
    {"tiny-sd-text", Form::fp32, own, 1e-5, true},
    {"tiny-sd-text", Form::fp16, own, 5e-3, true},
    {"tiny-sd-vae-encoder", Form::fp32, own, 1e-5, false},
    {"tiny-sd-vae-encoder", Form::fp16, own, 5e-3, false},
    {"tiny-sd-unet", Form::fp32, own, 1e-5, true},
    {"tiny-sd-unet", Form::fp16, own, 5e-3, true},
    {"tiny-sd-vae-decoder", Form::fp32, own, 1e-5, true},
    {"tiny-sd-vae-decoder", Form::fp16, own, 5e-3, false},
    {"mobilenetv2", Form::fp32, small(64), 1e-5, false},
    {"mobilenetv2", Form::fp16, small(64), 5e-3, false},
    {"mobilenetv2", Form::int8, small(32), 0, true},
    {"mobilenetv2", Form::int8, small(64), 0, false},
    {"mobilenetv2", Form::int8, own, 0, false},
    {"bert-base", Form::fp32, eight_tokens, 1e-5, false},
    {"bert-base", Form::fp16, eight_tokens, 5e-3, false},
    {"resnet50", Form::fp32, small(64), 1e-5, false},
    {"resnet50", Form::fp16, small(64), 5e-3, false},
    {"resnet50", Form::int8, small(64), 0, false},
    {"mobilenetv2", Form::fp32, own, 1e-5, false},
    {"bert-base", Form::fp32, own, 1e-5, false},
    {"bert-base", Form::fp16, own, 5e-3, false},
    {"resnet50", Form::fp32, own, 1e-5, false},
    {"resnet50", Form::int8, own, 0, false},
    {"pynq-attention", Form::uint8, own, 0, false},
    {"sd15-text", Form::fp32, own, 1e-5, false},
    {"sd15-text", Form::fp16, own, 5e-3, false},
    {"sd21-text", Form::fp32, own, 1e-5, false},
    {"sd21-text", Form::fp16, own, 5e-3, false},
    {"sd21-768-text", Form::fp32, own, 1e-5, false},
    {"sdxl-text", Form::fp32, own, 1e-5, false},
    {"sdxl-text", Form::fp16, own, 5e-3, false},
    {"sdxl-text-2", Form::fp32, own, 1e-5, false},
    {"sdxl-text-2", Form::fp16, own, 5e-3, false},
    {"sd15-vae-encoder", Form::fp32, own, runtime_norms, false, true},
    {"sd15-vae-encoder", Form::fp32, small(256), 1e-5, false},
    {"sd15-vae-encoder", Form::fp16, small(64), 5e-3, false},
    {"sd21-vae-encoder", Form::fp32, small(64), 1e-5, false},
    {"sd21-768-vae-encoder", Form::fp32, small(96), 1e-5, false},
    {"sdxl-vae-encoder", Form::fp32, small(128), 1e-5, false},
    {"sd15-vae-decoder", Form::fp32, own, runtime_norms, false, true},
    {"sd15-vae-decoder", Form::fp32, small(256), 1e-5, false},
    {"sd15-vae-decoder", Form::fp16, small(64), 5e-3, false},
    {"sd21-vae-decoder", Form::fp32, small(64), 1e-5, false},
    {"sd21-768-vae-decoder", Form::fp32, small(96), 1e-5, false},
    {"sdxl-vae-decoder", Form::fp32, small(128), 1e-5, false},
    {"sd15-unet", Form::fp32, own, 1e-5, false, true},
    {"sd15-unet", Form::fp32, small(128), 1e-5, false},
    {"sd15-unet", Form::fp16, small(64), 5e-3, false},
    {"sd21-unet", Form::fp32, own, 1e-5, false, true},
    {"sd21-unet", Form::fp32, small(256), 1e-5, false},
    {"sd21-unet", Form::fp16, small(64), 5e-3, false},
    {"sd21-768-unet", Form::fp32, small(128), 1e-5, false},
    {"bksdm-base-unet", Form::fp32, own, 1e-5, false, true},
    {"bksdm-base-unet", Form::fp32, small(256), 1e-5, false},
    {"bksdm-base-unet", Form::fp16, small(64), 5e-3, false},
    {"sdxl-unet", Form::fp32, small(64), 1e-5, false, true},
    {"dit-xl2", Form::fp32, own, 1e-5, false, true},
    {"dit-xl2", Form::fp16, small(64), 5e-3, false},
};
// clang-format on

Tensor random_input(Draw& draw, const onnx::ValueInfoProto& info) {
  Shape shape;
  for (const auto& dim : info.type().tensor_type().shape().dim()) shape.push_back(dim.dim_value());
  const ElementType type = element_type_of_onnx(info.type().tensor_type().elem_type()).value();
  Tensor tensor = zero_tensor(type, std::move(shape));
  for (double& x : tensor.floats) x = rounded(type, draw.unit());
  std::int64_t most = info.name() == "input_ids" ? 999 : 1;  // every vocabulary has a thousand words
  if (type == ElementType::int32) most = 15;                 // of codes, whose sums then wrap now and then
  for (std::int64_t& x : tensor.ints) x = info.name() == "attention_mask" ? 1 : draw.between(0, most);
  return tensor;
}

/// Weights that stand in a file. Those that nobody makes have bytes there.
StoredByteSource bytes_in(const std::filesystem::path& path) {
  if (path.empty()) return {};
  return [file = std::make_shared<const MappedFile>(path)](const Value& value) -> std::optional<StoredBytes> {
    if (!value.bytes || value.bytes->file.empty()) return std::nullopt;
    const auto size = static_cast<std::size_t>(stored_bytes(value.operand.type, value.operand.shape));
    return StoredBytes{file->bytes().subspan(static_cast<std::size_t>(value.bytes->offset), size), file};
  };
}

}  // namespace

std::span<const Row> rows() { return all_rows; }

std::string_view form_text(Form form) {
  constexpr std::string_view names[] = {"fp32", "fp16", "int8", "uint8"};
  return names[static_cast<std::size_t>(form)];
}

std::string name_of(const Row& row) {
  std::string name(row.model);
  if (row.options.image_height_px > 0) name += "-" + std::to_string(row.options.image_height_px) + "px";
  if (row.options.tokens > 0) name += "-" + std::to_string(row.options.tokens) + "tokens";
  return name + "." + std::string(form_text(row.form));
}

Made made(const Row& row, const std::filesystem::path& folder) {
  Made result;
  if (row.form != Form::int8) result.weights = folder / (name_of(row) + ".weights");
  onnx::ModelProto model = row.form == Form::int8
                               ? with_weights(row.model, row.options)
                               : with_weight_file(row.model, row.options, result.weights, row.form == Form::fp16);
  Draw draw(3);
  for (const auto& info : model.graph().input()) result.inputs.push_back(random_input(draw, info));
  if (row.form == Form::int8) model = quantised(model, result.inputs.at(0));
  result.bytes = model.SerializeAsString();
  return result;
}

std::vector<Tensor> executed(const Row& row, const Made& model, std::int64_t threads) {
  Graph graph = import_bytes(model.bytes);
  rewrite(graph);
  Machine machine = find_preset("essay")->machine;
  const auto format = row.form == Form::fp16 ? NumberFormat::fp16 : NumberFormat::fp32;
  machine.weight_format = machine.activation_format = format;
  machine.accumulator_format = NumberFormat::fp32;
  Workload workload;
  workload.stages.push_back({Role::network, name_of(row), std::make_shared<const Graph>(std::move(graph)), {}});
  const Application application = compile(workload, machine);
  if (!application.feasible) throw Error("infeasible", name_of(row), application.reason);
  ExecuteOptions options;
  options.threads = threads;
  options.mapped = bytes_in(model.weights);
  return execute(application.stages.at(0), machine, model.inputs, stored_tensors(model.bytes), options).outputs;
}

}  // namespace sdip::agree
