// Sums of products under sliding windows, in plain loops.
#include "core/ops/products/conv_arithmetic.h"

namespace sdip {
namespace {

/// Elements of each plane, and channels within a group.
struct Planes {
  std::int64_t in, out, kernel, in_channels, out_channels;
};
Planes planes_of(const Convolution& conv) {
  return {element_count(conv.window.in), element_count(conv.window.out), element_count(conv.window.kernel),
          conv.in_channels / conv.groups, conv.out_channels / conv.groups};
}

}  // namespace

std::vector<double> convolved(const Convolution& conv, const std::vector<double>& x, const std::vector<double>& w,
                              const std::vector<double>& bias, const Stop* stop) {
  const Planes planes = planes_of(conv);
  List<double> y(at(element_count({conv.batch, conv.out_channels, planes.out})), 0.0);
  if (y.empty()) return y;
  for_each_position(conv.window, [&](std::int64_t number, const auto& taps, const auto&) {
    end_if(stop, "");
    for (std::int64_t n = 0; n < conv.batch; ++n) {
      for (std::int64_t m = 0; m < conv.out_channels; ++m) {
        double sum = bias.empty() ? 0.0 : bias[at(m)];
        const std::int64_t first = n * conv.in_channels + m / planes.out_channels * planes.in_channels;
        for (std::int64_t c = 0; c < planes.in_channels; ++c) {
          const double* plane = x.data() + (first + c) * planes.in;
          const double* kernel = w.data() + (m * planes.in_channels + c) * planes.kernel;
          for (const Tap& tap : taps) sum += plane[tap.input] * kernel[tap.kernel];
        }
        y[(n * conv.out_channels + m) * planes.out + number] = sum;
      }
    }
  });
  return y;
}

std::vector<double> spread_out(const Convolution& conv, const std::vector<double>& x, const std::vector<double>& w,
                               const std::vector<double>& bias, const Stop* stop) {
  const Planes planes = planes_of(conv);
  List<double> y(at(element_count({conv.batch, conv.out_channels, planes.in})), 0.0);
  if (y.empty()) return y;
  for (std::size_t i = 0; i < y.size() && !bias.empty(); ++i) {
    y[i] = bias[i / at(planes.in) % at(conv.out_channels)];
  }
  if (x.empty()) return y;
  for_each_position(conv.window, [&](std::int64_t number, const auto& taps, const auto&) {
    end_if(stop, "");
    for (std::int64_t n = 0; n < conv.batch; ++n) {
      for (std::int64_t c = 0; c < conv.in_channels; ++c) {
        const double value = x[at((n * conv.in_channels + c) * planes.out + number)];
        const std::int64_t first = n * conv.out_channels + c / planes.in_channels * planes.out_channels;
        for (std::int64_t m = 0; m < planes.out_channels; ++m) {
          double* plane = y.data() + (first + m) * planes.in;
          const double* kernel = w.data() + (c * planes.out_channels + m) * planes.kernel;
          for (const Tap& tap : taps) plane[tap.input] += value * kernel[tap.kernel];
        }
      }
    }
  });
  return y;
}

}  // namespace sdip
