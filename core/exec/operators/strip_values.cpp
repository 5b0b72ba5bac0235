// Rows of values inside a strip.
#include "core/exec/operators/strip_values.h"

#include <algorithm>

#include "core/graph/node_arithmetic.h"
#include "core/ops/windows/window.h"

namespace sdip::exec {

Extent hull(const Extent& a, const Extent& b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }

std::int64_t StripValue::take_needed(bool line_buffers) {
  fresh = {};
  if (needed.size() <= 0) return 0;
  fresh = needed;
  const std::int64_t again = std::max<std::int64_t>(0, rows.end - needed.begin);
  const bool kept = line_buffers && rows.begin <= needed.begin;
  if (kept) fresh.begin += again;
  rows = needed;
  return kept ? 0 : again;
}

RowsOf feature_maps(const Shape& shape) { return {shape[1], shape[2], shape[3]}; }

Elements RowsOf::elements(std::int64_t frame, const Extent& of_channels, const Extent& of_rows) const {
  Elements at;
  if (features && heads == 1) {
    for (std::int64_t row = of_rows.begin; row < of_rows.end; ++row)
      at.add({(frame * height + row) * channels + of_channels.begin, of_channels.size(), 1});
    return at;
  }
  const std::int64_t count = features ? heads : of_channels.size(), pitch = features ? channels : width;
  const std::int64_t first = features ? frame * heads : frame * channels + of_channels.begin;
  for (std::int64_t plane = first; plane < first + count; ++plane)
    at.add({(plane * height + of_rows.begin) * pitch, of_rows.size() * pitch, 1});
  return at;
}

void put_numbers(Tensor& tensor, const Elements& at, const Numbers& numbers) {
  put_elements(tensor, at, tensor_of(numbers));
}

bool is_by_rows(const Node& node) {
  const std::string_view type = node.op->type;
  return type == "MaxPool" || type == "AveragePool" || type == "Resize" || type == "Upsample";
}

namespace {

const Shape& shape_of(const Chip& chip, ValueId v) { return chip.value(v).operand.shape; }

std::vector<Extent> rows_under_pool(const Chip& chip, const Node& node) {
  const Shape& in = shape_of(chip, node.inputs[0]);
  const NodeUse use = use_of(chip.graph, node);
  const Window window = window_of(use.use, {in.begin() + 2, in.end()}, ints_attribute(use.use, "kernel_shape", {}));
  std::vector<Extent> rows;
  for (std::int64_t row = 0; row < window.out[0]; ++row) {
    const std::int64_t begin = row * window.strides[0] - window.pads_begin[0];
    const std::int64_t end = begin + (window.kernel[0] - 1) * window.dilations[0] + 1;
    rows.push_back({std::clamp<std::int64_t>(begin, 0, in[2]), std::clamp<std::int64_t>(end, 0, in[2])});
  }
  return rows;
}

/// Told by the operator itself: of numbers of rows it makes those that it takes.
std::vector<Extent> rows_under_resize(Chip& chip, const Node& node) {
  const Shape &in = shape_of(chip, node.inputs[0]), &out = shape_of(chip, node.outputs[0]);
  std::vector<std::optional<Tensor>> operands;
  for (const ValueId v : node.inputs) {
    if (v == none)
      operands.emplace_back();
    else if (v == node.inputs[0])
      operands.emplace_back(zero_tensor(ElementType::float32, in));
    else
      operands.emplace_back(read_whole(chip, v));
  }
  std::vector<double>& numbers = operands[0]->floats;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<double>(static_cast<std::int64_t>(i) / in[3] % in[2]);
  const Tensor taken = outputs_of(chip.graph, node, operands).at(0);
  std::vector<Extent> rows;
  for (std::int64_t row = 0; row < out[2]; ++row) {
    const auto from = static_cast<std::int64_t>(taken.floats.at(as_size(row * out[3])));
    rows.push_back({from, from + 1});
  }
  return rows;
}

}  // namespace

std::vector<Extent> rows_read_by(Chip& chip, const Node& node) {
  return node.op->type.ends_with("Pool") ? rows_under_pool(chip, node) : rows_under_resize(chip, node);
}

}  // namespace sdip::exec
