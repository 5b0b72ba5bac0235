// Everything that is no product: shapes by opset, elements read and written, passes.
#include "tests/core/ops/use_of.h"

namespace sdip {
namespace {

TEST(operators, are_sorted_and_each_is_found_by_its_name) {
  for (const Operator& row : operators()) {
    EXPECT_EQ(find_operator(row.domain, row.type), &row) << row.type;
    EXPECT_FALSE(row.mnemonic.empty()) << row.type;
  }
  EXPECT_EQ(find_operator("", "NoSuchThing"), nullptr);
  EXPECT_EQ(find_operator("ai.onnx", "Add"), find_operator("", "Add"));
}

TEST(elementwise, a_register_holds_what_is_broadcast_along_trailing_dimensions) {
  const Work channel = work_of({"Mul", {floats({2, 320, 64, 64}), weight({320, 1, 1})}});
  EXPECT_EQ(channel.family, Family::vector);
  EXPECT_EQ(channel.row_length, 2 * 320 * 64 * 64);
  EXPECT_EQ(channel.read_elements, (Ints{2 * 320 * 64 * 64, 2 * 320}));
  EXPECT_EQ(channel.write_elements, 2 * 320 * 64 * 64);
  EXPECT_EQ(work_of({"Add", {floats({2, 77, 320}), weight({320})}}).read_elements,
            (Ints{2 * 77 * 320, 2 * 77 * 320}));
  EXPECT_EQ(work_of({"Div", {floats({4, 4}), weight({})}}).read_elements, (Ints{16, 1}));
}

TEST(elementwise, shapes_that_do_not_broadcast_are_refused) {
  EXPECT_EQ(shape_of({"Add", {floats({3, 1, 5}), floats({4, 1})}}), (Shape{3, 4, 5}));
  EXPECT_EQ(code_of({"Add", {floats({3}), floats({4})}}), "shape_mismatch");
  EXPECT_EQ(code_of({"Add", {floats({3}), ints({1, 2, 3})}}), "shape_mismatch");
  EXPECT_EQ(code_of({"Add", {floats({3})}}), "invalid_graph");
}

TEST(elementwise, integer_division_truncates_and_mod_takes_the_divisors_sign) {
  EXPECT_EQ(outputs_of({"Div", {ints({-7, 7}), ints({2})}})[0].value->ints, (Ints{-3, 3}));
  EXPECT_EQ(outputs_of({"Mod", {ints({-7, 7}), ints({3})}})[0].value->ints, (Ints{2, 1}));
  EXPECT_EQ(code_of({"Div", {ints({1}), ints({0})}}), "not_computable");
}

TEST(softmax, takes_three_passes_over_rows) {
  const Work work = work_of({"Softmax", {floats({2, 8, 64, 77})}, {{"axis", std::int64_t{-1}}}});
  EXPECT_EQ(work.family, Family::softmax);
  EXPECT_EQ(work.rows, 2 * 8 * 64);
  EXPECT_EQ(work.row_length, 77);
  EXPECT_EQ(work.passes, 3);
  EXPECT_EQ(work.read_elements, (Ints{3 * 2 * 8 * 64 * 77}));
}

TEST(softmax, before_opset_13_spans_all_axes_from_the_first_on) {
  const Work work = work_of({"Softmax", {floats({2, 1000, 1, 1})}, {}, 9});
  EXPECT_EQ(work.rows, 2);
  EXPECT_EQ(work.row_length, 1000);
}

TEST(groupnorm, rows_are_groups_of_each_batch) {
  const Work work = work_of({"GroupNorm",
                             {floats({2, 320, 64, 64}), weight({320, 1, 1}), weight({320, 1, 1})},
                             {{"num_groups", std::int64_t{32}}},
                             17,
                             1,
                             "sdip"});
  EXPECT_EQ(work.family, Family::norm);
  EXPECT_EQ(work.rows, 64);
  EXPECT_EQ(work.row_length, 10 * 64 * 64);
  EXPECT_EQ(work.passes, 2);
  EXPECT_EQ(work.read_elements, (Ints{2 * 2 * 320 * 64 * 64, 320, 320}));
}

TEST(layernorm, normalises_from_its_axis_on) {
  const Work work = work_of({"LayerNormalization", {floats({2, 77, 768}), weight({768}), weight({768})}});
  EXPECT_EQ(work.rows, 154);
  EXPECT_EQ(work.row_length, 768);
  EXPECT_EQ(code_of({"LayerNormalization", {floats({2, 77, 768}), weight({77})}}), "shape_mismatch");
}

TEST(pool, reads_a_whole_window_for_each_result) {
  const Use pool{"MaxPool",
                 {floats({1, 64, 112, 112})},
                 {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}};
  EXPECT_EQ(shape_of(pool), (Shape{1, 64, 56, 56}));
  EXPECT_EQ(work_of(pool).row_length, 64 * 56 * 56 * 9);
  EXPECT_EQ(shape_of({"GlobalAveragePool", {floats({2, 5, 7, 7})}}), (Shape{2, 5, 1, 1}));
}

TEST(pool, ceil_mode_adds_a_window) {
  const Attributes three_by_two{
      {"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", std::int64_t{1}}};
  EXPECT_EQ(shape_of({"MaxPool", {floats({1, 1, 32, 32})}, three_by_two}), (Shape{1, 1, 16, 16}));
}

TEST(slice, follows_numpy_backwards_and_beyond_the_ends) {
  const auto kept = [](Ints starts, Ints ends, Ints steps) {
    return outputs_of({"Slice",
                       {ints({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), ints(starts), ints(ends), ints({0}), ints(steps)}})[0]
        .value->ints;
  };
  EXPECT_EQ(kept({8}, {INT64_MIN}, {-3}), (Ints{8, 5, 2}));
  EXPECT_EQ(kept({-3}, {INT64_MAX}, {1}), (Ints{7, 8, 9}));
  EXPECT_EQ(kept({-1}, {INT64_MIN}, {INT64_MIN}), (Ints{9}));
  EXPECT_EQ(kept({5}, {2}, {1}), Ints{});
}

TEST(slice, reads_only_what_it_keeps) {
  const Work work = work_of({"Slice", {floats({10, 100}), ints({2}), ints({5}), ints({0})}});
  EXPECT_EQ(work.read_elements, (Ints{300, 0, 0, 0}));
  EXPECT_EQ(shape_of({"Slice", {floats({10, 4})}, {{"starts", Ints{1}}, {"ends", Ints{-1}}, {"axes", Ints{0}}}, 9}),
            (Shape{8, 4}));
}

TEST(split, sizes_are_an_attribute_before_opset_13_and_an_input_after) {
  EXPECT_EQ(outputs_of({"Split", {floats({6, 2})}, {{"split", Ints{2, 4}}}, 11, 2})[1].shape, (Shape{4, 2}));
  EXPECT_EQ(outputs_of({"Split", {floats({6, 2}), ints({1, 5})}, {}, 13, 2})[1].shape, (Shape{5, 2}));
  EXPECT_EQ(outputs_of({"Split", {floats({6, 2})}, {}, 13, 3})[2].shape, (Shape{2, 2}));
  EXPECT_EQ(code_of({"Split", {floats({6, 2}), ints({1, 4})}, {}, 13, 2}), "shape_mismatch");
}

TEST(concat, joins_along_its_axis_only) {
  EXPECT_EQ(
      shape_of({"Concat", {floats({1, 1280, 16, 16}), floats({1, 640, 16, 16})}, {{"axis", std::int64_t{1}}}}),
      (Shape{1, 1920, 16, 16}));
  EXPECT_EQ(code_of({"Concat", {floats({1, 2}), floats({2, 2})}, {{"axis", std::int64_t{1}}}}), "shape_mismatch");
  EXPECT_EQ(outputs_of({"Concat", {ints({1}), ints({2, 3})}, {{"axis", std::int64_t{0}}}})[0].value->ints,
            (Ints{1, 2, 3}));
}

TEST(reshape, zero_keeps_and_minus_one_takes_what_is_left) {
  EXPECT_EQ(shape_of({"Reshape", {floats({2, 3, 4}), ints({0, -1})}}), (Shape{2, 12}));
  EXPECT_EQ(work_of({"Reshape", {floats({2, 3, 4}), ints({24})}}).family, Family::view);
  EXPECT_EQ(code_of({"Reshape", {floats({2, 3}), ints({4, -1})}}), "shape_mismatch");
  Operand unknown = ints({4});
  unknown.value.reset();
  EXPECT_EQ(code_of({"Reshape", {floats({4}), unknown}}), "shape_unknown");
}

TEST(transpose, that_moves_only_sizes_of_one_is_a_view) {
  EXPECT_EQ(work_of({"Transpose", {floats({1, 8, 64})}, {{"perm", Ints{1, 0, 2}}}}).family, Family::view);
  const Work work = work_of({"Transpose", {floats({2, 8, 64})}, {{"perm", Ints{1, 0, 2}}}});
  EXPECT_EQ(work.family, Family::transpose);
  EXPECT_EQ(work.read_elements, (Ints{1024}));
  EXPECT_EQ(code_of({"Transpose", {floats({2, 8})}, {{"perm", Ints{0, 0}}}}), "shape_mismatch");
}

TEST(reduce, axes_are_an_attribute_or_an_input) {
  EXPECT_EQ(shape_of({"ReduceMean", {floats({2, 3, 4})}, {{"axes", Ints{-1}}}}), (Shape{2, 3, 1}));
  EXPECT_EQ(shape_of({"ReduceSum", {floats({2, 3, 4}), ints({1})}, {{"keepdims", std::int64_t{0}}}, 13}),
            (Shape{2, 4}));
  EXPECT_EQ(work_of({"ReduceMean", {floats({2, 3, 4})}}).read_elements, (Ints{24}));
}

TEST(resize, scales_stand_elsewhere_in_each_opset) {
  Operand scales = weight({4});
  scales.value = Tensor{ElementType::float32, {4}, {}, {1, 1, 2, 2}};
  const Operand x = floats({1, 3, 8, 8});
  EXPECT_EQ(shape_of({"Resize", {x, weight({0}), scales}, {}, 11}), (Shape{1, 3, 16, 16}));
  EXPECT_EQ(shape_of({"Resize", {x, scales}, {}, 10}), (Shape{1, 3, 16, 16}));
  EXPECT_EQ(shape_of({"Upsample", {x}, {{"scales", std::vector<double>{1, 1, 2, 2}}}, 7}), (Shape{1, 3, 16, 16}));
  EXPECT_EQ(work_of({"Resize", {x, weight({0}), scales}, {}, 11}).read_elements[0], 192);
  EXPECT_EQ(work_of({"Resize", {x, weight({0}), scales}, {{"mode", std::string("linear")}}, 11}).read_elements[0],
            3072);
}

TEST(cast, to_the_same_type_is_a_view) {
  EXPECT_EQ(work_of({"Cast", {floats({4})}, {{"to", std::int64_t{1}}}}).family, Family::view);
  EXPECT_EQ(work_of({"Cast", {floats({4})}, {{"to", std::int64_t{10}}}}).family, Family::vector);
  EXPECT_EQ(code_of({"Cast", {floats({4})}, {{"to", std::int64_t{99}}}}), "unsupported_attribute");
}

TEST(constants, a_large_one_is_known_by_its_fill) {
  const Operand zeros = outputs_of({"ConstantOfShape", {ints({64, 4096})}})[0];
  EXPECT_EQ(zeros.shape, (Shape{64, 4096}));
  EXPECT_FALSE(zeros.value.has_value());
  EXPECT_EQ(zeros.fill, 0.0);
}

TEST(element_count, above_2_to_the_53_is_an_error) {
  EXPECT_THROW(element_count({std::int64_t{1} << 40, std::int64_t{1} << 40}), Error);
  EXPECT_EQ(element_count({std::int64_t{1} << 40, std::int64_t{1} << 40, 0}), 0);
}

}  // namespace
}  // namespace sdip
