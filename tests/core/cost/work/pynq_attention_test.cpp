// Where the time of the PYNQ-Z2 attention accelerator goes, by hand, estimated and stepped.
#include <gtest/gtest.h>

#include "core/cost/price/estimate.h"
#include "core/exec/clock/step.h"
#include "core/graph/rewrite/passes.h"
#include "core/onnx/import.h"
#include "core/program/program.h"
#include "core/workload/workload.h"

namespace sdip {
namespace {

Application attention_on(const Machine& machine) {
  const std::string bytes = write_model("pynq-attention", {.batch = machine.batch});
  Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
  rewrite(graph);
  Workload workload;
  workload.stages.push_back({Role::network, "pynq-attention", std::make_shared<const Graph>(std::move(graph)), {}});
  return compile(workload, machine);
}

/// What each instruction took in the steady pass, estimated, after the same counted step by step.
std::vector<std::int64_t> estimated_cycles(const Machine& machine) {
  const Application application = attention_on(machine);
  const Report report = estimate(application, machine);
  EXPECT_TRUE(report.outcome.feasible) << report.outcome.reason;
  const StepCounts stepped = step(application.stages[0].program, machine, Decimal{100}, 1, 3);
  std::vector<std::int64_t> estimated, counted;
  for (const InstructionCost& i : report.stages[0].instructions) estimated.push_back((i.end - i.start).value);
  for (const InstructionCounts& i : stepped.passes[2]) counted.push_back(i.end - i.start);
  EXPECT_EQ(estimated, counted);
  EXPECT_EQ(report.stages[0].cold_cycles.value, stepped.passes[0].back().end);
  return estimated;
}

TEST(pynq_attention, a_frame_takes_what_its_commands_and_accesses_take) {
  const std::int64_t access = 316, command = 316;
  EXPECT_EQ(estimated_cycles(find_preset("pynq-attention")->machine),
            (std::vector<std::int64_t>{4 * access + 4 + 1,  // x, while the command is given; 4 beats; 1 to drain
                                       command + 4 + 1,     // q: 4 beats of rows, as many of weights and results
                                       command + 4 + 1,     // k
                                       command + 4 + 1,     // v
                                       command + 8 + 1,     // scores: both operands from one memory
                                       command + 4 * access + (3 + 1) * 160 + 16 * access +
                                           1,  // scores out, softmax and codes, floats back
                                       command + 4 + 4 * access + 1}));  // output, and reading it
}

TEST(pynq_attention, estimate_and_step_agree_whatever_of_the_host_is_changed) {
  for (const std::int64_t batch : {1, 3, 16})
    for (const bool memory : {false, true})
      for (const Sequencer sequencer : {Sequencer::host, Sequencer::central, Sequencer::distributed})
        for (const std::int64_t access : {1, 316}) {
          Machine machine = find_preset("pynq-attention")->machine;
          machine.batch = batch;
          machine.host_memory = memory;
          machine.sequencer = sequencer;
          machine.host_access_cycles = access;
          estimated_cycles(machine);
          machine.host_operators = HostOperators::no_operators;
          machine.host_result_bits = 0;
          estimated_cycles(machine);
        }
}

}  // namespace
}  // namespace sdip
