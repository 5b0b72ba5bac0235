// Small noise predictors: what a compiled pair compiles.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/workload.h"

namespace sdip::witness {

/// The network of a seed as a machine asks for it: frames at once, guidance, sampler, size of the picture, hoisted
/// context. A convolution, `blocks` of residual convolutions and cross-attention, one of them at half size with a
/// skip around it, and a convolution. In role core its input is a latent, its result the next one.
Workload drawn_network(std::uint64_t seed, Role role, std::int64_t blocks, const Machine& machine);

}  // namespace sdip::witness
