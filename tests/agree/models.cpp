// The models that are compared, and executing them.
#include "tests/agree/models.h"

#include "core/exec/execute.h"
#include "core/graph/passes.h"
#include "tests/core/exec/random_graph.h"
#include "tests/core/onnx/evaluated.h"

namespace sdip::agree {
namespace {

constexpr ModelOptions own = {};
constexpr ModelOptions small(std::int64_t px) { return {.image_height_px = px, .image_width_px = px}; }

constexpr ModelOptions eight_tokens = {.tokens = 8};

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
};
// clang-format on

Tensor random_input(Draw& draw, const onnx::ValueInfoProto& info) {
  Shape shape;
  for (const auto& dim : info.type().tensor_type().shape().dim()) shape.push_back(dim.dim_value());
  const auto type = info.type().tensor_type().elem_type() == onnx::TensorProto::INT64     ? ElementType::int64
                    : info.type().tensor_type().elem_type() == onnx::TensorProto::FLOAT16 ? ElementType::float16
                                                                                          : ElementType::float32;
  Tensor tensor = zero_tensor(type, std::move(shape));
  for (double& x : tensor.floats) x = rounded(type, draw.unit());
  for (std::int64_t& x : tensor.ints) x = info.name() == "attention_mask" ? 1 : draw.between(0, 1);
  return tensor;
}

}  // namespace

std::span<const Row> rows() { return all_rows; }

std::string_view form_text(Form form) {
  constexpr std::string_view names[] = {"fp32", "fp16", "int8"};
  return names[static_cast<std::size_t>(form)];
}

std::string name_of(const Row& row) {
  std::string name(row.model);
  if (row.options.image_height_px > 0) name += "-" + std::to_string(row.options.image_height_px) + "px";
  if (row.options.tokens > 0) name += "-" + std::to_string(row.options.tokens) + "tokens";
  return name + "." + std::string(form_text(row.form));
}

Made made(const Row& row) {
  onnx::ModelProto model = with_weights(row.model, row.options);
  Draw draw(3);
  if (row.form == Form::fp16) make_half(model);
  Made result;
  for (const auto& info : model.graph().input()) result.inputs.push_back(random_input(draw, info));
  if (row.form == Form::int8) model = quantised(model, result.inputs.at(0));
  result.bytes = model.SerializeAsString();
  return result;
}

std::vector<Tensor> executed(const Row& row, const Made& model) {
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
  return execute(application.stages.at(0), machine, model.inputs, stored_tensors(model.bytes)).outputs;
}

}  // namespace sdip::agree
