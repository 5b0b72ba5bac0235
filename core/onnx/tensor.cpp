// One tensor of a model: its type and shape, where its bytes lie, and its values when it is small.
#include "core/onnx/tensor.h"

#include "core/base/element_codes.h"
#include "core/base/error.h"
#include "core/base/units.h"
#include "core/onnx/external.h"
#include "core/onnx/raw.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

[[noreturn]] void fail(const char* code, const std::string& what) { throw Error(code, "", what); }

/// Codes in int32_data, one for each element; of 4-bit types one for each two, of 2-bit types for each four.
void read_codes(Tensor& value, const google::protobuf::RepeatedField<std::int32_t>& codes, std::int64_t count) {
  const std::int64_t in_each = codes_in_each(value.type);
  for (int code : codes) {
    for (std::int64_t i = 0; i < in_each; ++i)
      add_code(value, in_each == 1 ? code : code_in_byte(code, bits_of(value.type), as_size(i)));
  }
  // The last number may hold more than the last element: the rest is padding.
  const auto padded = as_size(ceil_div(count, in_each) * in_each);
  if (value.floats.size() == padded) value.floats.resize(as_size(count));
  if (value.ints.size() == padded) value.ints.resize(as_size(count));
}

/// Elements in the field that ONNX keeps the type in when they are not raw.
Tensor typed_elements(const onnx::TensorProto& tensor, ElementType type, std::int64_t count) {
  Tensor value{type, {}, {}, {}};
  switch (type) {
    case ElementType::float32:
      value.floats.assign(tensor.float_data().begin(), tensor.float_data().end());
      break;
    case ElementType::float64:
      value.floats.assign(tensor.double_data().begin(), tensor.double_data().end());
      break;
    case ElementType::int64:
      value.ints.assign(tensor.int64_data().begin(), tensor.int64_data().end());
      break;
    case ElementType::uint32:
    case ElementType::uint64:
      for (std::uint64_t x : tensor.uint64_data()) value.ints.push_back(static_cast<std::int64_t>(x));
      break;
    default:
      read_codes(value, tensor.int32_data(), count);
  }
  return value;
}

/// Whether so many bytes of the file can hold the elements of a tensor whose data were not kept.
bool can_hold(const onnx::TensorProto& tensor, ElementType type, std::int64_t count, std::int64_t bytes) {
  if (tensor.has_raw_data()) return bytes == stored_bytes(type, {count});
  if (type == ElementType::float32) return bytes == 4 * count || bytes == 5 * count - 1;  // a tag before each
  if (type == ElementType::float64) return bytes == 8 * count || bytes == 9 * count - 1;
  const std::int64_t numbers = ceil_div(count, codes_in_each(type));
  return bytes >= numbers && bytes / 11 <= numbers;  // varints of 1 to 10 bytes, a tag before each
}

}  // namespace

void check_shape(const Shape& shape, const std::string& what, const ImportOptions& options) {
  if (std::ssize(shape) > options.most_rank) {
    fail("limit_exceeded",
         fmt::format("{} has rank {}, at most {} is accepted", what, shape.size(), options.most_rank));
  }
  for (std::int64_t size : shape) {
    if (size < 0 || size > (std::int64_t{1} << 40)) {
      fail(size < 0 ? "invalid_graph" : "limit_exceeded",
           fmt::format("{} has a size of {}, expected 0 to 2^40", what, size));
    }
  }
  element_count(shape);
}

std::optional<Tensor> elements_of(const onnx::TensorProto& tensor, ElementType type, const Shape& shape) {
  if (tensor.has_raw_data()) {
    if (std::ssize(tensor.raw_data()) != stored_bytes(type, shape)) return std::nullopt;
    return tensor_of_raw(type, shape, tensor.raw_data());
  }
  const std::int64_t count = element_count(shape);
  Tensor value = typed_elements(tensor, type, count);
  if (std::ssize(value.ints) + std::ssize(value.floats) != count) return std::nullopt;
  value.shape = shape;
  return value;
}

ReadTensor read_tensor(const onnx::TensorProto& tensor, const std::string& what, const ImportOptions& options,
                       std::int64_t most_elements) {
  ReadTensor read;
  const auto type = element_type_of_onnx(tensor.data_type());
  if (!type) {
    fail("invalid_graph", fmt::format("{} has element type {}, which is not known here", what, tensor.data_type()));
  }
  read.operand.type = *type;
  read.operand.shape.assign(tensor.dims().begin(), tensor.dims().end());
  check_shape(read.operand.shape, what, options);
  const std::int64_t count = element_count(read.operand.shape);
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    if (tensor.has_segment()) fail("invalid_graph", what + " has external data, and data in the model, too");
    read.bytes = external_bytes(tensor, what, stored_bytes(*type, read.operand.shape));
    return read;
  }
  if (count == 0) read.operand.value = Tensor{*type, read.operand.shape, {}, {}};
  if (count == 0 || !tensor.has_segment() || *type == ElementType::string) return read;
  read.bytes = {"", tensor.segment().begin(), tensor.segment().end() - tensor.segment().begin()};
  const auto refuse_size = [&](std::int64_t bytes) {
    std::string found = " has data of another size";
    if (tensor.has_raw_data()) {
      const std::int64_t expected = stored_bytes(*type, read.operand.shape);
      found += fmt::format(": {} bytes, expected {}", bytes, expected);
    }
    fail("invalid_graph", what + " of shape " + shape_text(read.operand.shape) + found);
  };
  if (count > most_elements) {
    if (read.bytes.length > 0 && !can_hold(tensor, *type, count, read.bytes.length)) {
      refuse_size(read.bytes.length);
    }
    return read;
  }
  read.operand.value = elements_of(tensor, *type, read.operand.shape);
  if (!read.operand.value) refuse_size(std::ssize(tensor.raw_data()));
  return read;
}

}  // namespace sdip
