// The tiny Stable Diffusion pipeline, stage by stage.
#include "tests/core/exec/run/tiny_sd_line.h"

#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "core/onnx/import.h"
#include "core/workload/workload.h"

namespace sdip {
namespace {

std::string model_of(const std::string& name, Role role, const Machine& machine) {
  const bool two = machine.guidance != Guidance::off &&
                   (role == Role::text_encoder || (role == Role::core && machine.guidance == Guidance::batch));
  ModelOptions options{.batch = machine.batch * (two ? 2 : 1)};
  if (role != Role::text_encoder) {
    options.image_height_px = machine.image_height_px;
    options.image_width_px = machine.image_width_px;
  }
  return write_model(name, options);
}

std::vector<std::pair<Role, std::string>> members(const Machine& machine) {
  std::vector<std::pair<Role, std::string>> list{{Role::text_encoder, "tiny-sd-text"}};
  if (machine.mode == Mode::image_to_image) list.emplace_back(Role::encoder, "tiny-sd-vae-encoder");
  list.emplace_back(Role::core, "tiny-sd-unet");
  list.emplace_back(Role::decoder, "tiny-sd-vae-decoder");
  return list;
}

}  // namespace

Application tiny_sd_line(const Machine& machine) {
  Workload workload;
  workload.name = "tiny-sd";
  for (const auto& [role, name] : members(machine)) {
    const std::string bytes = model_of(name, role, machine);
    Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
    rewrite(graph);
    if (role == Role::core) append_step(graph, machine);
    workload.stages.push_back({role, name, std::make_shared<const Graph>(std::move(graph)), {}});
  }
  return compile(workload, machine);
}

std::vector<StoredTensors> tiny_sd_weights(const Application& application, const Machine& machine) {
  std::vector<StoredTensors> all;
  for (const CompiledStage& stage : application.stages) {
    auto model = std::make_shared<std::string>(model_of(stage.name, stage.role, machine));
    auto weights = std::make_shared<std::string>();
    write_weights(*model, 7, [&](std::span<const std::byte> piece) {
      weights->append(reinterpret_cast<const char*>(piece.data()), piece.size());
    });
    all.emplace_back([model, weights](const Value& value) -> std::optional<Tensor> {
      if (!value.bytes) return std::nullopt;
      Tensor tensor = zero_tensor(value.operand.type, value.operand.shape);
      const char* from = (value.bytes->file.empty() ? *model : *weights).data() + value.bytes->offset;
      for (double& element : tensor.floats) {
        float x = 0;
        std::memcpy(&x, from, sizeof(x));
        from += sizeof(x);
        element = static_cast<double>(x);
      }
      if (!tensor.ints.empty()) std::memcpy(tensor.ints.data(), from, 8 * tensor.ints.size());
      return tensor;
    });
  }
  return all;
}

}  // namespace sdip
