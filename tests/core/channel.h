// A DRAM channel as tests want it.
#pragma once

#include "core/machine/machine.h"

namespace sdip {

/// Channels of a byte that move so many hundredths of a byte each core cycle together, at full efficiency; what
/// they load is there at once, and they turn at once. Rates stay below what any kind is sold with.
inline void set_bytes_per_cycle(Machine& m, std::int64_t hundredths) {
  m.dram_channels = 1;
  m.dram_channel_bits = 8;
  m.dram_rate_mtps = hundredths * m.core_clock_mhz / 100;
  for (std::int64_t part = 2; m.dram_rate_mtps > 2000 && part <= m.dram_rate_mtps; ++part)
    while (m.dram_rate_mtps % part == 0 && m.dram_rate_mtps > 2000) {
      m.dram_rate_mtps /= part;
      m.dram_channels *= part;
    }
  m.dram_latency_ns = m.dram_turn_ns = 0;
}

/// The same of so many bits whose clock is the core's times a ratio in hundredths, two transfers a clock.
/// Example: 8 bits at 50 hundredths are a byte a cycle.
inline void set_channel(Machine& m, std::int64_t bits, std::int64_t ratio_hundredths) {
  set_bytes_per_cycle(m, bits / 8 * 2 * ratio_hundredths);
}

}  // namespace sdip
