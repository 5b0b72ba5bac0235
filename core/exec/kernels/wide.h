// Loops compiled for the processor's widest vectors. Their bits do not depend on it: nothing is contracted or
// reordered, and each number is computed by itself.
#pragma once

#include "core/base/in_vectors.h"

namespace sdip::exec {

#define SDIP_WIDE SDIP_LOOP

/// Runs `loop`, a lambda that is always inlined (SDIP_WIDE behind its parameters) and calls nothing that is not.
template <class Loop>
void widely(const Loop& loop) {
  in_vectors(widest_vectors(), [&](auto) SDIP_LOOP { loop(); });
}

}  // namespace sdip::exec
