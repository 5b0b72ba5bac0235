// The programs of the machines that were met last.
#include "core/explore/program_cache.h"

#include <algorithm>

#include "core/base/stop.h"

namespace sdip {

std::string text_of(const Error& error) {
  return error.where.empty() ? error.what() : error.where + ": " + error.what();
}

CapacityRange psram_range(const CompiledMachine& compiled, std::int64_t psram_bytes) {
  const CapacityRange said = compiled.programs.psram_bytes();
  return said.holds(psram_bytes) ? said : CapacityRange{psram_bytes, psram_bytes};
}

std::shared_ptr<const CompiledMachine> ProgramCache::find(const std::vector<std::int64_t>& key,
                                                          const Machine& machine) {
  const Step asked{key, machine.psram_bytes};
  std::unique_lock lock(mutex_);
  for (;;) {
    if (auto found = known(asked)) return found;
    if (!compiling_.contains(asked)) break;
    ready_.wait(lock);
  }
  compiling_.insert(asked);
  ++compiled_;
  lock.unlock();
  std::shared_ptr<const CompiledMachine> compiled;
  try {
    compiled = std::make_shared<const CompiledMachine>(compile_now(machine));
  } catch (...) {
    lock.lock();
    compiling_.erase(asked);
    ready_.notify_all();
    throw;
  }
  lock.lock();
  compiling_.erase(asked);
  ready_.notify_all();
  // Meanwhile another thread may have compiled the same program, for another capacity of its range.
  if (auto found = known(asked)) return found;
  keep({key, psram_range(*compiled, asked.second).least}, compiled, psram_range(*compiled, asked.second));
  return compiled;
}

std::int64_t ProgramCache::compiled() const {
  const std::scoped_lock lock(mutex_);
  return compiled_;
}

/// The entry compiled for a range that holds this capacity; it becomes the most recent.
std::shared_ptr<const CompiledMachine> ProgramCache::known(const Step& asked) {
  auto entry = entries_.upper_bound(asked);
  if (entry == entries_.begin()) return nullptr;
  --entry;
  if (entry->first.first != asked.first || !entry->second.psram_bytes.holds(asked.second)) return nullptr;
  recent_.splice(recent_.begin(), recent_, entry->second.place);
  return entry->second.compiled;
}

void ProgramCache::keep(const Step& step, const std::shared_ptr<const CompiledMachine>& compiled,
                        const CapacityRange& range) {
  const auto [entry, fresh] = entries_.insert_or_assign(step, Entry{compiled, range, {}});
  if (!fresh) recent_.erase(std::ranges::find(recent_, step));  // a range that was not known as far
  recent_.push_front(step);
  entry->second.place = recent_.begin();
  while (recent_.size() > capacity_) {
    entries_.erase(recent_.back());
    recent_.pop_back();
  }
}

CompiledMachine ProgramCache::compile_now(const Machine& machine) const {
  try {
    CompiledMachine compiled{compile_(machine), ""};
    const auto& of = compiled.programs.of;
    check(!of.empty() && std::ranges::find(of, nullptr) == of.end(), "the compile function gave nothing");
    return compiled;
  } catch (const Error& error) {
    if (is_cancelled(error)) throw;
    return {{}, text_of(error)};
  }
}

}  // namespace sdip
