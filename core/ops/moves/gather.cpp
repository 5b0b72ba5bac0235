// Operators that fetch elements by index: Gather and its kin, Compress.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

/// data [5,4] by indices [2,3] along axis 0: [2,3,4].
std::vector<Operand> infer_gather(const OperatorUse& use) {
  const Operand &data = input(use, 0), &indices = input(use, 1);
  require_type(use, 1, is_integer, "an integer");
  const std::size_t axis = axis_attribute(use, 0);
  Shape shape(data.shape.begin(), data.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), data.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.shape.end());
  Operand out = typed(data.type, std::move(shape));
  out.fill = data.fill;
  if (indices.value) {
    for (std::int64_t i : indices.value->ints) index_within(use, i, data.shape[axis]);
  }
  return {out};
}

void compute_gather(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor &data = value_of(use, 0), &indices = value_of(use, 1);
  const std::size_t axis = axis_attribute(use, 0);
  Offsets offsets = offsets_of(data.shape);
  const std::int64_t stride = strides_of(data.shape)[axis];
  offsets[axis].clear();
  for (std::int64_t i : indices.ints) offsets[axis].push_back(index_within(use, i, data.shape[axis]) * stride);
  outputs[0].value = gathered_elements(data, outputs[0].shape, positions(offsets));
}

/// Off its axis, the indices reach no further than the data.
std::vector<Operand> infer_gather_elements(const OperatorUse& use) {
  const Operand &data = input(use, 0), &indices = input(use, 1);
  require_type(use, 1, is_integer, "an integer");
  const std::size_t axis = axis_attribute(use, 0);
  if (data.shape.size() != indices.shape.size()) refuse(use, "shape_mismatch", "ranks of data and indices differ");
  for (std::size_t i = 0; i < data.shape.size(); ++i) {
    if (i != axis && indices.shape[i] > data.shape[i]) {
      refuse(use, "shape_mismatch",
             "indices " + shape_text(indices.shape) + " reach beyond data " + shape_text(data.shape));
    }
  }
  return {typed(data.type, indices.shape)};
}

/// Element [i,j] along axis 0 is data[indices[i,j], j].
void compute_gather_elements(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& data = value_of(use, 0);
  const auto from = named_elements(use, data.shape, value_of(use, 1), axis_attribute(use, 0));
  outputs[0].value = gathered_elements(data, outputs[0].shape, from);
}

std::vector<Operand> infer_gather_nd(const OperatorUse& use) {
  const Operand &data = input(use, 0), &indices = input(use, 1);
  require_type(use, 1, is_integer, "an integer");
  const std::int64_t batch = int_attribute(use, "batch_dims", 0), rank = std::ssize(data.shape);
  const std::int64_t depth = indices.shape.empty() ? 0 : indices.shape.back();
  if (batch < 0 || batch >= rank || depth < 1 || depth > rank - batch || batch >= std::ssize(indices.shape) ||
      !std::equal(data.shape.begin(), data.shape.begin() + batch, indices.shape.begin())) {
    refuse(use, "shape_mismatch", "indices " + shape_text(indices.shape) + " into " + shape_text(data.shape));
  }
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), data.shape.begin() + batch + depth, data.shape.end());
  return {typed(data.type, std::move(shape))};
}

/// Each row of indices is the start of one slice of the data; the first batch_dims axes go along.
void compute_gather_nd(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& data = value_of(use, 0);
  const auto from = named_slices(use, data.shape, value_of(use, 1), as_size(int_attribute(use, "batch_dims", 0)));
  outputs[0].value = gathered_elements(data, outputs[0].shape, from);
}

/// As many elements as come out are read; the indices are read once.
Work gathered_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = copy_work(use, outputs);
  work.read_elements[0] = work.write_elements;
  return work;
}

/// The indices along the axis (of the flattened input without one) whose condition holds.
std::vector<std::int64_t> kept_indices(const OperatorUse& use, std::int64_t size) {
  const std::vector<std::int64_t> condition = ints_of_input(use, 1);
  if (std::ssize(condition) > size) {
    refuse(use, "shape_mismatch", fmt::format("{} conditions for {} elements", condition.size(), size));
  }
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) kept.push_back(static_cast<std::int64_t>(i));
  }
  return kept;
}

std::vector<Operand> infer_compress(const OperatorUse& use) {
  require_type(use, 1, is_boolean, "a boolean");
  Operand out = like_first(use);
  if (!has_attribute(use, "axis")) {
    out.shape = {std::ssize(kept_indices(use, element_count(out.shape)))};
    return {out};
  }
  std::int64_t& size = out.shape[axis_attribute(use, 0)];
  size = std::ssize(kept_indices(use, size));
  return {out};
}

void compute_compress(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  if (!has_attribute(use, "axis")) {
    outputs[0].value = gathered_elements(in, outputs[0].shape, kept_indices(use, element_count(in.shape)));
    return;
  }
  const std::size_t axis = axis_attribute(use, 0);
  Offsets offsets = offsets_of(in.shape);
  const Offsets all = offsets;
  offsets[axis].clear();
  for (std::int64_t i : kept_indices(use, in.shape[axis])) offsets[axis].push_back(all[axis][at(i)]);
  outputs[0].value = gathered_elements(in, outputs[0].shape, positions(offsets));
}

constexpr Operator gather_operators[] = {
    {"", "Compress", "copy", 2, 2, "axis", infer_compress, gathered_work, compute_compress, "9 11"},
    {"", "Gather", "copy", 2, 2, "axis", infer_gather, gathered_work, compute_gather, "7 11 13"},
    {"", "GatherElements", "copy", 2, 2, "axis", infer_gather_elements, gathered_work, compute_gather_elements,
     "11 13"},
    {"", "GatherND", "copy", 2, 2, "batch_dims", infer_gather_nd, gathered_work, compute_gather_nd, "11 12 13"},
};

}  // namespace

std::span<const Operator> gather_rows() { return gather_operators; }

}  // namespace sdip
