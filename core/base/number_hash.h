// A hash of a list of numbers, for maps by such lists.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sdip {

struct NumberHash {
  template <class Numbers>
  std::size_t operator()(const Numbers& numbers) const {
    std::uint64_t hash = numbers.size();
    for (const std::int64_t number : numbers)
      hash = std::rotl((hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15, 29);
    return static_cast<std::size_t>(hash);
  }
};

}  // namespace sdip
