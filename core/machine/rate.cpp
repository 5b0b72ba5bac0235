// The DRAM channel as an exact rational rate.
#include "core/machine/rate.h"

#include <numeric>

namespace sdip {

DramRate dram_rate(const Machine& machine, Decimal share, std::int64_t thousandths) {
  if (machine.host_memory) {  // below 2^43 over at most 8 x 10^9
    const std::int64_t bits = machine.host_bus_bits * share.hundredths * thousandths;
    const std::int64_t accesses = std::int64_t{8} * 100 * 1000 * machine.host_access_cycles;
    const std::int64_t both = std::gcd(bits, accesses);
    return {bits / both, accesses / both};
  }
  // At most (2^16/8) * 2 * 6400 * 100 * 100 * 1000 < 2^51 over 10^9: both far inside 64 bits.
  const std::int64_t p = machine.dram_bus_bits / 8 * 2 * machine.dram_clock_ratio.hundredths *
                         machine.dram_efficiency.hundredths * share.hundredths * thousandths;
  constexpr std::int64_t q = 1'000'000'000;  // 100 x 100 x 100 x 1000
  const std::int64_t common = std::gcd(p, q);
  return {p / common, q / common};
}

Decimal core_dram_share(const Machine& machine) {
  if (machine.vae_stage == VaeStage::off_chip) return Decimal{100};
  const std::int64_t encoder = machine.mode == Mode::image_to_image ? machine.encoder_dram_share.hundredths : 0;
  return Decimal{100 - encoder - machine.decoder_dram_share.hundredths};
}

}  // namespace sdip
