// Every built-in model as a stage, for tests over all of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/onnx/import.h"
#include "core/program/program.h"
#include "core/workload/workload.h"
#include "tests/core/base/full_run.h"

namespace sdip {

inline Role role_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::text_encoder:
      return Role::text_encoder;
    case ModelKind::vae_encoder:
      return Role::encoder;
    case ModelKind::unet:
      return Role::core;
    case ModelKind::vae_decoder:
      return Role::decoder;
    default:
      return Role::network;
  }
}

/// All of them, imported and rewritten once; U-Nets with guidance as a batch of two and ddim.
inline const std::vector<Workload>& built_in_workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> workloads;
    for (const ModelRow& row : built_in_models()) {
      ModelOptions options;
      const Role role = role_of(row.kind);
      options.batch = role == Role::core || role == Role::text_encoder ? 2 : 1;
      const std::string bytes = write_model(row.name, options);
      Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
      rewrite(graph);
      if (role == Role::core) append_step(graph, Machine{});
      Workload workload;
      workload.name = std::string(row.name);
      workload.stages.push_back({role, workload.name, std::make_shared<const Graph>(std::move(graph)), {}});
      workloads.push_back(std::move(workload));
    }
    return workloads;
  }();
  return all;
}

/// The presets that a model is looked at on: by turns one of them, in a full run all.
inline std::span<const Preset> presets_of_turn(std::size_t model) {
  const auto all = diffusion_presets();
  return full_run() ? all : all.subspan(model % all.size(), 1);
}

}  // namespace sdip
