// Constants small enough to compute with at import.
#include "core/ops/fold.h"

namespace sdip {

bool is_foldable(const Shape& shape) { return element_count(shape) <= most_folded_elements; }

void know_if_empty(Operand& operand) {
  if (element_count(operand.shape) == 0 && !operand.value)
    operand.value = Tensor{operand.type, operand.shape, {}, {}};
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  if (element_count(shape) == 0) return strides;  // nothing to step over, and the products need not fit
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::optional<double> scalar_of(const Operand& operand) {
  if (operand.fill) return operand.fill;
  if (!operand.value || element_count(operand.shape) != 1) return std::nullopt;
  const Tensor& value = *operand.value;
  return value.ints.empty() ? value.floats.at(0) : static_cast<double>(value.ints.at(0));
}

}  // namespace sdip
