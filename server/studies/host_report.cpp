// Where the time of a machine with a host goes: the estimate repeated with one cost after the other taken away, and
// with other parameters.
#include "server/studies/host_report.h"

#include <cmath>
#include <cstdio>

#include "core/base/error.h"
#include "server/io/text.h"
#include "server/models/request.h"

namespace sdip {
namespace {

double frame_seconds(const Report& report) {
  return 1 / report.outcome.values[static_cast<std::size_t>(Metric::throughput_fps)];
}

double frame_cycles(const Machine& machine, const Report& report) {
  return frame_seconds(report) * static_cast<double>(machine.core_clock_mhz) * 1e6;
}

std::int64_t frame_macs(const Report& report) {
  std::int64_t macs = 0;
  for (const StageReport& stage : report.stages) macs += stage.macs.value * stage.passes_per_frame;
  return macs;
}

/// "batch=16 sequencer=central" over the machine.
Machine changed(Machine machine, std::string_view changes) {
  for (const Setting& setting : settings_of(changes)) setting.row->write(machine, setting.value);
  return machine;
}

/// Cheapest first, then what is left to win when they are made one on top of the other.
constexpr const char* changes_tried[] = {
    "host_command_cycles=32 host_access_cycles=32",
    "batch=16",
    "sequencer=central",
    "host_operators=none",
    "host_memory=false host_access_cycles=1",
    "host_memory=false host_access_cycles=1 sequencer=central",
    "host_memory=false host_access_cycles=1 sequencer=central host_operators=none",
    "host_memory=false host_access_cycles=1 sequencer=central host_operators=none batch=16",
};

HostChange change_of(const Analysis& analysis, const std::string& changes, std::int64_t macs) {
  HostChange change{changes, 0, 0, 0, analysis.report.outcome.reason};
  if (!analysis.report.outcome.feasible) return change;
  change.cycles = frame_cycles(analysis.machine, analysis.report);
  change.frame_s = frame_seconds(analysis.report);
  change.software_s = macs > 0 ? change.frame_s / static_cast<double>(macs) : 0;
  return change;
}

bool has_host(const Machine& m) {
  return m.sequencer == Sequencer::host || m.host_operators != HostOperators::no_operators || m.host_memory;
}

std::string rounded_text(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", value < 100 ? 1 : 0, value);
  return text;
}

std::string times_text(double before, double now) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", now > 0 ? before / now : 0.0);
  return text;
}

std::string nanoseconds_text(double seconds) { return rounded_text(seconds * 1e9); }

}  // namespace

std::optional<double> unexplained_cycles(const std::string& model) {
  // "Single head attention" on PYNQ-Z2, course report on HackMD, section "result".
  return model == "pynq-attention" ? std::optional(32'381.0) : std::nullopt;
}

HostReport host_report(const Catalog& catalog, const std::string& model, const Machine& machine) {
  if (!has_host(machine))
    throw Error("value_conflict", "--preset",
                "expected a machine with a host: sequencer=host, host_operators or host_memory");
  const Analysis analysis = analyze(catalog, model, machine);
  if (!analysis.report.outcome.feasible) return {model, analysis.report.outcome.reason, 0, 0, {}, {}};
  HostReport report{model, "", frame_cycles(machine, analysis.report), frame_macs(analysis.report), {}, {}};
  Machine left = machine;
  double before = report.cycles;
  const auto take_away = [&](const char* what, const char* setting) {
    left = changed(left, setting);
    const double now = frame_cycles(left, estimate(analysis.application, left));
    report.parts.push_back({what, before - now});
    before = now;
  };
  take_away("accesses of the host: operands, results, memory", "host_access_cycles=1");
  take_away("commands of the host", "host_command_cycles=0");
  take_away("the host's own arithmetic", "host_cycles_per_element=0.01");
  report.parts.push_back({"the chip, and an access of one cycle", before});
  report.changes.push_back(change_of(analysis, "as it is", report.macs));
  for (const char* changes : changes_tried)
    report.changes.push_back(change_of(analyze(catalog, model, changed(machine, changes)), changes, report.macs));
  return report;
}

void print_host_report(std::ostream& out, const HostReport& report, bool colour) {
  print_heading(out, report.model + ": a frame takes " + rounded_text(report.cycles) + " cycles", colour);
  std::vector<TextRow> parts;
  for (const HostPart& part : report.parts)
    parts.push_back({part.what, rounded_text(part.cycles), share_text(part.cycles / report.cycles)});
  print_table(out, {{""}, {"cycles", Align::right}, {"", Align::right}}, parts, colour);
  out << "\n";
  print_heading(out, "What would change that", colour);
  std::vector<TextRow> rows;
  for (const HostChange& change : report.changes) {
    if (!change.infeasible.empty()) {
      rows.push_back({change.changes, "infeasible", "", "", ""});
      continue;
    }
    rows.push_back({change.changes, rounded_text(change.cycles), quantity_text(change.frame_s, "s"),
                    times_text(report.cycles, change.cycles), nanoseconds_text(change.software_s)});
  }
  print_table(out,
              {{"", Align::left, true},
               {"cycles a frame", Align::right},
               {"time", Align::right},
               {"times faster", Align::right},
               {"software is as fast at, ns a MAC", Align::right}},
              rows, colour);
  if (const auto unexplained = unexplained_cycles(report.model))
    out << "\n  The authors measured " << count_text(static_cast<std::int64_t>(*unexplained))
        << " cycles more than they computed, and could not explain them: "
        << times_text(*unexplained, report.cycles)
        << " times\n  this whole frame. They are outside the model; nothing is fitted to them.\n";
}

void print_host_markdown(std::ostream& out, const HostReport& report) {
  out << "| of a frame | cycles | share |\n| --- | --- | --- |\n";
  for (const HostPart& part : report.parts)
    out << "| " << part.what << " | " << rounded_text(part.cycles) << " | "
        << share_text(part.cycles / report.cycles) << " |\n";
  out << "| all | " << rounded_text(report.cycles) << " | 100.0 % |\n";
  if (const auto unexplained = unexplained_cycles(report.model))
    out << "| measured by the authors beyond what they computed, not in the model | " << rounded_text(*unexplained)
        << " | " << times_text(*unexplained, report.cycles) << " times the frame |\n";
  out << "\n| change | cycles a frame | times faster | software is as fast at, ns a MAC |\n| --- | --- | --- | --- "
         "|\n";
  for (const HostChange& change : report.changes)
    out << "| " << change.changes << " | "
        << (change.infeasible.empty() ? rounded_text(change.cycles) : "infeasible") << " | "
        << times_text(report.cycles, change.cycles) << " | " << nanoseconds_text(change.software_s) << " |\n";
}

OrderedJson host_json(const HostReport& report) {
  OrderedJson parts = OrderedJson::array(), changes = OrderedJson::array();
  for (const HostPart& part : report.parts) parts.push_back({{"part", part.what}, {"cycles", part.cycles}});
  for (const HostChange& change : report.changes)
    changes.push_back({{"changes", change.changes},
                       {"infeasible", change.infeasible.empty() ? OrderedJson() : OrderedJson(change.infeasible)},
                       {"cycles_per_frame", change.cycles},
                       {"frame_s", change.frame_s},
                       {"software_s_per_mac", change.software_s}});
  const auto unexplained = unexplained_cycles(report.model);
  return {{"model", report.model},
          {"cycles_per_frame", report.cycles},
          {"macs_per_frame", report.macs},
          {"parts", parts},
          {"changes", changes},
          {"unexplained_cycles", unexplained ? OrderedJson(*unexplained) : OrderedJson()}};
}

}  // namespace sdip
