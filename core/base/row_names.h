// The names of a table's rows.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace sdip {

/// In the order of the rows, each of which has a `name`.
template <class Row, std::size_t count>
constexpr std::array<std::string_view, count> names_of(const Row (&rows)[count]) {
  std::array<std::string_view, count> names;
  for (std::size_t r = 0; r < count; ++r) names[r] = rows[r].name;
  return names;
}

}  // namespace sdip
