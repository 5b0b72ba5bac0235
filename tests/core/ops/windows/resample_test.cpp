// What Resize, GridSample and AffineGrid compute.
#include "tests/core/ops/computed.h"

namespace sdip {
namespace {

Operand scales(const Doubles& values) { return tensor({std::ssize(values)}, values); }

/// x [4] = 1, 2, 3, 4 along the only axis.
Doubles resized(const Attributes& attributes, double scale, std::int64_t opset = 19) {
  return values_of({"Resize", {tensor({4}, {1, 2, 3, 4}), absent(), scales({scale})}, attributes, opset});
}

TEST(resize_values, linear_between_the_centres_of_elements) {
  const Use use{"Resize", {tensor({2}, {1, 2}), absent(), scales({2})}, {{"mode", text("linear")}}, 13};
  EXPECT_EQ(values_of(use), (Doubles{1, 1.25, 1.75, 2}));
}

TEST(resize_values, coordinate_modes_differ) {
  const auto linear = [](const char* mode, double scale) {
    return resized({{"mode", text("linear")}, {"coordinate_transformation_mode", text(mode)}}, scale);
  };
  EXPECT_EQ(linear("half_pixel", 0.5), (Doubles{1.5, 3.5}));
  EXPECT_EQ(linear("asymmetric", 0.5), (Doubles{1, 3}));
  EXPECT_EQ(linear("align_corners", 0.5), (Doubles{1, 4}));
  EXPECT_EQ(linear("pytorch_half_pixel", 0.25), (Doubles{1}));
  EXPECT_EQ(linear("half_pixel", 0.25), (Doubles{2.5}));
  EXPECT_EQ(linear("tf_half_pixel_for_nn", 0.5), (Doubles{2, 4}));
  // 0.7 of 4 is 2 elements; their centres lie equally far from both ends
  const Doubles symmetric = linear("half_pixel_symmetric", 0.7);
  EXPECT_NEAR(symmetric[0] + symmetric[1], 5, 1e-6);
}

TEST(resize_values, nearest_modes_round_halves_their_way) {
  const auto nearest = [](const char* mode) {
    return resized({{"nearest_mode", text(mode)}}, 0.5);  // at 0.5 and 2.5
  };
  EXPECT_EQ(nearest("round_prefer_floor"), (Doubles{1, 3}));
  EXPECT_EQ(nearest("round_prefer_ceil"), (Doubles{2, 4}));
  EXPECT_EQ(nearest("floor"), (Doubles{1, 3}));
  EXPECT_EQ(nearest("ceil"), (Doubles{2, 4}));
}

TEST(resize_values, antialias_takes_the_mean_of_more_neighbours) {
  const Attributes linear = {{"mode", text("linear")}, {"antialias", number(1)}};
  // at 0.5: weights 0.25, 0.75, 0.75, 0.25 (of 2) of elements 0 (for -1), 0, 1, 2
  EXPECT_EQ(resized(linear, 0.5), (Doubles{(1 + 1.5 + 0.75) / 2, (0.5 + 2.25 + 3 + 1) / 2}));
  Attributes inside = linear;
  inside["exclude_outside"] = std::int64_t{1};
  expect_each_near(resized(inside, 0.5),
                   {(0.75 * 1 + 0.75 * 2 + 0.25 * 3) / 1.75, (0.25 * 2 + 0.75 * 3 + 0.75 * 4) / 1.75});
}

TEST(resize_values, the_aspect_ratio_can_be_kept) {
  const auto kept = [](const char* policy) {
    const Use use{"Resize",
                  {counting({1, 1, 4, 8}), absent(), absent(), ints({6, 6})},
                  {{"axes", Ints{2, 3}}, {"keep_aspect_ratio_policy", text(policy)}},
                  18};
    return computed(use).at(0).shape;
  };
  EXPECT_EQ(kept("stretch"), (Shape{1, 1, 6, 6}));
  EXPECT_EQ(kept("not_larger"), (Shape{1, 1, 3, 6}));
  EXPECT_EQ(kept("not_smaller"), (Shape{1, 1, 6, 12}));
}

TEST(resize_values, what_lies_outside_the_region_is_extrapolated) {
  const Use use{"Resize",
                {tensor({4}, {1, 2, 3, 4}), tensor({2}, {0.5, 1.5}), absent(), ints({3})},
                {{"mode", text("linear")},
                 {"coordinate_transformation_mode", text("tf_crop_and_resize")},
                 {"extrapolation_value", 9.0}},
                13};
  EXPECT_EQ(values_of(use), (Doubles{2.5, 4, 9}));
}

TEST(upsample_values, repeat_each_element) {
  const Attributes by_attribute = {{"scales", std::vector<double>{2}}};
  EXPECT_EQ(values_of({"Upsample", {tensor({2}, {1, 2})}, by_attribute, 7}), (Doubles{1, 1, 2, 2}));
  EXPECT_EQ(values_of({"Upsample", {tensor({2}, {1, 2}), scales({2})}, {}, 9}), (Doubles{1, 1, 2, 2}));
  EXPECT_EQ(values_of({"Resize", {tensor({2}, {1, 2}), scales({2})}, {}, 10}), (Doubles{1, 1, 2, 2}));
}

TEST(resize_values, contradictions_are_refused) {
  EXPECT_EQ(computing_code_of({"Resize", {counting({4}), absent(), scales({-1})}, {}, 13}), "shape_mismatch");
  EXPECT_EQ(computing_code_of({"Resize", {counting({4}), absent(), scales({1, 1})}, {}, 13}), "shape_mismatch");
  EXPECT_EQ(computing_code_of({"Resize", {counting({4}), absent(), scales({1})}, {{"mode", text("best")}}, 13}),
            "unsupported_attribute");
}

Doubles sampled(const Attributes& attributes, const Doubles& xs, std::int64_t opset = 20) {
  Doubles grid;
  for (double x : xs) grid.insert(grid.end(), {x, 0});
  return values_of({"GridSample",
                    {tensor({1, 1, 1, 4}, {1, 2, 3, 4}), tensor({1, 1, std::ssize(xs), 2}, grid)},
                    attributes,
                    opset});
}

TEST(grid_sample, coordinates_run_from_edge_to_edge_or_from_centre_to_centre) {
  EXPECT_EQ(sampled({}, {-1, 0, 1}), (Doubles{0.5, 2.5, 2}));
  EXPECT_EQ(sampled({{"align_corners", number(1)}}, {-1, 0, 1}), (Doubles{1, 2.5, 4}));
  EXPECT_EQ(sampled({{"mode", text("nearest")}}, {-0.9, 0.4}), (Doubles{1, 3}));
  EXPECT_EQ(sampled({{"mode", text("bilinear")}}, {0}, 16), (Doubles{2.5}));
}

TEST(grid_sample, outside_are_zeros_the_border_or_a_mirror_image) {
  EXPECT_EQ(sampled({{"padding_mode", text("border")}}, {-3, 3}), (Doubles{1, 4}));
  EXPECT_EQ(sampled({{"padding_mode", text("zeros")}}, {-3, 3}), (Doubles{0, 0}));
  // -1.5 is 3 elements left of the edge's 1.5: mirrored at -0.5 it is at 0.5
  EXPECT_EQ(sampled({{"padding_mode", text("reflection")}}, {-1.5}), (Doubles{1.5}));
  EXPECT_EQ(sampled({}, {std::nan("")}), (Doubles{0}));
}

TEST(grid_sample, cubic_meets_the_elements) {
  const Attributes cubic = {
      {"mode", text("cubic")}, {"align_corners", number(1)}, {"padding_mode", text("border")}};
  expect_each_near(sampled(cubic, {-1, 1}), {1, 4});
}

TEST(affine_grid, the_identity_is_the_grid_itself) {
  const Operand theta = tensor({1, 2, 3}, {1, 0, 0, 0, 1, 0.5});
  const Use use{"AffineGrid", {theta, ints({1, 1, 1, 2})}, {}, 20};
  EXPECT_EQ(shape_of({"AffineGrid", {theta, ints({1, 1, 1, 2})}, {}, 20}), (Shape{1, 1, 2, 2}));
  EXPECT_EQ(values_of(use), (Doubles{-0.5, 0.5, 0.5, 0.5}));
  EXPECT_EQ(values_of({"AffineGrid", {theta, ints({1, 1, 1, 2})}, {{"align_corners", number(1)}}, 20}),
            (Doubles{-1, 0.5, 1, 0.5}));
}

}  // namespace
}  // namespace sdip
