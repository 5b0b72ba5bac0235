// Islands that evolve, each generation on all threads, and the polishing of the best.
#include "core/explore/search/search.h"

#include <algorithm>
#include <map>
#include <numbers>
#include <set>

#include "core/base/error.h"
#include "core/explore/front.h"
#include "core/explore/search/archive.h"
#include "core/explore/search/islands.h"

namespace sdip {
namespace {

constexpr std::size_t programs_kept = 96;
constexpr std::size_t first_families = 64;  // of the first generation, which is drawn at large
constexpr std::size_t least_members = 5, least_replaced = 24;
constexpr std::int64_t evaluations_a_member = 8000, evaluations_a_replaced = 10;
constexpr std::int64_t generations_between_migrations = 5;

/// The first family: around a start, or drawn at large.
Brood first_family(Searching& searching, std::span<const Placing> starts, std::size_t f, SearchDraws& draws) {
  const Placing program = f < starts.size() ? starts[f] : drawn_at_large(searching.space, draws);
  std::vector<Placing> first = {program};
  while (first.size() < searching.members) {
    Placing places = program;
    if (f < starts.size())
      change_some(searching.space, searching.cost_axes, 4, places, draws);
    else
      cross(searching.cost_axes, drawn_at_large(searching.space, draws), 1, places, draws);
    first.push_back(std::move(places));
  }
  return raised(searching, first, 0, draws);
}

/// The findings of a search so far.
struct Found {
  SearchProgress progress;
  std::vector<Population> islands;
  Archive archive;
  bool polishing = false;
  std::int64_t compiled_before = 0;  // by a search that this one goes on with
};

std::vector<Placing> places_of_all(std::span<const Candidate> candidates) {
  std::vector<Placing> all;
  for (const Candidate& one : candidates) all.push_back(one.places);
  return all;
}

void tell_state(const Searching& searching, const Found& found) {
  if (!searching.options.on_state || found.islands[0].empty()) return;
  SearchState state{found.progress, found.polishing, {}, places_of_all(found.archive.all())};
  for (const Population& island : found.islands) state.islands.push_back(places_of_all(island));
  if (state.best.empty() && found.archive.nearest()) state.best.push_back(found.archive.nearest()->places);
  searching.options.on_state(state);
}

/// The findings that a search had, its machines evaluated again; nothing where it is stopped meanwhile.
std::optional<Found> found_before(Searching& searching, const SearchState& state) {
  std::vector<Placing> all = state.best;
  for (const std::vector<Placing>& island : state.islands) all.insert(all.end(), island.begin(), island.end());
  std::map<Placing, Candidate> known;
  for (Candidate& one : evaluated_at(searching, all, searching.options.threads)) {
    const Placing places = one.places;
    known.emplace(places, std::move(one));
  }
  const auto again = [&](const std::vector<Placing>& places) {
    Population population;
    for (const Placing& one : places)
      if (const auto at = known.find(one); at != known.end()) population.push_back(at->second);
    return population;
  };
  Found found{state.progress, {}, {}, state.polishing, state.progress.compiled};
  for (const std::vector<Placing>& island : state.islands) found.islands.push_back(again(island));
  found.archive.add(searching.scored(again(state.best), false));
  if (searching.stopped()) return std::nullopt;
  return found;
}

/// The worst costs of the machines that live and keep the conditions, each made a tenth worse.
std::vector<double> worst_costs(const Found& found) {
  std::vector<double> worst = found.archive.best()->score.costs;
  for (const Population& island : found.islands)
    for (const Candidate& one : island)
      for (std::size_t k = 0; one.score.violation == 0 && k < worst.size(); ++k)
        worst[k] = std::max(worst[k], one.score.costs[k]);
  for (double& cost : worst) cost *= cost < 0 ? 1 / 1.1 : 1.1;
  return worst;
}

/// Says of several objectives what the best cover by now.
void measure_front(Found& found) {
  const std::vector<Candidate>& front = found.archive.all();
  if (front.empty() || front[0].score.costs.size() < 2) return;
  std::vector<double>& reference = found.progress.reference;
  if (reference.empty()) reference = worst_costs(found);
  found.progress.volume = std::nullopt;
  if (volume_takes_too_long(front.size(), reference.size())) return;
  const auto decades = [](const std::vector<double>& costs) {
    std::vector<double> row;
    for (const double cost : costs) row.push_back(log_cost(cost) / std::numbers::ln10);
    return row;
  };
  std::vector<std::vector<double>> points;
  for (const Candidate& one : front) points.push_back(decades(one.score.costs));
  found.progress.volume = hypervolume(std::move(points), decades(reference));
}

/// `parts` of each island, in turn, on the threads, taken into what is found; they share what is left of the
/// budget.
template <class Make>
void found_in_parts(Searching& searching, std::size_t parts, Found& found, const Make& make) {
  const std::size_t islands = found.islands.size();
  std::size_t count = parts * islands;
  if (count == 0) return;
  if (searching.options.evaluations > 0) {
    if (found.progress.evaluated >= searching.options.evaluations) return;
    const auto left = as_size(searching.options.evaluations - found.progress.evaluated);
    count = std::min(count, left);
    searching.most_of_family = left / count;
  }
  const OptimiserRow& row = row_of(searching.options.optimiser);
  std::vector<Brood> broods(count);
  on_search_threads(searching, searching.options.threads, count, [&](std::size_t f) { broods[f] = make(f); });
  for (std::size_t f = 0; f < count; ++f) {
    found.progress.evaluated += broods[f].evaluated;
    found.progress.feasible += broods[f].feasible;
    found.archive.add(searching.relaxed ? searching.scored(broods[f].best, false) : broods[f].best);
    absorb(row, std::move(broods[f]), found.islands[f % islands]);
  }
  if (!row.replaces)
    for (Population& island : found.islands) island = selected(std::move(island));
  found.progress.generations += broods[0].generations;
  found.progress.compiled = found.compiled_before + searching.programs.compiled();
  if (const Candidate* best = found.archive.best()) found.progress.best = best->score.costs;
  measure_front(found);
  if (searching.options.on_generation) searching.options.on_generation(found.progress);
}

/// From the best, until neither a change of what is compiled nor climbing betters it, or the search is to end.
void polish(Searching& searching, Found& found) {
  const std::int64_t evaluations = searching.options.evaluations;
  found.islands.resize(1);  // it begins with the best of all
  searching.relaxed = false;
  found.islands[0] = searching.scored(std::move(found.islands[0]), false);
  while (!searching.stopped() && (evaluations == 0 || found.progress.evaluated < evaluations)) {
    const Candidate* best = found.archive.best();
    if (best == nullptr) return;
    found.polishing = true;
    tell_state(searching, found);
    const std::vector<double> costs = best->score.costs;
    const Placing from = best->places;
    found_in_parts(searching, 1, found, [&](std::size_t) { return climbed(searching, from, climbing_rounds); });
    const std::vector<Placing> changed =
        neighbours_of(searching.space, searching.compile_axes, found.archive.best()->places);
    found_in_parts(searching, changed.size(), found,
                   [&](std::size_t f) { return climbed(searching, changed[f], 0); });
    if (found.archive.best()->score.costs == costs) return;
  }
}

/// Programs of an island's first generation; of an optimiser that replaces its machines, how many they are.
std::size_t first_parts(const SearchOptions& options) {
  if (!row_of(options.optimiser).replaces) return std::max(first_families / options.islands, parts_of_families);
  if (options.evaluations == 0) return first_families;
  const std::size_t its_own = as_size(options.evaluations) / options.islands;
  return std::clamp(its_own / evaluations_a_replaced, least_replaced, first_families) / 4 *
         4;  // NSGA-II pairs fours
}

std::size_t members_of(const SearchOptions& options) {
  if (row_of(options.optimiser).replaces) return 1;
  if (options.evaluations == 0) return most_members;
  return std::clamp(as_size(options.evaluations / evaluations_a_member), least_members, most_members);
}

/// One generation, or a step of some, of all islands; false where nothing is left of the budget.
bool evolve(Searching& searching, std::span<const Placing> starts, Found& found) {
  const SearchOptions& options = searching.options;
  const OptimiserRow& row = row_of(options.optimiser);
  const std::int64_t generation = found.progress.generations, evaluated = found.progress.evaluated;
  const bool first = generation == 0;
  if (!searching.relaxed && searching.goal.objectives.size() == 1 && found.archive.best() != nullptr) {
    searching.relaxed = true;  // until then they make for the conditions
    for (Population& island : found.islands) island = searching.scored(std::move(island), true);
  }
  found_in_parts(searching, first ? first_parts(options) : row.parts, found, [&](std::size_t f) {
    const std::size_t part = f / options.islands;
    SearchDraws draws(options.seed, generation, f);
    // Where an island begins, each has others; the starts are the first's.
    if (first) return first_family(searching, starts, f % options.islands == 0 ? part : starts.size(), draws);
    return row.step(searching, found.islands[f % options.islands], part, draws);
  });
  if (found.progress.generations / generations_between_migrations > generation / generations_between_migrations)
    migrate(row, found.islands);
  tell_state(searching, found);
  return found.progress.evaluated > evaluated && std::ranges::none_of(found.islands, &Population::empty);
}

/// Rows that links which change the program follow.
std::set<const ParameterRow*> followed_rows(std::span<const Link> links) {
  std::set<const ParameterRow*> followed;
  for (std::size_t l = links.size(); l-- > 0;)  // links follow those before them
    if (changes_program(*links[l].row) || followed.contains(links[l].row))
      for (const FormulaInput& input : links[l].formula.inputs) followed.insert(input.parameter);
  return followed;
}

/// Those that can change the program, be it by a condition of another that does, or by what follows them.
std::vector<bool> compiled_axes(const SearchSpace& space) {
  const std::set<const ParameterRow*> followed = followed_rows(space.links);
  std::vector<bool> compiled;
  for (const Axis& axis : space.axes) compiled.push_back(changes_program(*axis.row) || followed.contains(axis.row));
  for (std::size_t a = space.axes.size(); a-- > 0;) {  // conditions read axes before their own
    if (!compiled[a] || !space.axes[a].when) continue;
    for (std::size_t b = 0; b < a; ++b)
      if (std::ranges::find(space.axes[a].when->inputs, space.axes[b].row, &FormulaInput::parameter) !=
          space.axes[a].when->inputs.end())
        compiled[b] = true;
  }
  return compiled;
}

}  // namespace

SearchResult search(const SearchSpace& space, const SearchGoal& goal, const CompileFunction& compile_machine,
                    const MakeEvaluator& make_evaluator, const SearchOptions& options) {
  check_search_space(space);
  check(options.threads >= 1 && (options.evaluations > 0 || options.stop), "search: an end");
  check(options.islands >= 1 && goal.objectives.size() >= least_objectives(options.optimiser),
        "search: islands, and objectives enough for the optimiser");
  Searching searching{space, goal, make_evaluator, options, ProgramCache(compile_machine, programs_kept), {}, {}};
  searching.members = members_of(options);
  // Where there are evaluations for many programs, fronts gain more by these than by more members of each.
  if (goal.objectives.size() > 1 && searching.members > least_members) searching.rounds = 2;
  const std::vector<bool> compiled = compiled_axes(space);
  for (std::size_t a = 0; a < space.axes.size(); ++a)
    (compiled[a] ? searching.compile_axes : searching.cost_axes).push_back(a);
  std::vector<Placing> starts = {nearest_places(space, space.base)};
  for (const Machine& start : options.starts) starts.push_back(nearest_places(space, start));
  const bool polishes = goal.objectives.size() == 1;
  const std::int64_t evolving = polishes ? options.evaluations - options.evaluations / 10 : options.evaluations;
  Found found;
  // While none keeps the conditions there is nothing to polish.
  const auto enough = [&] {
    return polishes && options.enough && options.enough() && found.archive.best() != nullptr;
  };
  found.islands.resize(options.islands);
  if (options.from && fits(*options.from, space, options.islands))
    if (auto before = found_before(searching, *options.from)) found = std::move(*before);
  bool more = !found.polishing;
  while (more && !searching.stopped() && !enough() &&
         (options.evaluations == 0 || found.progress.evaluated < evolving))
    more = evolve(searching, starts, found);
  if (polishes) polish(searching, found);
  SearchResult result;
  result.progress = found.progress;
  result.stopped = searching.stopped();
  result.best = std::move(found.archive).release();
  return result;
}

}  // namespace sdip
