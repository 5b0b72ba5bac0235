// Parameters of which more is free.
#pragma once

#include <span>
#include <string_view>

#include "core/machine/machine.h"

namespace sdip {

std::string_view gives_text(Gives gives);

/// A row of which more costs neither area, nor energy of a frame, nor price, though it gives something: why that is
/// so, and what ends it.
struct FreeRow {
  std::string_view name, why, bound;
};
std::span<const FreeRow> free_rows();

}  // namespace sdip
