// The search for the best machines of a space too large to visit: by evolution in two levels. A family is machines
// that share their programs, which are compiled once; its members differ in what only costs, and are evaluated side
// by side.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/explore/search/goal.h"
#include "core/explore/sweep.h"

namespace sdip {

/// A base machine and the axes along which it varies, each row once; their product may be of any size. Conditions
/// read axes before their own (check_conditions); rows that are linked follow these (check_links), and are not
/// searched.
struct SearchSpace {
  Machine base;
  std::vector<Axis> axes;
  std::vector<Link> links = {};
};

/// Throws Error("value_invalid", "/axes", ...): no axis, a row twice, an axis of fewer than two values; and what
/// check_conditions and check_links do.
void check_search_space(const SearchSpace& space);

/// The base with the value of each axis at its place; rows whose condition does not hold on it, or that mean
/// nothing on it (core/machine/shown.h), are the base's, so that machines that differ in such alone are one. Then
/// its links; a row that cannot have the value that it would follow with is the base's, and breaks a rule.
Machine machine_at(const SearchSpace& space, std::span<const std::uint16_t> places);
/// Refuses a machine of the space that breaks a rule, be it by a row that cannot follow: throws as follow() and
/// check_machine do.
void check_machine_in(const SearchSpace& space, const Machine& machine);
/// The same places for all that give the same machine, as conditions or other options leave some without meaning:
/// those of the values that the machine has, or else the first.
std::vector<std::uint16_t> settled_places(const SearchSpace& space, std::vector<std::uint16_t> places);
/// One drawn at large, each value of an axis as likely: a function of seed and number alone. It may break a rule of
/// check_machine.
Machine machine_drawn(const SearchSpace& space, std::uint64_t seed, std::uint64_t number);
/// The places of the values nearest to a machine's: by ratio, of choices its own or the first.
std::vector<std::uint16_t> nearest_places(const SearchSpace& space, const Machine& machine);

/// A machine that was evaluated.
struct Candidate {
  std::vector<std::uint16_t> places;  // of its values on the axes
  Machine machine;
  Outcome outcome;
  Score score;
};

/// How an island goes on from its living: a row of core/explore/search/optimisers.cpp each. All but `families` are
/// algorithms of pagmo (Biscani, Izzo, Journal of Open Source Software 5(53), 2020), for two objectives or more:
/// NSGA-II (Deb et al., IEEE TEC 6(2), 2002), MOEA/D with differential evolution (Li, Zhang, IEEE TEC 13(2), 2009)
/// and NSPSO (Li, GECCO 2003).
enum class Optimiser { families, nsga2, moead, nspso, local };
std::string_view optimiser_name(Optimiser optimiser);
std::optional<Optimiser> optimiser_named(std::string_view name);
std::span<const std::string_view> optimiser_names();  // in the order of the values
std::size_t least_objectives(Optimiser optimiser);

/// Progress of a search so far.
struct SearchProgress {
  std::int64_t generations = 0, evaluated = 0, feasible = 0, compiled = 0;
  std::vector<double> best;  // costs of the best so far; none while no machine keeps the conditions
  // The volume, with several objectives, that the best cover, in decades of each cost multiplied, up to the worst
  // costs of those that lived when the first kept the conditions, each made a tenth worse. No volume where it takes
  // too long.
  std::vector<double> reference{};  // costs
  std::optional<double> volume{};
  friend bool operator==(const SearchProgress&, const SearchProgress&) = default;
};

/// Where a search is between two generations: what it needs to go on as if it had never ended, since what machines
/// are worth follows from their places.
struct SearchState {
  using Places = std::vector<std::uint16_t>;
  SearchProgress progress;
  bool polishing = false;
  std::vector<std::vector<Places>> islands;  // the living of each
  std::vector<Places> best;                  // that were ever met
  friend bool operator==(const SearchState&, const SearchState&) = default;
};
/// Whether it is one of such a search.
bool fits(const SearchState& state, const SearchSpace& space, std::size_t islands);

inline constexpr std::size_t most_islands = 64;

struct SearchOptions {
  Optimiser optimiser = Optimiser::families;
  std::size_t islands = 1;  // to most_islands
  std::uint64_t seed = 1;
  int threads = 1;                         // at least 1; the result does not depend on them
  std::int64_t evaluations = 0;            // machines to evaluate; 0: until stop says so
  std::function<bool()> stop = nullptr;    // asked from any thread; with it a result depends on when
  std::function<bool()> enough = nullptr;  // likewise: true ends evolution, and what is left is for polishing
  std::vector<Machine> starts = {};        // that the first generation holds, as near as the axes come
  std::function<void(const SearchProgress&)> on_generation = nullptr;
  std::function<void(const SearchState&)> on_state = nullptr;  // after a generation
  std::optional<SearchState> from = {};                        // one that fits; else it begins
};

struct SearchResult {
  std::vector<Candidate> best;  // of one objective the best first, all of different values; of several the front
  SearchProgress progress;
  bool stopped = false;  // by `stop`
};

/// Machines that keep the conditions and are best by the objectives, as far as they were found; where none keeps
/// them, the one that is nearest to it. Equal optimisers, islands, seeds, evaluations and starts give equal
/// results.
///
/// Islands each have machines of their own, and evolve side by side; every fifth generation copies of an island's
/// four best take the places of the last of the next island, around a ring. They share the budget.
///
/// A generation of `families` is 16 families, each of a program. Twelve are near the best by weights drawn for
/// each: they change one row or two of what is compiled, and their members are crossed with what the same weights
/// like (as in MOEA/D: Zhang, Li, IEEE TEC 11(6), 2007). Four are drawn from the living by tournament, crossed and
/// changed. The best of a family are changed again, in rounds; of several objectives only where its first few come
/// near the living. Who lives on: selection_order, at most a quarter of one program. With one objective some of the
/// twelve climb, by single changes of what only costs, and a tenth of the evaluations, or what `enough` leaves, is
/// for polishing: every single change of what is compiled, and climbing, from the best again until none is better.
/// The fewer the evaluations, the smaller the families. `local` looks at single changes of machines of the front;
/// the others change 64 machines of an island, or fewer, at once, each with a program of its own.
SearchResult search(const SearchSpace& space, const SearchGoal& goal, const CompileFunction& compile_machine,
                    const MakeEvaluator& make_evaluator, const SearchOptions& options);

}  // namespace sdip
