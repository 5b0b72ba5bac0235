// Where whole values lie on chip, and which leave it when they do not fit.
//
// Example: STACKRAM of 10 B; a of 6 B waits from 0 to 9, b of 6 B from 2 to 8 with two uses, c of 4 B from 3 to 5.
// At 2 a and b do not fit. a's next use is farthest: 6 B written, 6 B read. b would take 6 + 2 x 6 B.
#include "core/program/form/memory_plan.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <tuple>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr std::size_t most_taken_back = 64;

bool is_stack(const Machine& machine) {
  return !is_unified(machine) && machine.stack_discipline == StackDiscipline::stack;
}

/// A result that no instruction reads and that does not leave: it is made all the same.
bool made_in_vain(const Life& life) {
  return !life.in_dram && !life.spilled && !life.leaves_by_dram && life.uses.empty() && life.made >= 0;
}

/// Values of one memory with their numbers in the graph.
struct Contents {
  List<MemoryValue> values;
  std::vector<std::int32_t> ids;
};

/// A memory and what may lie there: what stays as it is while values leave and come back.
struct Memory {
  const Machine& machine;
  const List<Draft>& drafts;
  std::vector<std::int32_t> may_lie{}, in_vain{};  // values
  std::vector<std::pair<std::int32_t, std::int32_t>>
      replacing{};              // a result and an operand whose place it may take
  List<std::int32_t> number{};  // by value, of what was asked for last

  Memory(const Machine& m, const List<Draft>& d, const Lives& lives)
      : machine(m), drafts(d), number(lives.size(), -1) {
    List<char> lies(lives.size(), 0);
    const auto may = [&](std::size_t v) { may_lie.push_back(static_cast<std::int32_t>(v)), lies[v] = 1; };
    for (std::size_t v = 0; v < lives.size(); ++v)
      if (lives[v].needs_stack() || (is_unified(machine) && lives[v].in_dsram())) may(v);
    for (const Draft& draft : drafts) {
      const bool sums = draft.out_elements == 0;  // of a norm: in registers
      if (is_unified(machine) && !sums && made_in_vain(lives[draft.destination]))
        in_vain.push_back(draft.destination);
      if (lies[draft.destination] == 0) continue;
      for (const DraftOperand& operand : draft.operands)
        if (lies[operand.value] != 0 && may_replace(draft, operand))
          replacing.emplace_back(draft.destination, operand.value);
    }
  }

  std::int64_t capacity() const { return is_unified(machine) ? unified_bytes(machine) : machine.stackram_bytes; }
  std::int32_t instructions() const { return static_cast<std::int32_t>(drafts.size()); }

  Contents contents(const Lives& lives) {
    Contents contents;
    contents.values.reserve(may_lie.size() + in_vain.size());
    contents.ids.reserve(may_lie.size() + in_vain.size());
    const auto add = [&](std::int32_t v, std::int32_t last) {
      number[v] = static_cast<std::int32_t>(contents.values.size());
      contents.values.push_back({lives[v].bytes, lives[v].made, last, {}});
      contents.ids.push_back(v);
    };
    for (const std::int32_t v : may_lie) {
      const Life& life = lives[v];
      number[v] = -1;
      if (life.needs_stack())
        add(v, life.uses.back());
      else if (is_unified(machine) && life.in_dsram())
        add(v, life.last_in_dsram());
    }
    for (const std::int32_t v : in_vain) add(v, lives[v].made);
    for (const auto& [made, operand] : replacing)
      if (number[made] >= 0 && number[operand] >= 0 && lives[operand].needs_stack())
        contents.values[number[made]].replaceable.push_back(number[operand]);
    return contents;
  }
};

Allocation allocated(const Machine& machine, const Contents& contents, std::int64_t capacity) {
  if (is_stack(machine)) return allocate_stack(contents.values);
  const std::int64_t live = most_live(contents.values);
  return allocate_offsets(contents.values, usual_allocation_rounds, std::min(capacity, live + live / 50));
}

/// The bytes that are too many at each draft, and the first draft where there are some.
struct Excess {
  std::vector<std::int64_t> bytes;
  std::int32_t first = -1;
};

Excess excess_of(const std::vector<std::int64_t>& used, std::int64_t capacity) {
  Excess excess{std::vector<std::int64_t>(used.size(), 0), -1};
  for (std::size_t i = used.size(); i-- > 0;) {
    excess.bytes[i] = std::max<std::int64_t>(0, used[i] - capacity);
    if (excess.bytes[i] > 0) excess.first = static_cast<std::int32_t>(i);
  }
  return excess;
}

/// Whether the life may leave at `now`: it waits there, or, as a last resort, is used there.
bool may_leave(const Life& life, std::int32_t now, bool though_used) {
  if (!life.needs_stack() || life.made > now || life.uses.back() < now) return false;
  return though_used || (life.uses.back() > now && !std::ranges::binary_search(life.uses, now));
}

/// Which of `ids` should leave at `now`: the one with the fewest bytes moved for each byte, when that counts, then
/// with the farthest next use, then the largest.
std::int32_t best_to_leave(std::int32_t now, std::span<const std::int32_t> ids, const Lives& lives, bool by_bytes,
                           bool though_used) {
  std::int32_t best = none;
  std::tuple<std::int64_t, std::int32_t, std::int64_t> best_rank;
  for (const std::int32_t v : ids) {
    const Life& life = lives[v];
    if (!may_leave(life, now, though_used)) continue;
    const auto next = std::ranges::upper_bound(life.uses, now);
    const std::int64_t per_byte = by_bytes ? -(spill_bytes(life) / std::max<std::int64_t>(1, life.bytes)) : 0;
    const std::tuple rank{per_byte, next == life.uses.end() ? now : *next, life.bytes};
    if (best != none && rank <= best_rank) continue;
    best = v;
    best_rank = rank;
  }
  return best;
}

std::int32_t victim_at(std::int32_t now, const Contents& contents, const Lives& lives, SpillRule rule) {
  const bool by_bytes = rule == SpillRule::fewest_bytes;
  const std::int32_t waiting = best_to_leave(now, contents.ids, lives, by_bytes, false);
  return waiting != none ? waiting : best_to_leave(now, contents.ids, lives, by_bytes, true);
}

/// The value whose leaving takes most off the excess for each byte moved.
std::int32_t widest_victim(const Excess& excess, const Contents& contents, const Lives& lives) {
  std::int32_t best = none;
  double best_worth = 0;
  for (const std::int32_t v : contents.ids) {
    const Life& life = lives[v];
    if (!life.needs_stack()) continue;
    double relief = 0;
    const std::int32_t end = std::min(life.uses.back() + 1, static_cast<std::int32_t>(excess.bytes.size()));
    for (std::int32_t i = std::max(0, life.in_dsram() ? life.overwriter : life.made + 1); i < end; ++i)
      relief += static_cast<double>(std::min(life.bytes, excess.bytes[at(i)]));
    const double worth = relief / static_cast<double>(std::max<std::int64_t>(1, spill_bytes(life)));
    if (worth <= best_worth) continue;
    best_worth = worth;
    best = v;
  }
  return best;
}

/// Spills until all fits. Returns what it spilled.
std::vector<std::int32_t> spill_until_it_fits(Memory& memory, Lives& lives, SpillRule rule) {
  const std::int64_t capacity = memory.capacity();
  std::vector<std::int32_t> spilled;
  const auto spill = [&](std::int32_t v) {
    check(!lives[v].spilled, "a value spilled twice");
    lives[v].spilled = true;
    spilled.push_back(v);
  };
  for (const std::int32_t v : memory.may_lie)  // else others would leave for it in vain
    if (lives[v].needs_stack() && lives[v].bytes > capacity) spill(v);
  while (true) {
    const Contents contents = memory.contents(lives);
    Excess excess = excess_of(live_bytes(contents.values, memory.instructions()), capacity);
    const bool by_address = rule == SpillRule::farthest_use && is_stack(memory.machine);
    if (excess.first < 0 || by_address) {
      const Allocation allocation = allocated(memory.machine, contents, capacity);
      if (allocation.peak_bytes <= capacity) return spilled;
      excess = excess_of(highest_byte(contents.values, allocation, memory.instructions()), capacity);
    }
    if (excess.first < 0) return spilled;
    std::int32_t victim = none;
    if (rule == SpillRule::widest_relief) victim = widest_victim(excess, contents, lives);
    if (victim == none) victim = victim_at(excess.first, contents, lives, rule);
    if (victim == none) return spilled;  // only what must be whole in DSRAM is left
    spill(victim);
  }
}

bool all_fits(Memory& memory, const Lives& lives) {
  const Contents contents = memory.contents(lives);
  if (!is_stack(memory.machine)) return fits_in(contents.values, memory.capacity());
  return most_live(contents.values) <= memory.capacity() &&
         allocate_stack(contents.values).peak_bytes <= memory.capacity();
}

/// Whether a value that left may fit again beside so many bytes alive at each draft: no more than a first and a
/// last moment can be shared with one whose place it takes or that takes its.
bool may_fit(const Memory& memory, const Life& life, const std::vector<std::int64_t>& live) {
  const std::int32_t there = is_unified(memory.machine) && life.in_dsram() ? life.last_in_dsram() : life.made;
  const auto from = std::min(live.size(), at(std::max(0, there + 1)));
  const auto to = std::min(live.size(), at(std::max(0, life.uses.back())));
  return from >= to ||
         *std::max_element(live.begin() + static_cast<std::ptrdiff_t>(from),
                           live.begin() + static_cast<std::ptrdiff_t>(to)) <= memory.capacity() - life.bytes;
}

/// Takes back what was spilled and fits after all, the costliest first.
void take_back(Memory& memory, Lives& lives, std::vector<std::int32_t>& spilled) {
  if (!all_fits(memory, lives)) return;
  const auto live_now = [&] { return live_bytes(memory.contents(lives).values, memory.instructions()); };
  std::vector<std::int64_t> live = live_now();
  std::ranges::stable_sort(spilled, std::greater<>(), [&](std::int32_t v) { return spill_bytes(lives[v]); });
  for (std::size_t i = 0; i < std::min(spilled.size(), most_taken_back); ++i) {
    Life& life = lives[spilled[i]];
    if (!may_fit(memory, life, live)) continue;
    life.spilled = false;
    if (all_fits(memory, lives))
      live = live_now();
    else
      life.spilled = true;
  }
}

std::vector<std::vector<Extent>> live_extents_of(const Contents& contents, const Allocation& allocation,
                                                 std::size_t drafts) {
  List<std::vector<std::int32_t>> born(drafts + 1), dead(drafts + 1);
  for (std::size_t v = 0; v < contents.values.size(); ++v) {
    if (contents.values[v].bytes == 0) continue;  // it may lie where another does
    born[std::max(0, contents.values[v].first)].push_back(static_cast<std::int32_t>(v));
    dead[std::min(drafts, at(std::max(0, contents.values[v].last)))].push_back(static_cast<std::int32_t>(v));
  }
  std::vector<std::vector<Extent>> extents(drafts);
  std::multimap<std::int64_t, std::int64_t> alive;  // address, bytes; twice where one takes another's place
  for (std::size_t i = 0; i < drafts; ++i) {
    for (const std::int32_t v : born[i]) alive.emplace(allocation.offsets[v], contents.values[v].bytes);
    for (const auto& [address, bytes] : alive)
      if (extents[i].empty() || extents[i].back().address != address) extents[i].push_back({address, bytes});
    for (const std::int32_t v : dead[i]) alive.erase(alive.find(allocation.offsets[v]));
  }
  return extents;
}

}  // namespace

std::int64_t spill_bytes(const Life& life) {
  const bool there = life.is_input || life.leaves_by_dram;
  const auto reads = std::ranges::count_if(life.uses, [&](std::int32_t use) { return !life.in_dsram_at(use); });
  return life.bytes * ((there ? 0 : 1) + reads);
}

std::vector<std::int64_t> dsram_addresses(const List<Draft>& drafts, const Lives& lives) {
  List<std::int64_t> addresses(lives.size(), -1);
  std::int64_t inputs = 0;  // whole ones lie behind one another on the side that is read first
  for (std::size_t v = 0; v < lives.size(); ++v) {
    if (lives[v].in_dsram()) {
      addresses[v] = lives[v].is_input ? inputs : 0;
      inputs += lives[v].is_input ? lives[v].bytes : 0;
    }
  }
  for (const Draft& draft : drafts)
    if (made_in_vain(lives[draft.destination])) addresses[draft.destination] = 0;
  return addresses;
}

namespace {

/// The values that leave by a rule, and the bytes that this moves.
struct Spilled {
  std::vector<std::int32_t> values;
  std::int64_t moved_bytes = 0;
};

Spilled spill(Memory& memory, Lives& lives, SpillRule rule) {
  Spilled spilled{spill_until_it_fits(memory, lives, rule)};
  if (rule != SpillRule::farthest_use) take_back(memory, lives, spilled.values);
  std::erase_if(spilled.values, [&](std::int32_t v) { return !lives[v].spilled; });
  for (const std::int32_t v : spilled.values) spilled.moved_bytes += spill_bytes(lives[v]);
  return spilled;
}

MemoryPlan planned(Memory& memory, const Lives& lives, const Spilled& spilled) {
  const Machine& machine = memory.machine;
  MemoryPlan plan;
  plan.moved_bytes = spilled.moved_bytes;
  const Contents contents = memory.contents(lives);
  const Allocation allocation = allocated(machine, contents, memory.capacity());
  plan.addresses.assign(lives.size(), -1);
  for (std::size_t v = 0; v < contents.ids.size(); ++v) plan.addresses[contents.ids[v]] = allocation.offsets[v];
  plan.in_use = highest_byte(contents.values, allocation, memory.instructions());
  if (is_unified(machine)) {
    plan.live_extents = live_extents_of(contents, allocation, memory.drafts.size());
    plan.dsram_addresses = plan.addresses;
    return plan;
  }
  plan.dsram_addresses = dsram_addresses(memory.drafts, lives);
  return plan;
}

}  // namespace

MemoryPlan plan_memory(const Machine& machine, const List<Draft>& drafts, Lives& lives, SpillRule rule) {
  Memory memory(machine, drafts, lives);
  const Spilled spilled = spill(memory, lives, rule);
  return planned(memory, lives, spilled);
}

MemoryPlan plan_memory(const Machine& machine, const List<Draft>& drafts, Lives& lives) {
  Memory memory(machine, drafts, lives);
  std::optional<Spilled> best;
  const auto mark = [&](const Spilled& spilled, bool gone) {
    for (const std::int32_t v : spilled.values) lives[v].spilled = gone;
  };
  for (const SpillRule rule : {SpillRule::farthest_use, SpillRule::fewest_bytes, SpillRule::widest_relief}) {
    Spilled spilled = spill(memory, lives, rule);
    mark(spilled, false);
    if (best && spilled.moved_bytes >= best->moved_bytes) continue;
    best = std::move(spilled);
    if (best->moved_bytes == 0) break;
  }
  mark(*best, true);
  return planned(memory, lives, *best);
}

std::int32_t farthest_at(std::int32_t now, const Lives& lives, bool though_used) {
  std::vector<std::int32_t> ids;
  for (std::size_t v = 0; v < lives.size(); ++v)
    if (lives[v].needs_stack()) ids.push_back(static_cast<std::int32_t>(v));
  return best_to_leave(now, ids, lives, false, though_used);
}

std::vector<std::int64_t> dram_addresses(const List<Draft>& drafts, const Lives& lives) {
  std::vector<MemoryValue> values;
  std::vector<std::size_t> ids;
  const auto end = static_cast<std::int32_t>(drafts.size());
  for (std::size_t v = 0; v < lives.size(); ++v) {
    const Life& life = lives[v];
    const bool used = life.made >= 0 || !life.uses.empty();
    if (!used || life.joined || (!life.in_dram && !life.spilled && !life.leaves_by_dram)) continue;
    // Inputs were there before, results stay for whoever fetches them.
    const std::int32_t last = life.is_input || life.leaves_by_dram || life.uses.empty() ? end : life.uses.back();
    values.push_back({life.bytes, life.is_input ? -1 : life.made, std::max(last, life.last_joined), {}});
    ids.push_back(v);
  }
  const Allocation allocation = allocate_offsets(values, 0);
  List<std::int64_t> addresses(lives.size(), -1);
  for (std::size_t i = 0; i < ids.size(); ++i) addresses[ids[i]] = allocation.offsets[i];
  return addresses;
}

}  // namespace sdip
