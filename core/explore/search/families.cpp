// Machines that share most of what is compiled, raised together.
#include "core/explore/search/families.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/base/on_threads.h"
#include "core/base/stop.h"
#include "core/explore/front.h"
#include "core/explore/search/selection.h"

namespace sdip {
namespace {

const Weights one_objective{1};
constexpr std::size_t returned = 64;  // the best of a family: most of its front

/// Another value of an axis: mostly one or two steps away where values have an order.
void change_place(const Axis& axis, std::uint16_t& place, SearchDraws& draws) {
  const std::size_t size = axis.values.size();
  if (has_order(*axis.row) && draws.chance(0.7)) {
    const std::size_t step = draws.chance(0.7) ? 1 : 2;
    const bool up = place < step || (place + step < size && draws.chance(0.5));
    place = static_cast<std::uint16_t>(up ? std::min(place + step, size - 1) : place - step);
    return;
  }
  place = static_cast<std::uint16_t>((place + 1 + draws.below(size - 1)) % size);
}

std::vector<Score> scores_by(const Searching& searching, bool relaxed, std::span<const Machine> machines,
                             std::span<const Outcome> outcomes) {
  return (relaxed ? relaxed_scores : scores)(searching.goal, machines, outcomes);
}

/// The members of one family so far, each once, and their evaluation.
class Raising {
 public:
  /// `relaxed`: scored by relaxed_scores.
  Raising(Searching& searching, bool relaxed) : searching_(searching), relaxed_(relaxed) {}

  /// Nothing of one that is there, and of more than a family may have.
  void add(const Placing& drawn_places) {
    const Placing places = settled_places(searching_.space, drawn_places);
    if (all.size() >= searching_.most_of_family || !known_.insert(places).second) return;
    Candidate candidate{places, machine_at(searching_.space, places), {}, {}};
    candidate.outcome.values.fill(std::numeric_limits<double>::quiet_NaN());
    all.push_back(std::move(candidate));
  }

  /// Whether a member breaks no rule and has programs.
  bool runs(Candidate& member) { return evaluator_for(member) != nullptr; }

  /// Those that were added since, side by side where they have the same programs.
  void evaluate() {
    std::map<const Evaluator*, std::vector<std::size_t>> members;
    for (std::size_t i = evaluated_; i < all.size(); ++i)
      if (const Evaluator* evaluator = evaluator_for(all[i])) members[evaluator].push_back(i);
    std::vector<Machine> machines;
    std::vector<Outcome> outcomes;
    for (const auto& [evaluator, places] : members) {
      machines.clear();
      for (const std::size_t i : places) machines.push_back(all[i].machine);
      outcomes.assign(machines.size(), {});
      evaluate_each(*evaluator, machines, outcomes);
      for (std::size_t k = 0; k < places.size(); ++k) all[places[k]].outcome = std::move(outcomes[k]);
    }
    machines.clear();
    outcomes.clear();
    for (std::size_t i = evaluated_; i < all.size(); ++i) {
      machines.push_back(all[i].machine);
      outcomes.push_back(all[i].outcome);
    }
    const std::vector<Score> fresh = scores_by(searching_, relaxed_, machines, outcomes);
    for (std::size_t k = 0; k < fresh.size(); ++k) all[evaluated_ + k].score = fresh[k];
    evaluated_ = all.size();
  }

  /// Indices, best first.
  std::vector<std::size_t> order() const {
    std::vector<Score> its;
    for (const Candidate& one : all) its.push_back(one.score);
    return selection_order(its);
  }

  std::vector<Candidate> all;

 private:
  struct Compiled {
    std::shared_ptr<const CompiledMachine> machine;
    Evaluator evaluator;
  };

  /// The evaluator of a member's programs, which most members share: a row that else only costs can be compiled
  /// beside other rows, as the cores are that share a branch. Nullptr for a member that breaks a rule or has no
  /// programs, which then has its reason.
  const Evaluator* evaluator_for(Candidate& member) {
    try {
      check_machine_in(searching_.space, member.machine);
    } catch (const Error& error) {
      member.outcome.reason = text_of(error);
      return nullptr;
    }
    const auto [found, fresh] = compiled_.try_emplace(compile_key(member.machine));
    Compiled& its = found->second;
    if (fresh) {
      its.machine = searching_.programs.find(key_but_psram(member.machine), member.machine);
      if (!its.machine->programs.of.empty())
        its.evaluator = evaluator_of(its.machine->programs, searching_.make_evaluator);
    }
    if (its.evaluator) return &its.evaluator;
    member.outcome.reason = its.machine->reason;
    return nullptr;
  }

  Searching& searching_;
  const bool relaxed_;
  std::map<std::vector<std::int64_t>, Compiled> compiled_;  // by compile_key
  std::set<Placing> known_;
  std::size_t evaluated_ = 0;
};

Brood brood_of(Raising& raising) {
  Brood brood;
  brood.evaluated = static_cast<std::int64_t>(raising.all.size());
  for (const Candidate& one : raising.all) brood.feasible += one.outcome.feasible ? 1 : 0;
  const auto order = raising.order();
  for (std::size_t i = 0; i < std::min(returned, order.size()); ++i)
    brood.best.push_back(std::move(raising.all[order[i]]));
  return brood;
}

/// Whether none of these beats it by more than a tenth in every cost, which what only costs may make up for.
bool comes_near(const Score& score, std::span<const Candidate> living) {
  constexpr double near = 0.1, near_violation = 0.3;
  if (score.violation > 0) return living[0].score.violation > 0 || score.violation < near_violation;
  return std::ranges::none_of(living, [&](const Candidate& other) {
    if (other.score.violation > 0) return false;
    for (std::size_t k = 0; k < score.costs.size(); ++k)
      if (log_cost(score.costs[k]) <= log_cost(other.score.costs[k]) + near) return false;
    return true;
  });
}

/// Adds exchanges among the members from `begin` on, which are single changes of the first.
void add_exchanges(const Placing& from, std::size_t begin, Raising& raising) {
  constexpr std::size_t most_forbidden = 10, most_dear = 20;
  const std::vector<Candidate>& all = raising.all;
  const auto costs = [&](std::size_t i) { return weighed({all[i].score.costs, 0}, one_objective); };
  const auto base = std::ranges::find(all, from, &Candidate::places);
  const double now = weighed({base->score.costs, 0}, one_objective);
  std::vector<std::size_t> forbidden, dear;
  for (std::size_t i = begin; i < all.size(); ++i) {
    if (all[i].score.violation >= broken_limit) continue;
    if (costs(i) < now && all[i].score.violation > 0) forbidden.push_back(i);
    if (costs(i) >= now && all[i].score.violation <= base->score.violation) dear.push_back(i);
  }
  std::ranges::stable_sort(
      forbidden, [&](std::size_t a, std::size_t b) { return all[a].score.violation < all[b].score.violation; });
  std::ranges::stable_sort(dear, [&](std::size_t a, std::size_t b) { return costs(a) < costs(b); });
  forbidden.resize(std::min(forbidden.size(), most_forbidden));
  dear.resize(std::min(dear.size(), most_dear));
  std::vector<Placing> exchanges;
  for (const std::size_t one : forbidden)
    for (const std::size_t other : dear) {
      Placing both = all[one].places;
      for (std::size_t a = 0; a < both.size(); ++a)
        if (all[other].places[a] != from[a]) both[a] = all[other].places[a];
      exchanges.push_back(std::move(both));
    }
  for (const Placing& both : exchanges) raising.add(both);
}

}  // namespace

std::vector<Candidate> Searching::scored(std::vector<Candidate> candidates, bool by_relaxed) const {
  std::vector<Machine> machines;
  std::vector<Outcome> outcomes;
  for (const Candidate& one : candidates) machines.push_back(one.machine), outcomes.push_back(one.outcome);
  const std::vector<Score> its = scores_by(*this, by_relaxed, machines, outcomes);
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].score = its[i];
  return candidates;
}

bool has_order(const ParameterRow& row) {
  return row.type == ParameterType::count || row.type == ParameterType::decimal || row.type == ParameterType::real;
}

double weighed(const Score& score, const Weights& weights) {
  double sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] * log_cost(score.costs[k]);
  return score.violation > 0 ? 1e6 * (1 + score.violation) + sum : sum;
}

void change_some(const SearchSpace& space, std::span<const std::size_t> axes, std::size_t most, Placing& places,
                 SearchDraws& draws) {
  if (axes.empty()) return;
  for (std::size_t left = 1 + draws.below(most); left > 0; --left) {
    const std::size_t a = axes[draws.below(axes.size())];
    change_place(space.axes[a], places[a], draws);
  }
}

void cross(std::span<const std::size_t> axes, const Placing& other, double share, Placing& places,
           SearchDraws& draws) {
  for (const std::size_t a : axes)
    if (draws.chance(share)) places[a] = other[a];
}

std::vector<Placing> neighbours_of(const SearchSpace& space, std::span<const std::size_t> axes,
                                   const Placing& from) {
  std::vector<Placing> all;
  for (const std::size_t a : axes) {
    const Axis& axis = space.axes[a];
    for (std::size_t place = 0; place < axis.values.size(); ++place) {
      const std::size_t away = place > from[a] ? place - from[a] : from[a] - place;
      if (away == 0 || (away > 2 && has_order(*axis.row))) continue;
      all.push_back(from);
      all.back()[a] = static_cast<std::uint16_t>(place);
    }
  }
  return all;
}

Placing drawn_at_large(const SearchSpace& space, SearchDraws& draws) {
  Placing places;
  for (const Axis& axis : space.axes) places.push_back(static_cast<std::uint16_t>(draws.below(axis.values.size())));
  return places;
}

void on_search_threads(const Searching& searching, int threads, std::size_t count,
                       const std::function<void(std::size_t)>& work) {
  on_threads(threads, static_cast<std::int64_t>(count), [&](std::int64_t i) {
    if (searching.stopped()) return;
    try {
      work(as_size(i));
    } catch (const Error& error) {
      if (!is_cancelled(error)) throw;
    }
  });
}

std::vector<Candidate> evaluated_at(Searching& searching, std::span<const Placing> all, int threads) {
  std::map<Placing, std::vector<Placing>> by_program;
  for (const Placing& places : all) {
    Placing program;
    for (const std::size_t a : searching.compile_axes) program.push_back(places[a]);
    by_program[std::move(program)].push_back(places);
  }
  std::vector<const std::vector<Placing>*> groups;
  for (const auto& [program, its] : by_program) groups.push_back(&its);
  std::vector<std::vector<Candidate>> found(groups.size());
  on_search_threads(searching, threads, groups.size(), [&](std::size_t g) {
    Raising raising(searching, searching.relaxed);
    for (const Placing& places : *groups[g]) raising.add(places);
    raising.evaluate();
    found[g] = std::move(raising.all);
  });
  std::vector<Candidate> candidates;
  for (std::vector<Candidate>& group : found)
    candidates.insert(candidates.end(), std::make_move_iterator(group.begin()),
                      std::make_move_iterator(group.end()));
  return candidates;
}

Brood raised(Searching& searching, const std::vector<Placing>& first, std::size_t rounds, SearchDraws& draws,
             std::span<const Candidate> living) {
  constexpr std::size_t scouts = 3;
  Raising raising(searching, searching.relaxed);
  raising.add(first[0]);
  if (!raising.runs(raising.all[0])) {
    raising.evaluate();
    return brood_of(raising);
  }
  if (searching.costs() > 1 && !living.empty()) {
    for (std::size_t i = 1; i < std::min(scouts, first.size()); ++i) raising.add(first[i]);
    raising.evaluate();
    const auto near = [&](const Candidate& one) { return comes_near(one.score, living); };
    if (std::ranges::none_of(raising.all, near)) return brood_of(raising);
  }
  for (const Placing& one : first) raising.add(one);
  raising.evaluate();
  for (std::size_t round = 0; round < rounds && !searching.stopped(); ++round) {
    const auto order = raising.order();
    const std::size_t best = std::min<std::size_t>(12, order.size());
    std::vector<Placing> next;
    for (std::size_t m = 0; m < searching.members; ++m) {
      Placing places = raising.all[order[draws.below(best)]].places;
      if (draws.chance(0.4))
        cross(searching.cost_axes, raising.all[order[draws.below(best)]].places, 0.5, places, draws);
      change_some(searching.space, searching.cost_axes, 3, places, draws);
      next.push_back(std::move(places));
    }
    for (const Placing& one : next) raising.add(one);
    raising.evaluate();
  }
  return brood_of(raising);
}

Brood climbed(Searching& searching, Placing from, std::size_t rounds) {
  from = settled_places(searching.space, std::move(from));
  Raising raising(searching, false);
  raising.add(from);
  const bool runs = raising.runs(raising.all[0]);
  raising.evaluate();
  for (std::size_t round = 0; runs && round < rounds && !searching.stopped(); ++round) {
    const std::size_t begin = raising.all.size();
    for (const Placing& changed : neighbours_of(searching.space, searching.cost_axes, from)) raising.add(changed);
    raising.evaluate();
    add_exchanges(from, begin, raising);
    raising.evaluate();
    const auto best = std::ranges::min_element(
        raising.all, {}, [&](const Candidate& one) { return weighed(one.score, one_objective); });
    if (best->places == from) break;
    from = best->places;
  }
  Brood brood = brood_of(raising);
  if (searching.relaxed) brood.best = searching.scored(std::move(brood.best), true);
  return brood;
}

}  // namespace sdip
