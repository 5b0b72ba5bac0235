// The capacity of a memory as the search for a mapping meets it: it is asked what it holds, and knows for which
// other capacities every answer would have been the same.
//
// Worked example. A capacity of 100 is asked for 60, which it holds, and for 130, which it does not: the same from
// 60 to 129. Then for tiles of 7 beside 20, at most 16 of them, in fours when fewer: 8, since 12 would take 104.
// The same from 76 to 103.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/base/units.h"

namespace sdip {

/// From `least` to `most`, both included; of what is not known least > most.
struct CapacityRange {
  std::int64_t least = 0, most = std::numeric_limits<std::int64_t>::max();
  bool holds(std::int64_t capacity) const { return least <= capacity && capacity <= most; }
  /// Leaves what both hold.
  void narrow(const CapacityRange& other) {
    least = std::max(least, other.least);
    most = std::min(most, other.most);
  }
  friend bool operator==(const CapacityRange&, const CapacityRange&) = default;
};
inline constexpr CapacityRange no_capacity{1, 0};

/// A capacity that can be learnt of by asking alone, so that whatever is made of its answers is the same for all
/// capacities of same(). Asking is no change: const, for one thread at a time.
class AskedCapacity {
 public:
  AskedCapacity(std::int64_t size = 0) : size_(size) {}  // NOLINT: a size is one

  bool holds(std::int64_t need) const {
    const bool fits = need <= size_;
    if (fits)
      same_.least = std::max(same_.least, need);
    else
      same_.most = std::min(same_.most, need - 1);
    return fits;
  }

  /// How many times `each` it holds beside `fixed`: `enough`, or a smaller multiple of `granule`. Requires that
  /// none is negative, a granule of at least 1.
  std::int64_t most_units(std::int64_t fixed, std::int64_t each, std::int64_t enough, std::int64_t granule) const {
    if (enough == 0) return 0;
    if (fixed <= size_ && (each == 0 || (size_ - fixed) / each >= enough)) {
      same_.least = std::max(same_.least, fixed + each * enough);
      return enough;
    }
    const std::int64_t units = fixed > size_ ? 0 : (size_ - fixed) / each / granule * granule;
    if (units > 0) same_.least = std::max(same_.least, fixed + each * units);
    const Int128 next = fixed + static_cast<Int128>(each) * std::min(units + granule, enough);
    if (next <= same_.most) same_.most = static_cast<std::int64_t>(next) - 1;
    return units;
  }

  const CapacityRange& same() const { return same_; }

 private:
  std::int64_t size_;
  mutable CapacityRange same_;
};

}  // namespace sdip
