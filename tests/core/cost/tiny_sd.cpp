// Built-in Stable Diffusion pipelines as workloads.
#include "tests/core/cost/tiny_sd.h"

#include <map>
#include <span>
#include <tuple>

#include "core/onnx/import.h"
#include "core/workload/workload.h"

namespace sdip {
namespace {

Stage make_stage(Role role, const std::string& name, const Machine& machine) {
  const bool prompts = role == Role::text_encoder && machine.guidance != Guidance::off;
  const bool doubled = prompts || (role == Role::core && machine.guidance == Guidance::batch);
  ModelOptions options;
  options.batch = machine.batch * (doubled ? 2 : 1);
  if (role != Role::text_encoder) {
    options.image_height_px = machine.image_height_px;
    options.image_width_px = machine.image_width_px;
  }
  const std::string bytes = write_model(name, options);
  Stage stage;
  stage.role = role;
  stage.name = name;
  Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
  stage.rewrites = rewrite(graph);
  if (role == Role::core) append_step(graph, machine);
  stage.graph = std::make_shared<const Graph>(std::move(graph));
  return stage;
}

}  // namespace

Stage built_in_stage(Role role, const std::string& name, const Machine& m) {
  using Key = std::tuple<Role, std::string, std::int64_t, std::int64_t, std::int64_t, Guidance, Sampler>;
  static std::map<Key, Stage> made;
  const Key key{role, name, m.batch, m.image_height_px, m.image_width_px, m.guidance, m.sampler};
  const auto [entry, fresh] = made.try_emplace(key);
  if (fresh) entry->second = make_stage(role, name, m);
  return entry->second;
}

Workload built_in_pipeline(const std::string& name, const Machine& machine) {
  Workload workload;
  workload.name = name;
  const PipelineRow* row = find_pipeline(name);
  workload.stages.push_back(built_in_stage(Role::text_encoder, std::string(row->text_encoder), machine));
  if (machine.mode == Mode::image_to_image)
    workload.stages.push_back(built_in_stage(Role::encoder, std::string(row->vae_encoder), machine));
  Stage core = built_in_stage(Role::core, std::string(row->unet), machine);
  if (machine.hoisted_context)
    if (auto context = hoist_context(core)) workload.stages.push_back(std::move(*context));
  workload.stages.push_back(std::move(core));
  workload.stages.push_back(built_in_stage(Role::decoder, std::string(row->vae_decoder), machine));
  return workload;
}

Workload tiny_sd(const Machine& machine) { return built_in_pipeline("tiny-sd", machine); }

}  // namespace sdip
