// Arithmetic that moves elements: views, slices, pads, orders, indices, repetitions, what depends on values.
#include <cmath>

#include "tests/core/ops/values_of.h"

namespace sdip {
namespace {

using enum ElementType;

const std::int64_t int_one = 1, int_zero = 0;

Operand count_up(Shape shape, ElementType type = float32) {
  Doubles values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return constant(type, std::move(shape), values);
}

TEST(reshape, a_zero_is_a_size_when_told_so) {
  EXPECT_EQ(shape_of({"Reshape", {count_up({0, 3}), ints({3, 0})}, {{"allowzero", int_one}}, 14}), (Shape{3, 0}));
  EXPECT_EQ(code_of({"Reshape", {count_up({2, 3}), ints({0, 2})}, {{"allowzero", int_one}}, 14}), "shape_mismatch");
  EXPECT_EQ(result_of({"Reshape", {count_up({2, 3}, int4), ints({3, 2})}, {}, 21}), (Doubles{0, 1, 2, 3, 4, 5}));
}

TEST(dropout, keeps_everything_unless_it_trains) {
  const Operand x = reals({1, 2}), yes = constant(boolean, {}, {1}), half = constant(float32, {}, {0.5});
  EXPECT_EQ(result_of({"Dropout", {x}, {{"ratio", 0.9}}, 7, 2}, 1), (Doubles{1, 1}));
  EXPECT_EQ(outputs_of({"Dropout", {x}, {}, 7, 2})[1].type, float32);
  EXPECT_EQ(outputs_of({"Dropout", {x}, {}, 12, 2})[1].type, boolean);
  EXPECT_EQ(result_of({"Dropout", {x, constant(float32, {}, {0}), yes}, {}, 13}), (Doubles{1, 2}));
  EXPECT_EQ(code_of({"Dropout", {x, half, yes}, {}, 13}), "unsupported_attribute");
  Operand unknown = typed(boolean, {});
  EXPECT_EQ(code_of({"Dropout", {x, half, unknown}, {}, 13}), "shape_unknown");
}

TEST(split, into_a_number_of_outputs_leaves_the_last_smaller_from_opset_18) {
  const Use use{"Split", {count_up({7})}, {{"num_outputs", std::int64_t{3}}}, 18, 3};
  EXPECT_EQ(result_of(use, 0), (Doubles{0, 1, 2}));
  EXPECT_EQ(result_of(use, 2), Doubles{6});
  EXPECT_EQ(code_of({"Split", {count_up({7})}, {}, 13, 3}), "shape_mismatch");
  EXPECT_EQ(result_of({"Split", {count_up({2, 3})}, {{"axis", int_one}}, 13, 3}, 1), (Doubles{1, 4}));
}

TEST(concat, puts_rows_in_turn) {
  EXPECT_EQ(result_of({"Concat", {count_up({2, 1}), count_up({2, 2})}, {{"axis", int_one}}}),
            (Doubles{0, 0, 1, 1, 2, 3}));
}

TEST(pad, repeats_what_is_there_in_its_way) {
  const auto padded = [](const char* mode, Ints pads, std::int64_t opset) {
    return result_of({"Pad", {reals({1, 2, 3}), ints(std::move(pads))}, {{"mode", std::string(mode)}}, opset});
  };
  EXPECT_EQ(padded("constant", {1, 2}, 13), (Doubles{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(padded("reflect", {2, 1}, 13), (Doubles{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(padded("edge", {2, 1}, 13), (Doubles{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(padded("wrap", {2, 1}, 19), (Doubles{2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(padded("wrap", {-1, 3}, 19), (Doubles{2, 3, 2, 3, 2}));
  EXPECT_EQ(padded("constant", {-1, -1}, 13), Doubles{2});
}

TEST(pad, takes_axes_and_any_type_from_opset_18) {
  const Operand x = count_up({1, 2}, int8), filler = constant(int8, {}, {9});
  EXPECT_EQ(result_of({"Pad", {x, ints({1, 0}), filler, ints({-1})}, {}, 18}), (Doubles{9, 0, 1}));
  EXPECT_EQ(result_of({"Pad", {reals({1})}, {{"pads", Ints{0, 1}}, {"value", 7.0}}, 7}), (Doubles{1, 7}));
  EXPECT_EQ(code_of({"Pad", {x, ints({0, 1, 0, 0}), constant(float32, {}, {1})}}), "shape_mismatch");
  EXPECT_EQ(code_of({"Pad", {reals({}), ints({1, 0})}, {{"mode", std::string("edge")}}}), "shape_mismatch");
}

TEST(center_crop_pad, cuts_or_fills_both_sides) {
  EXPECT_EQ(result_of({"CenterCropPad", {count_up({5}), ints({2})}, {}, 18}), (Doubles{1, 2}));
  EXPECT_EQ(result_of({"CenterCropPad", {reals({8, 9}), ints({5})}, {}, 18}), (Doubles{0, 8, 9, 0, 0}));
  const Use one_axis{"CenterCropPad", {floats({4, 6}), ints({2})}, {{"axes", Ints{-1}}}, 18};
  EXPECT_EQ(shape_of(one_axis), (Shape{4, 2}));
  EXPECT_EQ(work_of(one_axis).read_elements, (Ints{8, 0}));
}

TEST(depth_to_space, places_channels_as_the_mode_says) {
  const auto pixels = [](const char* mode) {
    return result_of(
        {"DepthToSpace", {count_up({1, 8, 1, 1})}, {{"blocksize", std::int64_t{2}}, {"mode", std::string(mode)}}});
  };
  EXPECT_EQ(pixels("DCR"), (Doubles{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(pixels("CRD"), (Doubles{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(result_of({"SpaceToDepth", {count_up({1, 1, 2, 2})}, {{"blocksize", std::int64_t{2}}}}),
            (Doubles{0, 1, 2, 3}));
}

TEST(reverse_sequence, turns_round_the_first_steps_of_each) {
  const Attributes batch_first{{"batch_axis", int_zero}, {"time_axis", int_one}};
  EXPECT_EQ(result_of({"ReverseSequence", {count_up({2, 4}), ints({3, 1})}, batch_first}),
            (Doubles{2, 1, 0, 3, 4, 5, 6, 7}));
  EXPECT_EQ(code_of({"ReverseSequence", {count_up({2, 4}), ints({5, 1})}, batch_first}), "shape_mismatch");
}

TEST(gather, indices_count_from_either_end_and_no_further) {
  const Operand x = count_up({2, 3});
  EXPECT_EQ(result_of({"Gather", {x, ints({-1, 0})}, {{"axis", int_one}}}), (Doubles{2, 0, 5, 3}));
  EXPECT_EQ(code_of({"Gather", {x, ints({2})}}), "shape_mismatch");
  EXPECT_EQ(code_of({"Gather", {x, reals({0})}}), "shape_mismatch");
  EXPECT_EQ(result_of({"GatherElements", {x, constant(int64, {1, 2}, {1, -2})}}), (Doubles{3, 1}));
  EXPECT_EQ(code_of({"GatherElements", {x, constant(int64, {1, 4}, {0, 0, 0, 0})}}), "shape_mismatch");
  EXPECT_EQ(result_of({"GatherND", {x, constant(int64, {2, 1}, {2, 0})}, {{"batch_dims", int_one}}}),
            (Doubles{2, 3}));
  EXPECT_EQ(code_of({"GatherND", {x, constant(int64, {3, 1}, {0, 0, 0})}, {{"batch_dims", int_one}}}),
            "shape_mismatch");
}

TEST(compress, keeps_where_the_condition_holds) {
  const Operand x = count_up({2, 3}), condition = constant(boolean, {2}, {0, 1});
  EXPECT_EQ(result_of({"Compress", {x, condition}, {{"axis", int_one}}}), (Doubles{1, 4}));
  EXPECT_EQ(result_of({"Compress", {x, condition}}), Doubles{1});
  EXPECT_EQ(code_of({"Compress", {x, typed(boolean, {2})}}), "shape_unknown");
  EXPECT_EQ(code_of({"Compress", {x, constant(boolean, {3}, {0, 0, 1})}, {{"axis", int_zero}}}), "shape_mismatch");
}

TEST(scatter, reduces_with_add_and_mul_and_from_opset_18_max_and_min) {
  const auto scattered = [](const char* reduction) {
    return result_of({"ScatterElements",
                      {constant(int8, {2}, {5, 100}), ints({1, 1}), constant(int8, {2}, {50, 3})},
                      {{"reduction", std::string(reduction)}},
                      18});
  };
  EXPECT_EQ(scattered("none"), (Doubles{5, 3}));
  EXPECT_EQ(scattered("add"), (Doubles{5, -103}));
  EXPECT_EQ(scattered("mul"), (Doubles{5, -104}));  // 100 * 50 is 5000, as int8 -120; times 3 again wraps
  EXPECT_EQ(scattered("max"), (Doubles{5, 100}));
  EXPECT_EQ(scattered("min"), (Doubles{5, 3}));
  const Use nd{"ScatterND", {count_up({2, 2}), constant(int64, {1, 1}, {-1}), constant(float32, {1, 2}, {1, 9})}};
  EXPECT_EQ(result_of(nd), (Doubles{0, 1, 1, 9}));
  Use greatest = nd;
  greatest.attributes = {{"reduction", std::string("max")}};
  EXPECT_EQ(result_of(greatest), (Doubles{0, 1, 2, 9}));
  EXPECT_EQ(code_of({"ScatterND", {count_up({2, 2}), constant(int64, {1, 1}, {0}), reals({1})}}), "shape_mismatch");
}

TEST(tensor_scatter, writes_each_samples_steps_from_its_index_on) {
  const Operand cache = constant(float32, {2, 3, 1}, Doubles(6, 0.0)), update = count_up({2, 2, 1}, float32);
  const auto written = [&](const char* mode, const Ints& starts) {
    return Use{"TensorScatter", {cache, update, ints(starts)}, {{"mode", std::string(mode)}}, 24};
  };
  EXPECT_EQ(result_of(written("linear", {1, 0})), (Doubles{0, 0, 1, 2, 3, 0}));
  EXPECT_EQ(result_of(written("circular", {2, 4})), (Doubles{1, 0, 0, 0, 2, 3}));
  EXPECT_EQ(code_of(written("linear", {2, 0})), "shape_mismatch");
  EXPECT_EQ(result_of({"TensorScatter", {cache, update}, {}, 24}), (Doubles{0, 1, 0, 2, 3, 0}));
}

TEST(one_hot, negative_indices_count_from_the_end_from_opset_11) {
  const std::vector<Operand> inputs{ints({1, -1, 3}), constant(int64, {}, {3}), reals({0, 5})};
  EXPECT_EQ(result_of({"OneHot", inputs, {}, 11}), (Doubles{0, 5, 0, 0, 0, 5, 0, 0, 0}));
  EXPECT_EQ(result_of({"OneHot", inputs, {}, 9}), (Doubles{0, 5, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(trilu, keeps_one_triangle_of_any_type) {
  const Operand x = constant(boolean, {2, 2}, {1, 1, 1, 1});
  EXPECT_EQ(result_of({"Trilu", {x}}), (Doubles{1, 1, 0, 1}));
  EXPECT_EQ(result_of({"Trilu", {x, constant(int64, {}, {-1})}, {{"upper", int_zero}}}), (Doubles{0, 0, 1, 0}));
}

TEST(tile_and_expand, repeat_in_order) {
  EXPECT_EQ(result_of({"Tile", {count_up({1, 2}), ints({2, 2})}}), (Doubles{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(result_of({"Expand", {count_up({2, 1}), ints({2, 2})}}), (Doubles{0, 0, 1, 1}));
}

TEST(non_zero, lists_places_row_by_row) {
  const Operand x = constant(int32, {2, 2}, {0, 5, 6, 0});
  EXPECT_EQ(shape_of({"NonZero", {x}}), (Shape{2, 2}));
  EXPECT_EQ(result_of({"NonZero", {x}}), (Doubles{0, 1, 1, 0}));
  EXPECT_EQ(code_of({"NonZero", {floats({2, 2})}}), "shape_unknown");
}

TEST(unique, sorts_or_keeps_the_order_they_come_in) {
  const Operand x = reals({2, 1, 1, 3});
  const Use sorted{"Unique", {x}, {}, 11, 4}, unsorted{"Unique", {x}, {{"sorted", int_zero}}, 11, 4};
  EXPECT_EQ(result_of(sorted, 0), (Doubles{1, 2, 3}));
  EXPECT_EQ(result_of(sorted, 1), (Doubles{1, 0, 3}));
  EXPECT_EQ(result_of(sorted, 2), (Doubles{1, 0, 0, 2}));
  EXPECT_EQ(result_of(sorted, 3), (Doubles{2, 1, 1}));
  EXPECT_EQ(result_of(unsorted, 0), (Doubles{2, 1, 3}));
  EXPECT_EQ(result_of(unsorted, 2), (Doubles{0, 1, 1, 2}));
  EXPECT_EQ(code_of({"Unique", {floats({4})}, {}, 11}), "shape_unknown");
  EXPECT_EQ(code_of({"Unique", {constant(float32, {std::int64_t{1} << 40, 0}, {})}, {{"axis", int_zero}}, 11}),
            "shape_mismatch");
}

TEST(unique, reads_once_for_each_doubling_and_once_more) {
  EXPECT_EQ(work_of({"Unique", {reals(Doubles(8, 1.0))}, {}, 11}).passes, 4);
}

TEST(range, steps_up_or_down_without_reaching_the_limit) {
  const auto steps = [](ElementType type, double start, double limit, double delta) {
    return result_of(
        {"Range", {constant(type, {}, {start}), constant(type, {}, {limit}), constant(type, {}, {delta})}});
  };
  EXPECT_EQ(steps(int32, 3, 9, 4), (Doubles{3, 7}));
  EXPECT_EQ(steps(int16, 10, 4, -2), (Doubles{10, 8, 6}));
  EXPECT_EQ(steps(float32, 1, 2, 0.5), (Doubles{1, 1.5}));
  EXPECT_EQ(steps(int64, 5, 5, 1), Doubles{});
  const std::int64_t quarter = std::int64_t{1} << 62;
  EXPECT_EQ(outputs_of({"Range", {ints({INT64_MIN}), ints({INT64_MAX}), ints({quarter})}})[0].value->ints,
            (Ints{INT64_MIN, -quarter, 0, quarter}));
  EXPECT_EQ(code_of({"Range", {ints({0}), ints({1}), ints({0})}}), "shape_mismatch");
  EXPECT_EQ(code_of({"Range", {ints({INT64_MIN}), ints({INT64_MAX}), ints({1})}}), "model_too_large");
  EXPECT_EQ(code_of({"Range", {ints({0}), typed(int64, {}), ints({1})}}), "shape_unknown");
}

TEST(eye_like, needs_the_shape_alone) {
  const Use use{"EyeLike", {floats({2, 3})}, {{"k", int_one}, {"dtype", std::int64_t{6}}}};
  EXPECT_EQ(result_of(use), (Doubles{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(result_of({"EyeLike", {floats({2, 2})}, {{"k", INT64_MIN}}}), (Doubles{0, 0, 0, 0}));
  EXPECT_EQ(work_of(use).read_elements, Ints{0});
}

TEST(constant_of_shape, is_filled_with_one_number_of_any_type) {
  const Tensor seven{uint8, {1}, {7}, {}};
  EXPECT_EQ(result_of({"ConstantOfShape", {ints({2, 1})}, {{"value", seven}}}), (Doubles{7, 7}));
  EXPECT_EQ(code_of({"ConstantOfShape", {ints({-1})}}), "shape_mismatch");
}

TEST(random, draws_are_never_constants) {
  EXPECT_FALSE(outputs_of({"Bernoulli", {reals({1, 0})}, {}, 15})[0].value.has_value());
  const Use draws{"Multinomial", {floats({2, 10})}, {{"sample_size", std::int64_t{4}}}};
  EXPECT_EQ(shape_of(draws), (Shape{2, 4}));
  EXPECT_EQ(outputs_of(draws)[0].type, int32);
  EXPECT_EQ(work_of(draws).read_elements, Ints{40});
}

}  // namespace
}  // namespace sdip
