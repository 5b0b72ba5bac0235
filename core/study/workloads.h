// Models to what a machine is asked to run: read, in their roles, completed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/onnx/import.h"
#include "core/program/workload.h"

namespace sdip {

/// Gives the workload that a name stands for on a machine.
using Workloads = std::function<std::shared_ptr<const Workload>(const std::string& name, const Machine& machine)>;

/// A network as its file has it, and with its patterns recognised.
struct ReadModel {
  Graph as_written, rewritten;
  RewriteCounts rewrites;
};

/// Throws what importing throws.
ReadModel read_model(std::span<const std::byte> bytes, const ImportOptions& options);

/// A network by its name, in its role.
struct NetworkPart {
  Role role = Role::network;
  std::string name;
};

/// Those of a built-in pipeline, in the order a frame meets them, or of a built-in model; none of any other name.
std::vector<NetworkPart> built_in_parts(std::string_view name);

/// The sizes that one pass of a built-in model is written for.
struct PassSizes {
  std::int64_t batch = 1, image_height_px = 0, image_width_px = 0;
};
PassSizes pass_sizes(const NetworkPart& part, const Machine& machine);

/// The ONNX of a built-in model. Throws Error unknown_model, value_out_of_range.
std::string built_model(const std::string& name, const PassSizes& sizes);

/// The workload of the machine, from parts that are read by `read`: an encoder where it is asked for, with guidance
/// as a batch of two both halves in the U-Net, and both prompts in text encoders whenever there is guidance. A
/// core's stage ends with guidance and sampler; before it stands its context, where that is hoisted.
Workload workload_of(const std::string& name, std::span<const NetworkPart> parts, const Machine& machine,
                     const std::function<ReadModel(std::size_t part, const PassSizes& sizes)>& read);

/// Everything of a machine that a workload depends on: of equal ones it is the same.
std::vector<std::int64_t> workload_key(const Machine& machine);

/// Built-in models and pipelines; each is kept for next time. For one thread at a time. Throws Error unknown_model.
Workloads built_in_workloads();

}  // namespace sdip
