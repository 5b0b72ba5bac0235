// Tensors as .npy and .pb files.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <random>

#include "core/base/error.h"
#include "core/onnx/npy.h"
#include "core/onnx/raw.h"
#include "core/onnx/tensor_message.h"

namespace sdip {
namespace {

std::string npy_file(const std::string& dictionary, const std::string& elements, char version = 1) {
  const std::string text = dictionary + "\n";
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(text.size() >> (8 * i) & 255);
  return bytes + text + elements;
}

std::string npy_dictionary(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

std::string code_of_npy(const std::string& bytes, ElementType type = ElementType::int16) {
  try {
    tensor_of_npy(bytes, type);
  } catch (const Error& error) {
    return error.code;
  }
  return "none";
}

/// 2 x 3 of 1 to 6 as numpy stores it in each order.
TEST(npy, both_byte_orders_and_both_orders_of_axes_in_all_versions_are_read) {
  const std::string little("\1\0\2\0\3\0\4\0\5\0\6\0", 12), big("\0\1\0\2\0\3\0\4\0\5\0\6", 12),
      columns("\1\0\4\0\2\0\5\0\3\0\6\0", 12);
  const std::vector<std::int64_t> expected{1, 2, 3, 4, 5, 6};
  for (const char version : {'\1', '\2', '\3'}) {
    const auto read = [&](const char* descr, const char* order, const std::string& elements) {
      return tensor_of_npy(npy_file(npy_dictionary(descr, order, "(2, 3)"), elements, version), ElementType::int16);
    };
    EXPECT_EQ(read("<i2", "False", little).ints, expected);
    EXPECT_EQ(read(">i2", "False", big).ints, expected);
    EXPECT_EQ(read("<i2", "True", columns).ints, expected);
    EXPECT_EQ(read("<i2", "False", little).shape, (Shape{2, 3}));
  }
  EXPECT_EQ(
      tensor_of_npy(npy_file(npy_dictionary("<i2", "True", "()"), std::string("\7\0", 2)), ElementType::int16).ints,
      std::vector<std::int64_t>{7});
  EXPECT_EQ(tensor_of_npy(npy_file(npy_dictionary("<i2", "True", "(2L, 0)"), ""), ElementType::int16).shape,
            (Shape{2, 0}));
}

TEST(npy, hostile_headers_are_refused) {
  const std::string two("\1\0\2\0", 4);
  const auto code = [&](const std::string& dictionary) { return code_of_npy(npy_file(dictionary, two)); };
  EXPECT_EQ(code(npy_dictionary("<i2", "False", "(2,)")), "none");
  for (const char* shape : {"(3,)", "(1,)", "(-2,)", "(2", "2", "(2,,)", "(2.0,)", "(99999999999999999999,)",
                            "(4294967296, 4294967296, 4294967296)", "(1152921504606846976, 16)", "(a,)"})
    EXPECT_EQ(code(npy_dictionary("<i2", "False", shape)), "tensor_file_invalid") << shape;
  for (const char* descr : {"|O", "<U4", "<c8", "|V2", "?i2", "", "<", "O"})
    EXPECT_EQ(code(npy_dictionary(descr, "False", "(2,)")), "tensor_file_invalid") << descr;
  EXPECT_EQ(code(npy_dictionary("<f2", "False", "(2,)")), "shape_mismatch");
  for (const char* dictionary :
       {"", "{", "{}", "{'descr': '<i2'}", "{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<i2', 'descr': '<i2', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<i2', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2,)} x", "{'descr: '<i2'}"})
    EXPECT_EQ(code(dictionary), "tensor_file_invalid") << dictionary;
  std::string file = npy_file(npy_dictionary("<i2", "False", "(2,)"), two);
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_EQ(code_of_npy(file.substr(0, size)), "tensor_file_invalid") << size;
  file[6] = 4;
  EXPECT_EQ(code_of_npy(file), "tensor_file_invalid");
  std::string deep = "(";
  for (int i = 0; i < 40; ++i) deep += "1,";
  EXPECT_EQ(code(npy_dictionary("<i2", "False", deep + ")")), "tensor_file_invalid");
}

TEST(npy, any_byte_changed_is_read_or_refused_by_its_code) {
  std::mt19937_64 random(3);
  const std::string file = npy_file(npy_dictionary("<i2", "False", "(2, 1)"), std::string("\1\0\2\0", 4));
  for (int i = 0; i < 20000; ++i) {
    std::string changed = file;
    for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    const std::string code = code_of_npy(changed);
    EXPECT_TRUE(code == "none" || code == "tensor_file_invalid" || code == "shape_mismatch") << code;
  }
}

/// A tensor of each type comes back from each form.
TEST(tensor_files, every_type_comes_back_as_it_was) {
  for (int t = 0; t <= static_cast<int>(ElementType::uint4); ++t) {
    const auto type = static_cast<ElementType>(t);
    if (type == ElementType::string) continue;
    Tensor tensor{type, {3}, {}, {}};
    if (is_floating(type))
      tensor.floats = {rounded(type, -1.5), 0.0, rounded(type, 0.5)};
    else
      tensor.ints = {wrapped(type, -1), 0, wrapped(type, 1)};
    const auto same = [&](const Tensor& read) {
      EXPECT_EQ(read.type, type) << element_type_text(type);
      EXPECT_EQ(read.shape, tensor.shape) << element_type_text(type);
      EXPECT_EQ(read.ints, tensor.ints) << element_type_text(type);
      EXPECT_EQ(read.floats, tensor.floats) << element_type_text(type);
    };
    same(tensor_of_raw(type, tensor.shape, raw_of_tensor(tensor)));
    same(tensor_of_npy(npy_of_tensor(tensor), type));
    same(tensor_of_message(message_of_tensor(tensor, "t")));
  }
  const Tensor none{ElementType::float16, {}, {}, {std::nan("")}};
  EXPECT_TRUE(std::isnan(tensor_of_npy(npy_of_tensor(none), ElementType::float16).floats[0]));
}

TEST(tensor_messages, that_are_none_or_incomplete_are_refused) {
  const auto code = [](const std::string& bytes) {
    try {
      tensor_of_message(bytes);
    } catch (const Error& error) {
      return error.code;
    }
    return std::string("none");
  };
  onnx::TensorProto message;
  EXPECT_EQ(code(message.SerializeAsString()), "tensor_file_invalid");
  EXPECT_EQ(code("text"), "tensor_file_invalid");
  message.set_data_type(1);
  message.add_dims(2);
  EXPECT_EQ(code(message.SerializeAsString()), "tensor_file_invalid");
  message.add_float_data(1);
  message.add_float_data(2);
  EXPECT_EQ(code(message.SerializeAsString()), "none");
  message.set_data_location(onnx::TensorProto::EXTERNAL);
  EXPECT_EQ(code(message.SerializeAsString()), "tensor_file_invalid");
  message.clear_data_location();
  message.set_dims(0, -2);
  EXPECT_EQ(code(message.SerializeAsString()), "tensor_file_invalid");
  message.set_dims(0, std::int64_t{1} << 60);
  EXPECT_EQ(code(message.SerializeAsString()), "tensor_file_invalid");
  message.set_dims(0, 1);
  message.set_data_type(8);
  EXPECT_EQ(code(message.SerializeAsString()), "tensor_file_invalid");
}

}  // namespace
}  // namespace sdip
