// Costs of classes drawn from a seed, not made of any program: every way of looping and moving. For tests.
#pragma once

#include "tests/core/cost/random_program.h"
#include "tests/core/cost/time/timed.h"

namespace sdip::timing {

/// Up to three loops of a few runs, each of at most `most_tiles`.
ClassCost random_cost(Dice& dice, std::int64_t most_tiles);

TimelineRules random_rules(Dice& dice);

/// That many instructions of so many classes, each in turn.
Timed random_timed(std::uint64_t seed, std::int64_t most_tiles, std::size_t classes, std::size_t instructions);

}  // namespace sdip::timing
