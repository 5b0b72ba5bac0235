// The report of a machine with a host, as text, Markdown and JSON.
#include "server/cli/text/host_text.h"

#include "server/io/text.h"

namespace sdip {
namespace {

std::string rounded_text(double value) { return fixed_text(value, value < 100 ? 1 : 0); }

std::string times_text(double before, double now) { return fixed_text(now > 0 ? before / now : 0.0, 2); }

std::string nanoseconds_text(double seconds) { return rounded_text(seconds * 1e9); }

}  // namespace

void print_host_report(std::ostream& out, const HostReport& report, bool colour) {
  print_heading(out, report.model + ": a frame takes " + rounded_text(report.cycles) + " cycles", colour);
  std::vector<TextRow> parts;
  for (const HostPart& part : report.parts)
    parts.push_back({part.what, rounded_text(part.cycles), share_text(part.cycles / report.cycles)});
  print_table(out, {{""}, {"cycles", Align::right}, {"", Align::right}}, parts, colour);
  std::vector<TextRow> rows;
  for (const HostChange& change : report.changes) {
    if (!change.infeasible.empty()) {
      rows.push_back({change.changes, "infeasible", "", "", ""});
      continue;
    }
    rows.push_back({change.changes, rounded_text(change.cycles), quantity_text(change.frame_s, "s"),
                    times_text(report.cycles, change.cycles), nanoseconds_text(change.software_s)});
  }
  print_section(out, "What would change that",
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
