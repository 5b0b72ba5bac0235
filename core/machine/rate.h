// The DRAM channel as an exact rational rate.
#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "core/machine/machine.h"

namespace sdip {

/// p/q bytes a core cycle, in lowest terms.
struct DramRate {
  std::int64_t p = 1, q = 1;

  /// The same, rounded.
  constexpr double bytes_per_cycle() const { return static_cast<double>(p) / static_cast<double>(q); }

  /// Cycles until byte `bytes` of a stream has arrived: ceil(bytes q / p).
  constexpr Cycles time_for(Bytes bytes) const {
    if (bytes.value < std::int64_t{1} << 30)
      return Cycles(ceil_div(bytes.value * q, p));  // q is at most 8 x 10^9 < 2^33
    return Cycles(static_cast<std::int64_t>((static_cast<Int128>(bytes.value) * q + p - 1) / p));
  }
};

/// Bus bytes x 2 transfers x clock ratio x efficiency x `share` of the channel, of it `thousandths`.
/// Worked example: 128 bit, ratio 2.00, efficiency 0.80, whole channel: 16 * 2 * 2 * 0.8 = 51.2 = 256/5 bytes a
/// cycle. With `host_memory` host_bus_bits / 8 an access of host_access_cycles, x share: 32 bit, 316 cycles: 1/79.
DramRate dram_rate(const Machine& machine, Decimal share, std::int64_t thousandths = 1000);

/// The cores' share of the channel: what encoder (image to image) and decoder stages on chip leave.
Decimal core_dram_share(const Machine& machine);

}  // namespace sdip
