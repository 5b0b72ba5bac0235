// A model of a seed.
#pragma once

#include "tests/generate/making.h"

namespace sdip::generate {

/// The model of a seed: the same one always. Four to two dozen nodes that rows of the table draw, with what they
/// need.
Generated drawn_model(std::uint64_t seed);

/// The model with so many more drawn nodes, its outputs chosen.
Generated extended(Making& m, std::int64_t nodes);

}  // namespace sdip::generate
