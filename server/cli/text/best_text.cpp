// The answer of a search as text for people.
#include "server/cli/text/best_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/list_text.h"
#include "server/cli/text/explain_text.h"
#include "server/io/text.h"
#include "server/studies/best_steps.h"

namespace sdip {
namespace {

constexpr std::size_t most_runners_up = 4, most_of_front = 24, most_differences = 6;

std::string setting_text(const ParameterRow& row, std::int64_t value) {
  if (row.unit == "B") return quantity_text(static_cast<double>(value), "B");
  return value_text(row, value);
}

std::string goal_text(const std::string& model, const SearchGoal& goal) {
  std::string text = model + ":";
  for (std::size_t k = 0; k < goal.objectives.size(); ++k) {
    const Objective& one = goal.objectives[k];
    text += std::string(k == 0 ? " " : " and ") + (one.better == Better::higher ? "most " : "least ") +
            std::string(one.measure.name());
  }
  for (std::size_t k = 0; k < goal.constraints.size(); ++k)
    text += std::string(k == 0 ? " where " : " and ") + goal.constraints[k].text;
  return printable(text);
}

std::string change_text(const Change& change) {
  return fmt::format("{} {} to {}", change.row->name, setting_text(*change.row, change.from),
                     setting_text(*change.row, change.to));
}

/// "throughput_fps 12.3 frame/s, cores 4": what a condition compares, of a machine.
std::string compared_text(const Formula& condition, const Candidate& candidate) {
  return list_text(condition.inputs, [&](const FormulaInput& input) {
    if (input.parameter != nullptr)
      return fmt::format("{} {}", input.parameter->name,
                         setting_text(*input.parameter, input.parameter->read(candidate.machine)));
    const MetricRow& row = metrics()[input.metric];
    return fmt::format("{} {}", row.name, quantity_text(candidate.outcome.values[input.metric], row.unit));
  });
}

/// Each condition, whether the nearest machine keeps it, and what it has; nothing of one without values.
void print_conditions(std::ostream& out, const BestAnswer& answer, const Candidate& nearest) {
  if (!nearest.outcome.counted()) return;
  const std::vector<std::string> broken = broken_conditions(answer, nearest);
  for (const Formula& condition : answer.goal.constraints) {
    const bool breaks = std::ranges::find(broken, condition.text) != broken.end();
    const std::string its = compared_text(condition, nearest);
    out << (breaks ? "  breaks " : "  keeps ") << printable(condition.text) << (its.empty() ? "" : ": ")
        << printable(its) << "\n";
  }
}

/// Rows that are fixed, and those that differ from the preset's.
void print_machine(std::ostream& out, const BestAnswer& answer, const Machine& machine, bool colour) {
  const Machine& preset = find_preset(answer.request.preset)->machine;
  std::vector<TextRow> rows;
  const auto add = [&](const ParameterRow& row) {
    const std::int64_t value = row.read(machine);
    const bool fixed = std::ranges::find(answer.request.fixed, row.name) != answer.request.fixed.end();
    if (value == row.read(preset) && !fixed) return;
    const bool bytes = row.unit == "B";
    rows.push_back({std::string(row.name), setting_text(row, value), bytes ? "" : std::string(row.unit),
                    fixed ? "fixed" : setting_text(row, row.read(preset))});
  };
  std::ranges::for_each(parameters(), add);
  std::ranges::for_each(technology_parameters(), add);
  print_section(out, "The machine, where it is not as preset " + answer.request.preset,
                {{""}, {"", Align::right}, {""}, {answer.request.preset, Align::right}}, rows, colour);
}

void print_worth(std::ostream& out, const BestAnswer& answer, bool colour) {
  const Candidate& best = answer.found.best[0];
  const std::vector<KnownRange> known = known_ranges(answer);
  const bool several = answer.mix.size() > 1;
  const auto add_workloads = [&](Metric metric, TextRow& row) {
    for (std::size_t i = 0; several && i < answer.analyses.size(); ++i)
      row.push_back(quantity_text(answer.analyses[i].report.outcome.values[metric], metrics()[metric].unit));
  };
  std::vector<TextRow> rows;
  for (const Metric metric :
       {Metric::throughput_fps, Metric::latency_s, Metric::energy_j_per_frame, Metric::power_w, Metric::area_mm2,
        Metric::price_usd, Metric::utilization, Metric::dram_bytes_per_frame, Metric::sram_bytes}) {
    const MetricRow& row = metrics()[metric];
    std::string within;
    for (const KnownRange& range : known)
      if (range.metric == metric)
        within = quantity_text(range.least, row.unit) + " to " + quantity_text(range.most, row.unit);
    rows.push_back({std::string(row.name), quantity_text(best.outcome.values[metric], row.unit), within});
    add_workloads(metric, rows.back());
  }
  for (const Objective& objective : answer.goal.objectives)
    if (objective.measure.formula) {
      const std::vector<Machine> machine = {best.machine};
      const std::vector<Outcome> outcome = {best.outcome};
      rows.push_back({std::string(objective.measure.name()),
                      quantity_text(measured(objective.measure, machine, outcome)[0], objective.measure.unit()),
                      ""});
    }
  std::vector<Column> columns = {
      {""}, {several ? "all" : "", Align::right}, {"as far as the technology's figures are known"}};
  for (std::size_t i = 0; several && i < answer.mix.size(); ++i)
    columns.push_back({printable(answer.mix[i].model), Align::right});
  for (TextRow& row : rows) row.resize(columns.size());
  print_section(out, "What it is worth", columns, rows, colour);
}

std::string signed_text(double value, std::string_view unit) {
  return (value > 0 ? "+" : "") + quantity_text(value, unit);
}

/// The reason that forbids a step: a limit of the machine, or conditions.
std::string forbidden_text(const BetterStep& step) {
  if (!step.limit.empty()) return printable(step.limit);
  if (step.violation == 0) return "keeps them: not met by the search";
  return printable(share_text(step.violation) + " beyond " + list_text(step.broken, std::identity(), " and "));
}

/// Single changes with which the objective would be better: what the conditions, or limits, forbid.
void print_beyond(std::ostream& out, const BestAnswer& answer, bool colour) {
  const Measure& measure = answer.goal.objectives[0].measure;
  const std::vector<BetterStep> better = better_steps(answer);
  if (better.empty()) {
    out << "\nNo single step of a row (`sdip analyze --explain` lists them) betters it, conditions or not.\n";
    return;
  }
  std::vector<TextRow> rows;
  for (const BetterStep& step : better)
    rows.push_back({change_text(step.change), quantity_text(step.value, measure.unit()), forbidden_text(step)});
  print_section(out, "Single steps that would better it, and what forbids them",
                {{""}, {std::string(measure.name()), Align::right}, {"", Align::left, true}}, rows, colour);
}

/// Prints what more area buys.
void print_bought(std::ostream& out, const BestAnswer& answer, bool colour) {
  std::vector<TextRow> rows;
  for (const BoughtStep& step : bought_steps(answer))
    rows.push_back({change_text(step.change), signed_text(step.area_mm2, "mm2"),
                    signed_text(step.frames_per_s, "frame/s"),
                    quantity_text(step.frames_per_s_per_mm2(), "frame/s/mm2")});
  if (rows.empty()) return;
  print_section(out, "What further area buys, one row at a time",
                {{""}, {"area", Align::right}, {"frames/s", Align::right}, {"for each mm2", Align::right}}, rows,
                colour);
}

/// The others of one objective, or the front.
void print_others(std::ostream& out, const BestAnswer& answer, bool colour) {
  const std::vector<Candidate>& best = answer.found.best;
  const std::vector<Objective>& objectives = answer.goal.objectives;
  const bool front = objectives.size() > 1;
  const std::size_t shown = std::min(best.size(), front ? most_of_front : most_runners_up + 1);
  if (shown < 2) return;
  const SearchSpace& space = answer.space;
  std::vector<TextRow> rows;
  const std::vector<Knee> knees = found_knees(answer);
  std::vector<std::size_t> places = places_shown(best.size(), shown, knees);
  if (!front) std::iota(places.begin(), places.end(), std::size_t{0});
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t at = places[i], before = i == 0 || !front ? 0 : places[i - 1];
    TextRow row;
    for (std::size_t k = 0; k < objectives.size(); ++k)
      row.push_back(
          quantity_text(value_of_cost(objectives[k], best[at].score.costs[k]), objectives[k].measure.unit()));
    if (front) row.push_back(knee_cell(knees[at]));
    row.push_back(i == 0 ? (front ? "the first" : "the best")
                         : changes_text(differences(space, best[before].machine, best[at].machine)));
    rows.push_back(std::move(row));
  }
  std::vector<Column> columns;
  for (const Objective& one : objectives) columns.push_back({std::string(one.measure.name()), Align::right});
  if (front) columns.push_back({"knee"});
  columns.push_back({front ? "differs from the one before by" : "differs from the best by", Align::left, true});
  print_section(out,
                front ? "The front: " + count_text(std::ssize(best)) + " machines that none beats" +
                            (shown < best.size() ? ", of them " + count_text(static_cast<std::int64_t>(shown)) : "")
                      : "The next best",
                columns, rows, colour);
}

/// The decibels with as many digits as tell them from a limit.
std::string decibels_text(double value, std::optional<double> limit) {
  if (!std::isfinite(value)) return "no finite result";
  int digits = 1;
  while (limit && digits < 9 && value != *limit && fixed_text(value, digits) == fixed_text(*limit, digits))
    ++digits;
  return fixed_text(value, digits) + " dB";
}

/// Prints what formats do, as it was measured, of the machine's own and in sets.
void print_formats(std::ostream& out, const BestAnswer& answer) {
  if (!answer.request.measures_formats()) return;
  const FormatAccuracies& formats = answer.formats;
  std::vector<std::int64_t> own;
  for (const ParameterRow* row : formats.rows) own.push_back(row->read(answer.found.best[0].machine));
  const auto set = std::ranges::find(formats.sets, own, &TabledValue::values);
  out << "\nFormats: " << formats.sets.size() << " sets of weights, activations and sums measured on "
      << printable(answer.measured_model()) << (formats.random_weights ? " (random weights)" : "");
  if (set != formats.sets.end())
    out << "; this machine's has " << decibels_text(set->number, answer.request.sqnr_db);
  if (answer.sqnr_db)
    out << ", and as it is, with its fusions, " << decibels_text(*answer.sqnr_db, answer.request.sqnr_db);
  out << "\n";
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
void print_again(std::ostream& out, const BestAnswer& answer, std::string_view file_options,
                 const Machine& machine) {
  const Machine& preset = find_preset(answer.request.preset)->machine;
  std::string settings;
  for (const std::span<const ParameterRow> rows : {parameters(), technology_parameters()})
    for (const ParameterRow& row : rows)
      if (row.read(machine) != row.read(preset))
        settings += fmt::format(" {}={}", row.name, value_text(row, row.read(machine)));
  out << "\nEverything of it:";
  for (const MixPart& part : answer.mix)
    out << " sdip analyze " << printable(part.model) << file_options << " --preset " << answer.request.preset
        << (settings.empty() ? "" : " --set") << settings << " --explain\n";
}

/// Where it is not the usual one.
std::string way_text(const BestRequest& request) {
  std::string text;
  if (request.optimiser != Optimiser::families) text += ", " + std::string(optimiser_name(request.optimiser));
  if (request.is_part()) text += fmt::format(", part {} of {}", request.part.part, request.part.parts);
  if (request.islands > 1) text += fmt::format(", {} islands", request.islands);
  return text;
}

}  // namespace

std::string knee_cell(Knee knee) {
  return knee == Knee::greatest ? "knee" : knee == Knee::local ? "local knee" : "";
}

std::string changes_text(std::span<const Change> all) {
  std::string text = list_text(all.first(std::min(all.size(), most_differences)),
                               [](const Change& change) { return change_text(change); });
  if (all.size() > most_differences)
    text += " and " + count_text(std::ssize(all) - static_cast<std::int64_t>(most_differences)) + " more";
  return text.empty() ? "nothing that counts" : text;
}

std::string objectives_text(const SearchGoal& goal, const std::vector<double>& costs) {
  std::string text;
  for (std::size_t k = 0; k < costs.size(); ++k)
    text += (k == 0 ? "" : ", ") + std::string(goal.objectives[k].measure.name()) + " " +
            quantity_text(value_of_cost(goal.objectives[k], costs[k]), goal.objectives[k].measure.unit());
  return text;
}

void print_best(std::ostream& out, const BestAnswer& answer, std::string_view file_options, bool colour) {
  const SearchProgress& progress = answer.found.progress;
  print_heading(out, goal_text(answer.request.model, answer.goal), colour);
  out << "  " << count_text(progress.evaluated) << " machines of " << count_text(progress.compiled)
      << " programs in " << quantity_text(answer.seconds, "s") << ", "
      << share_text(static_cast<double>(progress.feasible) /
                    static_cast<double>(std::max<std::int64_t>(progress.evaluated, 1)))
      << " of them feasible; " << count_text(std::ssize(answer.space.axes))
      << " rows searched (sdip best --rows), seed " << answer.request.seed << way_text(answer.request) << "\n";
  if (answer.found.best.empty()) {
    out << "  nothing was evaluated\n";
    return;
  }
  const bool early = answer.seconds < 0.97 * static_cast<double>(answer.request.seconds);
  const bool polished = answer.keeps() && answer.goal.objectives.size() == 1;
  if (answer.request.evaluations == 0 && !answer.cancelled && !answer.found.stopped && polished && early)
    out << "  it ended before its " << count_text(answer.request.seconds)
        << " s: no single change betters what it found\n";
  const Candidate& best = answer.found.best[0];
  if (!answer.keeps()) {
    out << "  No machine that was found keeps the conditions. The nearest:\n";
    if (!best.outcome.feasible) out << "  infeasible: " << printable(best.outcome.reason) << "\n";
    print_conditions(out, answer, best);
    if (answer.misses_limit())
      out << "  as it is, with its fusions, it has " << decibels_text(*answer.sqnr_db, answer.request.sqnr_db)
          << "; its set of formats alone keeps the limit\n";
    out << "  " << objectives_text(answer.goal, best.score.costs) << "\n";
    print_machine(out, answer, best.machine, colour);
    return;
  }
  if (answer.goal.objectives.size() > 1) {
    print_others(out, answer, colour);
    out << "\nOf its first machine:\n";
  } else {
    out << "  the best: " << objectives_text(answer.goal, best.score.costs) << "\n";
  }
  print_machine(out, answer, best.machine, colour);
  if (answer.around.points.empty()) return;
  print_worth(out, answer, colour);
  out << "\nWhat sets its pace: " << printable(answer.around.pace) << ", limited by "
      << needed_text(answer.around.limiter) << ".\n";
  if (answer.goal.objectives.size() == 1) print_beyond(out, answer, colour);
  print_bought(out, answer, colour);
  if (answer.goal.objectives.size() == 1) print_others(out, answer, colour);
  print_formats(out, answer);
  print_validated(out, answer);
  print_again(out, answer, file_options, best.machine);
}

}  // namespace sdip
