// The tiny Stable Diffusion pipeline compiled, with weights from a seed.
#pragma once

#include <map>
#include <string>

#include "core/exec/chip/execute.h"
#include "core/program/program.h"

namespace sdip {

/// Text encoder, U-Net with guidance and sampler, VAE decoder (and encoder, image to image) on a machine.
Application tiny_sd_line(const Machine& machine);

/// The weights of each of its stages: as write_weights makes them of seed 7.
std::vector<StoredTensors> tiny_sd_weights(const Application& application, const Machine& machine);

}  // namespace sdip
