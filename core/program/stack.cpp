// pass `stack`: STACKRAM over the program, as a stack or with a first-fit allocator.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/draft.h"

namespace sdip {
namespace {

struct Entry {
  std::int64_t offset = 0, bytes = 0;
  std::int32_t value = none;
  bool dead = false;
};

/// Entries by ascending offset. A stack frees from the top only: what dies below waits; an allocator frees at once.
struct Memory {
  bool stack = true;
  std::vector<Entry> entries;

  std::int64_t top() const { return entries.empty() ? 0 : entries.back().offset + entries.back().bytes; }

  std::int64_t place_for(std::int64_t bytes, std::size_t& position) const {
    position = entries.size();
    if (stack) return top();
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].offset - offset >= bytes) {
        position = i;
        return offset;
      }
      offset = entries[i].offset + entries[i].bytes;
    }
    return offset;
  }

  void free(std::int32_t value) {
    const auto entry = std::ranges::find_if(entries, [&](const Entry& e) { return e.value == value && !e.dead; });
    check(entry != entries.end(), "a value popped that was never pushed");
    if (!stack) {
      entries.erase(entry);
      return;
    }
    entry->dead = true;
    while (!entries.empty() && entries.back().dead) entries.pop_back();
  }
};

/// The operand that the result of `draft` may replace in place: element-wise, of the same size, on STACKRAM, dying
/// here.
std::int32_t replaced_by(const Draft& draft, std::int32_t index, const Lives& lives, const Memory& memory) {
  if (draft.compound != Compound::single) return none;  // its operands are read again after results were written
  const std::int64_t bytes = lives[static_cast<std::size_t>(draft.destination)].bytes;
  for (const DraftOperand& operand : draft.operands) {
    const Life& life = lives[static_cast<std::size_t>(operand.value)];
    if (operand.fetch.per_fold && operand.fetch.passes == 1 && life.needs_stack() && life.bytes == bytes &&
        life.uses.back() == index &&
        std::ranges::any_of(memory.entries, [&](const Entry& e) { return e.value == operand.value && !e.dead; }))
      return operand.value;
  }
  return none;
}

/// Among the values on STACKRAM and `incoming`, the one whose next use is farthest; the larger of two.
std::int32_t victim(const Memory& memory, std::int32_t incoming, std::int32_t now, const Lives& lives) {
  std::int32_t best = incoming;
  std::pair<std::int32_t, std::int64_t> best_rank{-1, -1};
  const auto consider = [&](std::int32_t value) {
    const Life& life = lives[static_cast<std::size_t>(value)];
    const auto next = std::ranges::upper_bound(life.uses, now);
    if (next == life.uses.end() || std::ranges::binary_search(life.uses, now)) return;
    const std::pair rank{*next, life.bytes};
    if (rank > best_rank) {
      best_rank = rank;
      best = value;
    }
  };
  for (const Entry& entry : memory.entries)
    if (!entry.dead) consider(entry.value);
  consider(incoming);
  return best;
}

/// One walk over the program. Returns the value to spill when something does not fit, else `none`.
std::int32_t walk(const Machine& machine, const std::vector<Draft>& drafts, const Lives& lives,
                  const std::vector<std::int64_t>& capacity, std::vector<std::int64_t>& in_use) {
  Memory memory;
  memory.stack = machine.stack_discipline == StackDiscipline::stack;
  std::vector<std::vector<std::int32_t>> dying(drafts.size() + 1);
  for (std::size_t v = 0; v < lives.size(); ++v)
    if (lives[v].needs_stack())
      dying[static_cast<std::size_t>(lives[v].uses.back())].push_back(static_cast<std::int32_t>(v));
  const auto push = [&](std::int32_t value, std::int64_t limit) {
    const std::int64_t bytes = lives[static_cast<std::size_t>(value)].bytes;
    std::size_t position = 0;
    const std::int64_t offset = memory.place_for(bytes, position);
    if (offset + bytes > limit) return false;
    memory.entries.insert(memory.entries.begin() + static_cast<std::ptrdiff_t>(position),
                          {offset, bytes, value, false});
    return true;
  };
  for (std::size_t v = 0; v < lives.size(); ++v)
    if (lives[v].is_input && lives[v].needs_stack() && !push(static_cast<std::int32_t>(v), capacity[0]))
      return victim(memory, static_cast<std::int32_t>(v), -1, lives);
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const auto now = static_cast<std::int32_t>(i);
    const std::int32_t made = drafts[i].destination;
    std::int32_t replaced = none;
    if (memory.top() > capacity[i]) return victim(memory, memory.entries.back().value, now, lives);
    if (lives[static_cast<std::size_t>(made)].needs_stack()) {
      replaced = replaced_by(drafts[i], now, lives, memory);
      if (replaced != none) {
        std::ranges::find_if(memory.entries, [&](const Entry& e) {
          return e.value == replaced && !e.dead;
        })->value = made;
      } else if (!push(made, capacity[i])) {
        return victim(memory, made, now, lives);
      }
    }
    in_use[i] = memory.top();
    for (const std::int32_t value : dying[i])
      if (value != replaced) memory.free(value);
  }
  return none;
}

}  // namespace

std::vector<std::int64_t> allocate_stack(const Machine& machine, const std::vector<Draft>& drafts, Lives& lives,
                                         const std::vector<std::int64_t>& capacity) {
  std::vector<std::int64_t> in_use(drafts.size(), 0);
  while (true) {
    const std::int32_t spill = walk(machine, drafts, lives, capacity, in_use);
    if (spill == none) return in_use;
    check(!lives[static_cast<std::size_t>(spill)].spilled, "a value spilled twice");
    lives[static_cast<std::size_t>(spill)].spilled = true;
  }
}

}  // namespace sdip
