// Operators whose output's size depends on values: where elements are not zero, and which differ.
#include <algorithm>
#include <numeric>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

/// The first input's values, which the output's shape depends on.
const Tensor& known_input(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  if (!in.value) {
    refuse(use, "shape_unknown", "the shape of the output depends on the values of input 0, not known at import");
  }
  return *in.value;
}

std::vector<std::int64_t> places_not_zero(const OperatorUse& use) {
  return on_elements(known_input(use), [](const auto& elements) {
    std::vector<std::int64_t> places;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (elements[i] != 0) places.push_back(static_cast<std::int64_t>(i));
    }
    return places;
  });
}

std::vector<Operand> infer_non_zero(const OperatorUse& use) {
  return {typed(ElementType::int64, {std::ssize(input(use, 0).shape), std::ssize(places_not_zero(use))})};
}

/// [[0,5],[6,0]]: rows 0 1, columns 1 0.
void compute_non_zero(const OperatorUse& use, std::span<Operand> outputs) {
  const std::vector<std::int64_t> places = places_not_zero(use);
  const Shape& shape = input(use, 0).shape;
  const auto strides = strides_of(shape);
  std::vector<std::int64_t> indices;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    for (std::int64_t place : places) indices.push_back(place / strides[axis] % shape[axis]);
  }
  set_ints(outputs[0], std::move(indices));
}

/// Slices of a tensor along an axis, or its elements, and how they are told apart and sorted.
struct Slices {
  const Tensor& tensor;
  Lines lines;

  /// -1, 0 or 1: slice a before b, the same, or behind, element by element.
  int compare(std::size_t a, std::size_t b) const {
    return on_elements(tensor, [&](const auto& elements) {
      for (std::size_t o = 0; o < lines.outer; ++o) {
        for (std::size_t i = 0; i < lines.inner; ++i) {
          const auto x = elements[(o * lines.length + a) * lines.inner + i];
          const auto y = elements[(o * lines.length + b) * lines.inner + i];
          if (below(x, y)) return -1;
          if (below(y, x)) return 1;
        }
      }
      return 0;
    });
  }
  static bool below(double x, double y) { return float_below(x, y); }
  bool below(std::int64_t x, std::int64_t y) const { return sort_key(tensor.type, x) < sort_key(tensor.type, y); }
};

Slices slices_of(const OperatorUse& use) {
  const Tensor& in = known_input(use);
  if (!has_attribute(use, "axis")) return {in, {1, as_size(element_count(in.shape)), 1}};
  const std::size_t axis = axis_attribute(use, 0);
  if (element_count(in.shape) == 0)
    refuse(use, "shape_mismatch", "slices of " + shape_text(in.shape) + " are empty");
  return {in, lines_along(in.shape, axis)};
}

/// The different slices: where each stands first, how many are the same, and which of them each slice is.
struct Different {
  std::vector<std::int64_t> first, count, inverse;
};

/// 2 1 1 3: sorted 1 2 3, first at 1 0 3, counts 2 1 1, inverse 1 0 0 2; unsorted 2 1 3, in the order they come.
Different different(const OperatorUse& use) {
  const Slices slices = slices_of(use);
  std::vector<std::size_t> order(slices.lines.length);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return slices.compare(a, b) < 0; });
  Different found;
  found.inverse.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || slices.compare(order[i - 1], order[i]) != 0) {
      found.first.push_back(static_cast<std::int64_t>(order[i]));
      found.count.push_back(0);
    }
    ++found.count.back();
    found.inverse[order[i]] = std::ssize(found.first) - 1;
  }
  if (int_attribute(use, "sorted", 1) != 0) return found;
  std::vector<std::size_t> came(found.first.size());
  std::iota(came.begin(), came.end(), std::size_t{0});
  std::sort(came.begin(), came.end(), [&](auto a, auto b) { return found.first[a] < found.first[b]; });
  Different unsorted{{}, {}, found.inverse};
  List<std::int64_t> place(came.size());
  for (std::size_t i = 0; i < came.size(); ++i) {
    unsorted.first.push_back(found.first[came[i]]);
    unsorted.count.push_back(found.count[came[i]]);
    place[came[i]] = static_cast<std::int64_t>(i);
  }
  for (std::int64_t& which : unsorted.inverse) which = place[which];
  return unsorted;
}

/// Outputs: the different slices, where each stands first, which of them each slice is, how many are the same.
std::vector<Operand> infer_unique(const OperatorUse& use) {
  const Different found = different(use);
  const std::int64_t count = std::ssize(found.first);
  Operand out = like_first(use);
  if (has_attribute(use, "axis")) {
    out.shape[axis_attribute(use, 0)] = count;
  } else {
    out.shape = {count};
  }
  const Operand counts = typed(ElementType::int64, {count});
  return {out, counts, typed(ElementType::int64, {std::ssize(found.inverse)}), counts};
}

void compute_unique(const OperatorUse& use, std::span<Operand> outputs) {
  Different found = different(use);
  const Slices slices = slices_of(use);
  std::vector<std::int64_t> from;
  for (std::size_t o = 0; o < slices.lines.outer; ++o) {
    for (std::int64_t slice : found.first) {
      for (std::size_t i = 0; i < slices.lines.inner; ++i) {
        const std::size_t row = o * slices.lines.length + as_size(slice);
        from.push_back(static_cast<std::int64_t>(row * slices.lines.inner + i));
      }
    }
  }
  outputs[0].value = gathered_elements(slices.tensor, outputs[0].shape, from);
  set_ints(outputs[1], std::move(found.first));
  set_ints(outputs[2], std::move(found.inverse));
  set_ints(outputs[3], std::move(found.count));
}

/// Sorted by merging, which reads the input once for each doubling, then told apart in one more pass. Example: 8
/// elements take 4 passes.
Work unique_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = first_input_work(use, outputs);
  for (std::int64_t sorted = 1; sorted < work.row_length; sorted *= 2) ++work.passes;
  work.read_elements[0] *= work.passes;
  return work;
}

constexpr Operator find_operators[] = {
    {"", "NonZero", "nonzero", 1, 1, "", infer_non_zero, copy_work, compute_non_zero, "9 13"},
    {"", "Unique", "unique", 1, 1, "axis sorted", infer_unique, unique_work, compute_unique, "11"},
};

}  // namespace

std::span<const Operator> find_rows() { return find_operators; }

}  // namespace sdip
