// Single changes of a machine, evaluated and ranked.
#include "core/explore/sensitivity.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/base/units.h"

namespace sdip {
namespace {

/// The next fewer and next more cores that take another number of steps each. Example: of 20 steps 10 cores take
/// two, 7 three and 20 one.
std::array<std::int64_t, 2> next_cores(const Machine& m) {
  const auto steps = [&](std::int64_t cores) { return ceil_div(m.steps, cores); };
  const std::int64_t now = steps(m.cores);
  const auto fewest = [&](std::int64_t each) { return ceil_div(m.steps, each); };  // that take no more each
  const std::int64_t more_each = fewest(now) - 1;
  return {more_each > 0 ? fewest(steps(more_each)) : m.cores, now > 1 ? fewest(now - 1) : m.cores};
}

/// A clock, or a rate of transfers: a tenth less and a tenth more, in whole units.
bool is_clock(const ParameterRow& row) { return row.unit == "MHz" || row.unit == "MT/s"; }

/// The powers of two next to a count, below and above. Example: 10 has 8 and 16, 8 has 4 and 16.
std::array<std::int64_t, 2> next_powers(std::int64_t count) {
  const auto above = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(count)) << 1);
  const auto below = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)) >> 1);
  return {below, above};
}

/// A step to it alone would take longer than all others together: 20 s of SD 1.5.
bool climbs_a_stair(const ParameterRow& row, std::int64_t value) {
  return row.name == "memory_stair" && value == 0;
}

std::vector<std::int64_t> other_values(const ParameterRow& row, const Machine& m) {
  const std::int64_t value = row.read(m);
  std::vector<std::int64_t> values;
  if (climbs_a_stair(row, value)) return values;
  const auto add = [&](std::int64_t other) {
    other = std::clamp(other, row.least, row.most);
    if (other != value && std::ranges::find(values, other) == values.end()) values.push_back(other);
  };
  switch (row.type) {
    case ParameterType::flag:
      add(value == 0);
      break;
    case ParameterType::choice:
      for (std::int64_t i = 0; i < std::ssize(row.choices); ++i) add(i);
      break;
    case ParameterType::decimal:
      add(value / 2);
      add(2 * value);
      break;
    case ParameterType::real:
      break;
    case ParameterType::count:
      if (row.name == "cores" && m.steps > 1) {
        for (const std::int64_t cores : next_cores(m)) add(cores);
      } else if (is_clock(row) && value > 0) {
        const std::int64_t tenth = std::max<std::int64_t>(1, (value + 5) / 10);
        for (const std::int64_t other : {value - tenth, value + tenth}) add(other);
      } else if (value > 0)
        for (const std::int64_t power : next_powers(value)) add(power);
      break;
  }
  return values;
}

/// A capacity, whose step is doubled or halved until something but what it takes itself is another.
bool is_capacity(const ParameterRow& row) { return row.gives == Gives::room && row.unit == "B"; }
constexpr int most_doublings = 3;

/// Whether anything is that memories are for: cycles or bytes.
bool same_counts(const Outcome& a, const Outcome& b) {
  if (a.feasible != b.feasible) return false;
  for (const Metric metric : {Metric::throughput_fps, Metric::latency_s, Metric::dram_bytes_per_frame})
    if (a.values[metric] != b.values[metric]) return false;
  return true;
}

/// The value that a capacity which changed nothing is tried at next; 0: none.
std::int64_t next_stair(const ChangedPoint& point, const Outcome& before, int doubling) {
  const Change& change = point.change;
  if (!is_capacity(*change.row) || doubling >= most_doublings || !same_counts(point.outcome, before)) return 0;
  const std::int64_t further = change.to > change.from ? 2 * change.to : change.to / 2;
  return further >= change.row->least && further <= change.row->most ? further : 0;
}

/// Where a machine's time goes: the stage that sets the pace, and its limiting resource.
struct Bottleneck {
  std::string pace;
  Needed limiter = Needed::compute;
};
double value_of(const Outcome& outcome, Metric metric) { return outcome.values[metric]; }

/// The outcome of a machine, and the workload that has most of its time.
struct Worth {
  Outcome outcome;
  const Application* longest = nullptr;
};
Worth worth_of(const Programs& programs, const Machine& machine) {
  std::vector<Outcome> outcomes;
  Worth worth;
  double most = -1;
  for (std::size_t i = 0; i < programs.of.size(); ++i) {
    outcomes.push_back(evaluate(*programs.of[i], machine));
    const double time = programs.mix[i].weight / value_of(outcomes[i], Metric::throughput_fps);
    if (!worth.longest || time > most) worth.longest = programs.of[i].get();
    most = std::max(most, time);
  }
  worth.outcome = mixed(programs.mix, outcomes);
  return worth;
}

Bottleneck bottleneck_of(const Worth& worth, const Machine& machine) {
  const Explanation e = explain(*worth.longest, machine, 0);
  if (!e.feasible) return {};
  return {e.stages[e.pace].name, e.limiter()};
}

Outcome infeasible_point(std::string reason) {
  Outcome outcome;
  outcome.reason = std::move(reason);
  outcome.values.fill(std::numeric_limits<double>::quiet_NaN());
  return outcome;
}

bool moves_bottleneck(const Sensitivities& s, const ChangedPoint& point) {
  return point.pace != s.pace || point.limiter != s.limiter;
}

bool betters(const Sensitivities& s, const ChangedPoint& point, Metric metric, double share) {
  const double before = value_of(s.outcome, metric), after = value_of(point.outcome, metric);
  switch (metrics()[metric].better) {
    case Better::higher:
      return after >= before * (1 + share);
    case Better::lower:
      return after <= before * (1 - share);
    default:
      return false;
  }
}

/// Changes of the design that are wanted, the cheapest first.
template <class Wanted>
std::vector<std::size_t> ranked(const Sensitivities& s, Wanted wanted) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < s.points.size(); ++i) {
    const ChangedPoint& point = s.points[i];
    const ChangeKind kind = point.change.row->change;
    if (!point.outcome.feasible || (kind != ChangeKind::design && kind != ChangeKind::unpriced)) continue;
    if (wanted(point)) found.push_back(i);
  }
  const auto price = [&](std::size_t i) {
    const ChangedPoint& point = s.points[i];
    return std::tuple(point.change.row->change == ChangeKind::unpriced, value_of(point.outcome, Metric::area_mm2),
                      value_of(point.outcome, Metric::energy_j_per_frame));
  };
  std::ranges::stable_sort(found, {}, price);
  return found;
}

}  // namespace

std::vector<Change> single_changes(const Machine& machine) {
  std::vector<Change> changes;
  for (const ParameterRow& row : parameters()) {
    const std::int64_t value = row.read(machine);
    for (const std::int64_t other : other_values(row, machine)) changes.push_back({&row, value, other});
  }
  return changes;
}

std::vector<Stepless> stepless(const Machine& machine) {
  std::vector<Stepless> found;
  for (const ParameterRow& row : parameters()) {
    const std::int64_t value = row.read(machine);
    if (!other_values(row, machine).empty()) continue;
    const char* const reason = climbs_a_stair(row, value) ? "takes hundreds of compilations"
                               : value == 0               ? "0 has no step"
                                                          : "the row has no other value";
    found.push_back({&row, value, reason});
  }
  return found;
}

std::string_view change_kind_text(ChangeKind kind) {
  constexpr std::string_view names[] = {"design", "unpriced", "task", "results", "assumption"};
  return names[at(kind)];
}

std::optional<double> ChangedPoint::elasticity(const Outcome& before, Metric metric) const {
  const bool numeric = change.row->type == ParameterType::count || change.row->type == ParameterType::decimal;
  const double was = value_of(before, metric), is = value_of(outcome, metric);
  if (!numeric || !outcome.feasible || !(was > 0) || !(is > 0) || change.from <= 0 || change.to <= 0) return {};
  return std::log(is / was) / std::log(static_cast<double>(change.to) / static_cast<double>(change.from));
}

Sensitivities sensitivities(const Machine& machine, const CompileFunction& compile_machine,
                            std::span<const Link> links) {
  Sensitivities s;
  const Programs programs = compile_machine(machine);
  const Worth unchanged = worth_of(programs, machine);
  s.outcome = unchanged.outcome;
  if (!s.outcome.feasible) return s;
  const Bottleneck now = bottleneck_of(unchanged, machine);
  s.pace = now.pace;
  s.limiter = now.limiter;
  s.without_step = stepless(machine);
  const std::vector<std::int64_t> key = compile_key(machine);
  for (const Change& change : single_changes(machine)) {
    if (std::ranges::find(links, change.row, &Link::row) != links.end()) continue;
    ChangedPoint& point = s.points.emplace_back();
    point.change = change;
    try {
      for (int doubling = 1;; ++doubling) {
        Machine changed = machine;
        point.change.row->write(changed, point.change.to);
        follow(changed, links);
        check_machine(changed);
        const bool same = compile_key(changed) == key;
        const Programs its = same ? programs : compile_machine(changed);
        s.compiled += !same;
        const Worth worth = worth_of(its, changed);
        point.outcome = worth.outcome;
        if (const std::int64_t further = next_stair(point, s.outcome, doubling)) {
          point.change.to = further;
          continue;
        }
        if (!point.outcome.feasible) break;
        const Bottleneck then = bottleneck_of(worth, changed);
        point.pace = then.pace;
        point.limiter = then.limiter;
        break;
      }
    } catch (const Error& error) {
      if (is_cancelled(error)) throw;
      point.outcome = infeasible_point(error.what());
    }
  }
  return s;
}

bool differ(const Outcome& a, const Outcome& b) {
  for (std::size_t i = 0; i < metric_count; ++i)
    if (a.values[i] != b.values[i] && !(std::isnan(a.values[i]) && std::isnan(b.values[i]))) return true;
  return a.feasible != b.feasible;
}

std::vector<std::size_t> cheapest_changes(const Sensitivities& s, const Wish& wish) {
  return ranked(s, [&](const ChangedPoint& point) {
    if (wish.metric) return betters(s, point, *wish.metric, wish.share);
    return moves_bottleneck(s, point) && betters(s, point, Metric::throughput_fps, least_gain);
  });
}

std::vector<std::size_t> idle_moves(const Sensitivities& s) {
  return ranked(s, [&](const ChangedPoint& point) {
    return moves_bottleneck(s, point) && !betters(s, point, Metric::throughput_fps, least_gain) &&
           value_of(point.outcome, Metric::throughput_fps) >= value_of(s.outcome, Metric::throughput_fps);
  });
}

}  // namespace sdip
