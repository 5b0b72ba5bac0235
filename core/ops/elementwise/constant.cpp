// Operators that make constants: from attributes, from shapes, by counting.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

Operand int64_operand(const Shape& shape, std::vector<std::int64_t> values) {
  Operand out = typed(ElementType::int64, shape);
  set_ints(out, std::move(values));
  return out;
}

Operand float_operand(const Shape& shape, std::vector<double> values) {
  Operand out = typed(ElementType::float32, shape);
  out.value = Tensor{out.type, shape, {}, std::move(values)};
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
  Operand out = typed(tensor->type, tensor->shape);
  const auto held = static_cast<std::int64_t>(tensor->ints.size() + tensor->floats.size());
  if (held == element_count(tensor->shape)) out.value = *tensor;
  return {out};
}

/// A constant whose values are not in the file has none to give.
void compute_constant(const OperatorUse& use, std::span<Operand> outputs) {
  outputs[0].value = infer_constant(use).at(0).value;
  if (!outputs[0].value) refuse(use, "not_computable", "its values are not there");
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

void compute_shape(const OperatorUse& use, std::span<Operand> outputs) { outputs[0] = infer_shape(use).at(0); }

std::vector<Operand> infer_size(const OperatorUse& use) {
  return {int64_operand({}, {element_count(input(use, 0).shape)})};
}

void compute_size(const OperatorUse& use, std::span<Operand> outputs) { outputs[0] = infer_size(use).at(0); }

/// The one number that fills the output.
Tensor filling(const OperatorUse& use) {
  if (!has_attribute(use, "value")) return {ElementType::float32, {1}, {}, {0.0}};
  const auto* given = std::get_if<Tensor>(&use.attributes->find("value")->second);
  if (given == nullptr || given->ints.size() + given->floats.size() != 1) {
    refuse(use, "unsupported_attribute", "attribute 'value' must be a tensor of one number");
  }
  return *given;
}

std::vector<Operand> infer_constant_of_shape(const OperatorUse& use) {
  const Shape shape = ints_of_input(use, 0);
  if (std::any_of(shape.begin(), shape.end(), [](auto size) { return size < 0; })) {
    refuse(use, "shape_mismatch", "input 0 asks for the shape " + shape_text(shape));
  }
  const Tensor value = filling(use);
  Operand out = typed(value.type, shape);
  out.fill = doubles_of(value)[0];
  return {out};
}

void compute_constant_of_shape(const OperatorUse& use, std::span<Operand> outputs) {
  const std::vector<std::int64_t> first(as_size(element_count(outputs[0].shape)), 0);
  outputs[0].value = gathered_elements(filling(use), outputs[0].shape, first);
}

struct Range {
  Tensor start, delta;
  std::int64_t count;
};

/// From 3 below 9 by 4: 3 7, which are 2.
Range range_of(const OperatorUse& use) {
  for (std::size_t i = 0; i < 3; ++i) {
    require_type(use, i, is_number, "a number");
    const Operand& bound = input(use, i);
    if (element_count(bound.shape) != 1 || bound.type != input(use, 0).type) {
      refuse(use, "shape_mismatch", "start, limit and delta must be scalars of one type");
    }
    if (!bound.value) refuse(use, "shape_unknown", "start, limit and delta are not known at import");
  }
  if (is_floating(input(use, 0).type) && bits_of(input(use, 0).type) == 16 &&
      int_attribute(use, "stash_type", 1) != 1)
    refuse(use, "unsupported_attribute", "a stash_type other than 1 (float) is not supported");
  const Tensor &start = value_of(use, 0), &limit = value_of(use, 1), &delta = value_of(use, 2);
  Range range{start, delta, 0};
  if (is_floating(start.type)) {
    const double steps = std::ceil((limit.floats[0] - start.floats[0]) / delta.floats[0]);
    if (!(steps < 9.0e15)) refuse(use, "shape_mismatch", "start, limit and delta make no range");
    range.count = static_cast<std::int64_t>(std::max(0.0, steps));
    return range;
  }
  if (delta.ints[0] == 0) refuse(use, "shape_mismatch", "start, limit and delta make no range");
  const bool up = delta.ints[0] > 0;
  const std::int64_t low = up ? start.ints[0] : limit.ints[0], high = up ? limit.ints[0] : start.ints[0];
  if (low >= high) return range;
  const auto apart = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const auto step = static_cast<std::uint64_t>(delta.ints[0]);
  const std::uint64_t steps = (apart - 1) / (up ? step : 0 - step) + 1;
  if (steps > std::uint64_t{1} << 53) refuse(use, "model_too_large", "the range has more than 2^53 elements");
  range.count = static_cast<std::int64_t>(steps);
  return range;
}

std::vector<Operand> infer_range(const OperatorUse& use) {
  return {typed(input(use, 0).type, {range_of(use).count})};
}

void compute_range(const OperatorUse& use, std::span<Operand> outputs) {
  const Range range = range_of(use);
  if (is_floating(outputs[0].type)) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < range.count; ++i)
      values.push_back(range.start.floats[0] + static_cast<double>(i) * range.delta.floats[0]);
    return set_doubles(outputs[0], std::move(values));
  }
  std::vector<std::int64_t> values;
  auto at = static_cast<std::uint64_t>(range.start.ints[0]);  // wraps, behind the last, where int64 must not
  for (std::int64_t i = 0; i < range.count; ++i) {
    values.push_back(static_cast<std::int64_t>(at));
    at += static_cast<std::uint64_t>(range.delta.ints[0]);
  }
  set_ints(outputs[0], std::move(values));
}

void compute_eye(const OperatorUse& use, std::span<Operand> outputs) {
  Tensor out = zero_tensor(outputs[0].type, outputs[0].shape);
  const std::int64_t rows = out.shape[0], columns = out.shape[1], k = int_attribute(use, "k", 0);
  on_elements(out, [&](auto& elements) {
    for (std::int64_t row = 0; row < rows; ++row) {
      if (k >= -row && k < columns - row) elements[at(row * columns + row + k)] = 1;
    }
  });
  outputs[0].value = std::move(out);
}

/// Ones on a diagonal: what follows from the input's shape alone.
std::vector<Operand> infer_eye(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  if (in.shape.size() != 2) refuse(use, "shape_mismatch", "the input is no matrix");
  if (!has_attribute(use, "dtype")) require_type(use, 0, is_number, "a number");
  std::vector<Operand> outputs{typed(type_attribute(use, "dtype", in.type), in.shape)};
  if (is_foldable(in.shape) && element_count(in.shape) > 0) compute_eye(use, outputs);
  return outputs;
}

constexpr Operator constant_operators[] = {
    {"", "Constant", "constant", 0, 0, "value value_float value_floats value_int value_ints", infer_constant,
     constant_work, compute_constant, "7 9 11 12 13 19 21 23 24 25"},
    {"", "ConstantOfShape", "constant", 1, 1, "value", infer_constant_of_shape, constant_work,
     compute_constant_of_shape, "9 20 21 23 24 25"},
    {"", "EyeLike", "eye", 1, 1, "dtype k", infer_eye, filling_work, compute_eye, "9 22"},
    {"", "Range", "constant", 3, 3, "stash_type", infer_range, constant_work, compute_range, "11 27"},
    {"", "Shape", "constant", 1, 1, "end start", infer_shape, constant_work, compute_shape,
     "7 13 15 19 21 23 24 25"},
    {"", "Size", "constant", 1, 1, "", infer_size, constant_work, compute_size, "7 13 19 21 23 24 25"},
};

}  // namespace

std::span<const Operator> constant_rows() { return constant_operators; }

}  // namespace sdip
