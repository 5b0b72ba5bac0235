// Single steps around the best machine of a search.
#include "server/studies/best_steps.h"
#include "server/json/report_json.h"

#include <algorithm>

namespace sdip {
namespace {

constexpr std::size_t most_steps = 8;

/// Changes of the chip that can be evaluated, and the machines that they lead to.
struct Steps {
  std::vector<const ChangedPoint*> points;
  std::vector<Machine> machines;
  std::vector<Outcome> outcomes;
};

Steps steps_of(const BestAnswer& answer) {
  Steps steps;
  for (const ChangedPoint& point : answer.around.points) {
    const ChangeKind kind = point.change.row->change;
    if (!point.outcome.counted() || (kind != ChangeKind::design && kind != ChangeKind::unpriced)) continue;
    Machine machine = answer.found.best[0].machine;
    point.change.row->write(machine, point.change.to);
    follow(machine, answer.space.links);  // it was evaluated, so that it can
    steps.points.push_back(&point);
    steps.machines.push_back(machine);
    steps.outcomes.push_back(point.outcome);
  }
  return steps;
}

}  // namespace

std::vector<Change> differences(const SearchSpace& space, const Machine& from, const Machine& to) {
  std::vector<Change> all;
  for (const Axis& axis : space.axes)
    if (axis.row->read(from) != axis.row->read(to))
      all.push_back({axis.row, axis.row->read(from), axis.row->read(to)});
  for (const Link& link : space.links)
    if (link.row->read(from) != link.row->read(to))
      all.push_back({link.row, link.row->read(from), link.row->read(to)});
  return all;
}

std::vector<Knee> found_knees(const BestAnswer& answer) {
  const std::vector<Candidate>& best = answer.found.best;
  const std::size_t width = answer.goal.objectives.size();
  if (width < 2 || !answer.keeps()) return std::vector<Knee>(best.size(), Knee::plain);
  const auto costs = columns_of(
      best, width, [](const Candidate& one) -> const auto& { return one.score.costs; });
  return front_knees(spans_of(costs), std::vector<Better>(width, Better::lower));
}

std::vector<std::size_t> places_shown(std::size_t all, std::size_t most, const std::vector<Knee>& knees) {
  const std::size_t shown = std::min(all, most);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < shown; ++i) places.push_back(shown < 2 ? 0 : i * (all - 1) / (shown - 1));
  const auto knee = std::ranges::find(knees, Knee::greatest);
  if (shown < 3 || knee == knees.end()) return places;
  const auto place = as_size(knee - knees.begin());
  const auto distance = [&](std::size_t one) { return one > place ? one - place : place - one; };
  if (std::ranges::find(places, place) == places.end())
    *std::ranges::min_element(places.begin() + 1, places.end() - 1, {}, distance) = place;
  return places;
}

std::vector<std::string> broken_conditions(const SearchGoal& goal, const Machine& machine, const Outcome& outcome) {
  const auto broken_by = [&](const std::vector<Formula>& conditions) {
    return scores({goal.objectives, conditions}, {&machine, 1}, {&outcome, 1})[0].violation;
  };
  const double without = broken_by({});
  std::vector<std::string> broken;
  for (const Formula& condition : goal.constraints)
    if (broken_by({condition}) > without) broken.push_back(condition.text);
  return broken;
}

std::vector<std::string> broken_conditions(const BestAnswer& answer, const Candidate& candidate) {
  std::vector<std::string> broken = broken_conditions(answer.goal, candidate.machine, candidate.outcome);
  if (candidate.score.violation > 0 && answer.misses_limit()) broken.push_back(answer.goal.constraints.back().text);
  return broken;
}

std::vector<BetterStep> better_steps(const BestAnswer& answer) {
  const SearchGoal& goal = answer.goal;
  std::vector<BetterStep> better;
  if (goal.objectives.size() != 1 || answer.around.points.empty()) return better;
  const Steps steps = steps_of(answer);
  const std::vector<Score> all = scores(goal, steps.machines, steps.outcomes);
  const double now = answer.found.best[0].score.costs[0];
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!(all[i].costs[0] < now)) continue;
    BetterStep step{
        steps.points[i]->change, value_of_cost(goal.objectives[0], all[i].costs[0]), all[i].violation, "", {}};
    if (step.violation >= broken_limit) step.limit = steps.points[i]->outcome.reason;
    if (step.limit.empty()) step.broken = broken_conditions(goal, steps.machines[i], steps.outcomes[i]);
    better.push_back(std::move(step));
  }
  std::ranges::stable_sort(better, [&](const BetterStep& a, const BetterStep& b) {
    if (a.violation != b.violation) return a.violation < b.violation;
    return goal.objectives[0].better == Better::higher ? a.value > b.value : a.value < b.value;
  });
  better.resize(std::min(better.size(), most_steps));
  return better;
}

std::vector<BoughtStep> bought_steps(const BestAnswer& answer) {
  std::vector<BoughtStep> bought;
  if (answer.around.points.empty()) return bought;
  const Outcome& now = answer.around.outcome;
  const double area = now.values[Metric::area_mm2], fps = now.values[Metric::throughput_fps];
  const Steps steps = steps_of(answer);
  for (std::size_t i = 0; i < steps.points.size(); ++i) {
    const Outcome& then = steps.outcomes[i];
    const BoughtStep step{steps.points[i]->change, then.values[Metric::area_mm2] - area,
                          then.values[Metric::throughput_fps] - fps};
    if (then.feasible && step.area_mm2 > 0 && step.frames_per_s > fps * least_gain) bought.push_back(step);
  }
  std::ranges::stable_sort(bought, [](const BoughtStep& a, const BoughtStep& b) {
    return a.frames_per_s_per_mm2() > b.frames_per_s_per_mm2();
  });
  bought.resize(std::min(bought.size(), most_steps));
  return bought;
}

std::vector<KnownRange> known_ranges(const BestAnswer& answer) {
  std::vector<KnownRange> known;
  if (answer.around.points.empty()) return known;
  const bool priced = !answer.analyses[0].report.price_usd.empty();
  std::vector<Outcome> least, most;  // of each workload, but for these metrics as it is
  for (const Analysis& analysis : answer.analyses) {
    const Report& report = analysis.report;
    least.push_back(report.outcome);
    most.push_back(report.outcome);
    for (const auto& [metric, ranges] : {std::pair(Metric::energy_j_per_frame, &report.energy_ranges_j),
                                         std::pair(Metric::area_mm2, &report.area_ranges_mm2),
                                         std::pair(Metric::price_usd, &report.price_ranges_usd)}) {
      least.back().values[metric] = total_of(ranges->least);
      most.back().values[metric] = total_of(ranges->most);
    }
  }
  const Outcome all_least = mixed(answer.mix, least), all_most = mixed(answer.mix, most);
  for (const Metric metric : {Metric::energy_j_per_frame, Metric::area_mm2, Metric::price_usd})
    if (metric != Metric::price_usd || priced)
      known.push_back({metric, all_least.values[metric], all_most.values[metric]});
  return known;
}

}  // namespace sdip
