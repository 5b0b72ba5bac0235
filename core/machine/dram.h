// DRAM as it is sold: what a channel of each kind is, how fast it runs and what it holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/machine/machine.h"

namespace sdip {

/// One kind of DRAM. Rates are those of a pin, in million transfers a second.
/// Kinds whose PHYs and devices are priced alike; HBM's stacks stand on an interposer.
enum class DramFamily { hbm, lpddr, ddr, gddr };

struct DramKindRow {
  DramKind kind;
  DramFamily family;
  std::int64_t channel_bits, usual_mtps, greatest_mtps, access_bytes;
  std::int64_t greatest_channel_mib;  // that a channel holds
  std::int64_t row_bytes;             // that its devices open together
  std::string_view source;
};

/// The rows of all kinds, in the order of DramKind.
View<const DramKindRow> dram_kinds();

/// The channels of a machine: its kind's, but for what the machine says of its own.
/// Worked example: 8 channels of HBM2, 128 bits each as the kind has them: 128 bytes at a time; accesses of 32
/// bytes.
struct DramChannels {
  std::int64_t channels{}, channel_bits{}, rate_mtps{}, access_bytes{}, channel_mib{};
  constexpr std::int64_t wide_bytes() const { return channels * channel_bits / 8; }
  /// The peak rate of all channels, in GB/s.
  constexpr double peak_gb_per_s() const { return static_cast<double>(wide_bytes() * rate_mtps) / 1000.0; }
};
DramChannels dram_channels(const Machine& machine);

/// Says which rate or capacity of `machine` its kind of DRAM is not sold with, for which the machine is refused.
/// Empty where there is none, or where a host's bus takes the channel's place.
std::string dram_misfit(const Machine& machine);

}  // namespace sdip
