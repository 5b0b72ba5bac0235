// Small noise predictors: what a compiled pair compiles.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/workload.h"

namespace sdip::witness {

/// The network of a seed as a machine asks for it: frames at once, guidance, sampler, size of the picture, hoisted
/// context. Convolutions, at half size `blocks` of residual ones and attention to the context and to itself, and a
/// skip around them. In role core its input is a latent, its result the next one.
Workload drawn_network(std::uint64_t seed, Role role, std::int64_t blocks, const Machine& machine);

/// Bytes of one of its results at full size.
std::int64_t picture_bytes(std::uint64_t seed, Role role, const Machine& machine);

}  // namespace sdip::witness
