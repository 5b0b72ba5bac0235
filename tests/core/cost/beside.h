// Machines beside each other, and what each is worth alone. For tests.
#pragma once

#include <string>
#include <vector>

#include "core/cost/price/batch.h"
#include "core/cost/time/tape.h"
#include "tests/core/cost/random_costs.h"

namespace sdip {

/// Mostly such that passes are written on a tape.
void make_plain(Dice& dice, Machine& m);

/// The same program in the same way, otherwise long.
Machine another(Dice& dice, Machine m);

/// Machines that run one program in the same way, and the timeline of each: programs of long repetitions, of many
/// tiles, of more instructions than pass before a checkpoint, of weights pinned and held.
struct Beside {
  std::vector<timing::Timed> machines;
  std::int64_t passes = 64;
  std::vector<TimelineResult> alone;
};
Beside drawn_beside(std::uint64_t seed);

/// What the lanes say that the timelines do not; empty when nothing. Machines run together, in the other order, and
/// each by itself.
std::string difference(const Beside& beside, Vectors vectors);

/// Tile operations that the lanes run one by one, of all machines together and of each by itself: what else there
/// is is known to last the same.
std::vector<std::int64_t> operations_run(const Beside& beside);

/// Machines that run one application, and the outcome of each.
struct BesideBatch {
  Application application;
  std::vector<Machine> machines;
  std::vector<Outcome> alone;
  BatchEvaluator::Counts counts;  // once all have been evaluated twice
};
BesideBatch drawn_batch(std::uint64_t seed);

/// What a batch says of machines, `together` at a time, that evaluate() does not; empty when nothing.
std::string difference(const BesideBatch& beside, Vectors vectors, std::size_t together);

}  // namespace sdip
