// The goal of a search: objectives, and conditions that the best machine keeps. Internal to its room.
#pragma once

#include <span>
#include <vector>

#include "core/explore/space/measure.h"

namespace sdip {

struct SearchGoal {
  std::vector<Objective> objectives;   // at least one
  std::vector<Formula> constraints{};  // conditions, as parse_constraint has them
};

/// How good a machine is. `costs`: its objectives, each to be made small; of a machine without values infinite.
/// `violation`: 0 where it is feasible and keeps all conditions; else how far it is from that. For a condition a <=
/// b it is d / max(|a|, |b|) with d = a - b, below 1; where a or b is 0 or they differ in sign, s / (1 + s) with s
/// = log(1 + d), below 1 as well; a - b <= 0 counts as a <= b; of one that is no comparison it is 1. A machine that
/// breaks a limit (clock, supply, heat) has broken_limit more, one that cannot run has no_values.
struct Score {
  std::vector<double> costs;
  double violation = 0;
};
inline constexpr double broken_limit = 1e3, no_values = 1e6;

/// The value of an objective of that cost, which is the cost of that value, too.
inline double value_of_cost(const Objective& objective, double cost) {
  return objective.better == Better::higher ? -cost : cost;
}

/// The scores of machines with these outcomes.
std::vector<Score> scores(const SearchGoal& goal, std::span<const Machine> machines,
                          std::span<const Outcome> outcomes);

/// The two costs by which the machines of one objective evolve (multi-objectivisation: Knowles, Watson, Corne, EMO
/// 2001). Where conditions compare something: the objective, and how near they are to being broken, e to the power
/// of the sum of (a - b) / max(|a|, |b|) of each a <= b, between -1/2 (twice as good as asked for) and 1/3, up to
/// which none is a violation: machines that nearly keep them, or keep them with room to spare, have what the best
/// needs. Else the objective times, and over, the root of the area, so that the best of each size live on.
std::vector<Score> relaxed_scores(const SearchGoal& goal, std::span<const Machine> machines,
                                  std::span<const Outcome> outcomes);

/// One measure of them: NaN where there is none.
std::vector<double> measured(const Measure& measure, std::span<const Machine> machines,
                             std::span<const Outcome> outcomes);

}  // namespace sdip
