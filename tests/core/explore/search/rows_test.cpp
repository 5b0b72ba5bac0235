// What does a search vary?
#include "core/explore/search/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/explore/sensitivity.h"
#include "core/machine/shown.h"

namespace sdip {
namespace {

TEST(searched_rows, are_rows_in_their_order_with_values_that_they_allow) {
  std::vector<std::string_view> names;
  for (const SearchedRow& one : searched_rows()) {
    const ParameterRow* row = find_parameter(one.name);
    ASSERT_NE(row, nullptr) << one.name;
    names.push_back(one.name);
    for (const std::int64_t value : searched_values(*row, one.values)) {
      EXPECT_GE(value, row->least) << one.name;
      EXPECT_LE(value, row->most) << one.name;
    }
  }
  std::vector<std::string_view> ordered;
  for (const ParameterRow& row : parameters())
    if (std::ranges::find(names, row.name) != names.end()) ordered.push_back(row.name);
  EXPECT_EQ(names, ordered);
}

TEST(searched_rows, are_none_of_the_task_and_no_assumption) {
  for (const SearchedRow& one : searched_rows()) {
    const ParameterRow& row = *find_parameter(one.name);
    EXPECT_NE(row.change, ChangeKind::task) << one.name;
    EXPECT_NE(row.change, ChangeKind::assumption) << one.name;
    EXPECT_TRUE(row.change != ChangeKind::results || row.group == "precision") << one.name;
  }
}

std::string broken_rule_of(const Machine& machine) {
  try {
    check_machine(machine);
  } catch (const Error& error) {
    return error.where;
  }
  return "";
}

TEST(mended, is_the_base_or_else_what_other_values_of_few_axes_make_of_it) {
  Machine base = find_preset("balanced")->machine;
  const std::vector<Axis> all = searched_axes(base, {}, {});
  EXPECT_EQ(mended(base, all), base);
  base.fusion = Fusion::no_fusion;
  base.norm_statistics = NormStatistics::producer;
  base.accumulator_format = NumberFormat::fp16;
  base.activation_format = NumberFormat::int8;
  base.weight_format = NumberFormat::int4;
  base.dies = 2;
  base.memory_hierarchy = MemoryHierarchy::crossbar;
  EXPECT_EQ(broken_rule_of(base), "norm_statistics");
  const std::vector<std::string_view> fixed = {"fusion", "dies"};
  const Machine found = mended(base, searched_axes(base, fixed, {}));
  EXPECT_EQ(broken_rule_of(found), "");
  EXPECT_EQ(found.fusion, base.fusion);
  EXPECT_EQ(found.dies, 2);
  EXPECT_NE(found.memory_hierarchy, base.memory_hierarchy);
  EXPECT_NE(found.norm_statistics, base.norm_statistics);
  EXPECT_EQ(found.conv_lanes_in, base.conv_lanes_in);
}

TEST(mended, refuses_where_no_axis_mends_a_rule_with_what_the_base_breaks) {
  Machine base = find_preset("balanced")->machine;
  base.fusion = Fusion::no_fusion;
  base.norm_statistics = NormStatistics::producer;
  const std::vector<std::string_view> fixed = {"fusion", "norm_statistics"};
  try {
    mended(base, searched_axes(base, fixed, {}));
    ADD_FAILURE() << "it has no way";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "value_conflict");
    EXPECT_EQ(error.where, "norm_statistics");
  }
}

TEST(searched_rows, have_formats_below_8_bits_only_where_these_are_wanted) {
  const auto widths = [](bool narrow) {
    std::int64_t least = 64;
    for (const Axis& axis : searched_axes(Machine{}, {}, {}, narrow))
      if (axis.row->group == "precision" && axis.row->name.ends_with("format"))
        for (const std::int64_t value : axis.values)
          least = std::min(least, bits_of(static_cast<NumberFormat>(value)));
    return least;
  };
  EXPECT_EQ(widths(false), 8);
  EXPECT_EQ(widths(true), 4);
  for (const SearchedRow& one : narrow_formats())
    for (const std::int64_t value : searched_values(*find_parameter(one.name), one.values))
      EXPECT_LT(bits_of(static_cast<NumberFormat>(value)), 8) << one.name;
}

/// Rows that act on the machine and are not searched, and why: whoever adds a row decides.
constexpr std::pair<std::string_view, std::string_view> not_searched[] = {
    {"die_link_cycles", "unpriced: a shorter link would be free"},
    {"scale_granularity", "results"},
    {"dram_channel_bits", "the kind's"},
    {"dram_rate_mtps", "the kind's usual rate"},
    {"dram_channel_mib", "the kind's"},
    {"dram_burst_bytes", "the kind's"},
    {"conv2d_dsram_bytes", "with operator_dsram=per_operator as dsram_bytes"},
    {"linear_dsram_bytes", "likewise"},
    {"matmul_dsram_bytes", "likewise"},
    {"vector_dsram_bytes", "likewise"},
    {"softmax_dsram_bytes", "likewise"},
    {"norm_dsram_bytes", "likewise"},
    {"transpose_dsram_bytes", "likewise"},
    {"encoder_dram_share", "image to image alone"},
    {"link_bits", "unpriced"},
    {"tile_search", "exact is the best"},
    {"memory_stair", "takes hundreds of compilations; a machine of less memory is searched itself"},
    {"weight_compression", "an assumption on the weights"},
    {"decompressor_bytes_per_cycle", "unpriced"},
    {"dispatch_cycles", "unpriced"},
    {"host_bus_bits", "of hosts, unpriced"},
    {"host_result_bits", "of hosts, unpriced"},
    {"core_weights", "networks that are laid out over cores: of the task"},
    {"low_rank", "results"},
    {"low_rank_share", "results"},
    {"in_memory_weights", "FeFET memories are searched where asked for"},
    {"fefet_input_bits", "likewise"},
    {"fefet_columns_per_converter", "likewise"},
};

TEST(searched_rows, and_those_left_out_are_all_that_act_on_the_machine) {
  for (const ParameterRow& row : parameters()) {
    const bool searched = std::ranges::find(searched_rows(), row.name, &SearchedRow::name) != searched_rows().end();
    const bool named = std::ranges::any_of(not_searched, [&](const auto& one) { return one.first == row.name; });
    const bool of_stage = row.group == "text_encoder" || row.group == "vae_encoder" || row.group == "vae_decoder";
    const ChangeKind kind = row.change;
    const bool acts = kind == ChangeKind::design || kind == ChangeKind::unpriced || row.group == "precision";
    if (!acts || of_stage) continue;
    EXPECT_NE(searched, named) << row.name;
  }
}

TEST(searched_axes, hold_the_base_leave_out_what_is_fixed_and_take_what_is_asked_for) {
  Machine base;
  base.cores = 11;
  const std::vector<std::string_view> fixed = {"core_clock_mhz"};
  const std::vector<Axis> asked = {{find_parameter("psram_bytes"), {4096, 1024}},
                                   {find_parameter("weight_compression"), {100, 200}}};
  const std::vector<Axis> axes = searched_axes(base, fixed, asked);
  const auto values_of = [&](std::string_view name) {
    const auto found = std::ranges::find(axes, name, [](const Axis& axis) { return axis.row->name; });
    return found == axes.end() ? std::vector<std::int64_t>() : found->values;
  };
  EXPECT_THAT(values_of("cores"), testing::Contains(11));
  EXPECT_TRUE(std::ranges::is_sorted(values_of("cores")));
  EXPECT_TRUE(values_of("core_clock_mhz").empty());
  EXPECT_THAT(values_of("psram_bytes"), testing::ElementsAre(1024, 4096));
  EXPECT_THAT(values_of("weight_compression"), testing::ElementsAre(100, 200));
}

TEST(searched_axes, take_figures_of_the_technology_that_are_asked_for) {
  const ParameterRow& figure = technology_parameters()[3];
  const std::vector<Axis> asked = {{&figure, {figure.read(Machine{}) + 1, figure.read(Machine{})}}};
  EXPECT_TRUE(std::ranges::any_of(searched_axes(Machine{}, {}, asked), [&](const Axis& axis) {
    return axis.row == &figure && axis.values.size() == 2;
  }));
  for (const Axis& axis : searched_axes(Machine{}, {}, {})) EXPECT_NE(axis.row, &figure);
}

TEST(searched_values, are_so_many_an_octave) {
  const ParameterRow& row = *find_parameter("psram_bytes");
  EXPECT_THAT(searched_values(row, "1024:8192:1"), testing::ElementsAre(1024, 2048, 4096, 8192));
  EXPECT_THAT(searched_values(row, "1024:4096:2"), testing::ElementsAre(1024, 1536, 2048, 3072, 4096));
  EXPECT_THAT(searched_values(*find_parameter("fusion"), "all"), testing::ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace sdip
