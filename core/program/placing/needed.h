// How many bytes an infeasible machine lacks. Internal to its room.
#pragma once

#include <optional>
#include <string>

#include "core/program/compile/passes.h"

namespace sdip {

/// Places a compilation whose lives are known. Returns the draft of which even the smallest tile does not fit.
std::optional<std::size_t> try_place(Compilation& compilation);

/// A draft of [first, last) that has no mapping on `machine` even when all that may lie in DRAM does; nothing when
/// all have one. Requires lives that are known.
std::optional<std::size_t> misfit_alone(const Compilation& compilation, const Machine& machine, std::size_t first,
                                        std::size_t last);

/// "NODE: even the smallest tile does not fit in DSRAM (1024 B): 1200 B are needed": with exactly that many bytes
/// the stage can be placed, with one less it cannot. Where DSRAM would have to grow beyond all bounds PSRAM is what
/// lacks, or both do.
std::string what_is_needed(const Compilation& compilation, std::size_t failed);

}  // namespace sdip
