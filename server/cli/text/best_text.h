// The answer of a search as text for people.
#pragma once

#include <ostream>

#include "core/explore/front.h"
#include "core/explore/sensitivity.h"
#include "server/studies/best.h"

namespace sdip {

/// The goal, what was looked at, the best machine and what it is worth, what binds it, its neighbours, what more
/// area buys, who came after it, and how it was validated; of several objectives the front first. `file_options`:
/// as typed, of the command that says everything of the best.
void print_best(std::ostream& out, const BestAnswer& answer, std::string_view file_options, bool colour);

/// "knee", "local knee", or nothing.
std::string knee_cell(Knee knee);

/// "cores 8 to 10, psram_bytes 32.0 MiB to 48.0 MiB", the first six; "nothing that counts" of none.
std::string changes_text(std::span<const Change> all);

/// "area_mm2 56.8 mm2" of each objective; of costs that were made small.
std::string objectives_text(const SearchGoal& goal, const std::vector<double>& costs);

}  // namespace sdip
