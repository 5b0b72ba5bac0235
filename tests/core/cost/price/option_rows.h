// Each option of the design space: a change to SD 1.5 on a machine, and the test of the executor that witnesses it.
#pragma once

#include <span>
#include <string_view>

namespace sdip {

/// `on`: a preset, and what is set besides, "edge batch=4"; in front "network:" where the U-Net stands as a network
/// of its own and not as a core's step. `change`: settings put there. `witness`: suite and name of a test in which
/// what the executor does, or counts, with that option is compared.
struct OptionRow {
  std::string_view option, on, change, witness;
};
std::span<const OptionRow> option_rows();

}  // namespace sdip
