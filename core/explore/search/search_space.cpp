// Machines of a space that is searched.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/explore/search/families.h"
#include "core/machine/shown.h"

namespace sdip {
namespace {

/// Each link that can be followed.
void follow_where_possible(const SearchSpace& space, Machine& machine) {
  for (const Link& link : space.links) try {
      follow(machine, {&link, 1});
    } catch (const Error&) {
      link.row->write(machine, link.row->read(space.base));
    }
}

}  // namespace

void check_search_space(const SearchSpace& space) {
  if (space.axes.empty()) throw Error("value_invalid", "/axes", "a search needs a row that is not fixed");
  for (std::size_t a = 0; a < space.axes.size(); ++a) {
    const std::string name(space.axes[a].row->name);
    if (space.axes[a].values.size() < 2 || space.axes[a].values.size() > 65'535)
      throw Error("value_invalid", "/axes", name + ": expected 2 to 65,535 values to choose from");
    for (std::size_t b = 0; b < a; ++b)
      if (space.axes[b].row == space.axes[a].row) throw Error("value_invalid", "/axes", name + " is given twice");
  }
  check_conditions(space.axes, space.links);
  check_links(space.axes, space.links);
}

bool fits(const SearchState& state, const SearchSpace& space, std::size_t islands) {
  const auto is_place = [&](const Placing& places) {
    if (places.size() != space.axes.size()) return false;
    for (std::size_t a = 0; a < places.size(); ++a)
      if (places[a] >= space.axes[a].values.size()) return false;
    return true;
  };
  const SearchProgress& progress = state.progress;
  return progress.generations > 0 && progress.evaluated > 0 &&
         state.islands.size() == (state.polishing ? 1 : islands) && std::ranges::all_of(state.best, is_place) &&
         std::ranges::all_of(state.islands, [&](const std::vector<Placing>& island) {
           return !island.empty() && island.size() <= most_living && std::ranges::all_of(island, is_place);
         });
}

Machine machine_at(const SearchSpace& space, std::span<const std::uint16_t> places) {
  Machine machine = space.base;
  for (std::size_t a = 0; a < space.axes.size(); ++a)
    if (holds(space.axes[a], machine)) space.axes[a].row->write(machine, space.axes[a].values[places[a]]);
  follow_where_possible(space, machine);  // a linked row may decide what means something
  const auto leave_out = [&](const Axis& axis) { axis.row->write(machine, axis.row->read(space.base)); };
  for (const Axis& axis : space.axes)
    if (!is_shown(*axis.row, machine)) leave_out(axis);
  for (const Axis& axis : space.axes)
    if (!holds(axis, machine)) leave_out(axis);  // of a row that means nothing, as it turned out
  follow_where_possible(space, machine);
  return machine;
}

void check_machine_in(const SearchSpace& space, const Machine& machine) {
  if (space.links.empty()) return check_machine(machine);  // asked of every machine: no copy for nothing
  Machine followed = machine;
  follow(followed, space.links);
  check_machine(followed);
}

std::vector<std::uint16_t> settled_places(const SearchSpace& space, std::vector<std::uint16_t> places) {
  const Machine machine = machine_at(space, places);
  std::vector<std::uint16_t> settled = places;
  for (std::size_t a = 0; a < settled.size(); ++a) {
    const std::vector<std::int64_t>& values = space.axes[a].values;
    const auto own = std::ranges::find(values, space.axes[a].row->read(machine));
    settled[a] = static_cast<std::uint16_t>(own == values.end() ? 0 : own - values.begin());
  }
  return machine_at(space, settled) == machine ? settled : places;
}

Machine machine_drawn(const SearchSpace& space, std::uint64_t seed, std::uint64_t number) {
  SearchDraws draws(seed, static_cast<std::int64_t>(number), 0);
  return machine_at(space, drawn_at_large(space, draws));
}

std::vector<std::uint16_t> nearest_places(const SearchSpace& space, const Machine& machine) {
  std::vector<std::uint16_t> places;
  for (const Axis& axis : space.axes) {
    const std::int64_t wanted = axis.row->read(machine);
    const auto own = std::ranges::find(axis.values, wanted);
    auto nearest = own != axis.values.end() ? own : axis.values.begin();
    if (own == axis.values.end() && has_order(*axis.row))
      nearest = std::ranges::min_element(axis.values, {}, [&](std::int64_t value) {
        return std::abs(std::log(static_cast<double>(value) + 1) - std::log(static_cast<double>(wanted) + 1));
      });
    places.push_back(static_cast<std::uint16_t>(nearest - axis.values.begin()));
  }
  return places;
}

}  // namespace sdip
