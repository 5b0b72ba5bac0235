// The common elementwise operators on floats.
#include "core/exec/numbers/plain_functions.h"

#include <cmath>
#include <string_view>

#include "core/exec/kernels/wide.h"

namespace sdip::exec {
namespace {

/// Results of two operands, of which either may be one number.
template <class F>
void each_pair(const Buffer<float>& a, const Buffer<float>& b, Buffer<float>& results, F f) {
  const float *left = a.data(), *right = b.data();
  const std::size_t count = results.size();
  const bool one_left = a.size() == 1 && count != 1, one_right = b.size() == 1 && count != 1;
  float* to = results.data();
  const auto of = [f](float x, float y)
                      SDIP_WIDE { return static_cast<float>(f(static_cast<double>(x), static_cast<double>(y))); };
  if (one_left)
    widely([=]() SDIP_WIDE {
      for (std::size_t i = 0; i < count; ++i) to[i] = of(*left, right[i]);
    });
  else if (one_right)
    widely([=]() SDIP_WIDE {
      for (std::size_t i = 0; i < count; ++i) to[i] = of(left[i], *right);
    });
  else
    widely([=]() SDIP_WIDE {
      for (std::size_t i = 0; i < count; ++i) to[i] = of(left[i], right[i]);
    });
}

bool apply_two(std::string_view type, const Buffer<float>& a, const Buffer<float>& b, Buffer<float>& to) {
  if (type == "Add")
    each_pair(a, b, to, [](double x, double y) SDIP_WIDE { return x + y; });
  else if (type == "Sub")
    each_pair(a, b, to, [](double x, double y) SDIP_WIDE { return x - y; });
  else if (type == "Mul")
    each_pair(a, b, to, [](double x, double y) SDIP_WIDE { return x * y; });
  else if (type == "Div")
    each_pair(a, b, to, [](double x, double y) SDIP_WIDE { return x / y; });
  else
    return false;
  return true;
}

/// x sigmoid(x), or sigmoid(x).
void apply_sigmoid(const Buffer<float>& x, Buffer<float>& to, bool times_x) {
  Buffer<double> e(x.size());
  const float* from = x.data();
  double* powers = e.data();
  float* results = to.data();
  const std::size_t count = x.size();
  widely([=]() SDIP_WIDE {
    for (std::size_t i = 0; i < count; ++i) powers[i] = -static_cast<double>(from[i]);
  });
  exponentials(e);
  widely([=]() SDIP_WIDE {
    for (std::size_t i = 0; i < count; ++i) {
      const double sigmoid = 1.0 / (1.0 + powers[i]);
      results[i] = static_cast<float>(times_x ? static_cast<double>(from[i]) * sigmoid : sigmoid);
    }
  });
}

bool apply_one(const Node& node, const Buffer<float>& x, Buffer<float>& to) {
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
  Numbers made{type, Buffer<float>(count), {}, {}};
  const bool done = operands.size() == 2
                        ? node.op->domain.empty() &&
                              apply_two(node.op->type, operands[0]->floats, operands[1]->floats, made.floats)
                        : operands[0]->size() == count && apply_one(node, operands[0]->floats, made.floats);
  if (done) results = std::move(made);
  return done;
}

}  // namespace sdip::exec
