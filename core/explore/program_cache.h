// The programs of the machines that were met last. Internal to its room.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/explore/mix.h"
#include "core/machine/machine.h"

namespace sdip {

/// Gives the programs of a machine: called from any thread, for different compile keys at once; while they
/// stay cached not again for their key, nor for one that differs in psram_bytes alone and is in the range that
/// they say (but by threads that ask at the same time). An Error it throws makes every point of the key infeasible
/// with the error's text, but `cancelled`, which ends the sweep as `cancel` does.
using CompileFunction = std::function<Programs(const Machine&)>;

/// Place and text, as the reason of a point that cannot be.
std::string text_of(const Error& error);

/// A machine's programs, or why there are none.
struct CompiledMachine {
  Programs programs;  // none: refused
  std::string reason;
};

/// Capacities of PSRAM for which what was compiled for this one is the same.
CapacityRange psram_range(const CompiledMachine& compiled, std::int64_t psram_bytes);

/// The least recently used programs, bounded; whoever asks for a machine that is being compiled waits for it.
class ProgramCache {
 public:
  /// `compile_machine` outlives it.
  ProgramCache(const CompileFunction& compile_machine, std::size_t capacity)
      : compile_(compile_machine), capacity_(capacity) {}

  /// `key`: of the machine, but for PSRAM. Throws Error cancelled.
  std::shared_ptr<const CompiledMachine> find(const std::vector<std::int64_t>& key, const Machine& machine);

  /// How often the compile function was called.
  std::int64_t compiled() const;

 private:
  using Step = std::pair<std::vector<std::int64_t>, std::int64_t>;  // a key, and a capacity: the least of its range
  struct Entry {
    std::shared_ptr<const CompiledMachine> compiled;
    CapacityRange psram_bytes;
    std::list<Step>::iterator place;
  };

  std::shared_ptr<const CompiledMachine> known(const Step& asked);
  void keep(const Step& step, const std::shared_ptr<const CompiledMachine>& compiled, const CapacityRange& range);
  CompiledMachine compile_now(const Machine& machine) const;

  const CompileFunction& compile_;
  std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::set<Step> compiling_;
  std::map<Step, Entry> entries_;
  std::list<Step> recent_;  // latest use first
  std::int64_t compiled_ = 0;
};

}  // namespace sdip
