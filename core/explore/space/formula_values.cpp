// A formula computed for whole columns: a block of points after the other, each step over the whole block.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/explore/space/formula.h"

namespace sdip {
namespace {

constexpr std::size_t block_points = 512;
using Block = std::array<double, block_points>;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

bool unordered(double a, double b) { return std::isunordered(a, b); }

template <class Of>
void for_each_value(Block& a, std::size_t count, Of of) {
  for (std::size_t i = 0; i < count; ++i) a[i] = of(a[i]);
}
template <class Of>
void for_each_value(Block& a, const Block& b, std::size_t count, Of of) {
  for (std::size_t i = 0; i < count; ++i) a[i] = of(a[i], b[i]);
}
template <class Holds>
void compare(Block& a, const Block& b, std::size_t count, Holds holds) {
  for_each_value(a, b, count, [&](double x, double y) {
    return unordered(x, y) ? no_number : holds(x, y) ? 1.0 : 0.0;
  });
}

void of_one(FormulaOperation operation, Block& a, std::size_t count) {
  switch (operation) {
    case FormulaOperation::negate:
      return for_each_value(a, count, [](double x) { return -x; });
    case FormulaOperation::absolute:
      return for_each_value(a, count, [](double x) { return std::fabs(x); });
    case FormulaOperation::ceiling:
      return for_each_value(a, count, [](double x) { return std::ceil(x); });
    case FormulaOperation::floor:
      return for_each_value(a, count, [](double x) { return std::floor(x); });
    case FormulaOperation::exponential:
      return for_each_value(a, count, [](double x) { return std::exp(x); });
    case FormulaOperation::logarithm:
      return for_each_value(a, count, [](double x) { return std::log(x); });
    case FormulaOperation::logarithm2:
      return for_each_value(a, count, [](double x) { return std::log2(x); });
    default:
      return for_each_value(a, count, [](double x) { return std::sqrt(x); });
  }
}

/// 1 to any power, and anything to the power of 0, is 1 to the library, also where the other is no number.
double power_of(double x, double y) { return unordered(x, y) ? no_number : std::pow(x, y); }

void of_two(FormulaOperation operation, Block& a, const Block& b, std::size_t count) {
  switch (operation) {
    case FormulaOperation::add:
      return for_each_value(a, b, count, [](double x, double y) { return x + y; });
    case FormulaOperation::subtract:
      return for_each_value(a, b, count, [](double x, double y) { return x - y; });
    case FormulaOperation::multiply:
      return for_each_value(a, b, count, [](double x, double y) { return x * y; });
    case FormulaOperation::divide:
      return for_each_value(a, b, count, [](double x, double y) { return x / y; });
    case FormulaOperation::power:
      return for_each_value(a, b, count, power_of);
    case FormulaOperation::least:
      return for_each_value(a, b, count, [](double x, double y) {
        return unordered(x, y) ? no_number : y < x ? y : x;
      });
    case FormulaOperation::most:
      return for_each_value(a, b, count, [](double x, double y) {
        return unordered(x, y) ? no_number : y > x ? y : x;
      });
    case FormulaOperation::less:
      return compare(a, b, count, [](double x, double y) { return x < y; });
    case FormulaOperation::less_equal:
      return compare(a, b, count, [](double x, double y) { return x <= y; });
    case FormulaOperation::greater:
      return compare(a, b, count, [](double x, double y) { return x > y; });
    case FormulaOperation::greater_equal:
      return compare(a, b, count, [](double x, double y) { return x >= y; });
    case FormulaOperation::equal:
      return compare(a, b, count, [](double x, double y) { return x == y; });
    default:
      return compare(a, b, count, [](double x, double y) { return x != y; });
  }
}

void choose_where(Block& condition, const Block& then, const Block& other, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    condition[i] = std::isnan(condition[i]) ? no_number : condition[i] != 0 ? then[i] : other[i];
}

/// Makes infinite values none, also on the way.
void leave_out_infinite(Block& values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (std::isinf(values[i])) values[i] = no_number;
}

/// The steps over points first to first + count - 1; the result is the only value left.
void run(const Formula& formula, std::span<const std::span<const double>> inputs, std::size_t first,
         std::size_t count, std::vector<Block>& stack) {
  std::size_t height = 0;
  for (const FormulaStep& step : formula.steps) {
    if (step.operation == FormulaOperation::load) {
      const std::span<const double> points = inputs[step.input].subspan(first, count);
      std::ranges::copy(points, stack[height++].begin());
    } else if (step.operation == FormulaOperation::constant) {
      std::fill_n(stack[height++].begin(), count, step.number);
    } else if (step.operation < FormulaOperation::add) {
      of_one(step.operation, stack[height - 1], count);
      leave_out_infinite(stack[height - 1], count);
    } else if (step.operation < FormulaOperation::choose) {
      --height;
      of_two(step.operation, stack[height - 1], stack[height], count);
      leave_out_infinite(stack[height - 1], count);
    } else {
      height -= 2;
      choose_where(stack[height - 1], stack[height], stack[height + 1], count);
    }
  }
  check(height == 1, "a formula leaves one value");
}

}  // namespace

double input_value(const ParameterRow& row, std::int64_t value) {
  if (row.type == ParameterType::decimal) return Decimal{value}.value();
  if (row.type == ParameterType::real) return std::bit_cast<double>(value);
  return static_cast<double>(value);
}

void compute(const Formula& formula, std::span<const std::span<const double>> inputs, std::span<double> values) {
  check(inputs.size() == formula.inputs.size(), "compute: a column for each input");
  for (const std::span<const double> column : inputs)
    check(column.size() == values.size(), "compute: columns of one length");
  std::vector<Block> stack(formula.depth);
  for (std::size_t first = 0; first < values.size(); first += block_points) {
    const std::size_t count = std::min(block_points, values.size() - first);
    run(formula, inputs, first, count, stack);
    for (std::size_t i = 0; i < count; ++i)
      values[first + i] = std::isfinite(stack[0][i]) ? stack[0][i] : no_number;
  }
}

}  // namespace sdip
