// What limits a layer, what is shown of it, and what is not because it would be wrong or too long.
#include "core/cost/explain/explain_layer.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/core/cost/explain/example.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

constexpr std::size_t compute = 0, psram_read = 5, dram_channel = 7;

TEST(limiter, is_the_largest_need_and_the_first_of_equals) {
  EXPECT_EQ(limiter_of({5, 3, 0, 0, 0, 5, 4, 0}, 0), Needed::compute);
  EXPECT_EQ(limiter_of({5, 3, 0, 0, 0, 6, 4, 0}, 0), Needed::psram_read);
  EXPECT_EQ(limiter_of({1, 0, 0, 0, 0, 0, 4, 0}, 0), Needed::overhead);
}

TEST(limiter, is_the_channel_where_a_layer_stalls_and_that_or_its_transfers_last_longest) {
  const auto limits = [](std::int64_t transfers, std::int64_t stalls) {
    Needs needs{};
    needs[compute] = 4;
    needs[psram_read] = 5;
    needs[dram_channel] = transfers;
    return limiter_of(needs, stalls) == Needed::dram_channel;
  };
  EXPECT_FALSE(limits(9, 0));  // all went ahead of it
  EXPECT_TRUE(limits(9, 1));
  EXPECT_TRUE(limits(6, 1));
  EXPECT_FALSE(limits(5, 1));
  EXPECT_TRUE(limits(0, 6));
  EXPECT_FALSE(limits(0, 5));
}

/// A stage as explain() has it, to be changed.
struct Changeable {
  Machine m;
  Application application;
  ExplainedStage stage;

  /// `change`, if any, is made to the first instruction's class before the stage runs.
  explicit Changeable(const std::string& text, const std::function<void(InstructionClass&)>& change = {})
      : application(example_of(text, m)) {
    if (change) change(application.stages[0].program.classes[0]);
    const CompiledStage& compiled = application.stages[0];
    stage.run = *run_stage(compiled, m, &stage.trace);
    stage.rules = stage_rules(compiled, m, stage.run.schedule.active_cores);
    for (const ClassCost& cost : stage.run.costs) {
      stage.moves.push_back(channel_moves(cost, false, stage.rules));
      stage.channel_cycles.push_back(channel_cycles<std::int64_t>(stage.moves.back().moves, stage.rules));
    }
  }
  LayerExplanation explained() const {
    LayerExplanation e;
    e.layer = layer_needs(stage, 0, 0);
    explain_layer(stage, e);
    return e;
  }
};

const FilledTerm* term_of(const auto& e, std::string_view what) {
  for (const FilledTerm& term : e.terms)
    if (term.what == what) return &term;
  return nullptr;
}
bool shows(const LayerExplanation& e, std::string_view what) {
  const FilledTerm* term = term_of(e, what);
  return term != nullptr && !term->numbers.empty();
}

const char* const weights_on_chip =
    "machine\ni0 linear rows=3 sums=3 channels=5 tile_channels=2 a=dram b=psram to=dram\n";
const char* const on_host = "machine host_operators=softmax\ni0 softmax rows=2 length=5 passes=3 a=dram to=dram\n";

TEST(explain_layer, shows_no_formula_that_comes_to_another_figure_than_the_engines) {
  const Changeable right(weights_on_chip);
  for (const char* what : {"compute", "work", "overhead", "time", "dram_bytes"})
    EXPECT_TRUE(shows(right.explained(), what)) << what;
  Changeable worked(weights_on_chip);
  worked.stage.run.costs[0].busy[Resource::compute] += 1;
  EXPECT_FALSE(shows(worked.explained(), "compute"));
  Changeable longer(weights_on_chip);
  longer.stage.run.costs[0].cycles += 1;
  EXPECT_FALSE(shows(longer.explained(), "work"));
  EXPECT_FALSE(shows(longer.explained(), "time"));
  Changeable moved(weights_on_chip);
  moved.stage.trace[0].weight_bytes += 1;
  EXPECT_FALSE(shows(moved.explained(), "dram_bytes"));
  EXPECT_TRUE(shows(moved.explained(), "dram_channel"));
  Changeable waiting(weights_on_chip);
  waiting.stage.trace[0].overhead += 1;
  EXPECT_FALSE(shows(waiting.explained(), "overhead"));
}

TEST(explain_layer, adds_up_24_kinds_of_transfers_and_no_more) {
  Changeable changed(weights_on_chip);
  changed.stage.moves[0].moves.resize(24);  // those of no times add nothing
  LayerExplanation e = changed.explained();
  for (const char* what : {"dram_channel", "dram_bytes", "moving_time", "working_time"})
    EXPECT_TRUE(shows(e, what)) << what;
  changed.stage.moves[0].moves.resize(25);
  e = changed.explained();
  for (const char* what : {"dram_channel", "dram_bytes", "moving_time", "working_time"})
    EXPECT_FALSE(shows(e, what)) << what;
}

TEST(explain_layer, adds_up_24_shapes_and_no_more) {
  Changeable changed(on_host);
  auto& shapes = changed.stage.run.costs[0].shapes;
  while (shapes.size() < 24) shapes.emplace_back().times = 0;
  EXPECT_TRUE(shows(changed.explained(), "compute"));
  EXPECT_TRUE(shows(changed.explained(), "work"));
  shapes.emplace_back().times = 0;
  EXPECT_FALSE(shows(changed.explained(), "compute"));
  EXPECT_FALSE(shows(changed.explained(), "work"));
}

TEST(explain_layer, of_the_host_is_written_out_and_has_no_bound) {
  const LayerExplanation e = Changeable(on_host).explained();
  EXPECT_TRUE(e.written_out);
  EXPECT_EQ(e.bound_cycles, 0);
  EXPECT_TRUE(shows(e, "compute"));
  EXPECT_TRUE(shows(e, "work"));
  EXPECT_TRUE(Changeable(weights_on_chip).explained().written_out);
}

/// By hand; numbers are of a byte, memories hold 3 in all, lanes are one wide.
TEST(explain_layer, bounds_count_each_operand_once_beyond_what_memories_hold) {
  struct Case {
    const char* instruction;
    std::int64_t cycles, bytes;
  };
  for (const Case& c : {
           Case{"matmul rows=3 sums=2 channels=4 a=dsram b=stackram to=stackram", 24, (6 + 8 - 3) + (12 - 3)},
           Case{"matmul rows=3 sums=2 channels=4 a=dram b=dram to=dram", 24, (6 + 8 - 3) + (12 - 3)},
           Case{"attention heads=2 rows=3 keys=4 depth=2 values=3 q=dsram k=stackram v=dram to=dsram", 120,
                (12 + 16 + 24 - 3) + (18 - 3)},
           // 6 of 7 rows are read: the last would need a result more.
           Case{"conv2d rows=5 rows_in=7 sums=2 channels=2 kernel=3 a=stackram b=psram to=dsram", 60,
                (12 - 3) + (10 - 3)},
           Case{"softmax rows=2 length=3 passes=3 a=stackram to=dsram", 18, (6 - 3) + (6 - 3)},
           Case{"vector rows=1 length=3 a=dsram to=dsram", 3, 0},
       }) {
    const LayerExplanation e =
        Changeable(std::string("machine dsram_bytes=1 stackram_bytes=1\ni0 ") + c.instruction + "\n").explained();
    EXPECT_EQ(e.bound_cycles, c.cycles) << c.instruction;
    EXPECT_EQ(e.least_dram_bytes, c.bytes) << c.instruction;
  }
}

TEST(explain_layer, bounds_count_columns_of_the_input_as_rows) {
  Changeable changed(
      "machine dsram_bytes=1 stackram_bytes=1\n"
      "i0 conv2d rows=5 rows_in=7 sums=2 channels=2 kernel=3 a=stackram b=psram to=dsram\n");
  const std::int64_t of_rows = changed.explained().least_dram_bytes;
  LoopNest& n = changed.application.stages[0].program.classes[0].work.nest;
  std::swap(n.out_h, n.out_w);
  std::swap(n.in_h, n.in_w);
  std::swap(n.kernel_h, n.kernel_w);
  std::swap(n.pad_top, n.pad_left);
  std::swap(n.pad_bottom, n.pad_right);
  EXPECT_EQ(changed.explained().least_dram_bytes, of_rows);
}

/// Three operations of 4 cycles leave 4 bytes each, 8 cycles of the channel: 2 + 4 until the first leaves, then all
/// three; or 2 + 12 until the last does.
TEST(explain_layer, results_leave_after_the_first_operation_and_after_the_last) {
  const LayerExplanation e = Changeable(
                                 "machine weight_storage=hard_coded dispatch_cycles=2 dram_bytes_per_cycle=0.5\n"
                                 "i0 linear rows=3 sums=1 channels=4 tile_rows=1 a=dsram b=psram to=dram\n")
                                 .explained();
  EXPECT_EQ(term_of(e, "moving_time")->value, 2 + 4 + 3 * 8 + 1);
  EXPECT_EQ(term_of(e, "working_time")->value, 2 + 3 * 4 + 8 + 1);
  EXPECT_EQ(term_of(e, "beyond")->value, 0);
  EXPECT_EQ(e.layer.cycles, 2 + 4 + 3 * 8 + 1);
}

/// The same the other way: three loads of 8 cycles, then the last operation.
TEST(explain_layer, loads_come_before_the_first_operation_and_before_the_last) {
  const LayerExplanation e = Changeable(
                                 "machine weight_storage=hard_coded dispatch_cycles=2 dram_bytes_per_cycle=0.5\n"
                                 "i0 linear rows=3 sums=4 channels=1 tile_rows=1 a=dram b=psram to=dsram\n")
                                 .explained();
  EXPECT_EQ(term_of(e, "moving_time")->value, 3 * 8 + 4 + 1);
  EXPECT_EQ(term_of(e, "working_time")->value, 8 + 3 * 4 + 1);
  EXPECT_EQ(term_of(e, "beyond")->value, 0);
  EXPECT_EQ(e.layer.cycles, 3 * 8 + 4 + 1);
}

/// Symbols and numbers of a figure, as a reader puts one upon the other.
void expect_filled(const std::string& text, std::string_view what, const char* symbols, const char* numbers,
                   const std::function<void(InstructionClass&)>& change = {}) {
  const LayerExplanation e = Changeable(text, change).explained();
  const FilledTerm* term = term_of(e, what);
  ASSERT_NE(term, nullptr) << what;
  EXPECT_EQ(term->formula, symbols);
  EXPECT_EQ(term->numbers, numbers);
}

/// 3 positions x 2 of 4 weights, twice.
TEST(explain_layer, of_pruned_weights_is_told_by_those_that_are_kept) {
  const std::string conv =
      "machine sparsity=skipping weight_density=0.5 sparsity_group=4 conv_lanes_in=4 conv_lanes_out=2\n"
      "i0 conv2d rows=5 channels=3 sums=8 kernel=3 a=dsram b=psram to=dsram\n";
  expect_filled(
      conv, "compute",
      "tile operations x products x ceil(rows/lanes) x ceil(channels/lanes) x ceil(weights kept of kernel "
      "x K_tile/lanes)",
      "5 x ceil(3/2) x ceil(12/4)");
  expect_filled(conv, "bound_cycles", "ceil(MACs not skipped/lanes of the array)", "ceil(180/8)");
}

TEST(explain_layer, of_products_in_memory_is_told_by_rows_and_the_cycles_of_one) {
  const std::string linear = "i0 linear rows=3 sums=200 channels=40 tile_channels=20 a=dsram b=psram to=dsram\n";
  const std::string in_memory = "machine in_memory_weights=fefet fefet_columns_per_converter=5 fefet_input_bits=";
  expect_filled(in_memory + "3\n" + linear, "compute",
                "tile operations x products x rows x ceil(activation bits/fefet_input_bits) x "
                "fefet_columns_per_converter",
                "2 x 3 x ceil(8/3) x 5");
  expect_filled(in_memory + "3\n" + linear, "bound_cycles",
                "products x rows x ceil(activation bits/fefet_input_bits) x fefet_columns_per_converter",
                "3 x ceil(8/3) x 5");
  expect_filled(in_memory + "1\n" + linear, "compute",
                "tile operations x products x rows x activation bits x fefet_columns_per_converter",
                "2 x 3 x 8 x 5");
}

TEST(explain_layer, of_the_host_is_told_by_its_command_and_by_each_operand_once) {
  const std::string softmax =
      "machine host_operators=softmax host_command_cycles=5 dsram_port_bits=16\n"
      "i0 softmax rows=2 length=5 passes=3 a=dsram to=dsram\n";
  expect_filled(softmax, "dsram_read", "tile operations x ceil(elements x bits/port_bits), by operand",
                "ceil(10 x 8/16)");
  expect_filled(softmax, "dsram_write", "tile operations x ceil(results x bits/port_bits)", "ceil(10 x 8/16)");
  expect_filled(softmax, "overhead", "dispatch_cycles + host_command_cycles + links + pipeline_stages",
                "1 + 5 + 1");
  const std::string on_lanes =
      "machine softmax_lanes=4 dsram_port_bits=16\n"
      "i0 softmax rows=2 length=8 passes=3 a=dsram to=dsram\n";
  expect_filled(on_lanes, "dsram_read",
                "tile operations x folds that read x ceil(elements of a fold x bits/port_bits), by operand",
                "3 x 2 x 2 x ceil(4 x 8/16)");
  expect_filled(on_lanes, "dsram_write",
                "tile operations x folds written x ceil(elements of a fold x bits/port_bits)",
                "4 x ceil(4 x 8/16)");
  expect_filled(on_lanes, "overhead", "dispatch_cycles + links + pipeline_stages", "1 + 1");
}

TEST(explain_layer, of_the_host_is_told_by_what_is_fused_behind_it) {
  const auto expect_work = [](std::int64_t operators, std::int64_t statistics, const std::string& work,
                              const char* numbers) {
    const std::string symbols = "tile operations x (ceil(operand bits/host_bus_bits) + " + work +
                                " x host_cycles_per_element + ceil(result bits/host_bus_bits))";
    expect_filled(
        "machine host_operators=softmax host_cycles_per_element=4\n"
        "i0 softmax rows=2 length=5 a=dsram to=dsram\n",
        "compute", symbols.c_str(), numbers, [&](InstructionClass& c) {
          c.fused_operators = c.fused_passes = operators;
          c.statistics_passes = statistics;
        });
  };
  const char* const fused = "(elements x passes + results x what is fused)";
  expect_work(0, 0, "elements x passes", "ceil(10 x 8/32) + 10 x 4 + ceil(10 x 8/32)");
  expect_work(1, 0, fused, "ceil(10 x 8/32) + (10 + 10) x 4 + ceil(10 x 8/32)");
  expect_work(0, 1, fused, "ceil(10 x 8/32) + (10 + 10) x 4 + ceil(10 x 8/32)");
  expect_work(1, 1, fused, "ceil(10 x 8/32) + (10 + 10 x 2) x 4 + ceil(10 x 8/32)");
}

/// Two groups of 2 x 3 by 3 x 1, on one core and on two of which each has two of its own: these read the port one
/// after the other.
TEST(explain_layer, of_weights_that_cores_share_is_told_by_the_cores) {
  const auto expect_on = [](std::int64_t cores, const std::string& setting, std::string_view what,
                            const char* symbols, const char* numbers) {
    SCOPED_TRACE(setting + ", cores that share it: " + std::to_string(cores));
    expect_filled("machine " + setting + "\ni0 linear rows=2 sums=3 channels=1 a=stackram b=psram to=stackram\n",
                  what, symbols, numbers, [&](InstructionClass& c) {
                    c.work.nest.groups = c.mapping.tile_channels = 2;
                    c.out_elements = 4;
                    c.spread_cores = cores;
                  });
  };
  const std::string transfers = "transfers x ceil(cores x ceil(bytes/burst) x burst x q/p), by operand: ";
  expect_on(1, "", "dram_channel", (transfers + "weights and words once for all cores").c_str(), "ceil(6/1)");
  expect_on(2, "", "dram_channel", (transfers + "weights for each core that shares it, words once for all").c_str(),
            "ceil(2 x 6/1)");
  const std::string reads =
      "tile operations x folds that read x ceil(elements of a fold x bits/port_bits), by operand";
  expect_on(1, "psram_port_bits=8", "psram_read", reads.c_str(), "2 x 2 x 3 x ceil(8/8)");
  expect_on(2, "psram_port_bits=8", "psram_read", ("cores that share it x " + reads).c_str(),
            "2 x 2 x 2 x 3 x ceil(8/8)");
  const std::string stacked = "memory_hierarchy=writable_psram psram_port_bits=8";
  expect_on(1, stacked, "psram_read",
            "tile operations x (weights' beats + cores x their stack's), each folds x ceil(elements of a fold x "
            "bits/port_bits)",
            "2 x 2 x 3 x ceil(8/8) + 2 x 6 x ceil(8/8) + 2 x 2 x ceil(8/8)");
  expect_on(2, stacked, "psram_read", "tile operations x cores x (weights' beats + their stack's)",
            "2 x 2 x 2 x 3 x ceil(8/8) + 2 x (2 x 6 x ceil(8/8) + 2 x 2 x ceil(8/8))");
}

TEST(explain_layer, one_product_is_work_on_lanes) {
  Machine m;
  const Application application = example_of("machine\ni0 linear a=dsram b=psram to=dsram\n", m);
  const Explanation e = explain(application, m, 0);
  EXPECT_EQ(e.stages[0].bounds[0].formula, "ceil(MACs/lanes), by array: linear");
  EXPECT_EQ(e.layers[0].lane_macs, 1);
  EXPECT_EQ(e.layers[0].array_macs, 1);
}

TEST(explain_layer, a_single_write_to_an_accumulator_is_told) {
  const Changeable one("machine accumulator_folds=1 weight_registers=1\ni0 linear a=dsram b=psram to=dsram\n");
  ASSERT_EQ(one.stage.run.costs[0].busy.accumulator_writes, 1);
  EXPECT_TRUE(shows(one.explained(), "accumulator_writes"));
  EXPECT_EQ(term_of(one.explained(), "accumulator_reads"), nullptr);
}

/// 64 bytes come one by one over the port that the product reads them over.
TEST(explain_layer, what_lasts_as_long_as_transfers_need_a_port_is_told_by_their_beats) {
  const Changeable loaded("machine dma_port=shared dsram_port_bits=8\ni0 linear sums=64 a=dram b=psram to=dsram\n");
  const LayerExplanation e = loaded.explained();
  ASSERT_TRUE(shows(e, "work"));
  EXPECT_EQ(term_of(e, "work")->value, 64 + 64);
  EXPECT_NE(term_of(e, "work")->numbers.find("64 + ceil(8 x 64/8)"), std::string::npos);
}

TEST(explain_layer, products_in_memory_alone_are_no_work_on_lanes) {
  Machine m;
  const Application application =
      example_of("machine in_memory_weights=fefet\ni0 linear rows=2 sums=3 channels=4 a=dram b=psram to=dram\n", m);
  const FilledTerm bound = explain(application, m, 0).stages[0].bounds[0];
  EXPECT_EQ(bound.formula, "cycles of products in memory, by array: linear");
  EXPECT_EQ(bound.numbers, "2048") << "2 rows of 8 bits by 128 columns";
}

TEST(explain_layer, slack_is_what_its_time_has_above_a_need) {
  LayerExplanation e;
  e.layer.cycles = 10;
  e.layer.needs[psram_read] = 3;
  e.layer.needs[dram_channel] = 12;
  EXPECT_EQ(e.slack(Needed::psram_read), 7);
  EXPECT_EQ(e.slack(Needed::dram_channel), -2);
}

TEST(explain_frame, a_supply_that_is_said_is_no_lowest) {
  Machine m = find_preset("edge")->machine;
  const auto formula = [&] { return term_of(explain(compile(tiny_sd(m), m), m, 0), "supply_mv")->formula; };
  EXPECT_EQ(formula(), "the lowest multiple of 10 mV that allows core_clock_mhz; the most where none does");
  m.supply_mv = 700;
  EXPECT_EQ(formula(), "supply_mv");
}

}  // namespace
}  // namespace sdip
