// Points of a space, as its sampling takes them.
#include "core/explore/space/space.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/explore/space/sampling.h"

namespace sdip {
namespace {

/// The value of a formula of parameters.
double value_on(const Formula& formula, const Machine& machine) {
  std::vector<double> values;
  for (const FormulaInput& input : formula.inputs)
    values.push_back(input_value(*input.parameter, input.parameter->read(machine)));
  std::vector<std::span<const double>> inputs;
  for (const double& value : values) inputs.emplace_back(&value, 1);
  double result = 0;
  compute(formula, inputs, {&result, 1});
  return result;
}

/// The axes of `which`, those that their conditions read, those that theirs read, and so on.
std::vector<bool> settled_axes(const Space& space, AxisRange which) {
  std::vector<bool> needed(space.axes.size());
  for (std::size_t a = which.end; a-- > 0;) {  // a condition reads axes before its own
    if (a >= which.first) needed[a] = true;
    if (!needed[a] || !space.axes[a].when) continue;
    for (const FormulaInput& input : space.axes[a].when->inputs)
      for (std::size_t before = 0; before < a; ++before)
        if (space.axes[before].row == input.parameter) needed[before] = true;
  }
  return needed;
}

/// Writes axes in turn, and takes the place from one whose condition does not hold on those before it.
void settle(const Space& space, AxisRange which, std::span<std::size_t> digits) {
  const std::vector<bool> needed = settled_axes(space, which);
  Machine machine = space.base;
  for (std::size_t a = 0; a < which.end; ++a) {
    if (!needed[a]) continue;
    if (digits[a] != no_place && !holds(space.axes[a], machine)) digits[a] = no_place;
    if (digits[a] < any_place) space.axes[a].row->write(machine, space.axes[a].values[digits[a]]);
  }
}

std::vector<std::size_t> digits_of(const Space& space, std::int64_t i, AxisRange which) {
  std::vector<std::size_t> digits(space.axes.size());
  const bool conditions = has_conditions(space), drawn = row_of(space.sampling).draws;
  row_of(space.sampling).digits(space, i, conditions ? AxisRange{0, which.end} : which, digits);
  if (conditions && drawn) settle(space, which, digits);
  return digits;
}

/// The value of a linked row, in its coding.
std::int64_t linked_value(const Link& link, const Machine& machine) {
  const ParameterRow& row = *link.row;
  const std::string name(row.name);
  const double result = value_on(link.formula, machine);
  if (std::isnan(result)) throw Error("value_invalid", name, "follows others, and is no number here");
  if (row.type == ParameterType::flag) return result != 0 ? 1 : 0;
  constexpr double hundredths = 100, next_to_whole = 1e-9, most_coded = 0x1p62;
  const double whole = std::floor((row.type == ParameterType::decimal ? hundredths : 1) * result + next_to_whole);
  std::int64_t coded = -1;              // nowhere in range
  if (row.type == ParameterType::real)  // the bits of a number; of those above 0 in the order of the numbers
    coded = result > 0 ? std::bit_cast<std::int64_t>(result) : -1;
  else if (std::fabs(whole) < most_coded)
    coded = static_cast<std::int64_t>(whole);
  if (coded < row.least || coded > row.most)
    throw Error("value_out_of_range", name,
                fmt::format("follows others, and would be {}: expected {} to {}", shortest_text(result),
                            value_text(row, row.least), value_text(row, row.most)));
  return coded;
}

void check_link(std::span<const Axis> axes, std::span<const Link> links, std::size_t number) {
  const Link& link = links[number];
  const std::string where = "/links/" + std::to_string(number), name(link.row->name);
  const auto same = [&](const auto& other) { return other.row == link.row; };
  if (link.row->type == ParameterType::choice)
    throw Error("value_invalid", where + "/parameter", name + " is a choice: only numbers and flags follow others");
  if (std::ranges::any_of(axes, same))
    throw Error("value_conflict", where + "/parameter", name + " is an axis: it cannot follow others, too");
  if (std::ranges::count_if(links, same) > 1)
    throw Error("value_conflict", where + "/parameter", name + " is linked twice");
  for (const FormulaInput& input : link.formula.inputs) {
    if (input.parameter == nullptr)
      throw Error("value_invalid", where + "/formula",
                  std::string(metrics()[input.metric].name) + " is a metric: a parameter follows parameters alone");
    for (std::size_t later = number; later < links.size(); ++later)
      if (links[later].row == input.parameter)
        throw Error("value_conflict", where + "/formula",
                    std::string(input.parameter->name) +
                        (later == number ? " cannot follow itself" : " is linked later: list it before"));
  }
}

void check_condition(std::span<const Axis> axes, std::span<const Link> links, std::size_t number) {
  const Axis& axis = axes[number];
  if (!axis.when) return;
  const std::string where = fmt::format("/axes/{}/when", number);
  for (const FormulaInput& input : axis.when->inputs) {
    if (input.parameter == nullptr)
      throw Error("value_invalid", where,
                  std::string(metrics()[input.metric].name) + " is a metric: an axis depends on parameters alone");
    const std::string name(input.parameter->name);
    const auto same = [&](const auto& other) { return other.row == input.parameter; };
    if (std::ranges::any_of(links, same))
      throw Error("value_conflict", where, name + " follows others: read what it follows");
    if (same(axis)) throw Error("value_conflict", where, name + " cannot depend on itself");
    if (std::ranges::any_of(axes.subspan(number), same))
      throw Error("value_conflict", where, name + " is an axis listed later: list it before");
  }
}

}  // namespace

bool has_conditions(const Space& space) {
  return std::ranges::any_of(space.axes, [](const Axis& axis) { return axis.when.has_value(); });
}

bool holds(const Axis& axis, const Machine& machine) {
  if (!axis.when) return true;
  const double value = value_on(*axis.when, machine);
  return value != 0 && !std::isnan(value);
}

void check_conditions(std::span<const Axis> axes, std::span<const Link> links) {
  for (std::size_t a = 0; a < axes.size(); ++a) check_condition(axes, links, a);
}

void check_links(std::span<const Axis> axes, std::span<const Link> links) {
  for (std::size_t link = 0; link < links.size(); ++link) check_link(axes, links, link);
}

void follow(Machine& machine, std::span<const Link> links) {
  for (const Link& link : links) link.row->write(machine, linked_value(link, machine));
}

std::vector<const Axis*> digit_order(const Space& space) {
  std::vector<const Axis*> order;
  for (const Axis& axis : space.axes) order.push_back(&axis);
  std::stable_partition(order.begin(), order.end(), [](const Axis* axis) { return changes_program(*axis); });
  return order;
}

std::int64_t point_count(const Space& space) {
  if (row_of(space.sampling).draws) return space.count;
  if (space.blocks.of_grid) return space.blocks.of_grid->back().end;
  return combinations(space, true) * combinations(space, false);
}

Machine point(const Space& space, std::int64_t i) {
  Machine machine = unlinked_point(space, i);
  follow(machine, space.links);
  return machine;
}

Machine unlinked_point(const Space& space, std::int64_t i) {
  check(i >= 0 && i < point_count(space), "point: index outside the space");
  Machine machine = space.base;
  const auto digits = digits_of(space, i, {0, space.axes.size()});
  for (std::size_t a = 0; a < digits.size(); ++a)
    if (digits[a] != no_place) space.axes[a].row->write(machine, space.axes[a].values[digits[a]]);
  return machine;
}

std::int64_t axis_value(const Space& space, std::size_t axis, std::int64_t i) {
  check(axis < space.axes.size() && i >= 0 && i < point_count(space), "axis_value: outside the space");
  const Axis& its = space.axes[axis];
  const std::size_t place = digits_of(space, i, {axis, axis + 1})[axis];
  return place == no_place ? its.row->read(space.base) : its.values[place];
}

std::int64_t axis_run(const Space& space, std::size_t axis) {
  if (row_of(space.sampling).draws || space.blocks.of_grid) return 1;
  const std::vector<const Axis*> order = digit_order(space);
  std::int64_t run = 1;
  for (auto faster = order.rbegin(); *faster != &space.axes[axis]; ++faster) run *= std::ssize((*faster)->values);
  return run;
}

std::vector<std::int64_t> axis_values(const Space& space, std::int64_t i) {
  check(i >= 0 && i < point_count(space), "axis_values: outside the space");
  const auto digits = digits_of(space, i, {0, space.axes.size()});
  std::vector<std::int64_t> values;
  for (std::size_t a = 0; a < digits.size(); ++a)
    values.push_back(digits[a] == no_place ? space.axes[a].row->read(space.base) : space.axes[a].values[digits[a]]);
  return values;
}

namespace {

constexpr std::size_t most_draws = 100;

void check_draws(const Space& space) {
  if (space.draws.empty()) return;
  if (space.draws.size() > most_draws)
    throw Error("limit_exceeded", "/draws", fmt::format("expected at most {} draws", most_draws));
  std::int64_t sum = 0;
  for (const std::int64_t one : space.draws) {
    if (one < 1 || one > most_points)
      throw Error("value_out_of_range", "/draws", "points to draw: expected 1 to " + std::to_string(most_points));
    sum += one;
  }
  if (sum != space.count)
    throw Error("value_conflict", "/draws",
                fmt::format("draw {} points together, and count says {}", sum, space.count));
}

}  // namespace

void check_space(const Space& space) {
  if (space.axes.empty()) throw Error("value_invalid", "/axes", "a sweep needs at least one axis");
  for (std::size_t a = 0; a < space.axes.size(); ++a) {
    const Axis& axis = space.axes[a];
    const std::string where = "/axes/" + std::to_string(a);
    for (std::size_t b = 0; b < a; ++b)
      if (space.axes[b].row == axis.row)
        throw Error("value_invalid", where + "/parameter",
                    fmt::format("{} is swept twice: axis {} has it already", axis.row->name, b));
    if (axis.values.empty()) throw Error("value_invalid", where + "/values", "an axis needs at least one value");
    std::vector<std::int64_t> sorted = axis.values;
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end())
      throw Error("value_invalid", where + "/values",
                  fmt::format("{} = {} is listed twice", axis.row->name, value_text(*axis.row, *twice)));
  }
  check_links(space.axes, space.links);
  const std::int64_t most = most_points;
  const SamplingRow& row = row_of(space.sampling);
  if (row.draws) {
    if (space.count < 1 || space.count > most)
      throw Error("value_out_of_range", "/count", "points to draw: expected 1 to " + std::to_string(most));
    check_draws(space);
    if (row.bounds_programs && combinations(space, true) > most)
      throw Error("too_large", "/axes",
                  fmt::format("more than {} combinations of the axes that change the program", most));
    return;
  }
  if (has_conditions(space)) return check(space.blocks.of_grid != nullptr, "check_space: with_blocks was called");
  // Each factor is at most most + 1, so the product fits.
  if (combinations(space, true) * combinations(space, false) > most)
    throw Error("too_large", "/axes", fmt::format("the grid has more than {} points", most));
}

}  // namespace sdip
