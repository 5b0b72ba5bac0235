// Building the stages of a workload.
#include "server/models/stages.h"

#include <chrono>
#include <ctime>

#include "core/base/error.h"
#include "core/onnx/import.h"
#include "core/workload/workload.h"

namespace sdip {
namespace {

/// Stages of a pipeline that a batch of two prompts passes through.
std::int64_t guidance_factor(Role role, Guidance guidance) {
  if (role == Role::text_encoder) return guidance == Guidance::off ? 1 : 2;
  return role == Role::core && guidance == Guidance::batch ? 2 : 1;
}

void refuse_sizes_of_file(const Machine& machine) {
  if (machine.batch != 1)
    throw Error("value_conflict", "batch", "a model read from a file has its own batch; expected 1");
  if (machine.image_height_px != 0 || machine.image_width_px != 0)
    throw Error("value_conflict", "image_height_px", "a model read from a file has its own sizes; expected 0");
}

}  // namespace

PassSizes pass_sizes(const Member& member, const Machine& machine) {
  PassSizes sizes{machine.batch * guidance_factor(member.role, machine.guidance), 0, 0};
  const ModelRow* row = is_built_in(member) ? find_model(member.name) : nullptr;
  if (row && row->native_image_px > 0 && member.role != Role::text_encoder) {
    sizes.image_height_px = machine.image_height_px;
    sizes.image_width_px = machine.image_width_px;
  }
  return sizes;
}

std::string built_model(const Member& member, const PassSizes& sizes) {
  ModelOptions built;
  built.batch = sizes.batch;
  built.image_height_px = sizes.image_height_px;
  built.image_width_px = sizes.image_width_px;
  return write_model(member.name, built);
}

template <class Here>
auto Catalog::read_with(const Member& member, const PassSizes& sizes, const Here& here) const {
  ImportOptions options;
  options.label = member.name;
  options.dims = member.dims;
  options.given = member.given;
  if (is_built_in(member)) {
    const std::string bytes = built_model(member, sizes);
    return here(std::as_bytes(std::span(bytes)), options);
  }
  check(!store_, "what is uploaded is read in children alone");
  options.own_operators = operators_;
  return here(mapped(member)->bytes(), options);
}

ReadModel Catalog::read(const Member& member, const PassSizes& sizes) const {
  if (!files_ || is_built_in(member)) return read_with(member, sizes, read_model);
  try {
    ReadModel model = read_with(member, sizes, read_model);
    notes_of_file(member);
    return model;
  } catch (const Error& error) {
    if (!takes_advice(error)) throw;
    throw advised(error, survey(member, sizes), {member.dims, member.given}, asking());
  }
}

ModelSurvey Catalog::survey(const Member& member, const PassSizes& sizes) const {
  return read_with(member, sizes, survey_onnx);
}

Stage stage_of(const Catalog& catalog, const Member& member, const Machine& machine) {
  if (!is_built_in(member)) refuse_sizes_of_file(machine);
  Stage stage;
  stage.role = member.role;
  stage.name = member.name;
  ReadModel model = catalog.read(member, pass_sizes(member, machine));
  Graph graph = std::move(model.rewritten);
  stage.rewrites = std::move(model.rewrites);
  if (stage.role == Role::core) append_step(graph, machine);
  stage.graph = std::make_shared<const Graph>(std::move(graph));
  return stage;
}

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace sdip
