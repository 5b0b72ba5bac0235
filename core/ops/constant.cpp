// Operators that make constants: from attributes, from shapes, by counting; and those that make noise.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

Operand int64_operand(Shape shape, std::vector<std::int64_t> values) {
  Operand out;
  out.type = ElementType::int64;
  out.shape = shape;
  out.value = Tensor{ElementType::int64, std::move(shape), std::move(values), {}};
  return out;
}

Operand float_operand(Shape shape, std::vector<double> values) {
  Operand out;
  out.shape = shape;
  out.value = Tensor{ElementType::float32, std::move(shape), {}, std::move(values)};
  return out;
}

std::vector<Operand> infer_constant(const OperatorUse& use) {
  if (has_attribute(use, "value_int")) return {int64_operand({}, {int_attribute(use, "value_int", 0)})};
  if (has_attribute(use, "value_float")) return {float_operand({}, {float_attribute(use, "value_float", 0)})};
  if (has_attribute(use, "value_ints")) {
    auto values = ints_attribute(use, "value_ints", {});
    return {int64_operand({std::ssize(values)}, values)};
  }
  if (has_attribute(use, "value_floats")) {
    const auto* values = std::get_if<std::vector<double>>(&use.attributes->find("value_floats")->second);
    if (values == nullptr) refuse(use, "unsupported_attribute", "value_floats must be a list of floats");
    return {float_operand({std::ssize(*values)}, *values)};
  }
  if (!has_attribute(use, "value")) refuse(use, "unsupported_attribute", "has no value that is understood here");
  const auto* tensor = std::get_if<Tensor>(&use.attributes->find("value")->second);
  if (tensor == nullptr) refuse(use, "unsupported_attribute", "attribute 'value' must be a tensor");
  Operand out;
  out.type = tensor->type;
  out.shape = tensor->shape;
  const auto held = static_cast<std::int64_t>(tensor->ints.size() + tensor->floats.size());
  if (held == element_count(tensor->shape)) out.value = *tensor;
  return {out};
}

/// From opset 15 on a part of the shape may be asked for.
std::vector<Operand> infer_shape(const OperatorUse& use) {
  const Shape& shape = input(use, 0).shape;
  const std::int64_t rank = std::ssize(shape);
  const auto bound = [&](const char* name, std::int64_t otherwise) {
    const std::int64_t at = int_attribute(use, name, otherwise);
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  return {int64_operand({end - start}, {shape.begin() + start, shape.begin() + end})};
}

std::vector<Operand> infer_size(const OperatorUse& use) {
  return {int64_operand({}, {element_count(input(use, 0).shape)})};
}

std::vector<Operand> infer_constant_of_shape(const OperatorUse& use) {
  Operand out;
  out.shape = ints_of_input(use, 0);
  Tensor value{ElementType::float32, {1}, {}, {0.0}};
  if (has_attribute(use, "value")) {
    const auto* given = std::get_if<Tensor>(&use.attributes->find("value")->second);
    if (given == nullptr || given->ints.size() + given->floats.size() != 1) {
      refuse(use, "unsupported_attribute", "attribute 'value' must be a tensor of one number");
    }
    value = *given;
  }
  out.type = value.type;
  out.fill = value.ints.empty() ? value.floats[0] : static_cast<double>(value.ints[0]);
  if (is_foldable(out.shape)) {
    out.value = pick(value, out.shape, [](auto) { return std::int64_t{0}; });
  }
  return {out};
}

std::vector<Operand> infer_range(const OperatorUse& use) {
  const auto start = scalar_of(input(use, 0)), limit = scalar_of(input(use, 1)), delta = scalar_of(input(use, 2));
  if (!start || !limit || !delta) refuse(use, "shape_unknown", "start, limit and delta are not known at import");
  const double steps = *delta == 0 ? -1 : (*limit - *start) / *delta;
  if (*delta == 0 || !(steps < 9.0e15)) refuse(use, "shape_mismatch", "start, limit and delta make no range");
  auto count = static_cast<std::int64_t>(std::max(0.0, steps));
  if (static_cast<double>(count) < steps) ++count;
  Operand out;
  out.type = input(use, 0).type;
  out.shape = {count};
  constexpr double exact = 9.0e15;  // integers below are doubles, too
  if (is_foldable(out.shape) && !is_floating(out.type) && std::abs(*start) < exact && std::abs(*limit) < exact) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<std::int64_t>(*start + static_cast<double>(i) * *delta));
    out.value = int_constant(out.type, out.shape, std::move(values));
  }
  return {out};
}

ElementType noise_type(const OperatorUse& use, ElementType otherwise) {
  if (!has_attribute(use, "dtype")) return otherwise;
  const auto type = element_type_of_onnx(int_attribute(use, "dtype", 0));
  if (!type || !is_floating(*type))
    refuse(use, "unsupported_attribute", "attribute 'dtype' must name a float type");
  return *type;
}

std::vector<Operand> infer_noise(const OperatorUse& use) {
  Operand out;
  out.type = noise_type(use, ElementType::float32);
  out.shape = ints_attribute(use, "shape", {});
  if (std::any_of(out.shape.begin(), out.shape.end(), [](auto size) { return size < 0; })) {
    refuse(use, "shape_mismatch", "attribute 'shape' is " + shape_text(out.shape));
  }
  return {out};
}

std::vector<Operand> infer_noise_like(const OperatorUse& use) {
  Operand out;
  out.type = noise_type(use, input(use, 0).type);
  out.shape = input(use, 0).shape;
  return {out};
}

/// Reads nothing, not even from the tensor whose shape it takes.
Work noise_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work;
  work.row_length = work.write_elements = element_count(outputs[0].shape);
  work.read_elements.assign(use.inputs.size(), 0);
  return work;
}

constexpr Operator rows[] = {
    {"", "Constant", "constant", 0, 0, "value value_float value_floats value_int value_ints", infer_constant,
     constant_work},
    {"", "ConstantOfShape", "constant", 1, 1, "value", infer_constant_of_shape, constant_work},
    {"", "RandomNormal", "rand", 0, 0, "dtype mean scale seed shape", infer_noise, noise_work, nullptr, "", true},
    {"", "RandomNormalLike", "rand", 1, 1, "dtype mean scale seed", infer_noise_like, noise_work, nullptr, "",
     true},
    {"", "RandomUniform", "rand", 0, 0, "dtype high low seed shape", infer_noise, noise_work, nullptr, "", true},
    {"", "RandomUniformLike", "rand", 1, 1, "dtype high low seed", infer_noise_like, noise_work, nullptr, "", true},
    {"", "Range", "constant", 3, 3, "", infer_range, constant_work},
    {"", "Shape", "constant", 1, 1, "end start", infer_shape, constant_work},
    {"", "Size", "constant", 1, 1, "", infer_size, constant_work},
};

}  // namespace

std::span<const Operator> constant_rows() { return rows; }

}  // namespace sdip
