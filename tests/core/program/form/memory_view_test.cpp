// Does every value lie somewhere, alone, inside its memory, in little more room than is alive at once?
#include "core/program/form/memory_view.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>

#include "tests/core/program/built_in.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

const MemoryFigures& figures_of(const MemoryView& view, MemoryName memory) {
  return *std::ranges::find(view.memories, memory, &MemoryFigures::memory);
}

/// No two that are in use at once overlap, and each lies inside its memory. Returns whether all is well.
bool lie_apart(const MemoryView& view) {
  for (const MemoryFigures& memory : view.memories) {
    std::vector<MemoryRectangle> there;
    std::ranges::copy_if(view.rectangles, std::back_inserter(there),
                         [&](const MemoryRectangle& r) { return r.memory == memory.memory; });
    std::ranges::stable_sort(there, {}, &MemoryRectangle::from);
    for (std::size_t a = 0; a < there.size(); ++a) {
      const MemoryRectangle& one = there[a];
      if (one.address < 0 || one.address + one.bytes > memory.capacity_bytes || one.from > one.to) {
        ADD_FAILURE() << view.stage << ": " << memory_text(memory.memory) << ": " << one.name << " lies outside";
        return false;
      }
      for (std::size_t b = a + 1; b < there.size() && there[b].from <= one.to; ++b) {
        const MemoryRectangle& two = there[b];
        if (one.address + one.bytes <= two.address || two.address + two.bytes <= one.address) continue;
        ADD_FAILURE() << view.stage << ": " << memory_text(memory.memory) << ": " << one.name << " (" << one.from
                      << " to " << one.to << ") and " << two.name << " (" << two.from << " to " << two.to
                      << ") overlap";
        return false;
      }
    }
  }
  return true;
}

/// Peaks of the view against the occupancy that the program states.
void expect_stated_peaks(const MemoryView& view, const Program& program, bool unified) {
  std::int64_t dsram = 0, stack = 0, both = 0;
  for (const Instruction& i : program.instructions) {
    dsram = std::max({dsram, i.dsram_read_side.value, i.dsram_write_side.value});
    stack = std::max(stack, i.stackram.value);
    both = std::max(both, (i.dsram_read_side + i.dsram_write_side + i.stackram).value);
  }
  if (unified) {
    EXPECT_EQ(figures_of(view, MemoryName::unified).peak_bytes, both) << view.stage;
    return;
  }
  EXPECT_EQ(figures_of(view, MemoryName::stackram).peak_bytes, stack) << view.stage;
  EXPECT_EQ(
      std::max(figures_of(view, MemoryName::dsram0).peak_bytes, figures_of(view, MemoryName::dsram1).peak_bytes),
      dsram)
      << view.stage;
}

/// a is pushed, b made of it, c = b + a.
TEST(memory_view, shows_a_skip_on_the_stack_and_what_passes_between_the_two_sides) {
  onnx::ModelProto model = model_of_x({1, 64});
  add_node(model, "Relu", {"x"}, "a");
  add_node(model, "Relu", {"a"}, "b");
  add_node(model, "Add", {"b", "a"}, "y");
  add_output(model, "y");
  const Machine m;
  const Application application = compiled(model, m);
  const std::vector<CycleSpan> times = {{0, 10}, {10, 30}, {30, 35}};
  const MemoryView view = memory_view(application.stages.at(0), m, times);
  std::vector<std::string> seen;
  for (const MemoryRectangle& r : view.rectangles)
    seen.push_back(std::string(memory_text(r.memory)) + " " + r.name + " " + std::to_string(r.address) + "+" +
                   std::to_string(r.bytes) + " " + std::to_string(r.from) + "-" + std::to_string(r.to) + " " +
                   std::to_string(r.start_cycle) + "-" + std::to_string(r.end_cycle));
  EXPECT_THAT(seen, testing::IsSupersetOf(
                        {"STACKRAM a 0+128 0-2 0-35", "DSRAM1 a 0+128 0-1 0-30", "DSRAM0 b 0+128 1-2 10-35"}));
  EXPECT_TRUE(lie_apart(view));
  EXPECT_EQ(figures_of(view, MemoryName::stackram).crossing_pairs, 0);
}

TEST(memory_view, names_the_values_that_wait_because_lives_do_not_nest) {
  onnx::ModelProto model = model_of_x({1, 64});
  add_node(model, "Relu", {"x"}, "a");
  add_node(model, "Relu", {"a"}, "b");
  add_node(model, "Sub", {"b", "a"}, "c");
  add_node(model, "Relu", {"c"}, "d");
  add_node(model, "Add", {"d", "b"}, "y");
  add_output(model, "y");
  const Machine m;
  const Application application = compiled(model, m);
  const MemoryView view = memory_view(application.stages.at(0), m);
  const MemoryFigures& stack = figures_of(view, MemoryName::stackram);
  ASSERT_EQ(stack.crossing_pairs, 1);
  EXPECT_EQ(stack.waiting[0].lower, "a");
  EXPECT_EQ(stack.waiting[0].upper, "b");
  EXPECT_EQ(stack.waiting[0].dies, 2);
  EXPECT_EQ(stack.waiting[0].waits_to, 4);
}

struct MemoryCase {
  const char* what;
  ActivationMemory memory;
  StackDiscipline discipline;
  double most_ratio;  // of peak to live bytes; 0: printed only
};

/// Sizes at which some models fit whole and others are tiled and spilled.
TEST(memory_view,
     of_every_built_in_model_has_no_overlap_and_peaks_as_stated_and_an_allocator_s_are_near_live_bytes) {
  constexpr MemoryCase cases[] = {{"stack", ActivationMemory::separate, StackDiscipline::stack, 0},
                                  {"allocator", ActivationMemory::separate, StackDiscipline::allocator, 1.05},
                                  {"unified", ActivationMemory::unified, StackDiscipline::stack, 1.05}};
  std::printf("%-22s %-10s %10s %14s %14s %7s %10s\n", "model", "memory", "MiB", "peak", "live", "ratio",
              "crossing");
  for (const MemoryCase& one : cases)
    for (const std::int64_t mib : {4, 4096})
      for (const Workload& workload : built_in_workloads()) {
        Machine m;
        m.activation_memory = one.memory;
        m.stack_discipline = one.discipline;
        m.dsram_bytes = mib << 20;
        m.stackram_bytes = 4 * mib << 20;
        const Application application = compile(workload, m);
        ASSERT_TRUE(application.feasible) << application.reason;
        const CompiledStage& stage = application.stages[0];
        const MemoryView view = memory_view(stage, m);
        ASSERT_TRUE(lie_apart(view)) << one.what << " " << mib;
        const bool unified = one.memory == ActivationMemory::unified;
        expect_stated_peaks(view, stage.program, unified);
        const MemoryFigures& f = figures_of(view, unified ? MemoryName::unified : MemoryName::stackram);
        const double ratio =
            f.live_bytes == 0 ? 1 : static_cast<double>(f.peak_bytes) / static_cast<double>(f.live_bytes);
        std::printf("%-22s %-10s %10ld %14ld %14ld %7.4f %10ld\n", workload.name.c_str(), one.what,
                    static_cast<long>(mib), static_cast<long>(f.peak_bytes), static_cast<long>(f.live_bytes), ratio,
                    static_cast<long>(f.crossing_pairs));
        if (one.most_ratio > 0 && mib == 4096) {
          EXPECT_LE(ratio, one.most_ratio) << workload.name << " " << one.what;
        }
      }
}

TEST(memory_view, shows_each_family_s_pair_as_a_memory_of_its_own_without_overlap_and_with_the_stated_peak) {
  for (const std::int64_t mib : {1, 64})
    for (const Workload& workload : built_in_workloads()) {
      if (workload.name.starts_with("sdxl") || workload.name.starts_with("sd21")) continue;  // as sd15 is
      Machine m;
      m.operator_dsram = OperatorDsram::per_operator;
      m.dsram_bytes = mib << 20;
      m.stackram_bytes = 4 * mib << 20;
      const Application application = compile(workload, m);
      if (!application.feasible) continue;
      const CompiledStage& stage = application.stages[0];
      const MemoryView view = memory_view(stage, m);
      ASSERT_TRUE(lie_apart(view)) << workload.name << " " << mib;
      std::int64_t stated = 0, shown = 0;
      for (const Instruction& i : stage.program.instructions)
        stated = std::max({stated, i.dsram_read_side.value, i.dsram_write_side.value});
      for (const MemoryFigures& f : view.memories)
        if (memory_text(f.memory).starts_with("DSRAM")) shown = std::max(shown, f.peak_bytes);
      // What is passing is stated though no rectangle has its tiles' place.
      EXPECT_LE(shown, stated) << workload.name;
      EXPECT_GE(shown, stated / 2) << workload.name;
      EXPECT_EQ(std::ranges::count(view.memories, MemoryName::dsram0, &MemoryFigures::memory), 0);
      EXPECT_EQ(std::ranges::count(view.memories, pair_side(Family::vector, 0), &MemoryFigures::memory), 1);
    }
}

}  // namespace
}  // namespace sdip
