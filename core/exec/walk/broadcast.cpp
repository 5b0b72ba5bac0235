// Elements of one shape beside those of another.
#include "core/exec/walk/broadcast.h"

namespace sdip::exec {
namespace {

/// Axes of a result, the innermost first: how many, and how far apart their elements stand in the operand.
struct Axis {
  std::int64_t size = 1, step = 0;
};

/// Neighbours that are one: where the outer one goes on as the inner one does.
void add_outer(std::vector<Axis>& axes, Axis axis) {
  if (axis.size == 1) return;
  if (!axes.empty() && axis.step == axes.back().step * axes.back().size)
    axes.back().size *= axis.size;
  else
    axes.push_back(axis);
}

std::int64_t place_of(const std::vector<Axis>& axes, std::int64_t element) {
  std::int64_t place = 0;
  for (const Axis& axis : axes) {
    place += element % axis.size * axis.step;
    element /= axis.size;
  }
  return place;
}

Elements places_of(const std::vector<Axis>& axes, const Elements& at) {
  Elements places;
  if (axes.empty()) {
    places.add({0, at.size(), 0});
    return places;
  }
  const Axis& inner = axes[0];
  at.each_run(inner.size, [&](std::int64_t block, std::int64_t first, std::int64_t count) {
    places.add({place_of(axes, block * inner.size + first), count, inner.step});
  });
  return places;
}

}  // namespace

Elements elements_beside(const Shape& from, const Shape& to, const Elements& at) {
  if (from == to) return at;
  std::vector<Axis> axes;
  const std::size_t skip = to.size() - from.size();
  std::int64_t stride = 1;
  for (std::size_t axis = to.size(); axis-- > 0;) {
    const std::int64_t size = axis < skip ? 1 : from[axis - skip];
    add_outer(axes, {to[axis], size == 1 ? 0 : stride});
    stride *= size;
  }
  return places_of(axes, at);
}

Elements elements_before(const Shape& shape, std::span<const std::int64_t> permutation, const Elements& at) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  std::vector<Axis> axes;
  for (std::size_t axis = permutation.size(); axis-- > 0;) {
    const auto from = as_size(permutation[axis]);
    add_outer(axes, {shape[from], strides[from]});
  }
  return places_of(axes, at);
}

}  // namespace sdip::exec
