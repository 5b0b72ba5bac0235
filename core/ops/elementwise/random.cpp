// Operators that make noise: never constants, and without arithmetic that could be repeated.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

ElementType noise_type(const OperatorUse& use, ElementType otherwise) {
  const ElementType type = type_attribute(use, "dtype", otherwise);
  if (!is_floating(type)) refuse(use, "unsupported_attribute", "attribute 'dtype' must name a float type");
  return type;
}

std::vector<Operand> infer_noise(const OperatorUse& use) {
  Operand out = typed(noise_type(use, ElementType::float32), ints_attribute(use, "shape", {}));
  if (std::any_of(out.shape.begin(), out.shape.end(), [](auto size) { return size < 0; })) {
    refuse(use, "shape_mismatch", "attribute 'shape' is " + shape_text(out.shape));
  }
  return {out};
}

/// One draw for each element, which is its chance.
std::vector<Operand> infer_bernoulli(const OperatorUse& use) {
  require_type(use, 0, is_floating, "a float");
  return {typed(type_attribute(use, "dtype", input(use, 0).type), input(use, 0).shape)};
}

/// [batch, classes] of log chances to [batch, sample_size] of classes.
std::vector<Operand> infer_multinomial(const OperatorUse& use) {
  require_type(use, 0, is_floating, "a float");
  const Shape& in = input(use, 0).shape;
  const std::int64_t count = int_attribute(use, "sample_size", 1);
  if (in.size() != 2 || count < 0) refuse(use, "shape_mismatch", "input " + shape_text(in) + " must be a matrix");
  const ElementType type = type_attribute(use, "dtype", ElementType::int32);
  if (!is_integer(type)) refuse(use, "unsupported_attribute", "attribute 'dtype' must name an integer type");
  return {typed(type, {in[0], count})};
}

/// Two passes over the chances, their exponentials summed up and then searched; each draw is written once.
Work multinomial_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = first_input_work(use, outputs);
  work.passes = 2;
  work.read_elements[0] *= 2;
  return work;
}

std::vector<Operand> infer_noise_like(const OperatorUse& use) {
  return {typed(noise_type(use, input(use, 0).type), input(use, 0).shape)};
}

constexpr Operator random_operators[] = {
    {"", "Bernoulli", "rand", 1, 1, "dtype seed", infer_bernoulli, elementwise_work, nullptr, "15 22", true},
    {"", "Multinomial", "rand", 1, 1, "dtype sample_size seed", infer_multinomial, multinomial_work, nullptr,
     "7 22", true},
    {"", "RandomNormal", "rand", 0, 0, "dtype mean scale seed shape", infer_noise, filling_work, nullptr, "7 22",
     true},
    {"", "RandomNormalLike", "rand", 1, 1, "dtype mean scale seed", infer_noise_like, filling_work, nullptr, "7 22",
     true},
    {"", "RandomUniform", "rand", 0, 0, "dtype high low seed shape", infer_noise, filling_work, nullptr, "7 22",
     true},
    {"", "RandomUniformLike", "rand", 1, 1, "dtype high low seed", infer_noise_like, filling_work, nullptr, "7 22",
     true},
};

}  // namespace

std::span<const Operator> random_rows() { return random_operators; }

}  // namespace sdip
