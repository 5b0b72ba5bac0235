// Softmax: along one axis from opset 13 on, before that over all axes from one on.
#include "core/ops/families.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

std::size_t softmax_axis(const OperatorUse& use) {
  return axis_within(use, int_attribute(use, "axis", use.opset < 13 ? 1 : -1), input(use, 0).shape.size());
}

std::vector<Operand> infer_softmax(const OperatorUse& use) {
  softmax_axis(use);
  Operand out;
  out.type = input(use, 0).type;
  out.shape = input(use, 0).shape;
  return {out};
}

/// Three passes: the greatest; exp and its sum; exp again, divided. [2,8,64,77] along the last axis: 1024 rows
/// of 77.
Work softmax_work(const OperatorUse& use, std::span<const Operand>) {
  const Shape& shape = input(use, 0).shape;
  const std::size_t axis = softmax_axis(use);
  Work work;
  work.family = Family::softmax;
  work.row_length = use.opset < 13 ? count_between(shape, axis, shape.size()) : shape[axis];
  work.write_elements = element_count(shape);
  work.rows = work.row_length == 0 ? 0 : work.write_elements / work.row_length;
  work.passes = 3;
  work.read_elements = {3 * work.write_elements};
  return work;
}

constexpr Operator rows[] = {
    {"", "LogSoftmax", "logsoftmax", 1, 1, "axis", infer_softmax, softmax_work},
    {"", "Softmax", "softmax", 1, 1, "axis", infer_softmax, softmax_work},
};

}  // namespace

std::span<const Operator> softmax_rows() { return rows; }

}  // namespace sdip
