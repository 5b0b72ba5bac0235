// Operators that make one element of many: sums, means, products, norms, the greatest and the least.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/base/element_codes.h"
#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

std::vector<std::int64_t> reduced_axes_given(const OperatorUse& use) {
  return optional_input(use, 1) != nullptr ? ints_of_input(use, 1) : ints_attribute(use, "axes", {});
}

/// Axes by attribute, or by input (ReduceSum from opset 13, the others from 18); when none is given all of them, or
/// with noop_with_empty_axes none: then each element is reduced alone, so that ReduceL1 gives its absolute value.
std::vector<std::size_t> reduced_axes(const OperatorUse& use) {
  const std::size_t rank = input(use, 0).shape.size();
  std::vector<std::int64_t> axes = reduced_axes_given(use);
  if (axes.empty() && int_attribute(use, "noop_with_empty_axes", 0) == 0) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes_within(use, axes, rank);
}

/// [2,3,4] over axis 1: [2,1,4], or [2,4] when sizes of 1 are not kept.
Shape without(const Shape& in, const std::vector<std::size_t>& axes, bool keep) {
  Shape out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), i);
    if (!reduced || keep) out.push_back(reduced ? 1 : in[i]);
  }
  return out;
}

std::vector<Operand> infer_reduce(const OperatorUse& use) {
  require_type(use, 0, is_number, "a number");
  const Operand& in = input(use, 0);
  return {typed(in.type, without(in.shape, reduced_axes(use), int_attribute(use, "keepdims", 1) != 0))};
}

/// Booleans from opset 20 on.
std::vector<Operand> infer_reduced_extreme(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  if (in.type == ElementType::string || (in.type == ElementType::boolean && use.opset < 20)) {
    require_type(use, 0, is_number, "a number, or a boolean from opset 20 on");
  }
  return {typed(in.type, without(in.shape, reduced_axes(use), int_attribute(use, "keepdims", 1) != 0))};
}

/// For each element of the input, in order, the element of the output it goes into. [2,3] over axis 0: 0 1 2 0 1 2.
std::vector<std::int64_t> slots_of(const OperatorUse& use) {
  const Shape& in = input(use, 0).shape;
  if (element_count(in) == 0) return {};
  const auto axes = reduced_axes(use);
  Offsets offsets = offsets_of(without(in, axes, true));
  for (std::size_t axis : axes) offsets[axis].assign(as_size(in[axis]), 0);
  return positions(offsets);
}

/// Every element of a slot taken into `start` by f(so far, element).
template <class T, class F>
std::vector<T> gathered(const OperatorUse& use, const Operand& out, const std::vector<T>& elements, T start, F f) {
  const std::vector<std::int64_t> slots = slots_of(use);
  List<T> results(as_size(element_count(out.shape)), start);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    T& result = results[slots[i]];
    result = f(result, elements[i]);
  }
  return results;
}

/// sum f(x), then g of it, over floats; integers the same, cut to the type at the end.
template <double (*F)(double), double (*G)(double)>
void compute_float_sum(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> sums =
      gathered(use, outputs[0], doubles_of(use, 0), 0.0, [](double sum, double x) { return sum + F(x); });
  for (double& sum : sums) sum = G(sum);
  set_doubles(outputs[0], std::move(sums));
}

/// The same f of floats and of integers, each from its own start; integers are cut to the type.
template <class F>
void set_reduced(const OperatorUse& use, Operand& out, double float_start, std::int64_t int_start, F f) {
  const Tensor& in = value_of(use, 0);
  is_floating(in.type) ? set_doubles(out, gathered(use, out, in.floats, float_start, f))
                       : set_ints(out, gathered(use, out, in.ints, int_start, f));
}

using Word = std::uint64_t;

/// Floats in double, integers wrapping as 64 bits do.
template <class F>
void compute_wrapping(const OperatorUse& use, std::span<Operand> outputs, std::int64_t start, F f) {
  set_reduced(use, outputs[0], static_cast<double>(start), start, [&]<class T>(T so_far, T x) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, Word>;
    return static_cast<T>(f(static_cast<Wide>(so_far), static_cast<Wide>(x)));
  });
}

void compute_sum(const OperatorUse& use, std::span<Operand> outputs) {
  compute_wrapping(use, outputs, 0, [](auto sum, auto x) { return sum + x; });
}

void compute_prod(const OperatorUse& use, std::span<Operand> outputs) {
  compute_wrapping(use, outputs, 1, [](auto product, auto x) { return product * x; });
}

void compute_sum_square(const OperatorUse& use, std::span<Operand> outputs) {
  compute_wrapping(use, outputs, 0, [](auto sum, auto x) { return sum + x * x; });
}

/// Integers are cut towards zero; of no elements a float's mean is not-a-number, an integer's 0.
void compute_reduced_mean(const OperatorUse& use, std::span<Operand> outputs) {
  Operand& out = outputs[0];
  const Tensor& in = value_of(use, 0);
  const std::int64_t results = element_count(out.shape);
  const std::int64_t count = results == 0 ? 0 : element_count(in.shape) / results;
  if (is_floating(in.type)) {
    std::vector<double> sums = gathered(use, out, in.floats, 0.0, std::plus());
    for (double& x : sums) x /= static_cast<double>(count);
    return set_doubles(out, std::move(sums));
  }
  compute_sum(use, outputs);
  for (std::int64_t& x : out.value->ints) {
    if (out.type == ElementType::uint64 && count > 0) {
      x = static_cast<std::int64_t>(static_cast<Word>(x) / static_cast<Word>(count));
    } else {
      x = count == 0 ? 0 : x / count;
    }
  }
}

/// The greatest or least element; not-a-number stays. Where there are no elements, the greatest is the least that
/// the type holds, and the least is the greatest.
template <bool Greatest>
void compute_extreme(const OperatorUse& use, std::span<Operand> outputs) {
  const ElementType type = input(use, 0).type;
  const std::int64_t bits = type == ElementType::boolean ? 1 : bits_of(type) - is_signed(type);
  const auto most = static_cast<std::int64_t>(bits >= 64 ? UINT64_MAX : (Word{1} << bits) - 1);
  const std::int64_t least = is_signed(type) ? -most - 1 : 0;
  const auto better = [&]<class T>(T a, T b) {
    if constexpr (std::is_same_v<T, double>)
      return std::isnan(a) || (Greatest ? a > b : a < b) ? a : b;
    else
      return (sort_key(type, a) > sort_key(type, b)) == Greatest ? a : b;
  };
  set_reduced(use, outputs[0], Greatest ? -HUGE_VAL : HUGE_VAL, Greatest ? least : most, better);
}

/// The greatest is taken out first, so that no exponential overflows: log sum e^x = m + log sum e^(x-m).
void compute_log_sum_exp(const OperatorUse& use, std::span<Operand> outputs) {
  Operand& out = outputs[0];
  const std::vector<double> values = doubles_of(use, 0);
  const std::vector<double> most =
      gathered(use, out, values, -HUGE_VAL, [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
  const std::vector<std::int64_t> slots = slots_of(use);
  std::vector<double> sums(most.size(), 0.0);
  const auto shift = [&](std::size_t slot) { return std::isinf(most[slot]) ? 0.0 : most[slot]; };
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto slot = at(slots[i]);
    sums[slot] += std::exp(values[i] - shift(slot));
  }
  for (std::size_t slot = 0; slot < sums.size(); ++slot) sums[slot] = shift(slot) + std::log(sums[slot]);
  set_doubles(out, std::move(sums));
}

double same(double x) { return x; }
double square(double x) { return x * x; }

constexpr std::string_view names = "axes keepdims noop_with_empty_axes";
constexpr Operator reduce_operators[] = {
    {"", "ReduceL1", "reduce_l1", 1, 2, names, infer_reduce, first_input_work, compute_float_sum<std::fabs, same>,
     "7 11 13 18"},
    {"", "ReduceL2", "reduce_l2", 1, 2, names, infer_reduce, first_input_work, compute_float_sum<square, std::sqrt>,
     "7 11 13 18"},
    {"", "ReduceLogSum", "reduce_log_sum", 1, 2, names, infer_reduce, first_input_work,
     compute_float_sum<same, std::log>, "7 11 13 18"},
    {"", "ReduceLogSumExp", "reduce_log_sum_exp", 1, 2, names, infer_reduce, first_input_work, compute_log_sum_exp,
     "7 11 13 18"},
    {"", "ReduceMax", "reduce_max", 1, 2, names, infer_reduced_extreme, first_input_work, compute_extreme<true>,
     "7 11 12 13 18 20"},
    {"", "ReduceMean", "reduce_mean", 1, 2, names, infer_reduce, first_input_work, compute_reduced_mean,
     "7 11 13 18"},
    {"", "ReduceMin", "reduce_min", 1, 2, names, infer_reduced_extreme, first_input_work, compute_extreme<false>,
     "7 11 12 13 18 20"},
    {"", "ReduceProd", "reduce_prod", 1, 2, names, infer_reduce, first_input_work, compute_prod, "7 11 13 18"},
    {"", "ReduceSum", "reduce_sum", 1, 2, names, infer_reduce, first_input_work, compute_sum, "7 11 13"},
    {"", "ReduceSumSquare", "reduce_sum_square", 1, 2, names, infer_reduce, first_input_work, compute_sum_square,
     "7 11 13 18"},
};

}  // namespace

std::span<const Operator> reduce_rows() { return reduce_operators; }

}  // namespace sdip
