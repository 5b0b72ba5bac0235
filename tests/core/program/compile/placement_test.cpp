// What leaves the chip when values do not fit, what is made again, in which order, and what an infeasible machine
// lacks.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdio>
#include <regex>

#include "core/program/compile/passes.h"
#include "core/program/form/memory_plan.h"
#include "tests/core/program/built_in.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::HasSubstr;

/// A compilation up to known lives.
Compilation lived(const Stage& stage, const Machine& machine) {
  Compilation c{machine, stage.role, stage.part, stage.graph, {}, {}, {}, {}, {}, {}};
  lower(c);
  fuse_pointwise(c);
  schedule(c);
  live(c);
  return c;
}

TEST(spilling, by_bytes_never_moves_more_than_by_farthest_use_on_any_built_in_model) {
  std::printf("%-22s %10s %16s %16s\n", "model", "STACKRAM", "farthest use", "chosen");
  int fewer = 0;
  for (const Workload& workload : built_in_workloads())
    for (const std::int64_t share : {2, 4, 8}) {
      Machine m;
      m.dsram_bytes = std::int64_t{1} << 34;
      m.stackram_bytes = std::int64_t{1} << 36;
      Compilation whole = lived(workload.stages[0], m);
      const MemoryPlan all = plan_memory(m, whole.drafts, whole.lives);
      m.stackram_bytes = all.in_use.empty() ? 0 : *std::ranges::max_element(all.in_use) / share;
      Compilation old = lived(workload.stages[0], m), chosen = lived(workload.stages[0], m);
      const std::int64_t farthest = plan_memory(m, old.drafts, old.lives, SpillRule::farthest_use).moved_bytes;
      const std::int64_t bytes = plan_memory(m, chosen.drafts, chosen.lives).moved_bytes;
      std::printf("%-22s %10ld %16ld %16ld\n", workload.name.c_str(), static_cast<long>(m.stackram_bytes),
                  static_cast<long>(farthest), static_cast<long>(bytes));
      EXPECT_LE(bytes, farthest) << workload.name;
      fewer += bytes < farthest;
    }
  EXPECT_GT(fewer, 0);
}

/// DRAM bytes that instructions read and write whole, once each; weights that do not stay.
std::int64_t moved(const Application& application, const Machine& m) {
  std::int64_t bytes = 0;
  const CompiledStage& stage = application.stages.at(0);
  const auto size = [&](std::int32_t v) {
    const Shape& shape = stage.graph->values[static_cast<std::size_t>(v)].operand.shape;
    return ceil_div(element_count(shape) * bits_of(m.activation_format), 8);
  };
  for (const Instruction& i : stage.program.instructions) {
    const InstructionClass& c = stage.program.classes[static_cast<std::size_t>(i.instruction_class)];
    if (!c.pinned) bytes += i.weight_bytes.value;
    if (c.to_dram) bytes += size(i.destination);
    for (const PlacedOperand& source : i.sources)
      if (source.place == Place::dram) bytes += size(source.value);
  }
  return bytes;
}

/// n = Exp(w) is read at once and again later, when w still waits. STACKRAM holds one of the two.
onnx::ModelProto cheap_to_make_again() {
  onnx::ModelProto model = model_of_x({1, 4096});
  add_node(model, "Relu", {"x"}, "w");
  add_node(model, "Exp", {"w"}, "n");
  add_node(model, "Relu", {"n"}, "p");
  add_node(model, "Sqrt", {"n"}, "r");
  add_node(model, "Add", {"r", "w"}, "y");
  add_output(model, "p");
  add_output(model, "y");
  return model;
}

TEST(weights_that_stay, cost_nothing_when_loaded_again_so_that_rows_are_loaded_once) {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.tile_buffering = Buffering::single_buffer;
  m.dsram_bytes = 27;  // three rows
  const auto elements_read = [&](std::int64_t psram_bytes) {
    m.psram_bytes = psram_bytes;
    onnx::ModelProto model = model_of_x({1, 6, 9});
    add_weight(model, "w", {9, 11});
    add_node(model, "MatMul", {"x", "w"}, "y");
    add_output(model, "y");
    const Application application = compiled(model, m);
    const InstructionClass& c = class_at(application, 0);
    EXPECT_EQ(c.pinned, psram_bytes >= 99);
    return traffic(nest_of(c), c.mapping).a;
  };
  EXPECT_EQ(elements_read(150), 54);
  EXPECT_EQ(elements_read(99), 54);
}

TEST(weights_that_stay, in_the_pinned_part_are_foreseen_too) {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.tile_buffering = Buffering::single_buffer;
  m.dsram_bytes = 27;  // three rows
  m.psram_bytes = 99 + 150;
  m.psram_pinned_bytes = 99;
  onnx::ModelProto model = model_of_x({1, 6, 9});
  add_weight(model, "w", {9, 11});
  add_weight(model, "v", {11, 40});
  add_node(model, "MatMul", {"x", "w"}, "z");
  add_node(model, "MatMul", {"z", "v"}, "y");
  add_output(model, "y");
  const Application application = compiled(model, m);
  const InstructionClass &first = class_at(application, 0), &second = class_at(application, 1);
  EXPECT_TRUE(first.pinned);
  EXPECT_FALSE(second.pinned);
  EXPECT_EQ(traffic(nest_of(first), first.mapping).a, 54) << "each row once, whatever that does to the weights";
}

TEST(recompute, makes_a_value_again_where_that_moves_fewer_bytes) {
  Machine m;
  m.stackram_bytes = 8192;
  const Application held = compiled(cheap_to_make_again(), m);
  m.skip_handling = SkipHandling::recompute;
  const Application again = compiled(cheap_to_make_again(), m);
  EXPECT_EQ(held.stages[0].program.instructions.size(), 5U);
  EXPECT_EQ(again.stages[0].program.instructions.size(), 6U);
  EXPECT_EQ(moved(held, m) - moved(again, m), 2 * 8192);
  EXPECT_THAT(mnemonics(again), testing::Contains("exp").Times(2));
}

TEST(recompute, changes_nothing_where_all_fits) {
  Machine m;
  m.skip_handling = SkipHandling::recompute;
  EXPECT_EQ(compiled(cheap_to_make_again(), m).stages[0].program.instructions.size(), 5U);
}

TEST(recompute, never_moves_more_bytes_than_holding) {
  for (const Workload& workload : built_in_workloads()) {
    if (!workload.name.starts_with("tiny") && workload.name != "mobilenetv2") continue;
    Machine m;
    m.dsram_bytes = 64 << 10;
    m.stackram_bytes = 32 << 10;
    const std::int64_t held = moved(compile(workload, m), m);
    m.skip_handling = SkipHandling::recompute;
    const std::int64_t again = moved(compile(workload, m), m);
    std::printf("%-22s hold %12ld recompute %12ld\n", workload.name.c_str(), static_cast<long>(held),
                static_cast<long>(again));
    EXPECT_LE(again, held) << workload.name;
  }
}

std::int64_t stack_peak(const Application& application) {
  std::int64_t most = 0;
  for (const Instruction& i : application.stages[0].program.instructions)
    most = std::max(most, (i.dsram_read_side + i.dsram_write_side + i.stackram).value);
  return most;
}

TEST(schedule_least_live, runs_one_branch_after_the_other) {
  onnx::ModelProto model = model_of_x({1, 64});
  add_weight(model, "w", {64, 4096});
  add_weight(model, "v", {4096, 64});
  add_node(model, "MatMul", {"x", "w"}, "a");
  add_node(model, "MatMul", {"x", "w"}, "b");
  add_node(model, "MatMul", {"a", "v"}, "c");
  add_node(model, "MatMul", {"b", "v"}, "d");
  add_node(model, "Add", {"c", "d"}, "y");
  add_output(model, "y");
  Machine m;
  m.activation_memory = ActivationMemory::unified;
  const std::int64_t given = stack_peak(compiled(model, m));
  m.schedule = ScheduleOrder::least_live;
  const Application ordered = compiled(model, m);
  EXPECT_LT(stack_peak(ordered), given);
  std::vector<std::string> names;
  for (const Instruction& i : ordered.stages[0].program.instructions) names.push_back(i.name);
  EXPECT_THAT(names, testing::ElementsAre("/net/a", "/net/c", "/net/b", "/net/d", "/net/y"));
}

TEST(schedule_least_live, is_never_worse_on_a_built_in_model_and_takes_little_time) {
  double sd15_s[2] = {0, 0};
  for (const Workload& workload : built_in_workloads()) {
    Machine m;
    m.activation_memory = ActivationMemory::unified;
    m.dsram_bytes = m.stackram_bytes = std::int64_t{1} << 34;
    const std::int64_t given = stack_peak(compile(workload, m));
    for (const bool thorough : {false, true}) {
      m.schedule = thorough ? ScheduleOrder::least_live_thorough : ScheduleOrder::least_live;
      const auto start = std::chrono::steady_clock::now();
      const Application ordered = compile(workload, m);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (workload.name.starts_with("sd15")) sd15_s[thorough ? 1 : 0] += seconds;
      std::printf("%-22s given %12ld %s %12ld  %.3f s\n", workload.name.c_str(), static_cast<long>(given),
                  thorough ? "thorough" : "usual   ", static_cast<long>(stack_peak(ordered)), seconds);
      EXPECT_LE(static_cast<double>(stack_peak(ordered)), 1.05 * static_cast<double>(given)) << workload.name;
    }
  }
  std::printf("SD 1.5 in all: usual %.3f s, thorough %.3f s\n", sd15_s[0], sd15_s[1]);
}

/// The bytes that a reason says are needed of `memory`.
std::int64_t bytes_needed(const std::string& reason) {
  std::smatch found;
  return std::regex_search(reason, found, std::regex("([0-9]+) B are needed")) ? std::stoll(found[1]) : 0;
}

TEST(an_infeasible_machine, is_feasible_with_the_bytes_that_the_reason_names_and_not_with_one_less) {
  int seen = 0;
  for (const Workload& workload : built_in_workloads()) {
    if (!workload.name.starts_with("sd15") && !workload.name.starts_with("tiny") && workload.name != "resnet50" &&
        workload.name != "bert-base")
      continue;
    for (const bool weights : {false, true}) {
      Machine m;
      std::int64_t& capacity = weights ? m.psram_bytes : m.dsram_bytes;
      capacity = weights ? 1024 : 256;
      m.stackram_bytes = 1 << 16;
      const Application application = compile(workload, m);
      if (application.feasible) continue;
      ++seen;
      const std::int64_t needed = bytes_needed(application.reason);
      ASSERT_GT(needed, capacity) << application.reason;
      EXPECT_THAT(application.reason, HasSubstr(weights ? "PSRAM (1024 B)" : "DSRAM (256 B)"));
      capacity = needed;
      EXPECT_TRUE(compile(workload, m).feasible) << application.reason;
      --capacity;
      EXPECT_FALSE(compile(workload, m).feasible) << application.reason;
    }
  }
  EXPECT_GT(seen, 6);
}

}  // namespace
}  // namespace sdip
