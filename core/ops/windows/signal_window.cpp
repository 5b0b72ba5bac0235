// Windows of signals (Hann, Hamming, Blackman) and the weights of mel bins: tables made from a few numbers.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/ops/families.h"
#include "core/ops/windows/window.h"

namespace sdip {
namespace {

ElementType table_type(const OperatorUse& use) {
  const auto type = element_type_of_onnx(int_attribute(use, "output_datatype", 1));
  if (!type || *type == ElementType::string) refuse(use, "unsupported_attribute", "output_datatype is not known");
  return *type;
}

std::vector<Operand> infer_window(const OperatorUse& use) {
  return {typed(table_type(use), {size_input(use, 0, 0)})};
}

/// Sums of cosines (ONNX's coefficients): a - b cos(2 pi i / n) + c cos(4 pi i / n), n the size, or one less when
/// the window is symmetric.
struct Cosines {
  std::string_view type;
  double a, b, c;
};
constexpr Cosines windows[] = {
    {"BlackmanWindow", 0.42, 0.5, 0.08},
    {"HammingWindow", 25.0 / 46, 21.0 / 46, 0},
    {"HannWindow", 0.5, 0.5, 0},
};

void compute_window(const OperatorUse& use, std::span<Operand> outputs) {
  const auto* window = std::find_if(std::begin(windows), std::end(windows),
                                    [&](const Cosines& row) { return row.type == use.type; });
  const std::int64_t size = outputs[0].shape[0];
  const bool periodic = int_attribute(use, "periodic", 1) != 0;
  const auto n = static_cast<double>(std::max<std::int64_t>(1, periodic ? size : size - 1));
  List<double> y;
  for (std::int64_t i = 0; i < size; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / n;
    y.push_back(window->a - window->b * std::cos(turn) + window->c * std::cos(2 * turn));
  }
  set_doubles(outputs[0], y);
}

/// Inputs: number of mel bins, length of the transform, sample rate, lowest and highest frequency.
std::vector<Operand> infer_mel(const OperatorUse& use) {
  const std::int64_t bins = size_input(use, 0, 0), length = size_input(use, 1, 0);
  return {typed(table_type(use), {length / 2 + 1, bins})};
}

/// Edges of mel bins as numbers of spectrum bins, two more than there are mel bins. Mel is 2595 log10(1 + hz /
/// 700).
std::vector<double> mel_edges(const OperatorUse& use, std::int64_t bins) {
  const auto one = [&](std::size_t i) {
    const auto numbers = doubles_of(use, i);
    if (numbers.size() != 1) refuse(use, "shape_mismatch", fmt::format("input {} must be one number", i));
    return numbers[0];
  };
  const double length = one(1), rate = one(2);
  const double low = 2595 * std::log10(1 + one(3) / 700), high = 2595 * std::log10(1 + one(4) / 700);
  std::vector<double> edges;
  for (std::int64_t i = 0; i < bins + 2; ++i) {
    const double mel = low + static_cast<double>(i) * (high - low) / static_cast<double>(bins + 2);
    const double hz = 700 * (std::pow(10.0, mel / 2595) - 1);
    edges.push_back(std::floor((length + 1) * hz / rate));
  }
  return edges;
}

/// Each mel bin is a triangle: up from its lower edge to its centre, down to its higher edge.
void compute_mel(const OperatorUse& use, std::span<Operand> outputs) {
  const std::int64_t rows = outputs[0].shape[0], bins = outputs[0].shape[1];
  List<double> y(as_size(element_count(outputs[0].shape)), 0.0);
  const std::vector<double> edges = bins == 0 ? std::vector<double>{} : mel_edges(use, bins);
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    const auto* edge = edges.data() + bin;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto at = static_cast<double>(row);
      double weight = 0;
      if (at >= edge[0] && at <= edge[1]) weight = edge[1] > edge[0] ? (at - edge[0]) / (edge[1] - edge[0]) : 1;
      if (at >= edge[1] && at < edge[2]) weight = (edge[2] - at) / (edge[2] - edge[1]);
      y[row * bins + bin] = weight;
    }
  }
  set_doubles(outputs[0], y);
}

constexpr Operator signal_window_operators[] = {
    {"", "BlackmanWindow", "window", 1, 1, "output_datatype periodic", infer_window, filling_work, compute_window,
     "17"},
    {"", "HammingWindow", "window", 1, 1, "output_datatype periodic", infer_window, filling_work, compute_window,
     "17"},
    {"", "HannWindow", "window", 1, 1, "output_datatype periodic", infer_window, filling_work, compute_window,
     "17"},
    {"", "MelWeightMatrix", "mel_weights", 5, 5, "output_datatype", infer_mel, filling_work, compute_mel, "17"},
};

}  // namespace

std::span<const Operator> signal_window_rows() { return signal_window_operators; }

}  // namespace sdip
