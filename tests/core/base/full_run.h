// Whether this is a run of ./test --full, which sets SDIP_FULL.
#pragma once

#include <cstdlib>

namespace sdip {

inline bool full_run() {
  const char* full = std::getenv("SDIP_FULL");
  return full != nullptr && *full != '\0';
}

}  // namespace sdip
