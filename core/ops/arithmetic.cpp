// The parts that all arithmetic shares: elements as numbers, in and out, and walks over all indices of a shape.
#include "core/ops/arithmetic.h"

#include "core/base/error.h"
#include "core/ops/values.h"

namespace sdip {

std::vector<double> numbers_in(const Tensor& tensor) { return doubles_of(tensor); }

std::vector<double> numbers_of(const OperatorUse& use, std::size_t i) {
  const Operand* operand = optional_input(use, i);
  if (operand == nullptr) return {};
  check(operand->value.has_value(), "numbers_of: an input without its value");
  std::vector<double> numbers = numbers_in(*operand->value);
  if (std::ssize(numbers) != element_count(operand->shape)) {
    refuse(use, "not_computable", fmt::format("the values of input {} are no numbers", i));
  }
  return numbers;
}

double held_number(ElementType type, double x) {
  if (type == ElementType::float32) return static_cast<double>(static_cast<float>(x));
  if (is_floating(type)) return rounded(type, x);
  return double_of(type, int_of(type, x));
}

void set_numbers(Operand& output, const std::vector<double>& numbers) {
  check(std::ssize(numbers) == element_count(output.shape), "set_numbers: another number of elements");
  give_numbers(output, numbers);
}

bool next_index(std::vector<std::int64_t>& index, const Shape& shape) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (++index[axis] < shape[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

std::vector<double> broadcast_numbers(const std::vector<double>& numbers, const Shape& from, const Shape& to) {
  const Spread at = spread(from, to);
  std::vector<double> all(as_size(element_count(to)));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = numbers[at[i]];
  return all;
}

void require_bounded(const OperatorUse& use, double operations, std::int64_t stored_elements) {
  if (operations > 0x1p16 * (static_cast<double>(stored_elements) + 1)) {
    refuse(use, "limit_exceeded", "it takes more than 2^16 operations for each element it reads or makes");
  }
}

void require_shape(const OperatorUse& use, std::size_t i, const Shape& shape) {
  const Operand* operand = optional_input(use, i);
  if (operand == nullptr || operand->shape == shape) return;
  refuse(use, "shape_mismatch",
         fmt::format("input {} is {}, expected {}", i, shape_text(operand->shape), shape_text(shape)));
}

}  // namespace sdip
