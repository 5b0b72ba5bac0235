// The DRAM channel as an exact rational rate.
#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "core/machine/machine.h"

namespace sdip {

/// p/q bytes a core cycle, in lowest terms; and what transfers wait for besides, in core cycles.
struct DramRate {
  std::int64_t p = 1, q = 1;
  std::int64_t latency_cycles = 0;  // from a transfer's end until what it loads is there
  std::int64_t turn_cycles = 0;     // more of a transfer that goes the other way than the one before

  /// The same, rounded.
  constexpr double bytes_per_cycle() const { return static_cast<double>(p) / static_cast<double>(q); }

  /// Cycles until byte `bytes` of a stream has arrived: ceil(bytes q / p).
  constexpr Cycles time_for(Bytes bytes) const {
    if (bytes.value < std::int64_t{1} << 30)
      return Cycles(ceil_div(bytes.value * q, p));  // q is at most 8 x 10^9 < 2^33
    return Cycles(static_cast<std::int64_t>((static_cast<Int128>(bytes.value) * q + p - 1) / p));
  }
};

/// Bytes that all channels move at once x rate x e / (10^5 x clock), where e = floor(10^5 x efficiency x `share` of
/// the channels x its `thousandths`), at least 1; latency and turn are rounded up to whole cycles. Worked example:
/// 128 bytes, 2,000 MT/s, 0.8 x 0.9, 1,000 MHz: 184.32 bytes a cycle = 4608/25; at 4,000 MHz 46.08. 100 ns are 100
/// and 400 cycles. With `host_memory` the rate is host_bus_bits / 8 an access of host_access_cycles, x share: 32
/// bit, 316 cycles: 1/79, and an access is all that is waited for.
DramRate dram_rate(const Machine& machine, Decimal share, std::int64_t thousandths = 1000);

/// The cores' share of the channel: what encoder (image to image) and decoder stages on chip leave.
Decimal core_dram_share(const Machine& machine);

}  // namespace sdip
