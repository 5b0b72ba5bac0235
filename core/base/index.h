// Ids as indices: nodes, values, instructions and operations are named by their place in a list, which is signed;
// rows of a table by an enum.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sdip {

template <class T>
concept Index = std::integral<T> || std::is_enum_v<T>;

/// The place of what `id` names. Requires id >= 0.
constexpr std::size_t at(Index auto id) { return static_cast<std::size_t>(id); }

/// A count where the library takes a size. Requires count >= 0.
constexpr std::size_t as_size(std::integral auto count) { return static_cast<std::size_t>(count); }

/// The container itself, with brackets that take ids and enums.
template <class Base>
struct Indexed : Base {
  using Base::Base;
  Indexed() = default;
  Indexed(Base&& base) : Base(std::move(base)) {}                          // NOLINT: a list is one
  explicit(!std::is_trivially_copyable_v<Base>) Indexed(const Base& base)  // NOLINT: only copies of lists are said
      : Base(base) {}

  constexpr decltype(auto) operator[](Index auto id) { return Base::operator[](at(id)); }
  constexpr decltype(auto) operator[](Index auto id) const { return Base::operator[](at(id)); }
};

template <class T>
using List = Indexed<std::vector<T>>;

template <class T>
using View = Indexed<std::span<T>>;

template <class T, std::size_t n>
struct Array : std::array<T, n> {
  constexpr T& operator[](Index auto id) { return std::array<T, n>::operator[](at(id)); }
  constexpr const T& operator[](Index auto id) const { return std::array<T, n>::operator[](at(id)); }
};

}  // namespace sdip

template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<sdip::View<T>> = true;
