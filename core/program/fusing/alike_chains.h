// Which chains are cut alike. Internal to its room.
#pragma once

#include "core/program/fusing/strip_chain.h"

namespace sdip {

/// Whether two chains of a compilation are the same but for the numbers of their values, so that what is best of
/// one is best of the other. `uses`: use_counts of its drafts.
bool are_alike(const Compilation& c, const List<std::int32_t>& uses, const StripChain& a, const StripChain& b);

}  // namespace sdip
