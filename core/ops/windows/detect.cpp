// NonMaxSuppression: the best of overlapping boxes.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

struct Box {
  double top, left, bottom, right;
};

/// Two corners (y, x, y, x) in any order, or the centre (x, y) with width and height.
Box box_of(const double* v, bool centre) {
  if (centre) return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

double area(const Box& box) { return (box.bottom - box.top) * (box.right - box.left); }

/// Area of what both cover over what either covers: two unit squares half over one another have 1/3.
double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(height > 0 && width > 0)) return 0;
  const double both = area(a) + area(b) - height * width;
  return both > 0 ? height * width / both : 0;
}

double scalar_input(const OperatorUse& use, std::size_t i, double otherwise) {
  const std::vector<double> numbers = doubles_of(use, i);
  if (numbers.size() > 1) refuse(use, "shape_mismatch", fmt::format("input {} must be one number", i));
  return numbers.empty() ? otherwise : numbers[0];
}

void check_shapes(const OperatorUse& use) {
  const Shape &boxes = input(use, 0).shape, &scores = input(use, 1).shape;
  if (boxes.size() != 3 || boxes[2] != 4 || scores.size() != 3 || scores[0] != boxes[0] || scores[2] != boxes[1]) {
    refuse(use, "shape_mismatch",
           fmt::format("boxes {} must be [batch,n,4], scores {} [batch,classes,n]", shape_text(boxes),
                       shape_text(scores)));
  }
}

/// Numbers of the boxes taken, best first: those of a score above the threshold that overlap none taken before.
/// Equal scores go by number.
std::vector<std::int64_t> best_boxes(const List<Box>& boxes, const double* scores, double most, double overlaps,
                                     const double* least_score) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < std::ssize(boxes); ++i) {
    if (least_score == nullptr || scores[i] > *least_score) order.push_back(i);
  }
  // NaN has no place in an order: it goes last.
  const auto key = [&](std::int64_t i) { return scores[i] == scores[i] ? scores[i] : -HUGE_VAL; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return key(a) > key(b); });
  std::vector<std::int64_t> taken;
  for (std::int64_t i : order) {
    if (static_cast<double>(taken.size()) >= most) break;
    const bool covered = std::any_of(taken.begin(), taken.end(),
                                     [&](std::int64_t t) { return overlap(boxes[i], boxes[t]) > overlaps; });
    if (!covered) taken.push_back(i);
  }
  return taken;
}

/// Rows (batch, class, box), one after the other.
std::vector<double> selected(const OperatorUse& use) {
  const std::vector<double> corners = doubles_of(use, 0), scores = doubles_of(use, 1);
  const double most = scalar_input(use, 2, 0), overlaps = scalar_input(use, 3, 0);
  const double least = scalar_input(use, 4, 0);
  const bool centre = int_attribute(use, "center_point_box", 0) != 0;
  const Shape& shape = input(use, 1).shape;
  std::vector<double> rows;
  if (scores.empty()) return rows;
  for (std::int64_t batch = 0; batch < shape[0]; ++batch) {
    List<Box> boxes;
    for (std::int64_t i = 0; i < shape[2]; ++i) {
      boxes.push_back(box_of(corners.data() + (batch * shape[2] + i) * 4, centre));
    }
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      const double* own = scores.data() + (batch * shape[1] + c) * shape[2];
      const double* least_score = optional_input(use, 4) == nullptr ? nullptr : &least;
      for (std::int64_t box : best_boxes(boxes, own, most, overlaps, least_score)) {
        for (std::int64_t part : {batch, c, box}) rows.push_back(static_cast<double>(part));
      }
    }
  }
  return rows;
}

std::vector<Operand> infer_suppression(const OperatorUse& use) {
  check_shapes(use);
  for (const Operand* operand : use.inputs) {
    if (operand != nullptr && !operand->value) {
      refuse(use, "shape_unknown", "how many boxes remain depends on values that are not known at import");
    }
  }
  return {typed(ElementType::int64, {std::ssize(selected(use)) / 3, 3})};
}

/// Every box of every class is compared with those taken before, of which the result has as many.
Work suppression_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const std::int64_t scores = element_count(input(use, 1).shape);
  const std::int64_t compared = element_count({element_count(input(use, 0).shape), outputs[0].shape[0]});
  return vector_work(use, outputs, std::max(scores, compared), {std::max(scores, compared), scores});
}

void compute_suppression(const OperatorUse& use, std::span<Operand> outputs) {
  set_doubles(outputs[0], selected(use));
}

constexpr Operator detect_operators[] = {
    {"", "NonMaxSuppression", "nms", 2, 5, "center_point_box", infer_suppression, suppression_work,
     compute_suppression, "10 11"},
};

}  // namespace

std::span<const Operator> detect_rows() { return detect_operators; }

}  // namespace sdip
