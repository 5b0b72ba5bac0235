// Tensors as people write them.
#include "core/onnx/value_text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"

namespace sdip {
namespace {

std::string code_of_text(ElementType type, const Shape& shape, const std::string& text) {
  try {
    tensor_of_text(type, shape, text);
  } catch (const Error& error) {
    return error.code;
  }
  return "none";
}

TEST(value_text, a_number_alone_is_the_one_element_of_any_shape_that_holds_one) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}, Shape{any_size, 1}}) {
    const Tensor tensor = tensor_of_text(ElementType::int64, shape, "16000");
    EXPECT_EQ(tensor.ints, std::vector<std::int64_t>{16000});
    EXPECT_EQ(tensor.shape, Shape(shape.size(), 1));
  }
  EXPECT_EQ(code_of_text(ElementType::int64, {2}, "1"), "shape_mismatch");
}

TEST(value_text, brackets_nest_as_the_shape_does) {
  const Tensor tensor = tensor_of_text(ElementType::float32, {any_size, 2}, "[[1, 2.5],[-3e1,inf], [nan,0]]");
  EXPECT_EQ(tensor.shape, (Shape{3, 2}));
  EXPECT_EQ(tensor.floats[1], 2.5);
  EXPECT_EQ(tensor.floats[2], -30);
  EXPECT_TRUE(std::isinf(tensor.floats[3]));
  EXPECT_TRUE(std::isnan(tensor.floats[4]));
  EXPECT_EQ(tensor_of_text(ElementType::int64, {any_size}, "[]").shape, Shape{0});
  EXPECT_EQ(tensor_of_text(ElementType::boolean, {3}, "[true,false,1]").ints, (std::vector<std::int64_t>{1, 0, 1}));
  EXPECT_EQ(code_of_text(ElementType::int64, {3}, "[1,2]"), "shape_mismatch");
  EXPECT_EQ(code_of_text(ElementType::int64, {2}, "[[1,2]]"), "shape_mismatch");
}

TEST(value_text, numbers_are_those_that_the_type_holds) {
  EXPECT_EQ(tensor_of_text(ElementType::uint64, {}, "18446744073709551615").ints[0], -1);
  EXPECT_EQ(tensor_of_text(ElementType::float16, {}, "0.1").floats[0], rounded(ElementType::float16, 0.1));
  EXPECT_EQ(code_of_text(ElementType::int8, {}, "128"), "value_out_of_range");
  EXPECT_EQ(code_of_text(ElementType::int64, {}, "9223372036854775808"), "value_out_of_range");
  EXPECT_EQ(code_of_text(ElementType::float16, {}, "1e6"), "value_out_of_range");
  EXPECT_EQ(code_of_text(ElementType::float32, {}, "1e999"), "value_out_of_range");
  EXPECT_EQ(code_of_text(ElementType::int64, {}, "1.5"), "value_invalid");
  EXPECT_EQ(code_of_text(ElementType::string, {}, "1"), "value_invalid");
}

TEST(value_text, what_is_no_value_is_refused) {
  for (const char* text :
       {"", " ", "a", "[", "]", "[1", "1]", "[1,]", "[,1]", "[1 2]", "1,2", "[1,[2]]", "[[1],2]", "[[1],[2,3]]",
        "[[],[1]]", "--1", "0x10", "[1]]", "[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]"})
    EXPECT_EQ(code_of_text(ElementType::int64, {any_size}, text), "value_invalid") << text;
  std::string many = "[1";
  for (int i = 0; i < 1024; ++i) many += ",1";
  EXPECT_EQ(code_of_text(ElementType::int64, {any_size}, many + "]"), "limit_exceeded");
  EXPECT_EQ(tensor_of_text(ElementType::int64, {any_size}, many.substr(0, many.size() - 2) + "]").shape,
            Shape{1024});
}

}  // namespace
}  // namespace sdip
