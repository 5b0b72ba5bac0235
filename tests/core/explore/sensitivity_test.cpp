// Are single changes the ones meant, are they evaluated as if alone, and are the cheapest first?
#include "core/explore/sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

std::shared_ptr<const Application> compiled_tiny_sd(const Machine& m) {
  return std::make_shared<const Application>(compile(tiny_sd(m), m));
}

std::vector<std::int64_t> steps_of(const Machine& m, std::string_view name) {
  std::vector<std::int64_t> values;
  for (const Change& change : single_changes(m))
    if (change.row->name == name) values.push_back(change.to);
  return values;
}

std::int64_t compiled_for_essay = 0;

const Sensitivities& of_essay() {
  static const Sensitivities s = sensitivities(find_preset("essay")->machine, [](const Machine& m) {
    ++compiled_for_essay;
    return compiled_tiny_sd(m);
  });
  return s;
}

double metric_of(const Outcome& outcome, Metric metric) { return outcome.values[static_cast<std::size_t>(metric)]; }

TEST(single_changes, go_where_something_changes) {
  Machine m;
  m.steps = 20;
  m.cores = 10;
  EXPECT_THAT(steps_of(m, "cores"), testing::ElementsAre(7, 20));
  m.cores = 20;
  EXPECT_THAT(steps_of(m, "cores"), testing::ElementsAre(10));
  m.cores = 12;  // two steps each on ten of them
  EXPECT_THAT(steps_of(m, "cores"), testing::ElementsAre(7, 20));
  m.core_clock_mhz = 1100;
  EXPECT_THAT(steps_of(m, "core_clock_mhz"), testing::ElementsAre(990, 1210));
  m.dram_rate_mtps = 3200;
  EXPECT_THAT(steps_of(m, "dram_rate_mtps"), testing::ElementsAre(2880, 3520));
  for (m.steps = 2; m.steps <= 60; ++m.steps)
    for (m.cores = 1; m.cores <= 60; ++m.cores)
      for (const std::int64_t cores : steps_of(m, "cores"))
        EXPECT_NE((m.steps + cores - 1) / cores, (m.steps + m.cores - 1) / m.cores) << m.cores << " to " << cores;
}

TEST(sensitivities, a_capacity_that_changes_nothing_is_doubled_again) {
  Machine m = find_preset("edge")->machine;
  m.dsram_bytes = m.stackram_bytes = 1 << 20;  // more than enough for the tiny network
  const Sensitivities s = sensitivities(m, compiled_tiny_sd);
  for (const ChangedPoint& point : s.points)
    if (point.change.row->name == "dsram_bytes") {
      EXPECT_EQ(point.change.to, point.change.to > point.change.from ? 8 << 20 : 1 << 17);
    }
}

TEST(single_changes, counts_go_to_the_next_powers_of_two_and_decimals_are_halved_and_doubled) {
  Machine m;
  m.steps = 1;
  m.cores = 10;
  m.conv_lanes_in = 16;
  m.decoder_dram_share = Decimal{20};
  m.dram_efficiency = Decimal{80};
  EXPECT_THAT(steps_of(m, "cores"), testing::ElementsAre(8, 16));
  EXPECT_THAT(steps_of(m, "conv_lanes_in"), testing::ElementsAre(8, 32));
  EXPECT_THAT(steps_of(m, "decoder_dram_share"), testing::ElementsAre(10, 40));
  EXPECT_THAT(steps_of(m, "dram_efficiency"), testing::ElementsAre(40, 100));
}

TEST(single_changes, stay_within_the_row_and_skip_a_count_of_nothing) {
  Machine m;
  m.cores = 1;
  m.psram_pinned_bytes = 0;
  EXPECT_THAT(steps_of(m, "cores"), testing::ElementsAre(2));
  EXPECT_THAT(steps_of(m, "psram_pinned_bytes"), testing::IsEmpty());
}

TEST(single_changes, leave_out_what_has_no_step_and_that_is_said_with_its_reason) {
  Machine m;
  m.psram_pinned_bytes = 0;
  m.cores = 4;
  std::set<std::string_view> stepped;
  for (const Change& change : single_changes(m)) stepped.insert(change.row->name);
  std::map<std::string_view, std::string_view> left_out;
  for (const Stepless& one : stepless(m)) {
    left_out[one.row->name] = one.reason;
    EXPECT_EQ(one.value, one.row->read(m));
  }
  for (const ParameterRow& row : parameters())
    EXPECT_NE(stepped.contains(row.name), left_out.contains(row.name)) << row.name;
  EXPECT_EQ(left_out.at("psram_pinned_bytes"), "0 has no step");
  EXPECT_EQ(left_out.at("memory_stair"), "takes hundreds of compilations");
  m.psram_pinned_bytes = 4096;
  EXPECT_TRUE(
      std::ranges::none_of(stepless(m), [](const Stepless& one) { return one.row->name == "psram_pinned_bytes"; }));
}

TEST(single_changes, name_every_other_choice) {
  const Machine m;
  const ParameterRow& row = *find_parameter("dataflow");
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < std::ssize(row.choices); ++i)
    if (i != row.read(m)) others.push_back(i);
  EXPECT_EQ(steps_of(m, "dataflow"), others);
  EXPECT_THAT(steps_of(m, "hoisted_context"), testing::ElementsAre(1));
}

void expect_each_change_alone() {
  const Machine& essay = find_preset("essay")->machine;
  ASSERT_EQ(of_essay().points.size(), single_changes(essay).size());
  for (std::size_t i = 0; i < of_essay().points.size(); i += 17) {
    const ChangedPoint& point = of_essay().points[i];
    if (!point.outcome.feasible) continue;
    Machine changed = essay;
    point.change.row->write(changed, point.change.to);
    const auto application = compiled_tiny_sd(changed);
    EXPECT_FALSE(differ(point.outcome, evaluate(*application, changed))) << point.change.row->name;
    EXPECT_EQ(point.limiter, explain(*application, changed, 0).limiter()) << point.change.row->name;
  }
}

void expect_programs_only_where_they_may_differ() {
  const Sensitivities& s = of_essay();
  EXPECT_EQ(compiled_for_essay, s.compiled + 1);
  EXPECT_LT(s.compiled, std::ssize(s.points) / 2);
}

void expect_an_infeasible_change_to_say_why() {
  const auto& points = of_essay().points;
  const auto refused = std::ranges::find_if(points, [](const ChangedPoint& point) {
    return point.change.row->name == "norm_statistics";  // without fusion=norm
  });
  ASSERT_NE(refused, points.end());
  EXPECT_FALSE(refused->outcome.feasible);
  EXPECT_THAT(refused->outcome.reason, testing::HasSubstr("fusion=norm"));
  EXPECT_FALSE(refused->elasticity(of_essay().outcome, Metric::latency_s));
}

TEST(sensitivities, elasticity_is_a_ratio_of_logarithms) {
  Outcome before, after;
  before.feasible = after.feasible = true;
  before.values.fill(4);
  after.values.fill(2);
  const ChangedPoint twice{{find_parameter("conv_lanes_in"), 8, 16}, after, "", Needed::compute};
  EXPECT_DOUBLE_EQ(*twice.elasticity(before, Metric::latency_s), -1);
  const ChangedPoint choice{{find_parameter("dataflow"), 1, 2}, after, "", Needed::compute};
  EXPECT_FALSE(choice.elasticity(before, Metric::latency_s));
}

/// Points by hand: (parameter, area, energy, frames a second, limiter).
struct Hand {
  const char* name;
  double area, energy, frames;
  Needed limiter;
};
Sensitivities by_hand(const std::vector<Hand>& hands) {
  Sensitivities s;
  const auto worth = [](double area, double energy, double frames) {
    Outcome outcome;
    outcome.feasible = true;
    outcome.values[static_cast<std::size_t>(Metric::area_mm2)] = area;
    outcome.values[static_cast<std::size_t>(Metric::energy_j_per_frame)] = energy;
    outcome.values[static_cast<std::size_t>(Metric::throughput_fps)] = frames;
    return outcome;
  };
  s.outcome = worth(100, 10, 1);
  s.pace = "core";
  s.limiter = Needed::dram_channel;
  for (const Hand& hand : hands)
    s.points.push_back(
        {{find_parameter(hand.name), 1, 2}, worth(hand.area, hand.energy, hand.frames), "core", hand.limiter});
  return s;
}

/// What gains and has no term in the area is not offered as free.
TEST(cheapest_changes, that_no_area_is_known_of_are_called_so) {
  for (const char* name : {"transposition", "decompressor_bytes_per_cycle", "link_bits", "attention_parts"})
    EXPECT_EQ(find_parameter(name)->change, ChangeKind::unpriced) << name;
  EXPECT_EQ(find_parameter("dram_channels")->change, ChangeKind::design) << "PHYs have area";
  EXPECT_EQ(find_parameter("sparsity")->change, ChangeKind::assumption);
  EXPECT_EQ(find_parameter("vector_lanes")->change, ChangeKind::design);
}

TEST(cheapest_changes, least_area_then_least_energy_and_what_no_area_is_known_of_last) {
  const Sensitivities s = by_hand({{"attention_parts", 100, 5, 2, Needed::compute},
                                   {"dsram_bytes", 120, 9, 2, Needed::compute},
                                   {"vector_lanes", 110, 9, 2, Needed::compute},
                                   {"norm_lanes", 110, 8, 2, Needed::compute}});
  EXPECT_THAT(cheapest_changes(s, {}), testing::ElementsAre(3, 2, 1, 0));
}

TEST(cheapest_changes, leave_out_what_is_slower_what_stays_and_what_is_no_change_of_the_design) {
  const Sensitivities s = by_hand({{"vector_lanes", 90, 5, 0.5, Needed::compute},
                                   {"norm_lanes", 100, 9, 1, Needed::dram_channel},
                                   {"weight_format", 90, 5, 2, Needed::compute},
                                   {"steps", 90, 5, 2, Needed::compute},
                                   {"technology_node", 50, 5, 2, Needed::compute},
                                   {"softmax_lanes", 101, 9, 1.05, Needed::dsram_read}});
  EXPECT_THAT(cheapest_changes(s, {}), testing::ElementsAre(5));
  EXPECT_THAT(cheapest_changes(s, {Metric::throughput_fps, 0.05}), testing::ElementsAre(5));
  EXPECT_THAT(cheapest_changes(s, {Metric::throughput_fps, 0.1}), testing::IsEmpty());
}

TEST(cheapest_changes, that_move_the_bottleneck_and_gain_nothing_are_told_apart) {
  const Sensitivities s = by_hand({{"norm_lanes", 101, 9, 1, Needed::compute},
                                   {"vector_lanes", 90, 9, 1.0009, Needed::compute},
                                   {"softmax_lanes", 110, 9, 1.001, Needed::compute},
                                   {"dsram_bytes", 80, 9, 0.999, Needed::compute},
                                   {"psram_bytes", 80, 9, 1, Needed::dram_channel}});
  EXPECT_THAT(cheapest_changes(s, {}), testing::ElementsAre(2));
  EXPECT_THAT(idle_moves(s), testing::ElementsAre(1, 0));
}

void expect_cheapest_changes_to_fulfil_the_wish() {
  const Sensitivities& s = of_essay();
  for (const std::size_t i : cheapest_changes(s, {Metric::latency_s, 0.02}))
    EXPECT_LE(metric_of(s.points[i].outcome, Metric::latency_s), 0.98 * metric_of(s.outcome, Metric::latency_s));
}

/// Together, for each test is a process of its own, and these sensitivities take seconds.
TEST(sensitivities, of_a_real_machine_are_what_its_changes_alone_are_worth_and_the_cheapest_fulfil_the_wish) {
  EXPECT_EQ(of_essay().without_step.size(), stepless(find_preset("essay")->machine).size());
  expect_each_change_alone();
  expect_programs_only_where_they_may_differ();
  expect_an_infeasible_change_to_say_why();
  expect_cheapest_changes_to_fulfil_the_wish();
}

}  // namespace
}  // namespace sdip
