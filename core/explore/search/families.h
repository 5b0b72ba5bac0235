// Machines that share their programs, raised together.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/explore/search/search.h"
#include "core/explore/space/sampling.h"

namespace sdip {

/// The place of the value of each axis.
using Placing = std::vector<std::uint16_t>;

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), a stream of its own for each family.
class SearchDraws {
 public:
  SearchDraws(std::uint64_t seed, std::int64_t generation, std::uint64_t family)
      : state_(drawn(seed, generation, family)) {}
  std::size_t below(std::size_t end) { return as_size(next() % end); }
  double share() { return static_cast<double>(next() >> 11) / 9007199254740992.0; }
  bool chance(double of) { return share() < of; }

 private:
  std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15u); }
  std::uint64_t state_;
};

inline constexpr std::size_t most_members = 64, climbing_rounds = 4, most_living = 96;

/// The parts that the families of a search share.
struct Searching {
  const SearchSpace& space;
  const SearchGoal& goal;
  const MakeEvaluator& make_evaluator;
  const SearchOptions& options;
  ProgramCache programs;
  std::vector<std::size_t> compile_axes, cost_axes;
  std::size_t members = most_members;     // added in a round
  std::size_t rounds = 3;                 // of a family, behind its first members
  std::size_t most_of_family = SIZE_MAX;  // members altogether
  bool relaxed = false;                   // machines evolve by relaxed_scores

  std::size_t costs() const { return relaxed ? 2 : goal.objectives.size(); }
  /// The same candidates with scores of relaxed_scores, or of the goal itself.
  std::vector<Candidate> scored(std::vector<Candidate> candidates, bool by_relaxed) const;
  bool stopped() const { return options.stop && options.stop(); }
};

/// The result of a family, or of a step of another optimiser: its best, and how many machines it looked at.
struct Brood {
  std::vector<Candidate> best;
  std::vector<Candidate> living = {};  // of an optimiser that replaces the living
  std::int64_t evaluated = 0, feasible = 0, generations = 1;
};

/// Weights of objectives. With several, a search makes small the sum of the logarithms of the costs by weights, one
/// each; machines that break a condition behind all others.
using Weights = std::vector<double>;
double weighed(const Score& score, const Weights& weights);

/// Whether the values of a row have an order: those of choices and flags have none.
bool has_order(const ParameterRow& row);

/// Changes one to `most` of these axes: mostly by a step or two where values have an order.
void change_some(const SearchSpace& space, std::span<const std::size_t> axes, std::size_t most, Placing& places,
                 SearchDraws& draws);
/// Takes each of these axes from the other with that chance.
void cross(std::span<const std::size_t> axes, const Placing& other, double share, Placing& places,
           SearchDraws& draws);
/// Each single change in these axes: of ordered values by one and two steps, else every other value.
std::vector<Placing> neighbours_of(const SearchSpace& space, std::span<const std::size_t> axes,
                                   const Placing& from);
Placing drawn_at_large(const SearchSpace& space, SearchDraws& draws);

/// Does it for 0 to count - 1, each on one of the threads, until the search is stopped; throws what it throws, but
/// for `cancelled`.
void on_search_threads(const Searching& searching, int threads, std::size_t count,
                       const std::function<void(std::size_t)>& work);

/// Machines of any programs, each once; those of a program are priced side by side. Some are left out where the
/// search is stopped.
std::vector<Candidate> evaluated_at(Searching& searching, std::span<const Placing> all, int threads);

/// A family of `first`, whose first says the program; then so many rounds of changes of the best of them. With
/// several objectives its first few must come near the `living`, if there are any: of most programs nothing more is
/// looked at.
Brood raised(Searching& searching, const std::vector<Placing>& first, std::size_t rounds, SearchDraws& draws,
             std::span<const Candidate> living = {});

/// Climbs with one objective: single changes of one machine in what only costs, from its best again, until none is
/// better; and exchanges: a change that would be better but for a condition, with one that costs something.
Brood climbed(Searching& searching, Placing from, std::size_t rounds);

}  // namespace sdip
