// Computing with constants small enough to hold: the integers of shape chains, and the few floats among them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/ops/operator.h"

namespace sdip {

bool is_foldable(const Shape& shape);

/// An integer or boolean constant, or nothing when a value does not fit the type.
std::optional<Tensor> int_constant(ElementType type, Shape shape, std::vector<std::int64_t> values);
/// A float constant, each value rounded to the type; nothing for the 16-bit types, which are not computed with
/// here.
std::optional<Tensor> float_constant(ElementType type, Shape shape, std::vector<double> values);

/// Row-major distance between neighbours along each axis.
std::vector<std::int64_t> strides_of(const Shape& shape);

/// The constant of `shape` whose element at an index is the source's element number `source(index)`.
Tensor pick(const Tensor& source, const Shape& shape,
            const std::function<std::int64_t(std::span<const std::int64_t>)>& source_element);

/// `source` broadcast to `shape`, which must be what numpy allows.
Tensor pick_broadcast(const Tensor& source, const Shape& shape);

/// The only value of a constant of one element, or a fill.
std::optional<double> scalar_of(const Operand& operand);

}  // namespace sdip
