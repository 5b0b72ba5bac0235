// Convolutions whose taps are moved (DeformConv), and columns put back into an image (Col2Im).
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/products/conv.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

std::int64_t offset_groups(const OperatorUse& use) { return int_attribute(use, "offset_group", 1); }

std::vector<Operand> infer_deform(const OperatorUse& use) {
  const Convolution conv = convolution_of(use);
  const std::int64_t groups = offset_groups(use);
  if (conv.window.in.size() != 2) {
    refuse(use, "unsupported_attribute", "only two spatial axes are supported");
  }
  if (groups < 1 || conv.in_channels % groups != 0) {
    refuse(use, "shape_mismatch", "offset_group does not divide the channels");
  }
  const std::int64_t taps = element_count({groups, conv.window.kernel[0], conv.window.kernel[1]});
  input(use, 2);
  require_shape(use, 2, {conv.batch, 2 * taps, conv.window.out[0], conv.window.out[1]});
  require_shape(use, 3, {conv.out_channels});
  require_shape(use, 4, {conv.batch, taps, conv.window.out[0], conv.window.out[1]});
  return {typed(input(use, 0).type, shape_of(conv))};
}

/// The products; that elements are fetched and mixed by four is not in it.
Work deform_work(const OperatorUse& use, std::span<const Operand>) { return convolution_work(convolution_of(use)); }

/// Between the four neighbours of (y, x); 0 outside.
double bilinear(const double* plane, const Window& window, double y, double x) {
  const auto height = window.in[0], width = window.in[1];
  if (!(y > -1 && y < static_cast<double>(height) && x > -1 && x < static_cast<double>(width))) return 0;
  const auto top = static_cast<std::int64_t>(std::floor(y)), left = static_cast<std::int64_t>(std::floor(x));
  const double down = y - std::floor(y), right = x - std::floor(x);
  const auto pixel = [&](std::int64_t row, std::int64_t column) {
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? plane[row * width + column] : 0.0;
  };
  return (1 - down) * ((1 - right) * pixel(top, left) + right * pixel(top, left + 1)) +
         down * ((1 - right) * pixel(top + 1, left) + right * pixel(top + 1, left + 1));
}

/// A batch's elements as its taps see them: [C, kernel, out].
std::vector<double> moved(const Convolution& conv, const double* x, const double* offset, const double* mask,
                          std::int64_t groups) {
  const Window& w = conv.window;
  const std::int64_t outs = w.out[0] * w.out[1], taps = w.kernel[0] * w.kernel[1], plane = w.in[0] * w.in[1];
  List<double> columns;
  columns.reserve(as_size(element_count({conv.in_channels, taps, outs})));
  for (std::int64_t c = 0; c < conv.in_channels; ++c) {
    const std::int64_t group = c / (conv.in_channels / groups);
    for (std::int64_t k = 0; k < taps; ++k) {
      const std::int64_t channel = group * taps + k;
      for (std::int64_t p = 0; p < outs; ++p) {
        const std::int64_t row = p / w.out[1] * w.strides[0] - w.pads_begin[0] + k / w.kernel[1] * w.dilations[0];
        const std::int64_t column =
            p % w.out[1] * w.strides[1] - w.pads_begin[1] + k % w.kernel[1] * w.dilations[1];
        const double value = bilinear(x + c * plane, w, static_cast<double>(row) + offset[2 * channel * outs + p],
                                      static_cast<double>(column) + offset[(2 * channel + 1) * outs + p]);
        columns.push_back(mask == nullptr ? value : value * mask[channel * outs + p]);
      }
    }
  }
  return columns;
}

void compute_deform(const OperatorUse& use, std::span<Operand> outputs) {
  const Convolution conv = convolution_of(use);
  const Window& w = conv.window;
  const std::int64_t outs = w.out[0] * w.out[1], taps = w.kernel[0] * w.kernel[1], groups = offset_groups(use);
  const auto x = doubles_of(use, 0), weight = doubles_of(use, 1), offset = doubles_of(use, 2),
             bias = doubles_of(use, 3), mask = doubles_of(use, 4);
  const std::int64_t inside = conv.in_channels / conv.groups;
  List<double> y;
  for (std::int64_t n = 0; n < conv.batch; ++n) {
    const auto columns = moved(
        conv, x.data() + n * conv.in_channels * w.in[0] * w.in[1], offset.data() + n * 2 * groups * taps * outs,
        optional_input(use, 4) == nullptr ? nullptr : mask.data() + n * groups * taps * outs, groups);
    for (std::int64_t m = 0; m < conv.out_channels; ++m) {
      const std::int64_t first = m / (conv.out_channels / conv.groups) * inside * taps;
      for (std::int64_t p = 0; p < outs; ++p) {
        double sum = bias.empty() ? 0.0 : bias[at(m)];
        for (std::int64_t i = 0; i < inside * taps; ++i) {
          sum += columns[at((first + i) * outs + p)] * weight[at(m * inside * taps + i)];
        }
        y.push_back(sum);
      }
    }
  }
  set_doubles(outputs[0], y);
}

/// Columns [N, C x block, positions] of a window over the image.
Window col2im_window(const OperatorUse& use) {
  const Shape& x = input(use, 0).shape;
  const auto image = ints_of_input(use, 1), block = ints_of_input(use, 2);
  for (std::int64_t size : image) {
    if (size < 0 || size > most_window_size) refuse(use, "shape_mismatch", "image_shape is out of range");
  }
  if (image.empty() || block.size() != image.size() || x.size() != 3) {
    refuse(use, "shape_mismatch", "input " + shape_text(x) + " must have rank 3; image and block equal ranks");
  }
  Window window = window_of(use, image, block);
  if (x[1] % element_count(block) != 0 || x[2] != element_count(window.out)) {
    refuse(use, "shape_mismatch",
           fmt::format("columns {} do not fit blocks {} at {} positions", shape_text(x), shape_text(block),
                       shape_text(window.out)));
  }
  return window;
}

std::vector<Operand> infer_col2im(const OperatorUse& use) {
  const Window window = col2im_window(use);
  const Shape& x = input(use, 0).shape;
  Shape shape = {x[0], x[1] / element_count(window.kernel)};
  shape.insert(shape.end(), window.in.begin(), window.in.end());
  return {typed(input(use, 0).type, shape)};
}

/// Each element of the columns is added once.
void compute_col2im(const OperatorUse& use, std::span<Operand> outputs) {
  const Window window = col2im_window(use);
  const List<double> x = doubles_of(use, 0);
  const std::int64_t planes = element_count({outputs[0].shape[0], outputs[0].shape[1]});
  const std::int64_t pixels = element_count(window.in), block = element_count(window.kernel),
                     positions = element_count(window.out);
  List<double> y(as_size(element_count(outputs[0].shape)), 0.0);
  if (y.empty()) return set_doubles(outputs[0], y);
  for_each_position(window, [&](std::int64_t number, const auto& taps, const auto&) {
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      for (const Tap& tap : taps) {
        y[plane * pixels + tap.input] += x[(plane * block + tap.kernel) * positions + number];
      }
    }
  });
  set_doubles(outputs[0], y);
}

constexpr Operator deform_operators[] = {
    {"", "Col2Im", "col2im", 3, 3, "dilations pads strides", infer_col2im, first_input_work, compute_col2im, "18"},
    {"", "DeformConv", "deform_conv", 3, 5, "dilations group kernel_shape offset_group pads strides", infer_deform,
     deform_work, compute_deform, "19 22"},
};

}  // namespace

std::span<const Operator> deform_rows() { return deform_operators; }

}  // namespace sdip
