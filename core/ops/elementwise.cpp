// Operators of two or more operands that work element by element, broadcasting as numpy does.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

using MaybeInt = std::optional<std::int64_t>;

/// How two known elements combine: over integers (nothing on overflow or division by zero) and over floats.
struct Arithmetic {
  std::string_view type;
  MaybeInt (*ints)(std::int64_t, std::int64_t);
  std::optional<double> (*floats)(double, double);
};

MaybeInt add_ints(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  return __builtin_add_overflow(a, b, &r) ? MaybeInt() : MaybeInt(r);
}
MaybeInt sub_ints(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  return __builtin_sub_overflow(a, b, &r) ? MaybeInt() : MaybeInt(r);
}
MaybeInt mul_ints(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  return __builtin_mul_overflow(a, b, &r) ? MaybeInt() : MaybeInt(r);
}
MaybeInt div_ints(std::int64_t a, std::int64_t b) {
  return b == 0 || (b == -1 && a == INT64_MIN) ? MaybeInt() : MaybeInt(a / b);
}
/// The sign of the divisor, as ONNX's Mod without fmod has it.
MaybeInt mod_ints(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? MaybeInt() : MaybeInt(0);
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
MaybeInt pow_ints(std::int64_t a, std::int64_t b) {
  if (b < 0 || b > 62) return {};
  MaybeInt r = 1;
  while (r && b-- > 0) r = mul_ints(*r, a);
  return r;
}

// Only what IEEE 754 rounds correctly is folded over floats, so that results are the same bits everywhere.
constexpr Arithmetic arithmetic[] = {
    {"Add", add_ints, [](double a, double b) -> std::optional<double> { return a + b; }},
    {"Sub", sub_ints, [](double a, double b) -> std::optional<double> { return a - b; }},
    {"Mul", mul_ints, [](double a, double b) -> std::optional<double> { return a * b; }},
    {"Div", div_ints, [](double a, double b) -> std::optional<double> { return a / b; }},
    {"Mod", mod_ints, nullptr},
    {"Pow", pow_ints, nullptr},
    {"Min", [](std::int64_t a, std::int64_t b) { return MaybeInt(std::min(a, b)); },
     [](double a, double b) -> std::optional<double> { return std::min(a, b); }},
    {"Max", [](std::int64_t a, std::int64_t b) { return MaybeInt(std::max(a, b)); },
     [](double a, double b) -> std::optional<double> { return std::max(a, b); }},
    {"And", [](std::int64_t a, std::int64_t b) { return MaybeInt(a & b); }, nullptr},
    {"Or", [](std::int64_t a, std::int64_t b) { return MaybeInt(a | b); }, nullptr},
    {"Xor", [](std::int64_t a, std::int64_t b) { return MaybeInt(a ^ b); }, nullptr},
    {"Equal", [](std::int64_t a, std::int64_t b) { return MaybeInt(a == b); },
     [](double a, double b) -> std::optional<double> { return a == b; }},
    {"Less", [](std::int64_t a, std::int64_t b) { return MaybeInt(a < b); },
     [](double a, double b) -> std::optional<double> { return a < b; }},
    {"LessOrEqual", [](std::int64_t a, std::int64_t b) { return MaybeInt(a <= b); },
     [](double a, double b) -> std::optional<double> { return a <= b; }},
    {"Greater", [](std::int64_t a, std::int64_t b) { return MaybeInt(a > b); },
     [](double a, double b) -> std::optional<double> { return a > b; }},
    {"GreaterOrEqual", [](std::int64_t a, std::int64_t b) { return MaybeInt(a >= b); },
     [](double a, double b) -> std::optional<double> { return a >= b; }},
};

const Arithmetic* find_arithmetic(std::string_view type) {
  for (const Arithmetic& row : arithmetic) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

std::optional<Tensor> fold_ints(const Arithmetic& row, const Tensor& a, const Tensor& b, const Operand& out) {
  const Tensor left = pick_broadcast(a, out.shape);
  const Tensor right = pick_broadcast(b, out.shape);
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < left.ints.size(); ++i) {
    const MaybeInt value = row.ints(left.ints[i], right.ints.at(i));
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return int_constant(out.type, out.shape, std::move(values));
}

std::optional<Tensor> fold_floats(const Arithmetic& row, const Tensor& a, const Tensor& b, const Operand& out) {
  const Tensor left = pick_broadcast(a, out.shape);
  const Tensor right = pick_broadcast(b, out.shape);
  std::vector<double> values;
  for (std::size_t i = 0; i < left.floats.size(); ++i)
    values.push_back(*row.floats(left.floats[i], right.floats.at(i)));
  if (out.type != ElementType::boolean) return float_constant(out.type, out.shape, std::move(values));
  return int_constant(out.type, out.shape, std::vector<std::int64_t>(values.begin(), values.end()));
}

void fold_binary(const OperatorUse& use, const Operand& a, const Operand& b, Operand& out) {
  const Arithmetic* row = find_arithmetic(use.type);
  if (row == nullptr) return;
  const bool floats = is_floating(a.type);
  if (floats ? row->floats == nullptr : row->ints == nullptr) return;
  if (floats && is_floating(out.type)) {
    const auto left = scalar_of(a), right = scalar_of(b);
    if (left && right) {
      const auto rounded = float_constant(out.type, {}, {*row->floats(*left, *right)});
      if (rounded) out.fill = rounded->floats[0];
    }
  }
  if (!a.value || !b.value || !is_foldable(out.shape) || is_floating(b.type) != floats) return;
  out.value = floats ? fold_floats(*row, *a.value, *b.value, out) : fold_ints(*row, *a.value, *b.value, out);
}

void require_same_type(const OperatorUse& use, const Operand& a, const Operand& b) {
  if (a.type != b.type) {
    refuse(use, "shape_mismatch",
           "operands are of different types, " + std::string(element_type_text(a.type)) + " and " +
               std::string(element_type_text(b.type)));
  }
}

std::vector<Operand> infer_binary(const OperatorUse& use, ElementType type) {
  const Operand &a = input(use, 0), &b = input(use, 1);
  Operand out;
  out.type = type;
  out.shape = broadcast(use, a.shape, b.shape);
  if (int_attribute(use, "fmod", 0) == 0) fold_binary(use, a, b, out);
  return {out};
}

std::vector<Operand> infer_arithmetic(const OperatorUse& use) {
  require_same_type(use, input(use, 0), input(use, 1));
  return infer_binary(use, input(use, 0).type);
}

/// Pow and BitShift: the result has the first operand's type, whatever the second's.
std::vector<Operand> infer_power(const OperatorUse& use) { return infer_binary(use, input(use, 0).type); }

std::vector<Operand> infer_comparison(const OperatorUse& use) {
  require_same_type(use, input(use, 0), input(use, 1));
  return infer_binary(use, ElementType::boolean);
}

/// Sum, Mean, Min and Max take any number of operands.
std::vector<Operand> infer_many(const OperatorUse& use) {
  if (use.inputs.size() == 2 && use.type != "Sum" && use.type != "Mean") return infer_arithmetic(use);
  Operand out;
  out.type = input(use, 0).type;
  for (std::size_t i = 0; i < use.inputs.size(); ++i) {
    require_same_type(use, input(use, 0), input(use, i));
    out.shape = broadcast(use, out.shape, input(use, i).shape);
  }
  return {out};
}

std::vector<Operand> infer_where(const OperatorUse& use) {
  const Operand &condition = input(use, 0), &yes = input(use, 1), &no = input(use, 2);
  require_same_type(use, yes, no);
  Operand out;
  out.type = yes.type;
  out.shape = broadcast(use, broadcast(use, condition.shape, yes.shape), no.shape);
  if (!condition.value || !yes.value || !no.value || !is_foldable(out.shape)) return {out};
  const Tensor choose = pick_broadcast(*condition.value, out.shape);
  const Tensor no_values = pick_broadcast(*no.value, out.shape);
  Tensor value = pick_broadcast(*yes.value, out.shape);
  for (std::size_t i = 0; i < choose.ints.size(); ++i) {
    if (choose.ints[i] != 0) continue;
    if (!value.ints.empty()) value.ints[i] = no_values.ints.at(i);
    if (!value.floats.empty()) value.floats[i] = no_values.floats.at(i);
  }
  out.value = std::move(value);
  return {out};
}

constexpr std::size_t many = 1'000'000;
constexpr Operator rows[] = {
    {"", "Add", "add", 2, 2, "", infer_arithmetic, elementwise_work},
    {"", "And", "and", 2, 2, "", infer_comparison, elementwise_work},
    {"", "BitShift", "shift", 2, 2, "direction", infer_power, elementwise_work},
    {"", "Div", "div", 2, 2, "", infer_arithmetic, elementwise_work},
    {"", "Equal", "equal", 2, 2, "", infer_comparison, elementwise_work},
    {"", "Greater", "greater", 2, 2, "", infer_comparison, elementwise_work},
    {"", "GreaterOrEqual", "greater_or_equal", 2, 2, "", infer_comparison, elementwise_work},
    {"", "Less", "less", 2, 2, "", infer_comparison, elementwise_work},
    {"", "LessOrEqual", "less_or_equal", 2, 2, "", infer_comparison, elementwise_work},
    {"", "Max", "max", 1, many, "", infer_many, elementwise_work},
    {"", "Mean", "mean", 1, many, "", infer_many, elementwise_work},
    {"", "Min", "min", 1, many, "", infer_many, elementwise_work},
    {"", "Mod", "mod", 2, 2, "fmod", infer_arithmetic, elementwise_work},
    {"", "Mul", "mul", 2, 2, "", infer_arithmetic, elementwise_work},
    {"", "Or", "or", 2, 2, "", infer_comparison, elementwise_work},
    {"", "PRelu", "prelu", 2, 2, "", infer_arithmetic, elementwise_work},
    {"", "Pow", "pow", 2, 2, "", infer_power, elementwise_work},
    {"", "Sub", "sub", 2, 2, "", infer_arithmetic, elementwise_work},
    {"", "Sum", "add", 1, many, "", infer_many, elementwise_work},
    {"", "Where", "where", 3, 3, "", infer_where, elementwise_work},
    {"", "Xor", "xor", 2, 2, "", infer_comparison, elementwise_work},
};

}  // namespace

std::span<const Operator> elementwise_rows() { return rows; }

}  // namespace sdip
