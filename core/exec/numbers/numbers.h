// Numbers on their way through an instruction: floats of every type that single precision holds, doubles, integers.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/base/tensor.h"
#include "core/ops/values.h"

namespace sdip::exec {

/// Memory whose elements are not set before they are written.
template <class T>
struct Unset : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Unset<U>;
  };
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
};
template <class T>
using Buffer = std::vector<T, Unset<T>>;

/// Numbers of one type. They stand in `ints` when they are integers or booleans, in `doubles` when float64, else in
/// `floats`.
struct Numbers {
  ElementType type = ElementType::float32;
  Buffer<float> floats{};
  std::vector<double> doubles{};
  std::vector<std::int64_t> ints{};

  std::size_t size() const { return floats.size() + doubles.size() + ints.size(); }
};

inline bool is_single(ElementType type) { return is_floating(type) && type != ElementType::float64; }

inline Numbers numbers_of(Tensor tensor) {
  Numbers numbers{tensor.type, {}, {}, std::move(tensor.ints)};
  if (is_single(tensor.type)) {
    numbers.floats.resize(tensor.floats.size());
    for (std::size_t i = 0; i < tensor.floats.size(); ++i) numbers.floats[i] = static_cast<float>(tensor.floats[i]);
  } else {
    numbers.doubles = std::move(tensor.floats);
  }
  return numbers;
}

/// The numbers as a tensor of one axis.
inline Tensor tensor_of(const Numbers& numbers) {
  Tensor tensor{numbers.type, {static_cast<std::int64_t>(numbers.size())}, numbers.ints, numbers.doubles};
  if (!numbers.floats.empty()) tensor.floats.assign(numbers.floats.begin(), numbers.floats.end());
  return tensor;
}

/// As doubles, integers as the nearest.
inline std::vector<double> doubles_of(const Numbers& numbers) {
  if (!numbers.floats.empty()) return {numbers.floats.begin(), numbers.floats.end()};
  std::vector<double> doubles = numbers.doubles;
  for (const std::int64_t x : numbers.ints) doubles.push_back(double_of(numbers.type, x));
  return doubles;
}

}  // namespace sdip::exec
