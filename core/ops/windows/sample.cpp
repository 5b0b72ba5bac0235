// GridSample: elements at coordinates given by a grid; AffineGrid: such a grid.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/windows/window.h"

namespace sdip {
namespace {

struct Sampling {
  std::string mode, padding;
  bool align = false;
  std::size_t rank = 0;  // spatial
};

/// Opset 16 says bilinear and bicubic for what 20 calls linear and cubic.
Sampling sampling_of(const OperatorUse& use) {
  const Shape &x = input(use, 0).shape, &grid = input(use, 1).shape;
  Sampling s;
  s.mode = string_attribute(use, "mode", use.opset < 20 ? "bilinear" : "linear");
  if (s.mode == "bilinear") s.mode = "linear";
  if (s.mode == "bicubic") s.mode = "cubic";
  s.padding = string_attribute(use, "padding_mode", "zeros");
  s.align = int_attribute(use, "align_corners", 0) != 0;
  const bool known = s.mode == "linear" || s.mode == "cubic" || s.mode == "nearest";
  if (!known || (s.padding != "zeros" && s.padding != "border" && s.padding != "reflection")) {
    refuse(use, "unsupported_attribute", "mode '" + s.mode + "' or padding_mode '" + s.padding + "' is not known");
  }
  if (x.size() < 3 || x.size() > 6 || grid.size() != x.size() || grid[0] != x[0] ||
      grid.back() != std::ssize(x) - 2) {
    refuse(use, "shape_mismatch", fmt::format("input {} and grid {} do not fit", shape_text(x), shape_text(grid)));
  }
  s.rank = x.size() - 2;
  return s;
}

std::vector<Operand> infer_sample(const OperatorUse& use) {
  sampling_of(use);
  const Shape &x = input(use, 0).shape, &grid = input(use, 1).shape;
  Shape shape = {x[0], x[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  return {typed(input(use, 0).type, shape)};
}

/// Each result looks at 1, 2 or 4 elements an axis; a point of the grid serves all channels.
Work sample_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Sampling s = sampling_of(use);
  Shape touched(s.rank, s.mode == "nearest" ? 1 : s.mode == "linear" ? 2 : 4);
  touched.push_back(element_count(outputs[0].shape));
  const std::int64_t taken = element_count(touched);
  return vector_work(use, outputs, taken, {taken, element_count(input(use, 1).shape)});
}

/// `x` mirrored at both ends until it lies between them: 5 in [0,4] is 3.
double reflected(double x, double least, double greatest) {
  const double range = greatest - least;
  if (range <= 0) return least;
  const double beyond = x < least ? least - x : x > greatest ? x - greatest : -1;
  if (beyond < 0) return x;
  const double rest = std::fmod(beyond, range);
  const bool even = std::fmod(std::floor(beyond / range), 2) == 0;
  return (x < least) == even ? least + rest : greatest - rest;
}

/// One axis of a point: elements (-1: a zero outside) and their weights.
using Neighbours = std::vector<std::pair<std::int64_t, double>>;

std::int64_t element_at(double at, std::int64_t size, const Sampling& s, double least, double greatest) {
  const auto last = static_cast<double>(size - 1);
  if (s.padding == "border") at = std::clamp(at, 0.0, last);
  if (s.padding == "reflection") at = std::clamp(std::trunc(reflected(at, least, greatest)), 0.0, last);
  return at >= 0 && at <= last ? static_cast<std::int64_t>(at) : -1;
}

Neighbours neighbours_of(double coordinate, std::int64_t size, const Sampling& s) {
  const auto length = static_cast<double>(size);
  if (!std::isfinite(coordinate) || size == 0) return {{-1, 1.0}};
  double x = s.align ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2;
  const double least = s.align ? 0 : -0.5, greatest = s.align ? length - 1 : length - 0.5;
  if (s.mode == "nearest") x = std::nearbyint(x);
  if (x < least || x > greatest) {
    // Cubic weights go on beyond the border, as those of PyTorch and onnxruntime do; what they weigh is clamped.
    if (s.padding == "border" && s.mode != "cubic") x = std::clamp(x, 0.0, length - 1);
    if (s.padding == "reflection") x = reflected(x, least, greatest);
  }
  const double left = std::floor(x), share = x - left;
  const auto at = [&](double i) { return element_at(i, size, s, least, greatest); };
  if (s.mode == "nearest") return {{at(x), 1.0}};
  if (s.mode == "linear") return {{at(left), 1 - share}, {at(left + 1), share}};
  constexpr double a = -0.75;
  const auto outer = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  const auto inner = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  return {{at(left - 1), outer(share + 1)},
          {at(left), inner(share)},
          {at(left + 1), inner(1 - share)},
          {at(left + 2), outer(2 - share)}};
}

/// Sum over all combinations of neighbours, the first axis outermost.
double mixed(const double* plane, const Shape& sizes, const std::vector<Neighbours>& axes) {
  std::vector<std::pair<std::int64_t, double>> sums = {{0, 1.0}};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    std::vector<std::pair<std::int64_t, double>> next;
    for (const auto& [element, weight] : sums) {
      for (const auto& [neighbour, share] : axes[axis]) {
        if (neighbour >= 0) next.emplace_back(element * sizes[axis] + neighbour, weight * share);
      }
    }
    sums = std::move(next);
  }
  double sum = 0;
  for (const auto& [element, weight] : sums) sum += plane[element] * weight;
  return sum;
}

void compute_sample(const OperatorUse& use, std::span<Operand> outputs) {
  const Sampling s = sampling_of(use);
  const Shape& shape = input(use, 0).shape;
  const Shape sizes(shape.begin() + 2, shape.end());
  const std::vector<double> x = doubles_of(use, 0), grid = doubles_of(use, 1);
  const std::int64_t plane = element_count(sizes);
  const Shape& out = outputs[0].shape;
  const std::int64_t points = count_between(out, 2, out.size());
  List<double> y(as_size(element_count(out)), 0.0);
  for (std::int64_t n = 0; n < shape[0] && !y.empty(); ++n) {
    for (std::int64_t p = 0; p < points; ++p) {
      const double* point = grid.data() + (n * points + p) * static_cast<std::int64_t>(s.rank);
      std::vector<Neighbours> axes;  // the grid names the last axis first
      for (std::size_t a = 0; a < s.rank; ++a) axes.push_back(neighbours_of(point[s.rank - 1 - a], sizes[a], s));
      for (std::int64_t c = 0; c < shape[1]; ++c) {
        const std::int64_t image = n * shape[1] + c;
        y[image * points + p] = mixed(x.data() + image * plane, sizes, axes);
      }
    }
  }
  set_doubles(outputs[0], y);
}

/// theta [N,2,3] or [N,3,4], and the size [N,C,H,W] or [N,C,D,H,W] of what will be sampled.
std::vector<Operand> infer_affine(const OperatorUse& use) {
  const Shape& theta = input(use, 0).shape;
  const auto size = ints_of_input(use, 1);
  const auto rank = std::ssize(size) - 2;
  for (std::int64_t length : size) {
    if (length < 0 || length > most_window_size) refuse(use, "shape_mismatch", "a size is out of range");
  }
  if ((rank != 2 && rank != 3) || theta != Shape{size[0], rank, rank + 1}) {
    refuse(use, "shape_mismatch", "theta " + shape_text(theta) + " does not fit the size " + shape_text(size));
  }
  Shape shape = {size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(rank);
  return {typed(input(use, 0).type, shape)};
}

Work affine_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const std::int64_t taken = element_count({element_count(outputs[0].shape), input(use, 0).shape[2]});
  return vector_work(use, outputs, taken, {taken});
}

/// From -1 to 1 at the outermost elements (align_corners) or at their outer edges; a single element is at 0.
double grid_coordinate(std::int64_t i, std::int64_t size, bool align) {
  const auto at = static_cast<double>(i), length = static_cast<double>(size);
  if (size == 1) return 0;
  return align ? 2 * at / (length - 1) - 1 : (2 * at + 1) / length - 1;
}

void compute_affine(const OperatorUse& use, std::span<Operand> outputs) {
  const Shape& out = outputs[0].shape;
  const auto rank = as_size(out.back());
  const bool align = int_attribute(use, "align_corners", 0) != 0;
  const std::vector<double> theta = doubles_of(use, 0);
  List<double> y;
  Shape points(out.begin(), out.end() - 1);
  std::vector<std::int64_t> index(points.size(), 0);
  for (std::int64_t left = element_count(points); left > 0; --left, next_index(index, points)) {
    const double* matrix = theta.data() + index[0] * static_cast<std::int64_t>(rank * (rank + 1));
    for (std::size_t row = 0; row < rank; ++row) {
      double sum = matrix[row * (rank + 1) + rank];
      for (std::size_t k = 0; k < rank; ++k) {  // the last axis first
        sum += matrix[row * (rank + 1) + k] * grid_coordinate(index[rank - k], points[rank - k], align);
      }
      y.push_back(sum);
    }
  }
  set_doubles(outputs[0], y);
}

constexpr Operator sample_operators[] = {
    {"", "AffineGrid", "affine_grid", 2, 2, "align_corners", infer_affine, affine_work, compute_affine, "20"},
    {"", "GridSample", "grid_sample", 2, 2, "align_corners mode padding_mode", infer_sample, sample_work,
     compute_sample, "16 20 22"},
};

}  // namespace

std::span<const Operator> sample_rows() { return sample_operators; }

}  // namespace sdip
