// Shapes, element types, and tensors whose values are known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/index.h"

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
  string,
  float8e4m3fn,
  float8e4m3fnuz,
  float8e5m2,
  float8e5m2fnuz,
  float4e2m1,
  int4,
  uint4,
  float8e8m0,
  int2,
  uint2
};
inline constexpr ElementType last_element_type = ElementType::uint2;

/// Product of the sizes, 1 for a scalar. Throws Error("model_too_large", ...) above 2^53, or for a negative size.
std::int64_t element_count(const Shape& shape);

/// "[1,320,64,64]"
std::string shape_text(const Shape& shape);

std::string_view element_type_text(ElementType type);

bool is_floating(ElementType type);

/// Bits of one element as ONNX stores it; 0 for strings.
std::int64_t bits_of(ElementType type);

/// The nearest number that a float type holds, ties to even. Beyond its largest: infinity where it has one and
/// `saturate` is false, else the largest, or NaN where it has no infinity and `saturate` is false. A NaN stays one.
/// Types without -0 (fnuz) hold 0 for it; float4e2m1, which holds numbers alone, its largest for infinity and 6 for
/// NaN. float8e8m0, which holds powers of two from 2^-127 to 2^127 and NaN, takes the nearest to a size, the higher
/// of two, and for 0, infinity and what lies beyond its ends the end, or NaN where `saturate` is false. float64 as
/// it is.
double rounded(ElementType type, double x, bool saturate = false);

/// The number that an integer type holds with the same low bits, as two's complement hardware wraps; boolean: 0 or
/// 1. uint64 above 2^63 stands as the negative int64 of the same bits.
std::int64_t wrapped(ElementType type, std::int64_t x);

/// Values of a tensor, in row-major order: integers and booleans stand in `ints` (uint64 as the same 64 bits),
/// floats of every type in `floats`, each a number the type holds; the other is empty.
struct Tensor {
  ElementType type = ElementType::float32;
  Shape shape;
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
};

/// All elements 0; of float8e8m0, which has none, its least number, whose code is 0.
Tensor zero_tensor(ElementType type, Shape shape);

}  // namespace sdip
