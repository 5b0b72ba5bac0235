// Members of a workload to its stages: built or mapped, imported, rewritten, and completed.
#pragma once

#include "core/onnx/survey.h"
#include "core/program/workload.h"
#include "server/catalog.h"

namespace sdip {

/// What one pass of a built-in model is written for.
struct PassSizes {
  std::int64_t batch = 1, image_height_px = 0, image_width_px = 0;
};

/// What a member is written for on `machine`.
PassSizes pass_sizes(const Member& member, const Machine& machine);

/// The ONNX of a built-in member.
std::string built_model(const Member& member, const PassSizes& sizes);

/// The network of a member as its file says, patterns not yet rewritten. Throws what reading and importing throw.
Graph member_graph(const Member& member, const PassSizes& sizes);

/// What the file of a member says of itself. Throws what reading does, and not_onnx, truncated, limit_exceeded.
ModelSurvey member_survey(const Member& member, const PassSizes& sizes);

/// The stage of a member on `machine`: with guidance as a batch of two the U-Net holds both halves, and text
/// encoders encode both prompts whenever there is guidance. A core's stage ends with guidance and sampler.
Stage stage_of(const Member& member, const Machine& machine);

/// The time now, RFC 3339 in UTC.
std::string time_text();

}  // namespace sdip
