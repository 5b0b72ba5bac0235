// Products by weights that share scales by groups.
#include "core/exec/operators/nest_groups.h"

#include <algorithm>

#include "core/exec/kernels/kernels_rounding.h"
#include "core/exec/walk/resolve.h"

namespace sdip::exec {
namespace {

/// Columns of the left operand, or rows of the right one, from `first` on.
Matrix<float> left_from(const Matrix<float>& m, std::int64_t first) {
  if (m.data != nullptr) return {m.data + first * m.column_stride, m.row_stride, m.column_stride, {}};
  return {nullptr, 0, 1, [&m, first](const Block& block, float* to, std::int64_t stride) {
            m.fill({block.row, block.rows, block.column + first, block.columns}, to, stride);
          }};
}
Matrix<float> right_from(const Matrix<float>& m, std::int64_t first) {
  if (m.data != nullptr) return {m.data + first * m.row_stride, m.row_stride, m.column_stride, {}};
  return {nullptr, 0, 1, [&m, first](const Block& block, float* to, std::int64_t stride) {
            m.fill({block.row + first, block.rows, block.column, block.columns}, to, stride);
          }};
}

/// Adds partial sums, each times its scale.
struct Scaling {
  explicit Scaling(NumberFormat accumulator)
      : narrow_(accumulator != NumberFormat::fp32), rounding_(narrow_ ? rounding_of(accumulator) : Rounding{}) {}

  float added(float sum, float partial, float scale) const {
    if (!narrow_) return sum + partial * scale;
    const double scaled = rounded_to(rounding_, static_cast<double>(partial) * static_cast<double>(scale));
    return static_cast<float>(rounded_to(rounding_, odd_sum(static_cast<double>(sum), scaled)));
  }

 private:
  bool narrow_;
  Rounding rounding_;
};

}  // namespace

GroupedWeight grouped_weight(Chip& chip, const Node& node, bool weighted) {
  const HeldWeight* weight = weighted ? read_weight(chip, node.inputs[1]) : nullptr;
  if (weight == nullptr || weight->groups.empty()) return {};
  return {weight, group_length(resolve(chip.instruction_class(), chip.machine))};
}

void add_grouped_products(const TileShape& s, const Copy& copy, const float* a, const TileStrides& a_at,
                          const GroupedWeight& b, float* sums, const Arithmetic& arithmetic) {
  const NestMap& m = s.map;
  const LoopNest& n = m.nest;
  const std::int64_t first = m.b_group[copy.group] + copy.channels.begin * m.b_n + s.tile.sums.begin * m.b_k;
  const TileStrides b_at{m.b_k, 0, 0, m.b_n, m.b_h, m.b_w};
  const auto whole = product_operands(s, copy, a, a_at, b.weight->unscaled.data() + first, b_at, arithmetic.lanes);
  const std::int64_t rows = whole.shape.rows, columns = whole.shape.columns, depth = s.tile.sums.size();
  const Scaling scaling(arithmetic.accumulator);
  KernelOptions options = arithmetic.kernel;
  options.begins = true;
  List<float> partial(as_size(rows * columns)), scales;
  for (std::int64_t position = 0; position < n.kernel_h * n.kernel_w; ++position)
    for (std::int64_t k = 0; k < depth; k += b.group) {
      const std::int64_t length = std::min(b.group, depth - k), from = position * depth + k;
      const Matrix<float> left = left_from(whole.left, from), right = right_from(whole.right, from);
      multiply({rows, columns, length, length, whole.shape.lanes}, arithmetic.accumulator, left, right,
               Sums<float>{partial.data(), columns}, options);
      scales.clear();
      for (std::int64_t channel = 0; channel < copy.channels.size(); ++channel) {
        const std::int64_t element =
            first + channel * m.b_n + k * m.b_k + position / n.kernel_w * m.b_h + position % n.kernel_w * m.b_w;
        scales.push_back(b.weight->scales[b.weight->groups[at(element)]].scale);
      }
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        const std::int64_t channel = s.by_rows() ? i % columns : i / columns;
        sums[i] = scaling.added(sums[i], partial[i], scales[channel]);
      }
    }
}

}  // namespace sdip::exec
