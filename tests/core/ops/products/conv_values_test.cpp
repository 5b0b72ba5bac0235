// What convolutions and their relatives compute.
#include "tests/core/ops/computed.h"

namespace sdip {
namespace {

TEST(conv_values, each_result_is_the_sum_under_its_window) {
  EXPECT_EQ(values_of({"Conv", {tensor({1, 1, 3}, {1, 2, 3}), tensor({1, 1, 2}, {1, 10})}, {{"pads", Ints{1, 0}}}}),
            (Doubles{10, 21, 32}));
  const Use strided{"Conv",
                    {counting({1, 1, 5, 5}), tensor({1, 1, 2, 2}, {1, 2, 3, 4}), tensor({1}, {1000})},
                    {{"strides", Ints{2, 2}}, {"dilations", Ints{2, 1}}}};
  // at (0,0): 0*1 + 1*2 + 10*3 + 11*4 = 76
  EXPECT_EQ(values_of(strided), (Doubles{1076, 1096, 1176, 1196}));
}

TEST(conv_values, groups_see_their_own_channels) {
  const Use conv{
      "Conv", {tensor({1, 2, 2}, {1, 2, 3, 4}), tensor({2, 1, 1}, {10, 100})}, {{"group", std::int64_t{2}}}};
  EXPECT_EQ(values_of(conv), (Doubles{10, 20, 300, 400}));
}

TEST(conv_values, three_axes) {
  const Use conv{"Conv", {counting({1, 1, 2, 2, 2}), tensor({1, 1, 2, 2, 2}, Doubles(8, 1))}};
  EXPECT_EQ(values_of(conv), (Doubles{28}));
}

TEST(conv_values, a_folded_batch_norm_scales_each_channel) {
  const Attributes epsilon = {{"epsilon", 0.0}};
  const Operand scale = tensor({2}, {2, 3}), variance = tensor({2}, {4, 1});
  const Use folded{"FoldedWeight", {tensor({2, 1, 2}, {1, 2, 3, 4}), scale, variance}, epsilon, 17, 1, "sdip"};
  EXPECT_EQ(values_of(folded), (Doubles{1, 2, 9, 12}));
  const Operand beta = tensor({2}, {10, 20}), mean = tensor({2}, {1, 2}), own = tensor({2}, {5, 6});
  const Use bias{"FoldedBias", {scale, beta, mean, variance, own}, epsilon, 17, 1, "sdip"};
  EXPECT_EQ(values_of(bias), (Doubles{14, 32}));
}

TEST(conv_transpose, spreads_each_element_over_its_window) {
  const Operand x = tensor({1, 1, 2}, {1, 2}), w = tensor({1, 1, 3}, {1, 10, 100});
  EXPECT_EQ(values_of({"ConvTranspose", {x, w}, {{"strides", Ints{2}}}}), (Doubles{1, 10, 102, 20, 200}));
  const Use longer{
      "ConvTranspose", {x, w}, {{"strides", Ints{2}}, {"output_padding", Ints{1}}, {"pads", Ints{1, 0}}}};
  EXPECT_EQ(values_of(longer), (Doubles{10, 102, 20, 200, 0}));
  const Use same{"ConvTranspose", {x, w}, {{"strides", Ints{2}}, {"auto_pad", text("SAME_UPPER")}}};
  EXPECT_EQ(values_of(same), (Doubles{1, 10, 102, 20}));  // the one too many is cut at the end
  const Use lower{"ConvTranspose", {x, w}, {{"strides", Ints{2}}, {"auto_pad", text("SAME_LOWER")}}};
  EXPECT_EQ(values_of(lower), (Doubles{10, 102, 20, 200}));
  EXPECT_EQ(shape_of({"ConvTranspose", {x, w}, {{"strides", Ints{2}}, {"output_shape", Ints{7}}}}),
            (Shape{1, 1, 7}));
}

TEST(conv_transpose, nest_counts_the_phases_of_the_stride) {
  const Use doubled{"ConvTranspose",
                    {floats({1, 4, 8, 8}), weight({4, 6, 4, 4})},
                    {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}};
  EXPECT_EQ(shape_of(doubled), (Shape{1, 6, 16, 16}));
  // every input meets every kernel element once: 8 x 8 x 4 x 6 x 16 products
  EXPECT_EQ(mac_count(work_of(doubled).nest), 8 * 8 * 4 * 6 * 16);
  const Use odd{"ConvTranspose", {floats({1, 1, 8}), weight({1, 1, 3})}, {{"strides", Ints{2}}}};
  EXPECT_EQ(work_of(odd).nest.kernel_w, 2);
  EXPECT_EQ(work_of(odd).nest.out_channels, 2);
}

TEST(conv_transpose, hostile_sizes_are_refused) {
  const std::int64_t huge = std::int64_t{1} << 40;
  const Use product{"ConvTranspose", {floats({1, 1, huge}), weight({1, 1, 3})}, {{"strides", Ints{huge}}}};
  EXPECT_EQ(code_of(product), "shape_mismatch");
  const Use pads{"ConvTranspose", {floats({1, 1, 2}), weight({1, 1, 3})}, {{"pads", Ints{100, 100}}}};
  EXPECT_EQ(code_of(pads), "shape_mismatch");
}

TEST(deform_conv, without_offsets_is_a_convolution_and_offsets_move_its_taps) {
  const Operand x = counting({1, 1, 3, 3}), w = tensor({1, 1, 1, 1}, {1});
  const Operand none = tensor({1, 2, 3, 3}, Doubles(18, 0));
  EXPECT_EQ(values_of({"DeformConv", {x, w, none}, {}, 19}), doubles_of(*x.value));
  Doubles moves(18, 0);
  moves[0] = 0.5;    // (0,0) looks half a row down: between 0 and 3
  moves[9 + 8] = 1;  // (2,2) looks a column to the right: outside
  const Doubles found = values_of({"DeformConv", {x, w, tensor({1, 2, 3, 3}, moves)}, {}, 19});
  EXPECT_EQ(found[0], 1.5);
  EXPECT_EQ(found[8], 0);
  const Use masked{"DeformConv", {x, w, none, absent(), tensor({1, 1, 3, 3}, Doubles(9, 0.5))}, {}, 19};
  EXPECT_EQ(values_of(masked)[8], 4);
}

TEST(col2im, adds_columns_where_their_windows_lie) {
  const Use use{"Col2Im", {tensor({1, 2, 3}, {1, 2, 3, 10, 20, 30}), ints({1, 4}), ints({1, 2})}, {}, 18};
  EXPECT_EQ(shape_of(use), (Shape{1, 1, 1, 4}));
  EXPECT_EQ(values_of(use), (Doubles{1, 12, 23, 30}));
  EXPECT_EQ(code_of({"Col2Im", {floats({1, 2, 4}), ints({1, 4}), ints({1, 2})}, {}, 18}), "shape_mismatch");
}

}  // namespace
}  // namespace sdip
