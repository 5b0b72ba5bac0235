// Single changes of a machine as text for people.
#include "server/cli/text/sensitivity_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "core/base/list_text.h"
#include "server/cli/text/explain_text.h"
#include "server/io/text.h"

namespace sdip {
namespace {

constexpr std::size_t most_suggested = 5, most_listed_changes = 20;
constexpr std::array shown = {Metric::throughput_fps, Metric::latency_s, Metric::energy_j_per_frame,
                              Metric::dram_bytes_per_frame, Metric::area_mm2};

/// "+12.3 %", "x 257"; "0" where nothing changed.
std::string change_text(double before, double after) {
  if (before == after) return "0";
  if (before == 0) return "new";
  if (after >= 10 * before) return "x " + count_text(std::llround(after / before));
  const double share = after / before - 1;
  return (share > 0 ? "+" : "") + share_text(share);
}

std::string step_text(const Change& change) {
  return value_text(*change.row, change.from) + " to " + value_text(*change.row, change.to);
}

/// "cores 8": the row and what it is changed to.
std::string changed_text(const Change& change) {
  return fmt::format("{} {}", change.row->name, value_text(*change.row, change.to));
}

TextRow row_of(const Sensitivities& s, const ChangedPoint& point) {
  TextRow row = {middle_cut(point.change.row->name, 20),
                 middle_cut(value_text(*point.change.row, point.change.to), 12)};
  for (const Metric metric : shown)
    row.push_back(change_text(s.outcome.values[metric], point.outcome.values[metric]));
  const bool same = point.pace == s.pace && point.limiter == s.limiter;
  row.push_back(same ? "" : middle_cut(needed_text(point.limiter), 12));
  return row;
}

std::vector<Column> columns() {
  return {{"parameter"},
          {"to"},
          {"frames/s", Align::right},
          {"latency", Align::right},
          {"energy", Align::right},
          {"DRAM", Align::right},
          {"area", Align::right},
          {"then"}};
}

void print_cheapest(std::ostream& out, const Sensitivities& s, const Wish& wish, const std::string& title,
                    bool colour) {
  auto found = cheapest_changes(s, wish);
  const std::size_t all = found.size();
  found.resize(std::min(found.size(), most_suggested));
  out << "\n";
  print_heading(out, title, colour);
  if (all == 0) {
    out << "  none of the single changes\n";
    return;
  }
  std::vector<TextRow> rows;
  bool unpriced = false;
  for (const std::size_t i : found) {
    const bool priced = s.points[i].change.row->change != ChangeKind::unpriced;
    rows.push_back(row_of(s, s.points[i]));
    if (!priced) rows.back()[6] = "not said";
    unpriced |= !priced;
  }
  print_table(out, columns(), rows, colour);
  if (unpriced) out << "  not said: the model has no area for it\n";
}

/// The cheapest that move it in vain.
void print_idle_moves(std::ostream& out, const Sensitivities& s) {
  const auto found = idle_moves(s);
  const std::string names = list_text(std::span(found).first(std::min(found.size(), most_suggested)),
                                      [&](std::size_t i) { return changed_text(s.points[i].change); });
  if (!names.empty())
    out << "  moves it too, and gains no frames a second:\n    " << broken_text(names, 96, 4) << "\n";
}

/// Prints, by reason, the parameters that have none of the changes above.
void print_stepless(std::ostream& out, const Sensitivities& s) {
  std::vector<std::pair<std::string_view, std::string>> reasons;
  for (const Stepless& one : s.without_step) {
    const auto known = std::ranges::find(reasons, one.reason, &std::pair<std::string_view, std::string>::first);
    std::string& names = known == reasons.end() ? reasons.emplace_back(one.reason, "").second : known->second;
    names += (names.empty() ? "" : ", ") + std::string(one.row->name);
  }
  for (const auto& [reason, names] : reasons)
    out << "  not changed, since " << reason << ":\n    " << broken_text(names, 96, 4) << "\n";
}

void print_all(std::ostream& out, const Sensitivities& s, bool colour) {
  std::vector<const ChangedPoint*> acting;
  std::string idle, impossible;
  for (const ChangedPoint& point : s.points) {
    const std::string name = std::string(point.change.row->name) + " " + step_text(point.change);
    if (!point.outcome.feasible)
      impossible += "    " + broken_text(name + ": " + printable(point.outcome.reason), 96, 6) + "\n";
    else if (differ(s.outcome, point.outcome))
      acting.push_back(&point);
    else
      idle += (idle.empty() ? "" : ", ") + changed_text(point.change);
  }
  const auto effect = [&](const ChangedPoint* point) {
    const auto moved = [&](Metric metric) {
      return std::abs(std::log(point->outcome.values[metric] / s.outcome.values[metric]));
    };
    return std::pair(moved(Metric::throughput_fps), moved(Metric::latency_s));
  };
  std::ranges::stable_sort(acting, std::ranges::greater{}, effect);
  std::vector<TextRow> rows;
  std::string weaker;
  for (const ChangedPoint* point : acting) {
    if (rows.size() < most_listed_changes)
      rows.push_back(row_of(s, *point));
    else
      weaker += (weaker.empty() ? "" : ", ") + changed_text(point->change);
  }
  print_section(out, "Single changes, the strongest on frames a second first", columns(), rows, colour);
  if (!weaker.empty()) out << "  less (--json has them all):\n    " << broken_text(weaker, 96, 4) << "\n";
  if (!idle.empty()) out << "  nothing:\n    " << broken_text(idle, 96, 4) << "\n";
  print_stepless(out, s);
  if (!impossible.empty()) out << "  infeasible:\n" << impossible;
}

}  // namespace

void print_sensitivities(std::ostream& out, const Sensitivities& s, bool colour) {
  if (!s.outcome.feasible) return;
  print_cheapest(out, s, {}, "Cheapest single change that moves the bottleneck, for more frames a second", colour);
  print_idle_moves(out, s);
  print_cheapest(out, s, {Metric::throughput_fps, 0.1}, "Cheapest single change for 10 % more frames a second",
                 colour);
  print_all(out, s, colour);
}

}  // namespace sdip
