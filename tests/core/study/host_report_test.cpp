// The host's report: its parts are the frame, its changes are estimates.
#include "core/study/host_report.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace sdip {
namespace {

const Machine& pynq_machine() { return find_preset("pynq-attention")->machine; }

TEST(host_report, parts_sum_to_the_frame_and_none_is_negative) {
  const HostReport report = host_report(built_in_workloads(), "pynq-attention", pynq_machine());
  EXPECT_NEAR(report.cycles, 11'419, 1e-6);
  EXPECT_EQ(report.macs, 320);
  double sum = 0;
  for (const HostPart& part : report.parts) {
    EXPECT_GE(part.cycles, 0) << part.what;
    sum += part.cycles;
  }
  EXPECT_NEAR(sum, report.cycles, 1e-6);
}

TEST(host_report, a_change_is_the_estimate_of_the_machine_so_changed) {
  const HostReport report = host_report(built_in_workloads(), "pynq-attention", pynq_machine());
  Machine machine = pynq_machine();
  machine.host_memory = false;
  machine.host_access_cycles = 1;
  const Analysis analysis = analyze(built_in_workloads(), "pynq-attention", machine);
  for (const HostChange& change : report.changes) {
    if (change.changes != "host_memory=false host_access_cycles=1") continue;
    EXPECT_NEAR(change.cycles, static_cast<double>(analysis.report.stages[0].steady_cycles.value), 1e-6);
    return;
  }
  ADD_FAILURE() << "no bus master is tried";
}

TEST(host_report, what_takes_the_host_away_makes_the_hardware_faster_than_any_software) {
  const HostReport report = host_report(built_in_workloads(), "pynq-attention", pynq_machine());
  EXPECT_GT(report.changes.front().software_s, 200 / 650e6);  // a CPU of 650 MHz has 200 cycles a MAC: no contest
  EXPECT_LT(report.changes.back().software_s, 2 / 650e6);     // two: it has none
}

TEST(host_report, a_machine_without_a_host_has_none) {
  EXPECT_THROW(host_report(built_in_workloads(), "tiny-sd-unet", find_preset("essay")->machine), Error);
  Machine machine = find_preset("essay")->machine;
  machine.sequencer = Sequencer::host;
  const HostReport report = host_report(built_in_workloads(), "tiny-sd-unet", machine);
  EXPECT_GT(report.parts[1].cycles, 0);
  EXPECT_FALSE(unexplained_cycles("tiny-sd-unet"));
}

TEST(host_report, a_model_that_does_not_fit_says_why) {
  const HostReport report = host_report(built_in_workloads(), "tiny-sd-unet", pynq_machine());
  EXPECT_NE(report.infeasible, "");
  EXPECT_TRUE(report.parts.empty() && report.changes.empty());
}

}  // namespace
}  // namespace sdip
