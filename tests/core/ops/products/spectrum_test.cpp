// What spectra, windows, losses, determinants and box selection compute.
#include "tests/core/ops/computed.h"

namespace sdip {
namespace {

TEST(dft, of_a_pulse_is_flat_and_backwards_it_is_the_pulse) {
  const Use forwards{"DFT", {tensor({1, 4, 1}, {1, 0, 0, 0})}};
  expect_each_near(values_of(forwards), {1, 0, 1, 0, 1, 0, 1, 0});
  const Use back{"DFT", {tensor({1, 4, 2}, {1, 0, 1, 0, 1, 0, 1, 0})}, {{"inverse", number(1)}}};
  expect_each_near(values_of(back), {1, 0, 0, 0, 0, 0, 0, 0});
}

TEST(dft, of_a_real_wave_needs_half_the_spectrum) {
  const Operand wave = tensor({1, 4, 1}, {0, 1, 0, -1});
  expect_each_near(values_of({"DFT", {wave}, {{"onesided", number(1)}}}), {0, 0, 0, -2, 0, 0});
  EXPECT_EQ(code_of({"DFT", {floats({1, 4, 2})}, {{"onesided", number(1)}}}), "unsupported_attribute");
  const Use back{
      "DFT", {tensor({1, 3, 2}, {0, 0, 0, -2, 0, 0})}, {{"onesided", number(1)}, {"inverse", number(1)}}, 20};
  expect_each_near(values_of(back), {0, 1, 0, -1});
  EXPECT_EQ(code_of({"DFT", {floats({1, 4, 1})}, {{"onesided", number(1)}, {"inverse", number(1)}}}),
            "unsupported_attribute");
}

TEST(dft, is_cut_or_padded_to_its_length_along_an_axis_that_opset_20_takes_as_input) {
  EXPECT_EQ(computed({"DFT", {counting({1, 4, 5, 1}), ints({8}), ints({2})}, {}, 20}).at(0).shape,
            (Shape{1, 4, 8, 2}));
  EXPECT_EQ(computed({"DFT", {counting({1, 4, 5, 1})}, {}, 20}).at(0).shape, (Shape{1, 4, 5, 2}));
  EXPECT_EQ(values_of({"DFT", {counting({1, 4, 1}), ints({1})}, {}, 17}), (Doubles{0, 0}));
}

TEST(stft, transforms_each_frame_under_its_window) {
  const Use use{"STFT", {tensor({1, 4, 1}, {1, 2, 3, 4}), ints({2}), tensor({2}, {1, 10})}};
  expect_each_near(values_of(use), {21, 0, -19, 0, 43, 0, -37, 0});
  EXPECT_EQ(code_of({"STFT", {floats({1, 4, 1}), ints({0}), floats({2})}}), "shape_mismatch");
}

TEST(windows, are_periodic_or_symmetric) {
  expect_each_near(values_of({"HannWindow", {ints({4})}}), {0, 0.5, 1, 0.5});
  expect_each_near(values_of({"HannWindow", {ints({3})}, {{"periodic", number(0)}}}), {0, 1, 0});
  EXPECT_EQ(outputs_of({"HammingWindow", {ints({4})}, {{"output_datatype", number(11)}}}).at(0).type,
            ElementType::float64);
}

TEST(losses, ignore_and_weigh_targets) {
  const Operand log_prob = tensor({3, 2}, {-1, -2, -3, -4, -5, -6}),
                target = tensor({3}, {0, 1, -1}, ElementType::int64);
  const Operand weights = tensor({2}, {1, 3});
  Attributes attributes = {{"ignore_index", number(-1)}, {"reduction", text("none")}};
  EXPECT_EQ(values_of({"NegativeLogLikelihoodLoss", {log_prob, target, weights}, attributes}), (Doubles{1, 12, 0}));
  attributes["reduction"] = text("mean");
  EXPECT_EQ(values_of({"NegativeLogLikelihoodLoss", {log_prob, target, weights}, attributes}), (Doubles{13.0 / 4}));
  attributes.erase("ignore_index");
  EXPECT_EQ(computing_code_of({"NegativeLogLikelihoodLoss", {log_prob, target}, attributes}), "shape_mismatch");
}

TEST(losses, the_softmax_is_over_the_classes) {
  const Use use{"SoftmaxCrossEntropyLoss",
                {tensor({1, 2, 2}, {0, 1, 0, 1}), tensor({1, 2}, {0, 1}, ElementType::int64)},
                {},
                13,
                2};
  expect_each_near(values_of(use), {std::log(2.0)});
  expect_each_near(values_of(use, 1), Doubles(4, -std::log(2.0)));
}

TEST(det, by_elimination_with_rows_exchanged) {
  EXPECT_EQ(values_of({"Det", {tensor({2, 2, 2}, {0, 2, 3, 4, 1, 2, 2, 4})}}), (Doubles{-6, 0}));
  EXPECT_EQ(code_of({"Det", {floats({2, 3})}}), "shape_mismatch");
}

TEST(non_max_suppression, takes_the_best_of_boxes_that_overlap) {
  // Two unit squares half over one another have 1/3 in common; the third stands apart.
  const Operand boxes = tensor({1, 3, 4}, {0, 0, 1, 1, 0, 0.5, 1, 1.5, 5, 5, 6, 6});
  const Operand scores = tensor({1, 1, 3}, {0.5, 0.9, 0.7}), most = ints({3});
  const auto taken = [&](double overlap, double score) {
    return values_of({"NonMaxSuppression", {boxes, scores, most, tensor({1}, {overlap}), tensor({1}, {score})}});
  };
  EXPECT_EQ(taken(0.3, 0), (Doubles{0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(taken(0.4, 0), (Doubles{0, 0, 1, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(taken(0.4, 0.7), (Doubles{0, 0, 1}));
}

TEST(non_max_suppression, of_unknown_scores_has_no_known_shape) {
  EXPECT_EQ(code_of({"NonMaxSuppression", {floats({1, 3, 4}), floats({1, 1, 3}), ints({3})}}), "shape_unknown");
}

}  // namespace
}  // namespace sdip
