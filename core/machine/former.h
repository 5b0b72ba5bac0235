// Parameters under the names of the version before: still read, with a warning, and never written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.h"

namespace sdip {

/// A parameter that others have taken the place of. Its row reads and writes those.
struct FormerRow {
  ParameterRow row;
  std::string_view now;  // what has its place: "dram_channels, dram_channel_bits"
  bool axis;             // whether a sweep may still vary it
};

std::span<const FormerRow> former_parameters();
const FormerRow* find_former(std::string_view name);

/// Says that a row is of the version before, and what to say now; empty where it is one of today.
std::string former_warning(const ParameterRow& row);

/// A parameter and its value, in the coding of its row.
struct Setting {
  const ParameterRow* row = nullptr;
  std::int64_t value = 0;
};

/// Sets what is said together, former parameters last, since those rest on others: `dram_clock_ratio` is a rate by
/// the clock that is said beside it. Returns the warnings. Worked example: core_clock_mhz = 500 and
/// dram_clock_ratio = 2 are dram_rate_mtps = 2 x 2 x 500 = 2,000.
std::vector<std::string> assign_settings(Machine& machine, std::span<const Setting> settings);

/// Rows and values of a text of ours, as "batch=16 sequencer=central". Requires names and values of the table.
std::vector<Setting> settings_of(std::string_view text);

}  // namespace sdip
