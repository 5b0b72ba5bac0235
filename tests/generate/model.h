// A model of a seed.
#pragma once

#include "tests/generate/rows/rows.h"

namespace sdip::generate {

/// The model of a seed: the same one always. Four to two dozen nodes that rows of the table draw, with what they
/// need.
Generated drawn_model(std::uint64_t seed);

/// The model with so many more drawn nodes, `turn` among them, its outputs chosen.
Generated extended(Making& m, std::int64_t nodes, const Turn* turn = nullptr);

/// Whose turn it is in the model of a seed; nullptr where that is a changed one of others.
const Turn* turn_of_seed(std::uint64_t seed);

}  // namespace sdip::generate
