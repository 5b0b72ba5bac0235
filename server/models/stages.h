// Members of a workload to its stages: built or mapped, imported, rewritten, and completed.
#pragma once

#include "core/onnx/survey.h"
#include "core/program/workload.h"
#include "server/models/catalog.h"

namespace sdip {

/// What a member is written for on `machine`.
PassSizes pass_sizes(const Member& member, const Machine& machine);

/// The ONNX of a built-in member.
std::string built_model(const Member& member, const PassSizes& sizes);

/// The stage of a member on `machine`: with guidance as a batch of two the U-Net holds both halves, and text
/// encoders encode both prompts whenever there is guidance. A core's stage ends with guidance and sampler.
Stage stage_of(const Catalog& catalog, const Member& member, const Machine& machine);

/// The time now, RFC 3339 in UTC.
std::string time_text();

}  // namespace sdip
