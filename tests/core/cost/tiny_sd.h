// The tiny Stable Diffusion pipeline as a workload, as the product builds it.
#pragma once

#include "core/machine/machine.h"
#include "core/program/workload.h"

namespace sdip {

/// A built-in model as a stage, rewritten; with role core the guidance combine and sampler update appended.
Stage built_in_stage(Role role, const std::string& name, const Machine& machine);

/// Text encoder, VAE encoder (image to image), U-Net and VAE decoder of a built-in pipeline's small sister
/// "tiny-sd".
Workload tiny_sd(const Machine& machine);

}  // namespace sdip
