// Models of others, changed: node tests, cases and windows of exported networks, with inputs made constants, values
// renamed, nodes put before and behind.
#pragma once

#include <optional>

#include "tests/generate/making.h"

namespace sdip::generate {

/// The changed model of a seed. Nothing where the one drawn cannot be imported, or no data are installed.
std::optional<Generated> mutated_model(std::uint64_t seed);

}  // namespace sdip::generate
