// Zero points and scales of quantised products (core/ops/products/quantized.cpp), element by element. Internal to
// its room.
#pragma once

#include <vector>

#include "core/exec/operators/nest.h"

namespace sdip::exec {

/// Whether a node is sdip.QuantizedConv or sdip.QuantizedMatMul.
bool is_quantised(const Node& node);

/// Reads operand `index` (0 or 1) less its zero points.
OperandReader without_zero(Chip& chip, const Node& node, std::size_t index, OperandReader read);

/// The numbers that make a result of each sum; rows of them by element of the result.
struct Rescale {
  bool integers = true, scaled = false, rescaled = false;
  std::vector<double> x_scale, w_scale, y_scale, y_zero;  // one, or one an element

  /// The result of type `type` at `element` for a sum with its bias: as it is, times x_scale * w_scale, or divided
  /// by y_scale too and rounded, plus y_zero; scales in single precision.
  double operator()(ElementType type, std::int64_t element, double sum) const;
};
Rescale rescale_of(Chip& chip, const Node& node);

}  // namespace sdip::exec
