// The answer of a search as text for people.
#include "server/cli/text/best_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "server/cli/text/explain_text.h"
#include "server/io/text.h"

namespace sdip {
namespace {

constexpr std::size_t most_neighbours = 8, most_runners_up = 4, most_of_front = 24, most_differences = 6;

double value_of_cost(const Objective& objective, double cost) {
  return objective.better == Better::higher ? -cost : cost;
}

std::string setting_text(const ParameterRow& row, std::int64_t value) {
  if (row.unit == "B") return quantity_text(static_cast<double>(value), "B");
  return value_text(row, value);
}

std::string goal_text(const BestRequest& request) {
  std::string text = request.model + ":";
  for (std::size_t k = 0; k < request.goal.objectives.size(); ++k) {
    const Objective& one = request.goal.objectives[k];
    text += std::string(k == 0 ? " " : " and ") + (one.better == Better::higher ? "most " : "least ") +
            std::string(one.measure.name());
  }
  for (std::size_t k = 0; k < request.goal.constraints.size(); ++k)
    text += std::string(k == 0 ? " where " : " and ") + request.goal.constraints[k].text;
  return printable(text);
}

/// "cores 8 to 10, psram_bytes 32.0 MiB to 48.0 MiB", of the rows in which two machines differ.
std::string difference_text(const SearchSpace& space, const Machine& from, const Machine& to) {
  std::string text;
  std::size_t count = 0;
  for (const Axis& axis : space.axes) {
    const std::int64_t a = axis.row->read(from), b = axis.row->read(to);
    if (a == b) continue;
    if (++count > most_differences) continue;
    text += (count == 1 ? "" : ", ") + std::string(axis.row->name) + " " + setting_text(*axis.row, a) + " to " +
            setting_text(*axis.row, b);
  }
  if (count > most_differences)
    text += " and " + count_text(static_cast<std::int64_t>(count - most_differences)) + " more";
  return text.empty() ? "nothing that counts" : text;
}

/// Rows that are fixed, and those that differ from the preset's.
void print_machine(std::ostream& out, const BestAnswer& answer, const Machine& machine, bool colour) {
  const Machine& preset = find_preset(answer.request.preset)->machine;
  std::vector<TextRow> rows;
  for (const ParameterRow& row : parameters()) {
    const std::int64_t value = row.read(machine);
    const bool fixed = std::ranges::find(answer.request.fixed, row.name) != answer.request.fixed.end();
    if (value == row.read(preset) && !fixed) continue;
    const bool bytes = row.unit == "B";
    rows.push_back({std::string(row.name), setting_text(row, value), bytes ? "" : std::string(row.unit),
                    fixed ? "fixed" : setting_text(row, row.read(preset))});
  }
  out << "\n";
  print_heading(out, "The machine, where it is not as preset " + answer.request.preset, colour);
  print_table(out, {{""}, {"", Align::right}, {""}, {answer.request.preset, Align::right}}, rows, colour);
}

double sum_of_parts(const Breakdown& parts) {
  double total = 0;
  for (const auto& [part, value] : parts) total += value;
  return total;
}

void print_worth(std::ostream& out, const BestAnswer& answer, bool colour) {
  const Candidate& best = answer.found.best[0];
  const Report& report = answer.analysis.report;
  std::vector<TextRow> rows;
  const auto range = [](const Ranges& ranges, std::string_view unit) {
    return quantity_text(sum_of_parts(ranges.least), unit) + " to " +
           quantity_text(sum_of_parts(ranges.most), unit);
  };
  for (const Metric metric :
       {Metric::throughput_fps, Metric::latency_s, Metric::energy_j_per_frame, Metric::power_w, Metric::area_mm2,
        Metric::price_usd, Metric::utilization, Metric::dram_bytes_per_frame, Metric::sram_bytes}) {
    const MetricRow& row = metrics()[static_cast<std::size_t>(metric)];
    std::string within;
    if (metric == Metric::area_mm2) within = range(report.area_ranges_mm2, row.unit);
    if (metric == Metric::energy_j_per_frame) within = range(report.energy_ranges_j, row.unit);
    if (metric == Metric::price_usd && !report.price_usd.empty()) within = range(report.price_ranges_usd, row.unit);
    rows.push_back({std::string(row.name),
                    quantity_text(best.outcome.values[static_cast<std::size_t>(metric)], row.unit), within});
  }
  for (const Objective& objective : answer.request.goal.objectives)
    if (objective.measure.formula) {
      const std::vector<Machine> machine = {best.machine};
      const std::vector<Outcome> outcome = {best.outcome};
      rows.push_back({std::string(objective.measure.name()),
                      quantity_text(measured(objective.measure, machine, outcome)[0], objective.measure.unit()),
                      ""});
    }
  out << "\n";
  print_heading(out, "What it is worth", colour);
  print_table(out, {{""}, {"", Align::right}, {"as far as the technology's figures are known"}}, rows, colour);
}

/// A machine one step away, and what it is worth by the goal.
struct Neighbour {
  const ChangedPoint* point = nullptr;
  Score score;
};

std::vector<Neighbour> neighbours_of(const BestAnswer& answer) {
  std::vector<Machine> machines;
  std::vector<Outcome> outcomes;
  std::vector<Neighbour> all;
  for (const ChangedPoint& point : answer.around.points) {
    Machine machine = answer.found.best[0].machine;
    point.change.row->write(machine, point.change.to);
    const ChangeKind kind = change_kind(*point.change.row);
    if (!point.outcome.counted() || (kind != ChangeKind::design && kind != ChangeKind::unpriced)) continue;
    machines.push_back(machine);
    outcomes.push_back(point.outcome);
    all.push_back({&point, {}});
  }
  const std::vector<Score> its = scores(answer.request.goal, machines, outcomes);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].score = its[i];
  return all;
}

std::string change_text(const ChangedPoint& point) {
  return std::string(point.change.row->name) + " " + setting_text(*point.change.row, point.change.from) + " to " +
         setting_text(*point.change.row, point.change.to);
}

std::string signed_text(double value, std::string_view unit) {
  return (value > 0 ? "+" : "") + quantity_text(value, unit);
}

/// Single changes with which the objective would be better: what the conditions, or limits, forbid.
void print_beyond(std::ostream& out, const BestAnswer& answer, const std::vector<Neighbour>& all, bool colour) {
  const Objective& objective = answer.request.goal.objectives[0];
  const double now = answer.found.best[0].score.costs[0];
  std::vector<Neighbour> better;
  for (const Neighbour& one : all)
    if (one.score.costs[0] < now) better.push_back(one);
  std::ranges::stable_sort(better, [](const Neighbour& a, const Neighbour& b) {
    return a.score.violation != b.score.violation ? a.score.violation < b.score.violation
                                                  : a.score.costs[0] < b.score.costs[0];
  });
  better.resize(std::min(better.size(), most_neighbours));
  if (better.empty()) {
    out << "\nNo single step of a row (`sdip analyze --explain` lists them) betters it, conditions or not.\n";
    return;
  }
  std::vector<TextRow> rows;
  for (const Neighbour& one : better) {
    const bool limit = one.score.violation >= broken_limit;
    rows.push_back({change_text(*one.point),
                    quantity_text(value_of_cost(objective, one.score.costs[0]), objective.measure.unit()),
                    limit                     ? printable(one.point->outcome.reason)
                    : one.score.violation > 0 ? share_text(one.score.violation) + " beyond the conditions"
                                              : "keeps them: not met by the search"});
  }
  out << "\n";
  print_heading(out, "Single steps that would better it, and what forbids them", colour);
  print_table(out, {{""}, {std::string(objective.measure.name()), Align::right}, {"", Align::left, true}}, rows,
              colour);
}

/// What more area buys.
void print_bought(std::ostream& out, const BestAnswer& answer, const std::vector<Neighbour>& all, bool colour) {
  const auto of = [](const Outcome& outcome, Metric metric) {
    return outcome.values[static_cast<std::size_t>(metric)];
  };
  const Outcome& now = answer.around.outcome;
  const double area = of(now, Metric::area_mm2), fps = of(now, Metric::throughput_fps);
  std::vector<std::pair<double, const Neighbour*>> bought;
  for (const Neighbour& one : all) {
    const double more = of(one.point->outcome, Metric::area_mm2) - area;
    const double gain = of(one.point->outcome, Metric::throughput_fps) - fps;
    if (one.point->outcome.feasible && more > 0 && gain > fps * least_gain) bought.emplace_back(gain / more, &one);
  }
  std::ranges::stable_sort(bought, [](const auto& a, const auto& b) { return a.first > b.first; });
  bought.resize(std::min(bought.size(), most_neighbours));
  if (bought.empty()) return;
  std::vector<TextRow> rows;
  for (const auto& [rate, one] : bought) {
    const Outcome& then = one->point->outcome;
    rows.push_back({change_text(*one->point), signed_text(of(then, Metric::area_mm2) - area, "mm2"),
                    signed_text(of(then, Metric::throughput_fps) - fps, "frame/s"),
                    quantity_text(rate, "frame/s/mm2")});
  }
  out << "\n";
  print_heading(out, "What further area buys, one row at a time", colour);
  print_table(out, {{""}, {"area", Align::right}, {"frames/s", Align::right}, {"for each mm2", Align::right}}, rows,
              colour);
}

/// The others of one objective, or the front.
void print_others(std::ostream& out, const BestAnswer& answer, bool colour) {
  const std::vector<Candidate>& best = answer.found.best;
  const std::vector<Objective>& objectives = answer.request.goal.objectives;
  const bool front = objectives.size() > 1;
  const std::size_t shown = std::min(best.size(), front ? most_of_front : most_runners_up + 1);
  if (shown < 2) return;
  const SearchSpace space = search_space(answer.request);
  std::vector<TextRow> rows;
  // Of a long front every so-manieth, the ends among them.
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t at = front ? i * (best.size() - 1) / (shown - 1) : i;
    const std::size_t before = i == 0 ? 0 : front ? (i - 1) * (best.size() - 1) / (shown - 1) : 0;
    TextRow row;
    for (std::size_t k = 0; k < objectives.size(); ++k)
      row.push_back(
          quantity_text(value_of_cost(objectives[k], best[at].score.costs[k]), objectives[k].measure.unit()));
    row.push_back(i == 0 ? (front ? "the first" : "the best")
                         : difference_text(space, best[before].machine, best[at].machine));
    rows.push_back(std::move(row));
  }
  std::vector<Column> columns;
  for (const Objective& one : objectives) columns.push_back({std::string(one.measure.name()), Align::right});
  columns.push_back({front ? "differs from the one before by" : "differs from the best by", Align::left, true});
  out << "\n";
  print_heading(out,
                front ? "The front: " + count_text(std::ssize(best)) + " machines that none beats" +
                            (shown < best.size() ? ", of them " + count_text(static_cast<std::int64_t>(shown)) : "")
                      : "The next best",
                colour);
  print_table(out, columns, rows, colour);
}

void print_validated(std::ostream& out, const BestAnswer& answer) {
  if (answer.request.validate_seconds == 0) return;
  std::int64_t instructions = 0, compared = 0, differences = 0;
  for (const StageCounters& stage : answer.validation.counters) {
    instructions += stage.instructions;
    compared += std::ssize(stage.compared);
    differences += stage.differences;
  }
  const Verdict verdict = verdict_of(answer.validation);
  out << "\nValidated on the executor: "
      << (verdict == Verdict::not_compared ? "nothing compared in its time" : std::string(verdict_text(verdict)))
      << ", counters of " << count_text(compared) << " of " << count_text(instructions) << " instructions, "
      << count_text(differences) << " differences\n";
}

/// The command that says everything of the machine.
void print_again(std::ostream& out, const BestAnswer& answer, const Machine& machine) {
  const Machine& preset = find_preset(answer.request.preset)->machine;
  out << "\nEverything of it: sdip analyze " << printable(answer.request.model) << " --preset "
      << answer.request.preset << " --set";
  for (const ParameterRow& row : parameters())
    if (row.read(machine) != row.read(preset)) out << " " << row.name << "=" << value_text(row, row.read(machine));
  out << " --explain\n";
}

}  // namespace

std::string objectives_text(const SearchGoal& goal, const std::vector<double>& costs) {
  std::string text;
  for (std::size_t k = 0; k < costs.size(); ++k)
    text += (k == 0 ? "" : ", ") + std::string(goal.objectives[k].measure.name()) + " " +
            quantity_text(value_of_cost(goal.objectives[k], costs[k]), goal.objectives[k].measure.unit());
  return text;
}

void print_best(std::ostream& out, const BestAnswer& answer, bool colour) {
  const SearchProgress& progress = answer.found.progress;
  print_heading(out, goal_text(answer.request), colour);
  out << "  " << count_text(progress.evaluated) << " machines of " << count_text(progress.compiled)
      << " programs in " << quantity_text(answer.seconds, "s") << ", "
      << share_text(static_cast<double>(progress.feasible) /
                    static_cast<double>(std::max<std::int64_t>(progress.evaluated, 1)))
      << " of them feasible; " << count_text(std::ssize(search_space(answer.request).axes))
      << " rows searched (sdip best --rows), seed " << answer.request.seed << "\n";
  if (answer.found.best.empty()) {
    out << "  nothing was evaluated\n";
    return;
  }
  const Candidate& best = answer.found.best[0];
  if (!answer.keeps()) {
    out << "  No machine that was found keeps the conditions. The nearest:\n";
    if (!best.outcome.feasible) out << "  infeasible: " << printable(best.outcome.reason) << "\n";
    out << "  " << objectives_text(answer.request.goal, best.score.costs) << "\n";
    print_machine(out, answer, best.machine, colour);
    return;
  }
  if (answer.request.goal.objectives.size() > 1) {
    print_others(out, answer, colour);
    out << "\nOf its first machine:\n";
  } else {
    out << "  the best: " << objectives_text(answer.request.goal, best.score.costs) << "\n";
  }
  print_machine(out, answer, best.machine, colour);
  if (answer.around.points.empty()) return;
  print_worth(out, answer, colour);
  out << "\nWhat sets its pace: " << printable(answer.around.pace) << ", limited by "
      << needed_text(answer.around.limiter) << ".\n";
  const std::vector<Neighbour> all = neighbours_of(answer);
  if (answer.request.goal.objectives.size() == 1) print_beyond(out, answer, all, colour);
  print_bought(out, answer, all, colour);
  if (answer.request.goal.objectives.size() == 1) print_others(out, answer, colour);
  print_validated(out, answer);
  print_again(out, answer, best.machine);
}

}  // namespace sdip
