// The DRAM channel as an exact rational rate.
#include "core/machine/rate.h"

#include <algorithm>
#include <numeric>

#include "core/machine/dram.h"

namespace sdip {

DramRate dram_rate(const Machine& machine, Decimal share, std::int64_t thousandths) {
  if (machine.host_memory) {  // below 2^43 over at most 8 x 10^9
    const std::int64_t bits = machine.host_bus_bits * share.hundredths * thousandths;
    const std::int64_t accesses = std::int64_t{8} * 100 * 1000 * machine.host_access_cycles;
    const std::int64_t both = std::gcd(bits, accesses);
    return {bits / both, accesses / both};
  }
  const DramChannels channels = dram_channels(machine);
  const std::int64_t e =
      std::max<std::int64_t>(1, machine.dram_efficiency.hundredths * share.hundredths * thousandths / 100);
  // At most 2^12 x 2^13 bytes x 200,000 x 10^5 < 2^59 over 10^5 x 10^4.
  const std::int64_t p = channels.wide_bytes() * channels.rate_mtps * e;
  const std::int64_t q = 100'000 * machine.core_clock_mhz;
  const std::int64_t common = std::gcd(p, q);
  const auto cycles = [&](std::int64_t ns) { return ceil_div(ns * machine.core_clock_mhz, std::int64_t{1000}); };
  return {p / common, q / common, cycles(machine.dram_latency_ns), cycles(machine.dram_turn_ns)};
}

Decimal core_dram_share(const Machine& machine) {
  if (machine.vae_stage == VaeStage::off_chip) return Decimal{100};
  const std::int64_t encoder = machine.mode == Mode::image_to_image ? machine.encoder_dram_share.hundredths : 0;
  return Decimal{100 - encoder - machine.decoder_dram_share.hundredths};
}

}  // namespace sdip
