// The resources that instructions wait for: a table of circuit, ports and streams.
#pragma once

#include <cstddef>

#include "core/base/index.h"

namespace sdip {

/// The resources that can limit an instruction: the circuit and the ports of a core, which work side by side; then
/// its issue, and streams through DRAM.
enum class Resource {
  compute,
  dsram_read,
  dsram_write,
  stackram_read,
  stackram_write,
  psram_read,
  overhead,
  weight_stream,
  activation_stream,
  program_stream
};
inline constexpr std::size_t resource_count = 10;
inline constexpr std::size_t core_resources = 6;  // compute to psram_read
template <class Number>
using ByCoreResource = Array<Number, core_resources>;

}  // namespace sdip
