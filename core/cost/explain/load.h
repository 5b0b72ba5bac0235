// The load before processing: memories that are filled. Internal to its room.
#pragma once

#include <vector>

#include "core/cost/explain/explain.h"

namespace sdip {

/// Bytes of each memory and the time that they take over the whole channel, one memory after the other; of an FPGA
/// part its configuration, which comes first. Requires IMEM with room for a program that is held.
///
/// Worked example. 3 B of words, 7 of weights and 5 for FeFET memories over 2/1 bytes a cycle arrive after
/// ceil(3/2) = 2, ceil(10/2) = 5 and ceil(15/2) = 8 cycles: they take 2, 3 and 3.
Load load_of(const Application& application, const Machine& machine);

/// The same with its numbers.
std::vector<FilledTerm> load_terms(const Application& application, const Machine& machine);

}  // namespace sdip
