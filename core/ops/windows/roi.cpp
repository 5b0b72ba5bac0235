// Pooling over regions of interest: RoiAlign and MaxRoiPool.
#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

/// Regions, and the cells each is divided into.
struct Regions {
  std::int64_t count = 0, height = 1, width = 1;
};

Regions regions_of(const OperatorUse& use) {
  const Shape &x = input(use, 0).shape, &rois = input(use, 1).shape;
  const bool align = use.type == "RoiAlign";
  if (x.size() != 4 || rois.size() != 2 || rois[1] != (align ? 4 : 5)) {
    refuse(use, "shape_mismatch",
           fmt::format("input {} must have rank 4, regions {} be [n,{}", shape_text(x), shape_text(rois),
                       align ? "4]" : "5]"));
  }
  Regions regions{rois[0], int_attribute(use, "output_height", 1), int_attribute(use, "output_width", 1)};
  if (align) {
    input(use, 2);
    require_shape(use, 2, {rois[0]});
  } else {
    const auto pooled = ints_attribute(use, "pooled_shape", {});
    if (pooled.size() != 2) refuse(use, "unsupported_attribute", "pooled_shape must have two values");
    regions.height = pooled[0], regions.width = pooled[1];
  }
  constexpr std::int64_t most = std::int64_t{1} << 20;
  const std::int64_t ratio = int_attribute(use, "sampling_ratio", 0);
  if (std::min(regions.height, regions.width) < 1 || std::max({regions.height, regions.width, ratio}) > most ||
      ratio < 0) {
    refuse(use, "unsupported_attribute", "the size of a region's result or its sampling_ratio is out of range");
  }
  return regions;
}

std::vector<Operand> infer_roi(const OperatorUse& use) {
  const Regions regions = regions_of(use);
  const Operand& x = input(use, 0);
  return {typed(x.type, {regions.count, x.shape[1], regions.height, regions.width})};
}

/// Samples an axis takes in one cell when the model does not say: at most those of a region as large as the input.
std::int64_t samples(std::int64_t ratio, std::int64_t size, std::int64_t cells) {
  return ratio > 0 ? ratio : std::max<std::int64_t>(1, ceil_div(size, cells));
}

/// RoiAlign mixes four elements a sample; MaxRoiPool looks at each element of the region, at most the whole plane.
Work roi_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Regions regions = regions_of(use);
  const Shape& x = input(use, 0).shape;
  const std::int64_t ratio = int_attribute(use, "sampling_ratio", 0);
  const std::int64_t made = element_count(outputs[0].shape);
  const std::int64_t taken =
      use.type == "RoiAlign"
          ? element_count({made, samples(ratio, x[2], regions.height), samples(ratio, x[3], regions.width), 4})
          : std::max(made, element_count({regions.count, x[1], x[2], x[3]}));
  return vector_work(use, outputs, taken, {taken, element_count(input(use, 1).shape), regions.count});
}

/// One axis of a sample: two neighbours and the share of the second. `inside` is false beyond the border.
struct Sample {
  bool inside = false;
  std::int64_t low = 0, high = 0;
  double share = 0;
};
Sample sample_at(double at, std::int64_t size) {
  Sample sample;
  if (!(at >= -1 && at <= static_cast<double>(size)) || size == 0) return sample;
  sample.inside = true;
  at = std::max(at, 0.0);
  sample.low = static_cast<std::int64_t>(at);
  if (sample.low >= size - 1) {
    sample.low = sample.high = size - 1;
  } else {
    sample.high = sample.low + 1;
    sample.share = at - static_cast<double>(sample.low);
  }
  return sample;
}

/// Samples of one axis, cell by cell.
std::vector<std::vector<Sample>> samples_of(const OperatorUse& use, double start, double length, std::int64_t cells,
                                            std::int64_t size) {
  const double cell = length / static_cast<double>(cells);
  const std::int64_t ratio = int_attribute(use, "sampling_ratio", 0);
  const double count = ratio > 0 ? static_cast<double>(ratio) : std::ceil(cell);
  // 256 samples an axis keep the work of a result below 2^16; a region is rarely 256 times its result.
  if (!(count <= 256)) refuse(use, "limit_exceeded", "a region takes more than 256 samples a cell");
  std::vector<std::vector<Sample>> all(as_size(cells));
  for (std::size_t c = 0; c < all.size(); ++c) {
    for (double i = 0; i < count; ++i) {
      all[c].push_back(sample_at(start + static_cast<double>(c) * cell + (i + 0.5) * cell / count, size));
    }
  }
  return all;
}

/// The mean of a cell's samples; or the greatest of their four weighted neighbours, as ONNX's reference has it.
double pooled(const double* plane, std::int64_t width, const std::vector<Sample>& ys, const std::vector<Sample>& xs,
              bool greatest) {
  double sum = 0, most = 0;
  bool first = true;
  for (const Sample& y : ys) {
    for (const Sample& x : xs) {
      double parts[4] = {0, 0, 0, 0};
      if (y.inside && x.inside) {
        parts[0] = (1 - y.share) * (1 - x.share) * plane[y.low * width + x.low];
        parts[1] = (1 - y.share) * x.share * plane[y.low * width + x.high];
        parts[2] = y.share * (1 - x.share) * plane[y.high * width + x.low];
        parts[3] = y.share * x.share * plane[y.high * width + x.high];
      }
      sum += parts[0] + parts[1] + parts[2] + parts[3];
      const double best = *std::max_element(parts, parts + 4);
      most = first ? best : std::max(most, best);
      first = false;
    }
  }
  return greatest ? most : sum / static_cast<double>(std::max<std::size_t>(1, ys.size() * xs.size()));
}

std::int64_t batch_of(const OperatorUse& use, double number) {
  const std::int64_t batches = input(use, 0).shape[0];
  if (!(number >= 0 && number < static_cast<double>(batches))) {
    refuse(use, "shape_mismatch", "a region lies in a batch that is not there");
  }
  return static_cast<std::int64_t>(number);
}

void compute_align(const OperatorUse& use, std::span<Operand> outputs) {
  const Regions regions = regions_of(use);
  const Shape& shape = input(use, 0).shape;
  const auto x = doubles_of(use, 0), rois = doubles_of(use, 1), batches = doubles_of(use, 2);
  const double scale = float_attribute(use, "spatial_scale", 1.0);
  const auto mode =
      string_attribute(use, "coordinate_transformation_mode", use.opset < 16 ? "output_half_pixel" : "half_pixel");
  const bool half = mode == "half_pixel", greatest = string_attribute(use, "mode", "avg") == "max";
  std::vector<double> result;
  const bool nothing = element_count(outputs[0].shape) == 0;
  for (std::int64_t r = 0; r < regions.count && !nothing; ++r) {
    const double* roi = rois.data() + 4 * r;
    const double left = roi[0] * scale - (half ? 0.5 : 0), top = roi[1] * scale - (half ? 0.5 : 0);
    double width = roi[2] * scale - (half ? 0.5 : 0) - left, height = roi[3] * scale - (half ? 0.5 : 0) - top;
    if (!half) width = std::max(width, 1.0), height = std::max(height, 1.0);
    const auto ys = samples_of(use, top, height, regions.height, shape[2]);
    const auto xs = samples_of(use, left, width, regions.width, shape[3]);
    const std::int64_t first = batch_of(use, batches[at(r)]) * shape[1];
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      const double* plane = x.data() + (first + c) * shape[2] * shape[3];
      for (const auto& y : ys) {
        for (const auto& column : xs) result.push_back(pooled(plane, shape[3], y, column, greatest));
      }
    }
  }
  set_doubles(outputs[0], result);
}

/// Elements [from, to) of one axis that a cell covers, within the input.
std::pair<std::int64_t, std::int64_t> covered(double start, double end, std::int64_t cell, std::int64_t cells,
                                              std::int64_t size) {
  const double step = std::max(end - start + 1, 1.0) / static_cast<double>(cells);
  const auto limit = [&](double at) {
    return at > 0 ? static_cast<std::int64_t>(std::min(at, static_cast<double>(size))) : 0;
  };
  return {limit(start + std::floor(static_cast<double>(cell) * step)),
          limit(start + std::ceil(static_cast<double>(cell + 1) * step))};
}

/// Regions are (batch, left, top, right, bottom), both ends included and rounded to elements; empty cells are 0.
void compute_max_roi(const OperatorUse& use, std::span<Operand> outputs) {
  const Regions regions = regions_of(use);
  const Shape& shape = input(use, 0).shape;
  const auto x = doubles_of(use, 0), rois = doubles_of(use, 1);
  const double scale = float_attribute(use, "spatial_scale", 1.0);
  std::vector<double> result;
  for (std::int64_t r = 0; r < regions.count; ++r) {
    const double* roi = rois.data() + 5 * r;
    const auto edge = [&](int i) { return std::round(roi[i] * scale); };
    const std::int64_t first = batch_of(use, roi[0]) * shape[1];
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      const double* plane = x.data() + (first + c) * shape[2] * shape[3];
      for (std::int64_t cell = 0; cell < regions.height * regions.width; ++cell) {
        const auto [top, bottom] = covered(edge(2), edge(4), cell / regions.width, regions.height, shape[2]);
        const auto [left, right] = covered(edge(1), edge(3), cell % regions.width, regions.width, shape[3]);
        double best = top < bottom && left < right ? plane[top * shape[3] + left] : 0.0;
        for (std::int64_t y = top; y < bottom; ++y) {
          for (std::int64_t at = left; at < right; ++at) best = std::max(best, plane[y * shape[3] + at]);
        }
        result.push_back(best);
      }
    }
  }
  set_doubles(outputs[0], result);
}

constexpr Operator roi_operators[] = {
    {"", "MaxRoiPool", "max_roi_pool", 2, 2, "pooled_shape spatial_scale", infer_roi, roi_work, compute_max_roi,
     "7 22"},
    {"", "RoiAlign", "roi_align", 3, 3,
     "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale", infer_roi,
     roi_work, compute_align, "10 16 22"},
};

}  // namespace

std::span<const Operator> roi_rows() { return roi_operators; }

}  // namespace sdip
