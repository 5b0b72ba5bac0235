// Parameters of which more is free.
#include "core/machine/gives.h"

namespace sdip {
namespace {

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
  return names[at(gives)];
}

std::span<const FreeRow> free_rows() { return rows; }

}  // namespace sdip
