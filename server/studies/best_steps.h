// The surroundings of the best machine of a search: all that is said of it beyond its metrics.
#pragma once

#include <string>
#include <vector>

#include "core/explore/front.h"
#include "server/studies/best.h"

namespace sdip {

/// The rows in which two machines of a space differ, in the order of its axes; behind them those that are linked.
std::vector<Change> differences(const SearchSpace& space, const Machine& from, const Machine& to);

/// Whether each machine found is a knee of the front; all are plain where there is one objective.
std::vector<Knee> found_knees(const BestAnswer& answer);

/// Places of `most` of so many, at equal steps, the ends among them; of a front that is cut short the greatest knee
/// takes the place of what is nearest to it between them.
std::vector<std::size_t> places_shown(std::size_t all, std::size_t most, const std::vector<Knee>& knees);

/// The conditions of a goal that a machine breaks; of one that breaks a limit all that it would break as well.
std::vector<std::string> broken_conditions(const SearchGoal& goal, const Machine& machine, const Outcome& outcome);

/// The conditions that a machine found breaks; also its limit of noise, where it breaks that as it is.
std::vector<std::string> broken_conditions(const BestAnswer& answer, const Candidate& candidate);

/// A single change of the best machine with which its objective would be better.
struct BetterStep {
  Change change;
  double value = 0;                 // of the objective then
  double violation = 0;             // as Score has it; 0: nothing forbids it
  std::string limit{};              // that the machine then breaks; "": none
  std::vector<std::string> broken;  // conditions that it then breaks
};
/// The nearest to being allowed first, eight at most; none where there are several objectives.
std::vector<BetterStep> better_steps(const BestAnswer& answer);

/// A single change of the best machine that takes area and gives frames a second.
struct BoughtStep {
  Change change;
  double area_mm2 = 0, frames_per_s = 0;  // more than before
  double frames_per_s_per_mm2() const { return frames_per_s / area_mm2; }
};
/// The most for each mm2 first, eight at most.
std::vector<BoughtStep> bought_steps(const BestAnswer& answer);

/// A metric of the best machine at the ends of what is known of the technology's figures.
struct KnownRange {
  Metric metric{};
  double least = 0, most = 0;
};
std::vector<KnownRange> known_ranges(const BestAnswer& answer);

}  // namespace sdip
