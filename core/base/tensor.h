// Shapes, element types, and small constant tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sdip {

/// Sizes, outermost first; a scalar has none. Every size is at least 0.
using Shape = std::vector<std::int64_t>;

enum class ElementType {
  float32,
  float64,
  float16,
  bfloat16,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  boolean,
  string
};

/// Product of the sizes, 1 for a scalar. Throws Error("model_too_large", ...) above 2^53.
std::int64_t element_count(const Shape& shape);

/// "[1,320,64,64]"
std::string shape_text(const Shape& shape);

std::string_view element_type_text(ElementType type);

/// A constant small enough to compute with: shape chains, axes, scales. Integers and booleans stand in `ints`,
/// floats in `floats`; the other is empty.
struct Constant {
  ElementType type = ElementType::float32;
  Shape shape;
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
};

}  // namespace sdip
