// The common elementwise operators on floats.
#include "core/exec/plain_functions.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace sdip::exec {
namespace {

/// Results of two operands, of which either may be one number.
template <class F>
void each_pair(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& to, F f) {
  const std::size_t step_a = a.size() == 1 ? 0 : 1, step_b = b.size() == 1 ? 0 : 1;
  const float *left = a.data(), *right = b.data();
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<float>(f(static_cast<double>(left[i * step_a]), static_cast<double>(right[i * step_b])));
}

bool apply_two(std::string_view type, const std::vector<float>& a, const std::vector<float>& b,
               std::vector<float>& to) {
  if (type == "Add")
    each_pair(a, b, to, [](double x, double y) { return x + y; });
  else if (type == "Sub")
    each_pair(a, b, to, [](double x, double y) { return x - y; });
  else if (type == "Mul")
    each_pair(a, b, to, [](double x, double y) { return x * y; });
  else if (type == "Div")
    each_pair(a, b, to, [](double x, double y) { return x / y; });
  else
    return false;
  return true;
}

/// x sigmoid(x), or sigmoid(x).
void apply_sigmoid(const std::vector<float>& x, std::vector<float>& to, bool times_x) {
  std::vector<double> e(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) e[i] = -static_cast<double>(x[i]);
  exponentials(e);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double sigmoid = 1.0 / (1.0 + e[i]);
    to[i] = static_cast<float>(times_x ? static_cast<double>(x[i]) * sigmoid : sigmoid);
  }
}

bool apply_one(const Node& node, const std::vector<float>& x, std::vector<float>& to) {
  const std::string_view type = node.op->type;
  const bool own = node.op->domain == "sdip";
  if (own && type == "Silu") {
    apply_sigmoid(x, to, true);
  } else if (!own && type == "Sigmoid") {
    apply_sigmoid(x, to, false);
  } else if (!own && type == "Relu") {
    for (std::size_t i = 0; i < x.size(); ++i) to[i] = x[i] < 0 ? 0 : x[i];
  } else if (type == "Gelu" && !node.attributes.contains("approximate")) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto number = static_cast<double>(x[i]);
      to[i] = static_cast<float>(0.5 * number * (1.0 + std::erf(number * M_SQRT1_2)));
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool apply_plain(const Node& node, ElementType type, std::span<const Numbers* const> operands, std::size_t count,
                 Numbers& results) {
  if (type != ElementType::float32 || operands.empty() || operands.size() > 2) return false;
  for (const Numbers* numbers : operands)
    if (numbers == nullptr || numbers->type != type || (numbers->size() != count && numbers->size() != 1))
      return false;
  Numbers made{type, std::vector<float>(count), {}, {}};
  const bool done = operands.size() == 2
                        ? node.op->domain.empty() &&
                              apply_two(node.op->type, operands[0]->floats, operands[1]->floats, made.floats)
                        : operands[0]->size() == count && apply_one(node, operands[0]->floats, made.floats);
  if (done) results = std::move(made);
  return done;
}

}  // namespace sdip::exec
