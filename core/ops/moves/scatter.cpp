// Operators that put elements into a tensor by index: ScatterElements, ScatterND, TensorScatter.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

/// Reductions from opset 16 on are add and mul, from 18 on also max and min.
std::string reduction_of(const OperatorUse& use) {
  return choice_attribute(use, "reduction", "none", {"none", "add", "mul", "max", "min"});
}

double reduced(std::string_view reduction, ElementType, double old, double update) {
  if (reduction == "add") return old + update;
  if (reduction == "mul") return old * update;
  if (reduction == "max") return old > update || std::isnan(old) ? old : update;
  if (reduction == "min") return old < update || std::isnan(old) ? old : update;
  return update;
}

std::int64_t reduced(std::string_view reduction, ElementType type, std::int64_t old, std::int64_t update) {
  const auto a = static_cast<std::uint64_t>(old), b = static_cast<std::uint64_t>(update);
  const bool above = sort_key(type, old) > sort_key(type, update);
  if (type == ElementType::boolean && reduction == "add") return old | update;
  if (reduction == "add") return wrapped(type, static_cast<std::int64_t>(a + b));
  if (reduction == "mul") return wrapped(type, static_cast<std::int64_t>(a * b));
  if (reduction == "max") return above ? old : update;
  if (reduction == "min") return above ? update : old;
  return update;
}

/// Element i of `updates` goes to place `to[i]` of `data`, in order; each result is one the type holds.
Tensor scattered(Tensor data, const Tensor& updates, const std::vector<std::int64_t>& to,
                 std::string_view reduction) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto at = as_size(to[i]);
    if (is_floating(data.type)) {
      data.floats[at] = rounded(data.type, reduced(reduction, data.type, data.floats[at], updates.floats[i]));
    } else {
      data.ints[at] = reduced(reduction, data.type, data.ints[at], updates.ints[i]);
    }
  }
  return data;
}

void require_updates(const OperatorUse& use, const Shape& expected) {
  require_type(use, 1, is_integer, "an integer");
  const Operand &data = input(use, 0), &updates = input(use, 2);
  if (updates.shape != expected || updates.type != data.type) {
    refuse(use, "shape_mismatch",
           fmt::format("updates are {}{}, expected {}{}", element_type_text(updates.type),
                       shape_text(updates.shape), element_type_text(data.type), shape_text(expected)));
  }
}

std::vector<Operand> infer_scatter_elements(const OperatorUse& use) {
  const Operand &data = input(use, 0), &indices = input(use, 1);
  reduction_of(use);
  require_updates(use, indices.shape);
  const std::size_t axis = axis_attribute(use, 0);
  bool fits = data.shape.size() == indices.shape.size();
  for (std::size_t i = 0; fits && i < data.shape.size(); ++i) fits = i == axis || indices.shape[i] <= data.shape[i];
  if (!fits) {
    refuse(use, "shape_mismatch",
           "indices " + shape_text(indices.shape) + " reach beyond data " + shape_text(data.shape));
  }
  return {like_first(use)};
}

/// updates[i,j] along axis 0 goes to data[indices[i,j], j].
void compute_scatter_elements(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor &data = value_of(use, 0), &indices = value_of(use, 1);
  if (indices.ints.empty()) {
    outputs[0].value = data;
    return;
  }
  const auto to = named_elements(use, data.shape, indices, axis_attribute(use, 0));
  outputs[0].value = scattered(data, value_of(use, 2), to, reduction_of(use));
}

std::vector<Operand> infer_scatter_nd(const OperatorUse& use) {
  const Operand &data = input(use, 0), &indices = input(use, 1);
  reduction_of(use);
  const std::int64_t depth = indices.shape.empty() ? 0 : indices.shape.back();
  if (depth < 1 || depth > std::ssize(data.shape)) {
    refuse(use, "shape_mismatch", "indices " + shape_text(indices.shape) + " into " + shape_text(data.shape));
  }
  Shape expected(indices.shape.begin(), indices.shape.end() - 1);
  expected.insert(expected.end(), data.shape.begin() + depth, data.shape.end());
  require_updates(use, expected);
  return {like_first(use)};
}

/// Each row of indices is where one slice of updates goes.
void compute_scatter_nd(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& data = value_of(use, 0);
  const auto to = named_slices(use, data.shape, value_of(use, 1), 0);
  outputs[0].value = scattered(data, value_of(use, 2), to, reduction_of(use));
}

bool is_circular(const OperatorUse& use) {
  return choice_attribute(use, "mode", "linear", {"linear", "circular"}) == "circular";
}

std::size_t cache_axis(const OperatorUse& use) {
  const std::size_t axis = axis_attribute(use, -2);
  if (axis == 0) refuse(use, "unsupported_attribute", "attribute 'axis' names the batch");
  return axis;
}

/// A cache of keys or values with some steps replaced, each sample's from its own index on.
std::vector<Operand> infer_tensor_scatter(const OperatorUse& use) {
  const Operand &cache = input(use, 0), &update = input(use, 1);
  is_circular(use);
  const std::size_t axis = cache_axis(use);
  Shape expected = cache.shape;
  if (update.shape.size() == expected.size()) expected[axis] = std::min(expected[axis], update.shape[axis]);
  if (update.shape != expected || update.type != cache.type) {
    refuse(use, "shape_mismatch",
           "update " + shape_text(update.shape) + " does not go into the cache " + shape_text(cache.shape));
  }
  require_type(use, 2, is_integer, "an integer");
  const Operand* starts = optional_input(use, 2);
  if (starts != nullptr && starts->shape != Shape{cache.shape[0]}) {
    refuse(use, "shape_mismatch", "write indices must be one a sample, but are " + shape_text(starts->shape));
  }
  return {like_first(use)};
}

void compute_tensor_scatter(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor &cache = value_of(use, 0), &update = value_of(use, 1);
  const Tensor* starts = optional_value(use, 2);
  const std::size_t axis = cache_axis(use);
  const std::int64_t outer = count_between(cache.shape, 0, axis), steps = update.shape[axis];
  const std::int64_t inner = count_between(cache.shape, axis + 1, cache.shape.size()), size = cache.shape[axis];
  std::vector<std::int64_t> to;
  for (std::int64_t line = 0; line < outer; ++line) {
    const auto sample = at(line / (outer / cache.shape[0]));
    const std::int64_t start = starts == nullptr ? 0 : starts->ints[sample];
    if (start < 0 || (!is_circular(use) && start > size - steps)) {
      refuse(use, "shape_mismatch", fmt::format("{} steps from {} on do not go into {}", steps, start, size));
    }
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t row = line * size + (start % size + step) % size;
      for (std::int64_t i = 0; i < inner; ++i) to.push_back(row * inner + i);
    }
  }
  outputs[0].value = scattered(cache, update, to, "none");
}

constexpr Operator scatter_operators[] = {
    {"", "Scatter", "scatter", 3, 3, "axis", infer_scatter_elements, copy_work, compute_scatter_elements, "9 11"},
    {"", "ScatterElements", "scatter", 3, 3, "axis reduction", infer_scatter_elements, copy_work,
     compute_scatter_elements, "11 13 16 18"},
    {"", "ScatterND", "scatter", 3, 3, "reduction", infer_scatter_nd, copy_work, compute_scatter_nd, "11 13 16 18"},
    {"", "TensorScatter", "scatter", 2, 3, "axis mode", infer_tensor_scatter, copy_work, compute_tensor_scatter,
     "24"},
};

}  // namespace

std::span<const Operator> scatter_rows() { return scatter_operators; }

}  // namespace sdip
