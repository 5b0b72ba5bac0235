// DRAM as it is sold: the table of kinds.
#include "core/machine/dram.h"

#include <fmt/core.h>
#include <iterator>
#include <string>

namespace sdip {
namespace {

constexpr std::string_view ddr3 = "DRAMsim3 DDR3 configurations; a channel of eight x8 dies of 8 Gb";
constexpr std::string_view ddr4 = "gem5 DRAMInterface, Ramulator 2 (JESD79-4); a channel of eight x8 dies of 16 Gb";
constexpr std::string_view ddr5 = "Ramulator 2 (JESD79-5), gem5; a sub-channel of four x8 dies of 32 Gb";
constexpr std::string_view lpddr4 = "DRAMSys memspecs (JESD209-4); 16 Gb a channel: an assumption";
constexpr std::string_view lpddr5 = "Ramulator 2 (JESD209-5): 16 Gb a channel's die";
constexpr std::string_view gddr5 = "gem5 DRAMInterface GDDR5; a device of 8 Gb: an assumption";
constexpr std::string_view gddr6 = "Ramulator 2 (JESD250): devices of 32 Gb with two channels";
constexpr std::string_view gddr6x = "as GDDR6: 19 to 21 Gb/s (Micron); devices of 16 Gb with two channels";
constexpr std::string_view gddr7 = "Ramulator 2 (its timings are guesses): four channels of 8 bits in 24 Gb";
constexpr std::string_view hbm2 = "Ramulator 2, DRAMSys (JESD235): stacks of eight channels, 8 GB; HBM2E 16";
constexpr std::string_view hbm3 = "Ramulator 2 (JESD238): stacks of sixteen channels, 24 GB; HBM3E 36";

//   kind, bits of a channel, usual and greatest MT/s, bytes of an access, greatest MiB of a channel, bytes of its
//   rows
constexpr DramKindRow table[] = {
    {DramKind::lpddr4, DramFamily::lpddr, 16, 3200, 4267, 32, 2048, 2048, lpddr4},
    {DramKind::ddr4, DramFamily::ddr, 64, 3200, 3200, 64, 16384, 8192, ddr4},
    {DramKind::gddr6, DramFamily::gddr, 16, 14000, 20000, 32, 2048, 2048, gddr6},
    {DramKind::hbm2, DramFamily::hbm, 128, 2000, 2400, 32, 1024, 2048, hbm2},
    {DramKind::ddr3, DramFamily::ddr, 64, 1600, 2133, 64, 8192, 8192, ddr3},
    {DramKind::gddr5, DramFamily::gddr, 32, 4000, 8000, 32, 1024, 2048, gddr5},
    {DramKind::hbm2e, DramFamily::hbm, 128, 3200, 3600, 32, 2048, 2048, hbm2},
    {DramKind::ddr5, DramFamily::ddr, 32, 4800, 8400, 64, 16384, 4096, ddr5},
    {DramKind::lpddr4x, DramFamily::lpddr, 16, 4267, 4267, 32, 2048, 2048, lpddr4},
    {DramKind::lpddr5, DramFamily::lpddr, 16, 6400, 6400, 32, 2048, 2048, lpddr5},
    {DramKind::lpddr5x, DramFamily::lpddr, 16, 8533, 9600, 32, 2048, 2048, lpddr5},
    {DramKind::gddr6x, DramFamily::gddr, 16, 19000, 21000, 32, 1024, 2048, gddr6x},
    {DramKind::gddr7, DramFamily::gddr, 8, 28000, 32000, 32, 768, 2048, gddr7},
    {DramKind::hbm3, DramFamily::hbm, 64, 5200, 6400, 32, 1536, 2048, hbm3},
    {DramKind::hbm3e, DramFamily::hbm, 64, 9200, 9800, 32, 2304, 2048, hbm3},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(table); ++i)
    if (table[i].kind != static_cast<DramKind>(i)) return false;
  return true;
}
static_assert(in_order());

std::string over_greatest(const Machine& m, const char* what, std::int64_t value, std::int64_t greatest,
                          const char* unit) {
  const ParameterRow& kind = *find_parameter("dram_kind");
  return fmt::format("{} is {} {}, {} is sold with at most {}", what, value, unit, value_text(kind, kind.read(m)),
                     greatest);
}

}  // namespace

View<const DramKindRow> dram_kinds() { return table; }

DramChannels dram_channels(const Machine& m) {
  const DramKindRow& kind = table[at(m.dram_kind)];
  const auto own = [](std::int64_t value, std::int64_t of_kind) { return value == 0 ? of_kind : value; };
  return {m.dram_channels, own(m.dram_channel_bits, kind.channel_bits), own(m.dram_rate_mtps, kind.usual_mtps),
          own(m.dram_burst_bytes, kind.access_bytes), own(m.dram_channel_mib, kind.greatest_channel_mib)};
}

std::string dram_misfit(const Machine& m) {
  if (m.host_memory) return {};
  const DramKindRow& kind = table[at(m.dram_kind)];
  if (m.dram_rate_mtps > kind.greatest_mtps)
    return over_greatest(m, "dram_rate_mtps", m.dram_rate_mtps, kind.greatest_mtps, "MT/s");
  if (m.dram_channel_mib > kind.greatest_channel_mib)
    return over_greatest(m, "dram_channel_mib", m.dram_channel_mib, kind.greatest_channel_mib, "MiB");
  return {};
}

}  // namespace sdip
