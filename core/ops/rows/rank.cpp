// Operators that rank or run along an axis: arg max, the k greatest, running sums and products.
#include <algorithm>
#include <numeric>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

/// Whether element `a` of a tensor stands before element `b`, greatest first or least first; equal ones in order.
struct Ranking {
  const Tensor& tensor;
  bool greatest_first;
  bool below(std::size_t a, std::size_t b) const {
    if (is_floating(tensor.type)) return float_below(tensor.floats[a], tensor.floats[b]);
    return sort_key(tensor.type, tensor.ints[a]) < sort_key(tensor.type, tensor.ints[b]);
  }
  bool operator()(std::size_t a, std::size_t b) const { return greatest_first ? below(b, a) : below(a, b); }
};

std::vector<Operand> infer_arg(const OperatorUse& use) {
  require_type(use, 0, is_number, "a number");
  Shape shape = input(use, 0).shape;
  const std::size_t axis = axis_within(use, int_attribute(use, "axis", 0), shape.size());
  if (shape[axis] == 0) refuse(use, "shape_mismatch", fmt::format("axis {} has no elements", axis));
  shape[axis] = 1;
  if (int_attribute(use, "keepdims", 1) == 0) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return {typed(ElementType::int64, std::move(shape))};
}

/// The first of equal ones, or the last where select_last_index (from opset 12 on) says so.
template <bool Greatest>
void compute_arg(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  const Lines lines = lines_along(in.shape, axis_attribute(use, 0));
  const bool last = int_attribute(use, "select_last_index", 0) != 0;
  const Ranking before{in, Greatest};
  std::vector<std::int64_t> found;
  for_each_line(lines, [&](std::size_t start) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < lines.length; ++k) {
      const std::size_t there = start + k * lines.inner, here = start + best * lines.inner;
      if (before(there, here) || (last && !before(here, there))) best = k;
    }
    found.push_back(static_cast<std::int64_t>(best));
  });
  set_ints(outputs[0], std::move(found));
}

/// k is an attribute before opset 10, an input from there on; `largest` and integers come with opset 11.
std::vector<Operand> infer_top_k(const OperatorUse& use) {
  require_type(use, 0, is_number, "a number");
  const Operand& in = input(use, 0);
  const auto k = use.opset < 10 ? std::vector<std::int64_t>{int_attribute(use, "k", 0)} : ints_of_input(use, 1);
  const std::size_t axis = axis_attribute(use, -1);
  if (k.size() != 1 || k[0] < 0 || k[0] > in.shape[axis]) refuse(use, "shape_mismatch", "k is out of range");
  Operand values = typed(in.type, in.shape);
  values.shape[axis] = k[0];
  return {values, typed(ElementType::int64, values.shape)};
}

/// In order also where `sorted` is 0, which leaves the order open.
void compute_top_k(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  const std::size_t axis = axis_attribute(use, -1);
  const Lines lines = lines_along(in.shape, axis);
  const auto kept = as_size(outputs[0].shape[axis]);
  const Ranking before{in, int_attribute(use, "largest", 1) != 0};
  std::vector<std::int64_t> from(lines.outer * kept * lines.inner), indices(from.size());
  std::vector<std::size_t> order(lines.length);
  for_each_line(lines, [&](std::size_t start) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return before(start + a * lines.inner, start + b * lines.inner);
    });
    const std::size_t outer = start / (lines.length * lines.inner), inner = start % lines.inner;
    for (std::size_t k = 0; k < kept; ++k) {
      const std::size_t to = (outer * kept + k) * lines.inner + inner;
      from[to] = static_cast<std::int64_t>(start + order[k] * lines.inner);
      indices[to] = static_cast<std::int64_t>(order[k]);
    }
  });
  outputs[0].value = gathered_elements(in, outputs[0].shape, from);
  set_ints(outputs[1], std::move(indices));
}

std::vector<Operand> infer_running(const OperatorUse& use) {
  require_type(use, 0, is_number, "a number");
  require_type(use, 1, is_integer, "an integer");
  if (input(use, 0).shape.empty()) refuse(use, "shape_mismatch", "the input is a scalar");
  return {like_first(use)};
}

/// [1,2,3]: sums 1 3 6; exclusive 0 1 3; reverse 6 5 3; both 5 3 0. Products 1 2 6; exclusive 1 1 2; reverse 6 6 3;
/// both 6 3 1.
template <bool Product>
void compute_running(const OperatorUse& use, std::span<Operand> outputs) {
  Tensor value = value_of(use, 0);
  const Lines lines = lines_along(value.shape, axis_within(use, int_of_input(use, 1, 0), value.shape.size()));
  const bool exclusive = int_attribute(use, "exclusive", 0) != 0, reverse = int_attribute(use, "reverse", 0) != 0;
  const auto run = [&](auto& elements, auto none) {
    for_each_line(lines, [&](std::size_t start) {
      auto so_far = none;
      for (std::size_t k = 0; k < lines.length; ++k) {
        auto& element = elements[start + (reverse ? lines.length - 1 - k : k) * lines.inner];
        const auto before = so_far, factor = static_cast<decltype(so_far)>(element);
        so_far = Product ? so_far * factor : so_far + factor;
        using Element = std::remove_reference_t<decltype(element)>;
        element = static_cast<Element>(exclusive ? before : so_far);
      }
    });
  };
  is_floating(value.type) ? run(value.floats, Product ? 1.0 : 0.0) : run(value.ints, std::uint64_t{Product});
  is_floating(value.type) ? set_doubles(outputs[0], std::move(value.floats))
                          : set_ints(outputs[0], std::move(value.ints));
}

constexpr std::string_view arg_attributes = "axis keepdims select_last_index";
constexpr Operator rank_operators[] = {
    {"", "ArgMax", "arg_max", 1, 1, arg_attributes, infer_arg, first_input_work, compute_arg<true>, "7 11 12 13"},
    {"", "ArgMin", "arg_min", 1, 1, arg_attributes, infer_arg, first_input_work, compute_arg<false>, "7 11 12 13"},
    {"", "CumProd", "cumprod", 2, 2, "exclusive reverse", infer_running, first_input_work, compute_running<true>,
     "26"},
    {"", "CumSum", "cumsum", 2, 2, "exclusive reverse", infer_running, first_input_work, compute_running<false>,
     "11 14"},
    {"", "TopK", "top_k", 1, 2, "axis k largest sorted", infer_top_k, first_input_work, compute_top_k,
     "7 10 11 24"},
};

}  // namespace

std::span<const Operator> rank_rows() { return rank_operators; }

}  // namespace sdip
