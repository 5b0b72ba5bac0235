// Where the time of a machine with a host goes: the estimate repeated with one cost after the other taken away, and
// with other parameters.
#include "core/study/host_report.h"

#include "core/base/error.h"
#include "core/machine/former.h"

namespace sdip {
namespace {

double frame_seconds(const Report& report) { return 1 / report.outcome.values[Metric::throughput_fps]; }

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

}  // namespace

std::optional<double> unexplained_cycles(const std::string& model) {
  // "Single head attention" on PYNQ-Z2, course report on HackMD, section "result".
  return model == "pynq-attention" ? std::optional(32'381.0) : std::nullopt;
}

HostReport host_report(const Workloads& workloads, const std::string& model, const Machine& machine) {
  if (!has_host(machine))
    throw Error("value_conflict", "--preset",
                "expected a machine with a host: sequencer=host, host_operators or host_memory");
  const Analysis analysis = analyze(workloads, model, machine);
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
    report.changes.push_back(change_of(analyze(workloads, model, changed(machine, changes)), changes, report.macs));
  return report;
}

}  // namespace sdip
