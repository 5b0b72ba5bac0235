// Pooling over windows, and over whole planes.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/window.h"

namespace sdip {
namespace {

bool is_global(const OperatorUse& use) { return use.type.starts_with("Global"); }

Window pool_window(const OperatorUse& use) {
  const Shape& x = input(use, 0).shape;
  if (x.size() < 3) refuse(use, "shape_mismatch", "input " + shape_text(x) + " must have rank 3 or more");
  const std::vector<std::int64_t> in(x.begin() + 2, x.end());
  if (is_global(use)) {
    Window window;
    window.kernel = in;
    window.out.assign(in.size(), 1);
    return window;
  }
  if (int_attribute(use, "storage_order", 0) != 0) {
    refuse(use, "unsupported_attribute", "storage_order must be 0");
  }
  return window_of(use, in, ints_attribute(use, "kernel_shape", {}));
}

std::vector<Operand> infer_pool(const OperatorUse& use) {
  const Shape& x = input(use, 0).shape;
  const Window window = pool_window(use);
  Operand out;
  out.type = input(use, 0).type;
  out.shape = {x[0], x[1]};
  out.shape.insert(out.shape.end(), window.out.begin(), window.out.end());
  if (use.type != "MaxPool") return {out};
  Operand indices = out;
  indices.type = ElementType::int64;
  return {out, indices};
}

/// Each result looks at a whole window: [1,64,56,56] by 3x3 is 200,704 x 9 elements.
Work pool_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Window window = pool_window(use);
  Work work;
  work.write_elements = element_count(outputs[0].shape);
  Shape touched = window.kernel;
  touched.push_back(work.write_elements);
  work.row_length = element_count(touched);
  work.read_elements = {work.row_length};
  return work;
}

constexpr Operator rows[] = {
    {"", "AveragePool", "average_pool", 1, 1,
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides", infer_pool, pool_work},
    {"", "GlobalAveragePool", "average_pool", 1, 1, "", infer_pool, pool_work},
    {"", "GlobalMaxPool", "max_pool", 1, 1, "", infer_pool, pool_work},
    {"", "LpPool", "lp_pool", 1, 1, "auto_pad ceil_mode dilations kernel_shape p pads strides", infer_pool,
     pool_work},
    {"", "MaxPool", "max_pool", 1, 1, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides",
     infer_pool, pool_work},
};

}  // namespace

std::span<const Operator> pool_rows() { return rows; }

}  // namespace sdip
