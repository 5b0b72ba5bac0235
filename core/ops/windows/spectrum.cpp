// Spectra: DFT, STFT, the windows before them and the mel weights behind.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/ops/families.h"
#include "core/ops/windows/window.h"

namespace sdip {
namespace {

/// One transform: `length` points, of which `bins` are wanted.
struct Transform {
  std::size_t axis = 1;
  std::int64_t length = 1, bins = 1;
  bool inverse = false;
  bool half =
      false;  // of the points the first half is given, the other is its mirror image; what comes out is real
};

void require_complex(const OperatorUse& use, const Shape& x, bool onesided, bool inverse = false) {
  if (x.size() < 3 || (x.back() != 1 && x.back() != 2)) {
    refuse(use, "shape_mismatch", "input " + shape_text(x) + " must be [batch,...,1], or [batch,...,2] if complex");
  }
  if (onesided && !inverse && x.back() == 2) {
    refuse(use, "unsupported_attribute", "half a spectrum (onesided) of complex numbers does not exist");
  }
  if (onesided && inverse && x.back() == 1) {
    refuse(use, "unsupported_attribute", "the inverse of half a spectrum (onesided) takes complex numbers");
  }
}

/// The axis is an attribute until opset 17, an input from 20 on.
Transform transform_of(const OperatorUse& use) {
  const Shape& x = input(use, 0).shape;
  const bool onesided = int_attribute(use, "onesided", 0) != 0;
  Transform t;
  t.inverse = int_attribute(use, "inverse", 0) != 0;
  t.half = onesided && t.inverse;
  require_complex(use, x, onesided, t.inverse);
  std::int64_t axis = use.opset < 20 ? int_attribute(use, "axis", 1) : -2;
  if (optional_input(use, 2) != nullptr) {
    const auto given = ints_of_input(use, 2);
    if (given.size() != 1) refuse(use, "shape_mismatch", "the axis must be one number");
    axis = given[0];
  }
  t.axis = axis_within(use, axis, x.size());
  if (t.axis + 1 == x.size()) refuse(use, "shape_mismatch", "the last axis holds the parts of a complex number");
  const std::int64_t whole = t.half ? std::max<std::int64_t>(2 * (x[t.axis] - 1), 0) : x[t.axis];
  t.length = optional_input(use, 1) != nullptr ? size_input(use, 1, 1) : whole;
  t.bins = onesided && !t.half ? t.length / 2 + 1 : t.length;
  return t;
}

std::vector<Operand> infer_dft(const OperatorUse& use) {
  const Transform t = transform_of(use);
  Shape shape = input(use, 0).shape;
  shape[t.axis] = t.bins;
  shape.back() = t.half ? 1 : 2;
  return {typed(input(use, 0).type, shape)};
}

/// As a fast transform: log2(length) passes over all points, each of two parts.
Work transform_work(const OperatorUse& use, std::span<const Operand> outputs, std::int64_t points,
                    std::int64_t length) {
  Work work = vector_work(use, outputs, element_count({2, points}), {});
  while ((std::int64_t{1} << work.passes) < length) ++work.passes;
  work.read_elements[0] = element_count({work.row_length, work.passes});
  return work;
}

Work dft_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Transform t = transform_of(use);
  Shape points = input(use, 0).shape;
  points[t.axis] = t.length;
  points.back() = 1;
  return transform_work(use, outputs, element_count(points), t.length);
}

/// Real and imaginary part of `bin`, over `count` elements `step` apart that have `parts` parts each. The sum as it
/// is written down: slow, and as exact as it gets. Elements beyond `count` are 0. In half a spectrum, element i
/// from the middle on is the conjugate of element length - i.
std::pair<double, double> spectrum_at(const Transform& t, std::int64_t bin, const double* x, std::int64_t count,
                                      std::int64_t step, std::int64_t parts) {
  double real = 0, imaginary = 0;
  const double turn = (t.inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(t.length);
  std::int64_t phase = 0;  // bin * i modulo length
  for (std::int64_t i = 0; i < (t.half ? t.length : std::min(count, t.length)); ++i) {
    const double c = std::cos(turn * static_cast<double>(phase)), s = std::sin(turn * static_cast<double>(phase));
    const bool mirrored = t.half && i > t.length / 2;
    const std::int64_t from = mirrored ? t.length - i : i;
    const double a = from < count ? x[from * step] : 0.0;
    const double b = parts == 2 && from < count ? (mirrored ? -x[from * step + 1] : x[from * step + 1]) : 0.0;
    real += a * c - b * s;
    imaginary += a * s + b * c;
    phase = (phase + bin) % t.length;
  }
  const double scale = t.inverse ? 1.0 / static_cast<double>(t.length) : 1.0;
  return {real * scale, imaginary * scale};
}

void compute_dft(const OperatorUse& use, std::span<Operand> outputs) {
  const Transform t = transform_of(use);
  const Shape& shape = input(use, 0).shape;
  const std::vector<double> x = doubles_of(use, 0);
  const std::int64_t parts = shape.back(), count = shape[t.axis];
  const std::int64_t outer = count_between(shape, 0, t.axis),
                     inner = count_between(shape, t.axis + 1, shape.size() - 1);
  std::vector<double> y;
  const bool nothing = element_count(outputs[0].shape) == 0;
  for (std::int64_t o = 0; o < outer && !nothing; ++o) {
    for (std::int64_t bin = 0; bin < t.bins; ++bin) {
      for (std::int64_t i = 0; i < inner; ++i) {
        const double* first = x.data() + (o * count * inner + i) * parts;
        const auto [real, imaginary] = spectrum_at(t, bin, first, count, inner * parts, parts);
        y.push_back(real);
        if (!t.half) y.push_back(imaginary);
      }
    }
  }
  set_doubles(outputs[0], y);
}

/// Frames of a signal [batch, length, parts], each `step` behind the one before.
struct Frames {
  std::int64_t step = 1, count = 0;
  Transform transform;
};

Frames frames_of(const OperatorUse& use) {
  const Shape& x = input(use, 0).shape;
  const bool onesided = int_attribute(use, "onesided", 1) != 0;
  require_complex(use, x, onesided);
  Frames f;
  f.step = size_input(use, 1, 1);
  const Operand* window = optional_input(use, 2);
  if (optional_input(use, 3) != nullptr) {
    f.transform.length = size_input(use, 3, 1);
  } else if (window != nullptr && window->shape.size() == 1) {
    f.transform.length = window->shape[0];
  } else {
    refuse(use, "shape_mismatch", "neither a window nor a frame length is given");
  }
  require_shape(use, 2, {f.transform.length});
  if (x.size() != 3 || f.transform.length < 1 || f.transform.length > x[1]) {
    refuse(use, "shape_mismatch",
           fmt::format("frames of {} do not fit a signal {}", f.transform.length, shape_text(x)));
  }
  f.count = (x[1] - f.transform.length) / f.step + 1;
  f.transform.bins = onesided ? f.transform.length / 2 + 1 : f.transform.length;
  return f;
}

std::vector<Operand> infer_stft(const OperatorUse& use) {
  const Frames f = frames_of(use);
  return {typed(input(use, 0).type, {input(use, 0).shape[0], f.count, f.transform.bins, 2})};
}

Work stft_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Frames f = frames_of(use);
  const std::int64_t points = element_count({input(use, 0).shape[0], f.count, f.transform.length});
  return transform_work(use, outputs, points, f.transform.length);
}

void compute_stft(const OperatorUse& use, std::span<Operand> outputs) {
  const Frames f = frames_of(use);
  const Shape& shape = input(use, 0).shape;
  const std::vector<double> x = doubles_of(use, 0), window = doubles_of(use, 2);
  const std::int64_t parts = shape[2], length = f.transform.length;
  std::vector<double> y;
  for (std::int64_t batch = 0; batch < shape[0]; ++batch) {
    for (std::int64_t frame = 0; frame < f.count; ++frame) {
      const auto first = x.begin() + (batch * shape[1] + frame * f.step) * parts;
      std::vector<double> points(first, first + length * parts);
      for (std::size_t i = 0; i < points.size() && !window.empty(); ++i) {
        points[i] *= window[i / as_size(parts)];
      }
      for (std::int64_t bin = 0; bin < f.transform.bins; ++bin) {
        const auto [real, imaginary] = spectrum_at(f.transform, bin, points.data(), length, parts, parts);
        y.push_back(real);
        y.push_back(imaginary);
      }
    }
  }
  set_doubles(outputs[0], y);
}

constexpr Operator spectrum_operators[] = {
    {"", "DFT", "dft", 1, 3, "axis inverse onesided", infer_dft, dft_work, compute_dft, "17 20"},
    {"", "STFT", "stft", 2, 4, "onesided", infer_stft, stft_work, compute_stft, "17"},
};

}  // namespace

std::span<const Operator> spectrum_rows() { return spectrum_operators; }

}  // namespace sdip
