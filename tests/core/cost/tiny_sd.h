// Built-in Stable Diffusion pipelines as workloads, as the product builds them.
#pragma once

#include "core/machine/machine.h"
#include "core/program/workload.h"

namespace sdip {

/// A built-in model as a stage, rewritten; with role core the guidance combine and sampler update appended.
Stage built_in_stage(Role role, const std::string& name, const Machine& machine);

/// Text encoder, VAE encoder (image to image), U-Net and VAE decoder of a built-in pipeline of one text encoder.
Workload built_in_pipeline(const std::string& name, const Machine& machine);

/// That of the small sister "tiny-sd".
Workload tiny_sd(const Machine& machine);

}  // namespace sdip
