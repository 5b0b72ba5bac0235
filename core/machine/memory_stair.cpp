// Rungs of memories.
#include "core/machine/memory_stair.h"

namespace sdip {
namespace {

/// The bytes of a memory, and smaller sizes above `least`.
std::vector<std::int64_t> rungs_of(std::int64_t bytes, std::int64_t least) {
  constexpr std::int64_t lowest = 64 << 10;
  std::vector<std::int64_t> rungs{bytes};
  for (std::int64_t rung = lowest; rung < bytes; rung *= 2)
    if (rung > least) rungs.push_back(rung);
  if (bytes > 0 && least < 0) rungs.push_back(0);
  return rungs;
}

std::vector<std::int64_t> psram_rungs(const Machine& m) { return rungs_of(m.psram_bytes, m.psram_pinned_bytes); }
std::vector<std::int64_t> dsram_rungs(const Machine& m) { return rungs_of(m.dsram_bytes, 0); }
std::vector<std::int64_t> stackram_rungs(const Machine& m) { return rungs_of(m.stackram_bytes, -1); }

}  // namespace

std::int64_t count_on_stair(const Machine& m) {
  return std::ssize(psram_rungs(m)) * std::ssize(dsram_rungs(m)) * std::ssize(stackram_rungs(m));
}

std::vector<Machine> memory_stair(const Machine& machine) {
  std::vector<Machine> stair;
  for (const std::int64_t psram_bytes : psram_rungs(machine))
    for (const std::int64_t dsram_bytes : dsram_rungs(machine))
      for (const std::int64_t stackram_bytes : stackram_rungs(machine)) {
        Machine& rung = stair.emplace_back(machine);
        rung.memory_stair = false;
        rung.psram_bytes = psram_bytes;
        rung.dsram_bytes = dsram_bytes;
        rung.stackram_bytes = stackram_bytes;
      }
  return stair;
}

}  // namespace sdip
