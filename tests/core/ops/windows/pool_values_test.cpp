// What pools compute: windows, whole planes, regions, and back.
#include "tests/core/ops/computed.h"

namespace sdip {
namespace {

TEST(average_pool, divides_by_what_lies_in_the_input_or_in_its_padding) {
  const Operand x = tensor({1, 1, 3}, {3, 6, 9});
  Attributes attributes = {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 0}}, {"strides", Ints{2}}};
  EXPECT_EQ(values_of({"AveragePool", {x}, attributes}), (Doubles{3, 7.5}));
  attributes["count_include_pad"] = std::int64_t{1};
  EXPECT_EQ(values_of({"AveragePool", {x}, attributes}), (Doubles{1.5, 7.5}));
}

TEST(average_pool, what_hangs_over_the_padded_input_is_not_counted) {
  const Use use{"AveragePool",
                {tensor({1, 1, 4}, {1, 2, 3, 4})},
                {{"kernel_shape", Ints{3}},
                 {"strides", Ints{2}},
                 {"ceil_mode", std::int64_t{1}},
                 {"count_include_pad", std::int64_t{1}}},
                19};
  EXPECT_EQ(values_of(use), (Doubles{2, 3.5}));
}

TEST(average_pool, a_window_that_would_start_behind_the_input_is_left_out) {
  const Use use{"AveragePool",
                {floats({1, 1, 2})},
                {{"kernel_shape", Ints{1}}, {"strides", Ints{2}}, {"pads", Ints{0, 1}}, {"ceil_mode", number(1)}},
                22};
  EXPECT_EQ(shape_of(use), (Shape{1, 1, 1}));
}

TEST(average_pool, a_huge_kernel_costs_no_more_than_its_input) {
  const std::int64_t wide = std::int64_t{1} << 20;
  const Use use{"AveragePool",
                {tensor({1, 1, 2, 2}, {1, 2, 3, 6})},
                {{"kernel_shape", Ints{wide, wide}}, {"pads", Ints{wide / 2, wide / 2, wide / 2, wide / 2}}}};
  EXPECT_EQ(values_of(use).at(0), 3);
}

TEST(max_pool, indices_count_in_the_whole_input_by_rows_or_columns) {
  Attributes attributes = {{"kernel_shape", Ints{2, 2}}};
  const Operand x = tensor({2, 1, 2, 3}, {0, 9, 1, 2, 3, 4, 5, 5, 5, 5, 5, 6});
  EXPECT_EQ(values_of({"MaxPool", {x}, attributes, 12, 2}), (Doubles{9, 9, 5, 6}));
  EXPECT_EQ(values_of({"MaxPool", {x}, attributes, 12, 2}, 1), (Doubles{1, 1, 6, 11}));
  attributes["storage_order"] = std::int64_t{1};
  EXPECT_EQ(values_of({"MaxPool", {x}, attributes, 12, 2}, 1), (Doubles{2, 2, 6, 11}));
}

TEST(lp_pool, is_the_norm_of_each_window) {
  EXPECT_EQ(values_of({"LpPool", {tensor({1, 1, 2}, {3, -4})}, {{"kernel_shape", Ints{2}}}}), (Doubles{5}));
  EXPECT_EQ(values_of({"GlobalLpPool", {tensor({1, 1, 2}, {3, -4})}, {{"p", number(1)}}}), (Doubles{7}));
}

TEST(max_unpool, puts_each_element_where_its_index_says) {
  const Operand x = tensor({1, 1, 2}, {5, 6});
  const Operand where = tensor({1, 1, 2}, {1, 3}, ElementType::int64);
  const Attributes attributes = {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}};
  EXPECT_EQ(values_of({"MaxUnpool", {x, where}, attributes, 11}), (Doubles{0, 5, 0, 6}));
  EXPECT_EQ(values_of({"MaxUnpool", {x, where, ints({1, 1, 5})}, attributes, 11}), (Doubles{0, 5, 0, 6, 0}));
  const Operand beyond = tensor({1, 1, 2}, {1, 4}, ElementType::int64);
  EXPECT_EQ(computing_code_of({"MaxUnpool", {x, beyond}, attributes, 11}), "shape_mismatch");
}

TEST(roi_align, averages_samples_between_elements) {
  const Operand x = counting({1, 1, 4, 4}), roi = tensor({1, 4}, {0, 0, 4, 4});
  const Operand batch = tensor({1}, {0}, ElementType::int64);
  Attributes attributes = {
      {"output_height", number(2)}, {"output_width", number(2)}, {"sampling_ratio", number(1)}};
  // samples at 1 and 3, half an element earlier from opset 16 on
  EXPECT_EQ(values_of({"RoiAlign", {x, roi, batch}, attributes, 16}), (Doubles{2.5, 4.5, 10.5, 12.5}));
  EXPECT_EQ(values_of({"RoiAlign", {x, roi, batch}, attributes, 10}), (Doubles{5, 7, 13, 15}));
}

TEST(roi_align, regions_out_of_all_proportion_are_refused) {
  const Operand batch = tensor({1}, {0}, ElementType::int64);
  const Operand huge = tensor({1, 4}, {0, 0, 1e30, 4}), other = tensor({1}, {7}, ElementType::int64);
  EXPECT_EQ(computing_code_of({"RoiAlign", {counting({1, 1, 4, 4}), huge, batch}, {}, 16}), "limit_exceeded");
  const Operand roi = tensor({1, 4}, {0, 0, 4, 4});
  EXPECT_EQ(computing_code_of({"RoiAlign", {counting({1, 1, 4, 4}), roi, other}, {}, 16}), "shape_mismatch");
}

TEST(max_roi_pool, takes_the_greatest_of_each_cell) {
  const Use use{"MaxRoiPool",
                {counting({1, 1, 4, 4}), tensor({2, 5}, {0, 0, 0, 3, 3, 0, 1, 1, 1, 1})},
                {{"pooled_shape", Ints{2, 2}}}};
  EXPECT_EQ(values_of(use), (Doubles{5, 7, 13, 15, 5, 5, 5, 5}));
}

}  // namespace
}  // namespace sdip
