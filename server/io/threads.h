// How many threads a command or a job takes that may have them all.
#pragma once

#include <algorithm>
#include <thread>

#include "core/base/on_threads.h"

namespace sdip {

/// As many as this machine runs side by side, at least one.
inline int threads_here() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

}  // namespace sdip
