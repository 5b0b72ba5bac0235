// Shapes and element types as text, and the size of a shape.
#include "core/base/tensor.h"

#include "core/base/error.h"

namespace sdip {

std::int64_t element_count(const Shape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 53;  // counts stay exact in a double, too
  for (std::int64_t size : shape) {
    if (size == 0) return 0;
  }
  std::int64_t count = 1;
  for (std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count) || count > most) {
      throw Error("model_too_large", shape_text(shape),
                  "a tensor of shape " + shape_text(shape) + " has more than 2^53 elements, or a negative size");
    }
  }
  return count;
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += ',';
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::string_view element_type_text(ElementType type) {
  static constexpr std::string_view names[] = {"float32", "float64", "float16", "bfloat16", "int8",
                                               "uint8",   "int16",   "uint16",  "int32",    "uint32",
                                               "int64",   "uint64",  "boolean", "string"};
  return names[static_cast<std::size_t>(type)];
}

}  // namespace sdip
