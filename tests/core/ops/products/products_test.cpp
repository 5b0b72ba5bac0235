// Convolutions and matrix products: shapes and loop nests.
#include "tests/core/ops/use_of.h"

namespace sdip {
namespace {

TEST(conv2d, output_shape_follows_stride_and_padding) {
  const Use conv{"Conv",
                 {floats({2, 4, 64, 63}), weight({8, 4, 3, 3})},
                 {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 0, 1}}}};
  // rows: (64 + 1 - 3) / 2 + 1 = 32; columns: (63 + 2 - 3) / 2 + 1 = 32
  EXPECT_EQ(shape_of(conv), (Shape{2, 8, 32, 32}));
}

TEST(conv2d, nest_holds_channels_within_a_group) {
  const Work work = work_of({"Conv",
                             {floats({1, 6, 10, 10}), weight({9, 2, 3, 5})},
                             {{"group", std::int64_t{3}}, {"dilations", Ints{2, 1}}, {"pads", Ints{0, 2, 0, 2}}}});
  EXPECT_EQ(work.family, Family::conv2d);
  EXPECT_EQ(work.nest.groups, 3);
  EXPECT_EQ(work.nest.out_channels, 3);
  EXPECT_EQ(work.nest.in_channels, 2);
  EXPECT_EQ(work.nest.out_h, 6);  // 10 - (2 * 2 + 1) + 1
  EXPECT_EQ(work.nest.out_w, 10);
  EXPECT_EQ(work.nest.dilation_h, 2);
  EXPECT_EQ(work.nest.pad_left, 2);
  EXPECT_EQ(mac_count(work.nest), 3 * 3 * 2 * 6 * 10 * 15);
}

TEST(conv2d, same_padding_keeps_the_size_at_stride_one) {
  const Use conv{"Conv", {floats({1, 1, 7, 7}), weight({1, 1, 4, 4})}, {{"auto_pad", std::string("SAME_UPPER")}}};
  EXPECT_EQ(shape_of(conv), (Shape{1, 1, 7, 7}));
  const LoopNest nest = work_of(conv).nest;
  EXPECT_EQ(nest.pad_top, 1);
  EXPECT_EQ(nest.pad_bottom, 2);
}

TEST(conv2d, one_axis_is_two_of_which_the_first_has_size_one) {
  const LoopNest nest = work_of({"Conv", {floats({1, 4, 100}), weight({8, 4, 5})}}).nest;
  EXPECT_EQ(nest.out_h, 1);
  EXPECT_EQ(nest.in_h, 1);
  EXPECT_EQ(nest.out_w, 96);
  EXPECT_EQ(nest.kernel_w, 5);
}

TEST(conv2d, three_axes_are_planes_each_of_all_planes_under_the_kernel) {
  const Use conv{"Conv",
                 {floats({2, 4, 16, 8, 9}), weight({6, 2, 3, 5, 1})},
                 {{"group", std::int64_t{2}}, {"pads", Ints{1, 2, 0, 1, 2, 0}}}};
  EXPECT_EQ(shape_of(conv), (Shape{2, 6, 16, 8, 9}));
  const LoopNest nest = work_of(conv).nest;
  EXPECT_EQ(nest.batch, 2 * 16);
  EXPECT_EQ(nest.in_channels, 2 * 3);
  EXPECT_EQ(nest.kernel_h, 5);
  EXPECT_EQ(nest.pad_top, 2);
  EXPECT_EQ(mac_count(nest), 2 * 6 * 16 * 8 * 9 * 2 * 15);
}

TEST(conv2d, misfits_are_refused) {
  EXPECT_EQ(code_of({"Conv", {floats({1, 4, 8, 8}), weight({8, 3, 3, 3})}}), "shape_mismatch");
  EXPECT_EQ(code_of({"Conv", {floats({1, 4, 2, 8}), weight({8, 4, 3, 3})}}), "shape_mismatch");
  EXPECT_EQ(code_of({"Conv", {floats({1, 4, 8, 8}), weight({8, 4, 3, 3})}, {{"colour", std::int64_t{1}}}}),
            "unsupported_attribute");
}

TEST(linear, rows_of_all_leading_dimensions_meet_one_weight) {
  const Use linear{"Linear", {floats({2, 77, 768}), weight({768, 3072}), weight({3072})}, {}, 17, 1, "sdip"};
  EXPECT_EQ(shape_of(linear), (Shape{2, 77, 3072}));
  const Work work = work_of(linear);
  EXPECT_EQ(work.family, Family::linear);
  EXPECT_EQ(work.nest.groups, 1);
  EXPECT_EQ(work.nest.out_h, 154);
  EXPECT_EQ(work.nest.out_channels, 3072);
  EXPECT_EQ(work.nest.in_channels, 768);
}

TEST(linear, a_weight_of_many_matrices_makes_groups_that_frames_share) {
  const Work work = work_of({"LinearBatch", {floats({2, 8, 64, 40}), weight({8, 40, 77})}, {}, 17, 1, "sdip"});
  EXPECT_EQ(work.nest.batch, 2);
  EXPECT_EQ(work.nest.groups, 8);
  EXPECT_EQ(work.nest.out_h, 64);
  EXPECT_EQ(work.nest.out_channels, 77);
}

TEST(linear, a_weight_on_the_left_gives_the_output_channels) {
  const Work work = work_of({"MatMul", {weight({30, 20}), floats({20, 7})}});
  EXPECT_EQ(work.family, Family::linear);
  EXPECT_EQ(work.nest.out_channels, 30);
  EXPECT_EQ(work.nest.in_channels, 20);
  EXPECT_EQ(work.nest.out_h, 7);
}

TEST(matmul, two_activations_make_a_group_for_each_product) {
  const Use product{"MatMul", {floats({2, 8, 64, 40}), floats({8, 40, 77})}};
  EXPECT_EQ(shape_of(product), (Shape{2, 8, 64, 77}));
  const Work work = work_of(product);
  EXPECT_EQ(work.family, Family::matmul);
  EXPECT_EQ(work.nest.groups, 16);
  EXPECT_EQ(work.nest.out_h, 64);
  EXPECT_EQ(work.nest.out_channels, 77);
  EXPECT_EQ(work.nest.in_channels, 40);
}

TEST(matmul, vectors_lose_the_dimension_they_lend) {
  EXPECT_EQ(shape_of({"MatMul", {floats({5}), floats({5, 7})}}), (Shape{7}));
  EXPECT_EQ(shape_of({"MatMul", {floats({3, 4, 5}), floats({5})}}), (Shape{3, 4}));
  EXPECT_EQ(shape_of({"MatMul", {floats({5}), floats({5})}}), (Shape{}));
  EXPECT_EQ(code_of({"MatMul", {floats({4, 5}), floats({4, 5})}}), "shape_mismatch");
}

TEST(gemm, transposes_either_operand) {
  const Use gemm{"Gemm",
                 {floats({5, 3}), weight({7, 5}), weight({7})},
                 {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}}};
  EXPECT_EQ(shape_of(gemm), (Shape{3, 7}));
  EXPECT_EQ(work_of(gemm).nest.in_channels, 5);
}

TEST(einsum, letters_decide_products_rows_and_columns) {
  const Use einsum{
      "Einsum", {floats({8, 64, 40}), floats({8, 77, 40})}, {{"equation", std::string("b i d, b j d -> b i j")}}};
  EXPECT_EQ(shape_of(einsum), (Shape{8, 64, 77}));
  const Work work = work_of(einsum);
  EXPECT_EQ(work.family, Family::matmul);
  EXPECT_EQ(mac_count(work.nest), 8 * 64 * 77 * 40);
  EXPECT_EQ(work.nest.groups, 8);
}

TEST(einsum, of_one_operand_is_a_transposition) {
  const Use einsum{"Einsum", {floats({1, 16, 16, 2, 2, 4})}, {{"equation", std::string("nhwpqc->nchpwq")}}};
  EXPECT_EQ(shape_of(einsum), (Shape{1, 4, 16, 2, 16, 2}));
  EXPECT_EQ(work_of(einsum).family, Family::transpose);
}

TEST(mac_count, above_2_to_the_63_is_an_error) {
  LoopNest nest;
  nest.out_h = nest.out_w = nest.in_channels = std::int64_t{1} << 30;
  EXPECT_THROW(mac_count(nest), Error);
}

}  // namespace
}  // namespace sdip
