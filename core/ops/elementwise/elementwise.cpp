// Arithmetic of two or more operands, element by element, broadcasting as numpy does.
#include <algorithm>
#include <cmath>
#include <concepts>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

// How two elements combine: of floats, and of integers as int64 or, for the type uint64, as uint64. Integers are
// added and multiplied as uint64, which wraps where int64 must not overflow; set_ints then cuts to the type.
constexpr std::uint64_t bits(std::integral auto x) { return static_cast<std::uint64_t>(x); }

struct Add {
  static double of(double a, double b) { return a + b; }
  static auto of(std::integral auto a, std::integral auto b) { return bits(a) + bits(b); }
};
struct Sub {
  static double of(double a, double b) { return a - b; }
  static auto of(std::integral auto a, std::integral auto b) { return bits(a) - bits(b); }
};
struct Mul {
  static double of(double a, double b) { return a * b; }
  static auto of(std::integral auto a, std::integral auto b) { return static_cast<decltype(a)>(bits(a) * bits(b)); }
};
/// Integers are cut towards zero. Requires b != 0 of integers.
struct Div {
  static double of(double a, double b) { return a / b; }
  template <std::integral T>
  static T of(T a, T b) {
    return b == static_cast<T>(-1) && std::is_signed_v<T> ? static_cast<T>(0 - bits(a)) : static_cast<T>(a / b);
  }
};
/// The sign of the dividend, as C's fmod: -7 and 3 give -1. Requires as Div.
struct Remainder {
  static double of(double a, double b) { return std::fmod(a, b); }
  template <std::integral T>
  static T of(T a, T b) {
    return b == static_cast<T>(-1) && std::is_signed_v<T> ? T{0} : static_cast<T>(a % b);
  }
};
/// The sign of the divisor, as Python's %: -7 and 3 give 2. Requires as Div.
struct Modulus {
  template <std::integral T>
  static T of(T a, T b) {
    const T r = Remainder::of(a, b);
    return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
  }
};
/// Not-a-number wins.
struct Min {
  static double of(double a, double b) { return a < b || std::isnan(a) ? a : b; }
  static auto of(std::integral auto a, std::integral auto b) { return std::min(a, b); }
};
struct Max {
  static double of(double a, double b) { return a > b || std::isnan(a) ? a : b; }
  static auto of(std::integral auto a, std::integral auto b) { return std::max(a, b); }
};
/// x, or x times the slope below zero.
struct Slope {
  static double of(double x, double slope) { return x < 0 ? x * slope : x; }
  static auto of(std::integral auto x, std::integral auto slope) { return x < 0 ? Mul::of(x, slope) : x; }
};
struct And {
  static auto of(std::integral auto a, std::integral auto b) { return a & b; }
};
struct Or {
  static auto of(std::integral auto a, std::integral auto b) { return a | b; }
};
struct Xor {
  static auto of(std::integral auto a, std::integral auto b) { return a ^ b; }
};
/// Shifts work on unsigned types; one by more than there are bits leaves 0.
struct ShiftLeft {
  static auto of(std::integral auto a, std::integral auto b) { return bits(b) > 63 ? 0 : bits(a) << bits(b); }
};
struct ShiftRight {
  static auto of(std::integral auto a, std::integral auto b) { return bits(b) > 63 ? 0 : bits(a) >> bits(b); }
};
/// a to the b-th by squaring; of a negative b what 1/a^-b is cut to.
struct Power {
  static double of(double a, double b) { return std::pow(a, b); }
  template <std::integral T>
  static T of(T a, T b) {
    if (b < 0) return a == 1 ? T{1} : a == static_cast<T>(-1) ? static_cast<T>(bits(b) % 2 == 0 ? 1 : -1) : T{0};
    T power = 1;
    for (std::uint64_t left = bits(b); left != 0; left >>= 1) {
      if (left & 1) power = Mul::of(power, a);
      a = Mul::of(a, a);
    }
    return power;
  }
};

/// What `Op` makes of two operands' elements, each taken as a T, broadcast to a shape.
template <class Op, class T, class Element>
std::vector<Element> combined(const Tensor& a, const Tensor& b, std::vector<Element> Tensor::*elements,
                              const Shape& shape) {
  return broadcast_pairs<Element>(a, b, elements, shape, [](Element x, Element y) {
    return static_cast<Element>(Op::of(static_cast<T>(x), static_cast<T>(y)));
  });
}

template <class Op>
void set_combined(Operand& out, const Tensor& a, const Tensor& b) {
  if constexpr (requires { Op::of(1.0, 1.0); }) {
    if (is_floating(a.type)) return set_doubles(out, combined<Op, double>(a, b, &Tensor::floats, out.shape));
  }
  set_ints(out, a.type == ElementType::uint64 ? combined<Op, std::uint64_t>(a, b, &Tensor::ints, out.shape)
                                              : combined<Op, std::int64_t>(a, b, &Tensor::ints, out.shape));
}

template <class Op>
void compute_pair(const OperatorUse& use, std::span<Operand> outputs) {
  set_combined<Op>(outputs[0], value_of(use, 0), value_of(use, 1));
}

void require_divisor(const OperatorUse& use) {
  const Tensor& divisor = value_of(use, 1);
  if (std::find(divisor.ints.begin(), divisor.ints.end(), 0) != divisor.ints.end()) {
    refuse(use, "not_computable", "divides an integer by 0");
  }
}

void compute_div(const OperatorUse& use, std::span<Operand> outputs) {
  require_divisor(use);
  compute_pair<Div>(use, outputs);
}

bool as_fmod(const OperatorUse& use) { return int_attribute(use, "fmod", 0) != 0; }

void compute_mod(const OperatorUse& use, std::span<Operand> outputs) {
  require_divisor(use);
  as_fmod(use) ? compute_pair<Remainder>(use, outputs) : compute_pair<Modulus>(use, outputs);
}

bool shifts_left(const OperatorUse& use) { return string_attribute(use, "direction", "") == "LEFT"; }

void compute_shift(const OperatorUse& use, std::span<Operand> outputs) {
  shifts_left(use) ? compute_pair<ShiftLeft>(use, outputs) : compute_pair<ShiftRight>(use, outputs);
}

/// The exponent may be of another type: integers to an integer stay integers, all else is a float, then cut.
void compute_pow(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor &a = value_of(use, 0), &b = value_of(use, 1);
  if (is_integer(a.type) && is_integer(b.type) && b.type != ElementType::uint64)
    return compute_pair<Power>(use, outputs);
  const Tensor base{a.type, a.shape, {}, doubles_of(a)}, exponent{b.type, b.shape, {}, doubles_of(b)};
  set_doubles(outputs[0], combined<Power, double>(base, exponent, &Tensor::floats, outputs[0].shape));
}

/// The operands combined one after the other; floats in double, rounded once at the end.
template <class Op>
void compute_many(const OperatorUse& use, std::span<Operand> outputs) {
  Operand sum = outputs[0];
  if (is_floating(sum.type)) sum.type = ElementType::float64;
  sum.value = broadcast_elements(value_of(use, 0), sum.shape);
  for (std::size_t i = 1; i < use.inputs.size(); ++i) set_combined<Op>(sum, *sum.value, value_of(use, i));
  is_floating(sum.type) ? set_doubles(outputs[0], std::move(sum.value->floats))
                        : set_ints(outputs[0], std::move(sum.value->ints));
}

void compute_mean(const OperatorUse& use, std::span<Operand> outputs) {
  Operand sum = outputs[0];
  sum.type = ElementType::float64;
  compute_many<Add>(use, {&sum, 1});
  for (double& x : sum.value->floats) x /= static_cast<double>(use.inputs.size());
  set_doubles(outputs[0], std::move(sum.value->floats));
}

std::vector<Operand> infer_pair(const OperatorUse& use, bool (*allowed)(ElementType), const char* expected) {
  require_same_type(use, input(use, 0), input(use, 1), "operands are");
  require_type(use, 0, allowed, expected);
  return {typed(input(use, 0).type, broadcast(use, input(use, 0).shape, input(use, 1).shape))};
}

std::vector<Operand> infer_arithmetic(const OperatorUse& use) { return infer_pair(use, is_number, "a number"); }
std::vector<Operand> infer_logic(const OperatorUse& use) { return infer_pair(use, is_boolean, "a boolean"); }
std::vector<Operand> infer_bitwise(const OperatorUse& use) { return infer_pair(use, is_integer, "an integer"); }

/// Makes a result uniform where both operands are the same everywhere, however large it is.
template <class Op>
std::vector<Operand> infer_filled(const OperatorUse& use) {
  std::vector<Operand> outputs = infer_arithmetic(use);
  const auto a = scalar_of(input(use, 0)), b = scalar_of(input(use, 1));
  if (a && b && is_floating(outputs[0].type)) outputs[0].fill = rounded(outputs[0].type, Op::of(*a, *b));
  return outputs;
}

std::vector<Operand> infer_mod(const OperatorUse& use) {
  if (is_floating(input(use, 0).type) && !as_fmod(use)) {
    refuse(use, "unsupported_attribute", "attribute 'fmod' must be 1 for floats");
  }
  return infer_arithmetic(use);
}

std::vector<Operand> infer_shift(const OperatorUse& use) {
  choice_attribute(use, "direction", "", {"LEFT", "RIGHT"});
  return infer_bitwise(use);
}

/// The slope is broadcast to the input, not the input to it.
std::vector<Operand> infer_prelu(const OperatorUse& use) {
  std::vector<Operand> outputs = infer_arithmetic(use);
  if (outputs[0].shape != input(use, 0).shape) {
    refuse(
        use, "shape_mismatch",
        "slope " + shape_text(input(use, 1).shape) + " does not broadcast to " + shape_text(input(use, 0).shape));
  }
  return outputs;
}

/// The result has the base's type, whatever the exponent's.
std::vector<Operand> infer_pow(const OperatorUse& use) {
  require_type(use, 0, is_number, "a number");
  require_type(use, 1, is_number, "a number");
  return {typed(input(use, 0).type, broadcast(use, input(use, 0).shape, input(use, 1).shape))};
}

std::vector<Operand> infer_many(const OperatorUse& use) {
  Operand out = typed(input(use, 0).type, {});
  for (std::size_t i = 0; i < use.inputs.size(); ++i) {
    require_same_type(use, input(use, 0), input(use, i), "operands are");
    out.shape = broadcast(use, out.shape, input(use, i).shape);
  }
  const bool integers = use.type == "Min" || use.type == "Max";
  require_type(use, 0, integers ? is_number : is_floating, integers ? "a number" : "a float");
  return {out};
}

template <class Op>
std::vector<Operand> infer_extreme(const OperatorUse& use) {
  return use.inputs.size() == 2 ? infer_filled<Op>(use) : infer_many(use);
}

constexpr std::size_t many = 1'000'000;
constexpr Operator elementwise_operators[] = {
    {"", "Add", "add", 2, 2, "", infer_filled<Add>, elementwise_work, compute_pair<Add>, "7 13 14"},
    {"", "And", "and", 2, 2, "", infer_logic, elementwise_work, compute_pair<And>, "7"},
    {"", "BitShift", "shift", 2, 2, "direction", infer_shift, elementwise_work, compute_shift, "11"},
    {"", "BitwiseAnd", "and", 2, 2, "", infer_bitwise, elementwise_work, compute_pair<And>, "18"},
    {"", "BitwiseOr", "or", 2, 2, "", infer_bitwise, elementwise_work, compute_pair<Or>, "18"},
    {"", "BitwiseXor", "xor", 2, 2, "", infer_bitwise, elementwise_work, compute_pair<Xor>, "18"},
    {"", "Div", "div", 2, 2, "", infer_filled<Div>, elementwise_work, compute_div, "7 13 14"},
    {"", "Max", "max", 1, many, "", infer_extreme<Max>, elementwise_work, compute_many<Max>, "7 8 12 13"},
    {"", "Mean", "mean", 1, many, "", infer_many, elementwise_work, compute_mean, "7 8 13"},
    {"", "Min", "min", 1, many, "", infer_extreme<Min>, elementwise_work, compute_many<Min>, "7 8 12 13"},
    {"", "Mod", "mod", 2, 2, "fmod", infer_mod, elementwise_work, compute_mod, "10 13"},
    {"", "Mul", "mul", 2, 2, "", infer_filled<Mul>, elementwise_work, compute_pair<Mul>, "7 13 14"},
    {"", "Or", "or", 2, 2, "", infer_logic, elementwise_work, compute_pair<Or>, "7"},
    {"", "PRelu", "prelu", 2, 2, "", infer_prelu, elementwise_work, compute_pair<Slope>, "7 9 16"},
    {"", "Pow", "pow", 2, 2, "", infer_pow, elementwise_work, compute_pow, "7 12 13 15"},
    {"", "Sub", "sub", 2, 2, "", infer_filled<Sub>, elementwise_work, compute_pair<Sub>, "7 13 14"},
    {"", "Sum", "add", 1, many, "", infer_many, elementwise_work, compute_many<Add>, "7 8 13"},
    {"", "Xor", "xor", 2, 2, "", infer_logic, elementwise_work, compute_pair<Xor>, "7"},
};

}  // namespace

std::span<const Operator> elementwise_rows() { return elementwise_operators; }

}  // namespace sdip
