// The rule of a matrix product, for floats and for quantised integers. Internal to its room.
#pragma once

#include <vector>

#include "core/ops/values.h"

namespace sdip {

/// M x K by K x N for each of `batch` broadcast matrices.
struct Product {
  Shape batch;             // of the output
  Shape batch_a, batch_b;  // of each operand
  std::int64_t m = 1, n = 1, k = 1;
  bool trans_a = false, trans_b = false;
};

/// Throws shape_mismatch where shapes do not fit, as numpy's matmul.
Product product_of(const OperatorUse& use, const Shape& a, const Shape& b, bool trans_a, bool trans_b);

/// The shape of a product of operands of these shapes: a vector lends a dimension and takes it back.
Shape shape_of(const Product& product, const Shape& a, const Shape& b);

/// Which operands are weights decides the family and which of the two gives the output channels.
Work product_work(const Product& product, bool weight_a, bool weight_b);

/// Elements of the result, row-major; [[1,2]] by [[3],[4]] is 11. `T` is double, or std::uint64_t for integers,
/// which wrap. `stop` is asked before each row.
template <class T>
std::vector<T> multiplied(const Product& p, const std::vector<T>& a, const std::vector<T>& b, const Stop* stop);

}  // namespace sdip
