// What more of a parameter of the hardware gives.
#include "core/machine/gives.h"

#include <algorithm>

namespace sdip {
namespace {

constexpr std::string_view rate_rows[] = {"cores",
                                          "core_clock_mhz",
                                          "pipeline_stages",
                                          "die_link_bits",
                                          "accumulator_folds",
                                          "weight_registers",
                                          "sram_banks",
                                          "dram_channels",
                                          "dram_channel_bits",
                                          "dram_rate_mtps",
                                          "link_bits",
                                          "attention_parts",
                                          "decompressor_bytes_per_cycle",
                                          "fefet_input_bits"};
constexpr std::string_view room_rows[] = {"dies", "dram_channel_mib"};
/// Groups whose bytes are capacities, whose bits are ports, and whose lanes are lanes.
constexpr std::string_view groups[] = {"arithmetic",   "sram",        "sharing",
                                       "text_encoder", "vae_encoder", "vae_decoder"};

constexpr FreeRow rows[] = {
    {"core_clock_mhz",
     "below the clock that the least supply allows a frame leaks for less time, and nothing else is "
     "built",
     "above it the supply rises, at last the limit of the slowest circuit"},
    {"link_bits", "wires between cores side by side, which no block of the area has",
     "a hand-over of no cycles: below a thousandth of a frame on all presets"},
    {"attention_parts", "the circuits are there; they only start earlier",
     "max(compute of all products, compute of all softmaxes): docs/model/fusion.md#attention"},
    {"decompressor_bytes_per_cycle", "no decompressor is in the area",
     "the channel's own time for the compressed bytes"},
};

}  // namespace

std::string_view gives_text(Gives gives) {
  constexpr std::string_view names[] = {"rate", "room", "nothing"};
  return names[static_cast<std::size_t>(gives)];
}

Gives more_gives(const ParameterRow& row) {
  if (row.type != ParameterType::count) return Gives::nothing;
  if (std::ranges::find(rate_rows, row.name) != std::end(rate_rows)) return Gives::rate;
  if (std::ranges::find(room_rows, row.name) != std::end(room_rows)) return Gives::room;
  if (std::ranges::find(groups, row.group) == std::end(groups)) return Gives::nothing;
  if (row.unit == "B") return Gives::room;
  return row.unit == "lanes" || row.unit == "bit" ? Gives::rate : Gives::nothing;
}

std::span<const FreeRow> free_rows() { return rows; }

}  // namespace sdip
