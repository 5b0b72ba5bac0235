// Reading models and building the stages of a workload.
#include "core/study/workloads.h"

#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/workload/workload.h"

namespace sdip {
namespace {

/// Stages of a pipeline that a batch of two prompts passes through.
std::int64_t guidance_factor(Role role, Guidance guidance) {
  if (role == Role::text_encoder) return guidance == Guidance::off ? 1 : 2;
  return role == Role::core && guidance == Guidance::batch ? 2 : 1;
}

}  // namespace

ReadModel read_model(std::span<const std::byte> bytes, const ImportOptions& options) {
  ReadModel model;
  model.as_written = import_onnx(bytes, options);
  model.rewritten = model.as_written;
  model.rewrites = rewrite(model.rewritten);
  return model;
}

std::vector<NetworkPart> built_in_parts(std::string_view name) {
  std::vector<NetworkPart> parts;
  if (const PipelineRow* row = find_pipeline(name)) {
    const auto add = [&](Role role, std::string_view model) {
      if (!model.empty()) parts.push_back({role, std::string(model)});
    };
    add(Role::text_encoder, row->text_encoder);
    add(Role::text_encoder, row->text_encoder_2);
    add(Role::encoder, row->vae_encoder);
    add(Role::core, row->unet);
    add(Role::decoder, row->vae_decoder);
  } else if (const ModelRow* model = find_model(name)) {
    parts.push_back({model->kind == ModelKind::unet ? Role::core : Role::network, std::string(name)});
  }
  return parts;
}

PassSizes pass_sizes(const NetworkPart& part, const Machine& machine) {
  PassSizes sizes{machine.batch * guidance_factor(part.role, machine.guidance), 0, 0};
  const ModelRow* row = find_model(part.name);
  if (row && row->native_image_px > 0 && part.role != Role::text_encoder) {
    sizes.image_height_px = machine.image_height_px;
    sizes.image_width_px = machine.image_width_px;
  }
  return sizes;
}

std::string built_model(const std::string& name, const PassSizes& sizes) {
  ModelOptions built;
  built.batch = sizes.batch;
  built.image_height_px = sizes.image_height_px;
  built.image_width_px = sizes.image_width_px;
  return write_model(name, built);
}

Workload workload_of(const std::string& name, std::span<const NetworkPart> parts, const Machine& machine,
                     const std::function<ReadModel(std::size_t part, const PassSizes& sizes)>& read) {
  Workload workload;
  workload.name = name;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const NetworkPart& part = parts[i];
    if (part.role == Role::encoder && machine.mode != Mode::image_to_image) continue;
    ReadModel model = read(i, pass_sizes(part, machine));
    if (part.role == Role::core) append_step(model.rewritten, machine);
    Stage stage{part.role, part.name, std::make_shared<const Graph>(std::move(model.rewritten)),
                std::move(model.rewrites)};
    if (part.role == Role::core && machine.hoisted_context)
      if (auto context = hoist_context(stage)) workload.stages.push_back(std::move(*context));
    workload.stages.push_back(std::move(stage));
  }
  return workload;
}

std::vector<std::int64_t> workload_key(const Machine& m) {
  return {m.batch,          m.image_height_px, m.image_width_px,        coded(m.guidance),
          coded(m.sampler), coded(m.mode),     coded(m.hoisted_context)};
}

Workloads built_in_workloads() {
  using Kept = std::map<std::pair<std::string, std::vector<std::int64_t>>, std::shared_ptr<const Workload>>;
  return [kept = std::make_shared<Kept>()](const std::string& name, const Machine& machine) {
    const std::vector<NetworkPart> parts = built_in_parts(name);
    if (parts.empty()) throw Error("unknown_model", name.substr(0, 80), "no built-in model");
    std::shared_ptr<const Workload>& its = (*kept)[{name, workload_key(machine)}];
    if (!its)
      its = std::make_shared<const Workload>(
          workload_of(name, parts, machine, [&](std::size_t part, const PassSizes& sizes) {
            const std::string bytes = built_model(parts[part].name, sizes);
            ImportOptions options;
            options.label = parts[part].name;
            return read_model(std::as_bytes(std::span(bytes)), options);
          }));
    return its;
  };
}

}  // namespace sdip
