// Formulas against a second evaluator that walks a tree, and bytes that are no formulas.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>

#include "core/base/error.h"
#include "core/explore/space/formula.h"

namespace sdip {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr const char* drawn_names[] = {"latency_s", "area_mm2", "power_w", "cores"};
using FormulaPoint = std::array<double, 4>;

/// A text with every pair of parentheses, and what it is of a point.
struct Drawn {
  std::string text;
  std::function<double(const FormulaPoint&)> value;
};

struct FormulaDice {
  std::mt19937_64 engine;
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine() % n); }

  Drawn leaf() {
    if (below(2) == 0) {
      const std::size_t name = below(4);
      return {drawn_names[name], [name](const FormulaPoint& p) { return p[name]; }};
    }
    const double number = static_cast<double>(below(1000)) / 8;
    return {std::to_string(number), [number](const FormulaPoint&) { return number; }};
  }

  static double finite(double x) { return std::isinf(x) ? not_a_number : x; }

  Drawn of_one(const Drawn& a) {
    using Of = double (*)(double);
    const std::pair<const char*, Of> kinds[] = {{"-", [](double x) { return -x; }},
                                                {"abs", [](double x) { return x < 0 ? -x : x; }},
                                                {"ceil", [](double x) { return -std::floor(-x); }},
                                                {"floor", [](double x) { return -std::ceil(-x); }},
                                                {"sqrt", [](double x) { return std::sqrt(x); }},
                                                {"log2", [](double x) { return std::log2(x); }},
                                                {"log", [](double x) { return std::log(x); }},
                                                {"exp", [](double x) { return std::exp(x); }}};
    const auto& [sign, of] = kinds[below(std::size(kinds))];
    return {std::string(sign) + "(" + a.text + ")",
            [a, of = of](const FormulaPoint& p) { return finite(of(a.value(p))); }};
  }

  Drawn of_two(const Drawn& a, const Drawn& b) {
    using Of = double (*)(double, double);
    const auto flag = [](bool holds) { return holds ? 1.0 : 0.0; };
    static const auto held = flag;
    const std::pair<const char*, Of> kinds[] = {
        {"+", [](double x, double y) { return x + y; }},
        {"-", [](double x, double y) { return x - y; }},
        {"*", [](double x, double y) { return x * y; }},
        {"/", [](double x, double y) { return x / y; }},
        {"^", [](double x, double y) { return std::pow(x, y); }},
        {"<", [](double x, double y) { return held(x < y); }},
        {">=", [](double x, double y) { return held(!(x < y)); }},
        {"==", [](double x, double y) { return held(!(x < y) && !(y < x)); }},
        {"!=", [](double x, double y) { return held(x < y || y < x); }}};
    const auto& [sign, of] = kinds[below(std::size(kinds))];
    return {"(" + a.text + ")" + (below(2) == 0 ? " " : "") + sign + "(" + b.text + ")",
            [a, b, of = of](const FormulaPoint& p) {
              const double x = a.value(p), y = b.value(p);
              return std::isnan(x) || std::isnan(y) ? not_a_number : finite(of(x, y));
            }};
  }

  Drawn chosen(const Drawn& a, const Drawn& b, const Drawn& c) {
    if (below(2) == 0)
      return {"if(" + a.text + "," + b.text + ", " + c.text + ")", [a, b, c](const FormulaPoint& p) {
                const double condition = a.value(p);
                if (std::isnan(condition)) return not_a_number;
                return condition == 0 ? c.value(p) : b.value(p);
              }};
    const bool least = below(2) == 0;
    return {std::string(least ? "min(" : "max(") + a.text + " ," + b.text + "," + c.text + ")",
            [a, b, c, least](const FormulaPoint& p) {
              double best = a.value(p);
              for (const double one : {b.value(p), c.value(p)}) {
                if (std::isnan(one) || std::isnan(best)) return not_a_number;
                if (least ? one < best : best < one) best = one;
              }
              return best;
            }};
  }

  Drawn tree(int depth) {
    if (depth == 0 || below(6) == 0) return leaf();
    switch (below(4)) {
      case 0:
        return of_one(tree(depth - 1));
      case 1:
        return chosen(tree(depth - 1), tree(depth - 1), tree(depth - 1));
      default:
        return of_two(tree(depth - 1), tree(depth - 1));
    }
  }
};

/// As the formula's inputs are ordered.
std::vector<std::vector<double>> columns_for(const Formula& formula, const std::vector<FormulaPoint>& points) {
  std::vector<std::vector<double>> columns;
  for (const FormulaInput& input : formula.inputs) {
    std::size_t name = 3;
    if (input.parameter == nullptr)
      name = input.metric == Metric::latency_s ? 0 : input.metric == Metric::area_mm2 ? 1 : 2;
    std::vector<double>& column = columns.emplace_back();
    for (const FormulaPoint& point : points) column.push_back(point[name]);
  }
  return columns;
}

TEST(formula, random_ones_are_what_a_walk_through_their_tree_says) {
  std::int64_t numbers = 0, compared = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    FormulaDice draw{std::mt19937_64(seed)};
    const Drawn drawn = draw.tree(static_cast<int>(draw.below(5)));
    if (drawn.text.size() > longest_formula) {
      ++refused;
      continue;
    }
    const Formula formula = parse_formula("f", "", drawn.text, "seed " + std::to_string(seed));
    std::vector<FormulaPoint> points(1 + draw.below(1100));  // more than one block, and a rest
    for (FormulaPoint& point : points)
      for (double& value : point)
        value = draw.below(40) == 0 ? not_a_number : (static_cast<double>(draw.below(400)) - 100) / 16;
    const std::vector<std::vector<double>> columns = columns_for(formula, points);
    const std::vector<std::span<const double>> inputs(columns.begin(), columns.end());
    std::vector<double> values(points.size(), 77);
    compute(formula, inputs, values);
    for (std::size_t i = 0; i < points.size(); ++i) {
      double expected = drawn.value(points[i]);
      if (std::isinf(expected)) expected = not_a_number;
      ++compared;
      numbers += !std::isnan(expected);
      ASSERT_TRUE(values[i] == expected || (std::isnan(values[i]) && std::isnan(expected)))
          << "seed " << seed << ", point " << i << ": " << values[i] << " for " << expected << "\n"
          << drawn.text;
    }
  }
  EXPECT_GT(numbers, compared / 3) << "of " << compared;
  EXPECT_LT(refused, 400);
}

/// Random bytes, and pieces of formulas in any order: accepted or refused, never anything else.
TEST(formula, of_any_bytes_is_read_or_refused) {
  constexpr const char* pieces[] = {"(",
                                    ")",
                                    "+",
                                    "-",
                                    "*",
                                    "/",
                                    "^",
                                    "<",
                                    "==",
                                    "!=",
                                    ",",
                                    " ",
                                    "1",
                                    ".5",
                                    "2e3",
                                    "latency_s",
                                    "cores",
                                    "min(",
                                    "if(",
                                    "\"int8\"",
                                    "weight_format",
                                    "weight_format == \"fp16\"",
                                    "\"",
                                    "abs(",
                                    "\x80",
                                    "e",
                                    "."};
  std::int64_t accepted = 0;
  for (std::uint64_t seed = 1; seed <= 100'000; ++seed) {
    FormulaDice draw{std::mt19937_64(seed)};
    std::string text;
    const std::size_t length = draw.below(12);
    for (std::size_t i = 0; i < length; ++i) {
      if (seed % 2 == 0)
        text += static_cast<char>(draw.below(256));
      else
        text += pieces[draw.below(std::size(pieces))];
    }
    try {
      const Formula formula = parse_formula("f", "", text, "here");
      const std::vector<double> column(3, 2.0);
      const std::vector<std::span<const double>> inputs(formula.inputs.size(), column);
      std::vector<double> values(3);
      compute(formula, inputs, values);
      ++accepted;
    } catch (const Error& error) {
      ASSERT_TRUE(error.code == "formula_invalid" || error.code == "limit_exceeded") << text;
    }
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace sdip
