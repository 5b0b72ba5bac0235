// What more of a parameter of the hardware gives.
#pragma once

#include <span>
#include <string_view>

#include "core/machine/machine.h"

namespace sdip {

/// rate: cycles or seconds, of instructions, transfers or a clock that it allows. room: for what is held, or for
/// area. nothing: it has no such end, or is an assumption, which is never offered as a gain.
enum class Gives { rate, room, nothing };
std::string_view gives_text(Gives gives);

/// Of choices and flags nothing: they have no more.
Gives more_gives(const ParameterRow& row);

/// A row of which more costs neither area, nor energy of a frame, nor price, though it gives something: why that is
/// so, and what ends it.
struct FreeRow {
  std::string_view name, why, bound;
};
std::span<const FreeRow> free_rows();

}  // namespace sdip
