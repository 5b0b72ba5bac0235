// pass `allocate`, its algorithms: offsets for lives in one memory.
//
// Values that take each other's place make one block. Blocks are placed one after the other, each in the smallest
// gap that holds it between the blocks that it meets; the order decides the result. The usual orders are by size,
// by size x life, by life and by time. When all leave holes, orders are changed: a block at the top, or one below
// it, moves to the front, and the new order stays when it is no worse.
//
// Example: a 4 B during 0..1, b 2 B during 1..2, c 4 B during 2..3: a and b lie side by side, and c where a was: 6
// B. The order a, c, b puts a at 0, c at 0 and b at 4; the order b, a, c puts b at 0, a at 2 and c at 2: 6 B as
// well.
#include "core/program/allocate.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "core/base/error.h"
#include "core/graph/live.h"

namespace sdip {
namespace {

constexpr std::size_t most_searched_blocks = 4096;  // beyond: placed in time order only
constexpr std::ptrdiff_t most_permuted_values = 4;

struct Block {
  std::int64_t bytes = 0;
  std::int32_t first = 0, last = 0;
};

struct Blocks {
  List<Block> blocks;
  List<std::int32_t> block_of;  // by value
};

/// Times of a program's lives are few and close: from the least of them on so many.
struct TimeSpan {
  std::int64_t first = 0, count = 0;
  bool is_dense(std::size_t lives) const { return count <= 8 * static_cast<std::int64_t>(lives) + 1024; }
};
template <class Lives>
TimeSpan span_of(const Lives& lives) {
  if (lives.empty()) return {};
  std::int64_t first = lives.front().first, last = lives.front().last;
  for (const auto& life : lives) {
    first = std::min<std::int64_t>(first, life.first);
    last = std::max<std::int64_t>({last, life.first, life.last});
  }
  return {first, last - first + 2};
}

/// Values in the order in which they are made, of those made at once the first one first.
std::vector<std::int32_t> by_birth(View<const MemoryValue> values) {
  List<std::int32_t> order(values.size());
  const TimeSpan span = span_of(values);
  if (!span.is_dense(values.size())) {
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int32_t v) { return values[v].first; });
    return order;
  }
  List<std::int32_t> next(as_size(span.count));  // place of the next one made then
  const auto when = [&](const MemoryValue& v) { return as_size(v.first - span.first); };
  for (const MemoryValue& v : values) ++next[when(v) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t v = 0; v < values.size(); ++v) order[next[when(values[v])]++] = static_cast<std::int32_t>(v);
  return order;
}

/// Whether `next`, made now, may take the place of `old`, which is there.
bool replaces(const MemoryValue& next, const MemoryValue& old) {
  return old.last == next.first && old.bytes == next.bytes && old.first < next.first;
}

Blocks blocks_of(View<const MemoryValue> values) {
  Blocks result;
  result.block_of.assign(values.size(), -1);
  List<char> taken(values.size(), 0);
  for (const std::int32_t v : by_birth(values)) {
    const MemoryValue& value = values[v];
    const auto old = std::ranges::find_if(value.replaceable, [&](std::int32_t o) {
      return taken[o] == 0 && result.block_of[o] >= 0 && replaces(value, values[o]);
    });
    if (old != value.replaceable.end()) {
      taken[*old] = 1;
      result.block_of[v] = result.block_of[*old];
      result.blocks[result.block_of[v]].last = value.last;
      continue;
    }
    result.block_of[v] = static_cast<std::int32_t>(result.blocks.size());
    result.blocks.push_back({value.bytes, value.first, value.last});
  }
  return result;
}

/// Bytes that begin or end to be alive, by when: each time once, ascending.
std::vector<std::pair<std::int32_t, std::int64_t>> changes_of(const List<Block>& blocks) {
  std::vector<std::pair<std::int32_t, std::int64_t>> changes;
  const TimeSpan span = span_of(blocks);
  if (span.is_dense(blocks.size())) {
    struct Change {
      std::int64_t bytes = 0;
      bool is_one = false;
    };
    List<Change> at_time(as_size(span.count));
    const auto change = [&](std::int64_t when, std::int64_t bytes) {
      Change& one = at_time[when - span.first];
      one = {one.bytes + bytes, true};
    };
    for (const Block& b : blocks) change(b.first, b.bytes), change(std::int64_t{b.last} + 1, -b.bytes);
    changes.reserve(at_time.size());
    for (std::size_t t = 0; t < at_time.size(); ++t)
      if (at_time[t].is_one)
        changes.emplace_back(static_cast<std::int32_t>(span.first) + static_cast<std::int32_t>(t),
                             at_time[t].bytes);
    return changes;
  }
  changes.reserve(2 * blocks.size());
  for (const Block& b : blocks) {
    changes.emplace_back(b.first, b.bytes);
    changes.emplace_back(b.last + 1, -b.bytes);
  }
  std::ranges::sort(changes);
  std::size_t count = 0;
  for (const auto& change : changes) {
    if (count > 0 && changes[count - 1].first == change.first)
      changes[count - 1].second += change.second;
    else
      changes[count++] = change;
  }
  changes.resize(count);
  return changes;
}

std::int64_t most_live(const List<Block>& blocks) {
  std::int64_t live = 0, most = 0;
  for (const auto& [when, bytes] : changes_of(blocks)) most = std::max(most, live += bytes);
  return most;
}

struct Placed {
  List<std::int64_t> offsets;
  std::int64_t peak = 0;
};

/// A block that has its place, and when it is alive last.
struct There {
  std::int64_t offset = 0, end = 0;
  std::int32_t last = 0;
};

/// For each block those that are alive with it, one list behind the other.
struct Overlaps {
  List<std::int32_t> blocks;
  List<std::size_t> begin;  // of each list, and the end of the last

  std::span<const std::int32_t> of(std::int32_t b) const {
    return std::span(blocks).subspan(begin[b], begin[b + 1] - begin[b]);
  }
};

Overlaps overlaps_of(const List<Block>& blocks) {
  std::vector<std::int32_t> by_first(blocks.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  std::ranges::sort(by_first, {}, [&](std::int32_t b) { return blocks[b].first; });
  Overlaps overlaps{{}, std::vector<std::size_t>(blocks.size() + 1, 0)};
  const auto each_pair = [&](const auto& overlap) {
    std::vector<std::int32_t> alive;
    for (const std::int32_t b : by_first) {
      std::erase_if(alive, [&](std::int32_t other) { return blocks[other].last < blocks[b].first; });
      for (const std::int32_t other : alive) overlap(b, other);
      alive.push_back(b);
    }
  };
  each_pair([&](std::int32_t a, std::int32_t b) { ++overlaps.begin[a + 1], ++overlaps.begin[b + 1]; });
  std::partial_sum(overlaps.begin.begin(), overlaps.begin.end(), overlaps.begin.begin());
  overlaps.blocks.resize(overlaps.begin.back());
  List<std::size_t> next(overlaps.begin.begin(), overlaps.begin.end() - 1);
  each_pair([&](std::int32_t a, std::int32_t b) {
    overlaps.blocks[next[a]++] = b;
    overlaps.blocks[next[b]++] = a;
  });
  return overlaps;
}

/// The end of the smallest gap that holds so many bytes between blocks by ascending offset, of equals the lowest;
/// above them all when there is none.
std::int64_t best_offset(std::span<const There> there, std::int64_t bytes) {
  std::int64_t end = 0, best = -1, best_gap = 0;
  for (const There& other : there) {
    const std::int64_t gap = other.offset - end;
    if (gap >= bytes && (best < 0 || gap < best_gap)) {
      best = end;
      best_gap = gap;
    }
    end = std::max(end, other.end);
  }
  return best >= 0 ? best : end;
}

/// Each block in the smallest gap that holds it between those it meets. Ends when the peak is above `most`.
Placed place_in(const List<Block>& blocks, const Overlaps& overlaps, const std::vector<std::int32_t>& order,
                std::int64_t most) {
  constexpr std::int64_t nowhere = -1;
  Placed placed{std::vector<std::int64_t>(blocks.size(), nowhere), 0};
  std::vector<There> there;
  for (const std::int32_t b : order) {
    there.clear();
    for (const std::int32_t other : overlaps.of(b))
      if (const std::int64_t offset = placed.offsets[other]; offset != nowhere)
        there.push_back({offset, offset + blocks[other].bytes});
    std::ranges::sort(there, {}, &There::offset);
    const std::int64_t offset = best_offset(there, blocks[b].bytes);
    placed.offsets[b] = offset;
    placed.peak = std::max(placed.peak, offset + blocks[b].bytes);
    if (placed.peak > most) return placed;
  }
  return placed;
}

/// The same in the order of time, for programs of any length: only what is alive is looked at.
Placed place_in_time(const List<Block>& blocks) {
  Placed placed{std::vector<std::int64_t>(blocks.size(), 0), 0};
  std::vector<There> there;  // by offset
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& block = blocks[b];
    std::erase_if(there, [&](const There& other) { return other.last < block.first; });
    const std::int64_t offset = best_offset(there, block.bytes);
    placed.offsets[b] = offset;
    placed.peak = std::max(placed.peak, offset + block.bytes);
    there.insert(std::ranges::upper_bound(there, offset, {}, &There::offset),
                 {offset, offset + block.bytes, block.last});
  }
  return placed;
}

using BlockOrder = std::vector<std::int32_t>;

/// For each block the most bytes alive at any time of its life.
std::vector<std::int64_t> crowds_of(const List<Block>& blocks) {
  auto live = changes_of(blocks);
  std::int64_t sum = 0;
  for (auto& [when, bytes] : live) bytes = sum += bytes;
  List<std::int64_t> crowds;
  crowds.reserve(blocks.size());
  for (const Block& b : blocks) {
    std::int64_t most = 0;
    auto at_time = std::ranges::lower_bound(live, b.first, {}, &std::pair<std::int32_t, std::int64_t>::first);
    for (; at_time != live.end() && at_time->first <= b.last; ++at_time) most = std::max(most, at_time->second);
    crowds.push_back(most);
  }
  return crowds;
}

/// The usual orders one after the other, each followed by the same with those first that live in the most crowded
/// times. Calls each(order) until it says that this is enough.
template <class Each>
void each_usual_order(const List<Block>& blocks, const Each& each) {
  const auto length = [](const Block& b) { return static_cast<double>(b.last) - b.first + 1; };
  const auto bytes = [](const Block& b) { return static_cast<double>(b.bytes); };
  const std::function<double(const Block&)> ranks[] = {
      [&](const Block& b) { return -bytes(b); }, [&](const Block& b) { return -bytes(b) * length(b); },
      [&](const Block& b) { return -length(b); }, [](const Block& b) { return static_cast<double>(b.first); },
      [](const Block& b) { return -static_cast<double>(b.last); }};
  List<std::int64_t> crowds;
  List<double> rank_of(blocks.size());
  for (const auto& rank : ranks) {
    BlockOrder order(blocks.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::transform(blocks, rank_of.begin(), rank);
    std::ranges::stable_sort(order, {}, [&](std::int32_t b) { return rank_of[b]; });
    if (each(order)) return;
    if (crowds.empty()) crowds = crowds_of(blocks);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::int32_t b) { return crowds[b]; });
    if (each(order)) return;
  }
}

/// Changed orders: a block that reaches the peak, or one that it rests on, goes to the front.
void search(const List<Block>& blocks, const Overlaps& overlaps, std::int64_t least, std::int32_t rounds,
            BlockOrder order, Placed& best) {
  std::mt19937 random(1);  // seeded: the same on every run
  Placed present = best;
  for (std::int32_t round = 0; round < rounds && best.peak > least; ++round) {
    std::vector<std::int32_t> high;
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (present.offsets[b] + blocks[b].bytes == present.peak) high.push_back(static_cast<std::int32_t>(b));
    const std::int32_t top = high[random() % high.size()];
    std::vector<std::int32_t> below = {top};
    below.insert(below.end(), overlaps.of(top).begin(), overlaps.of(top).end());
    std::sort(below.begin() + 1, below.end());
    const std::int32_t moved = random() % 2 == 0 ? top : below[random() % below.size()];
    BlockOrder changed = order;
    const auto from = std::ranges::find(changed, moved);
    const auto to = changed.begin() + static_cast<std::ptrdiff_t>(random() % (as_size(from - changed.begin()) + 1));
    std::rotate(to, from, from + 1);
    Placed next = place_in(blocks, overlaps, changed, present.peak);
    if (next.peak > present.peak) continue;
    order = std::move(changed);
    present = std::move(next);
    if (present.peak < best.peak) best = present;
  }
}

struct StackEntry {
  std::int32_t value = 0;
  std::int64_t offset = 0;
  bool dead = false;
};

/// Values pushed in `order` of birth.
Allocation pushed(View<const MemoryValue> values, const std::vector<std::int32_t>& order, std::int64_t live) {
  std::vector<StackEntry> stack;
  Allocation allocation{std::vector<std::int64_t>(values.size(), 0), 0, live};
  const auto top = [&] { return stack.empty() ? 0 : stack.back().offset + values[stack.back().value].bytes; };
  for (const std::int32_t v : order) {
    const MemoryValue& value = values[v];
    for (StackEntry& entry : stack) entry.dead = entry.dead || values[entry.value].last < value.first;
    while (!stack.empty() && stack.back().dead) stack.pop_back();
    auto place = std::ranges::find_if(stack, [&](const StackEntry& entry) {
      return !entry.dead && replaces(value, values[entry.value]) &&
             std::ranges::find(value.replaceable, entry.value) != value.replaceable.end();
    });
    if (place == stack.end()) place = stack.insert(place, {v, top(), false});
    place->value = v;
    allocation.offsets[v] = place->offset;
    allocation.peak_bytes = std::max(allocation.peak_bytes, top());
  }
  return allocation;
}

}  // namespace

Allocation allocate_offsets(View<const MemoryValue> values, std::int32_t rounds, std::int64_t enough_bytes) {
  const Blocks blocks = blocks_of(values);
  Allocation allocation;
  allocation.live_bytes = most_live(blocks.blocks);
  BlockOrder best_order(blocks.blocks.size());
  std::iota(best_order.begin(), best_order.end(), 0);
  Placed best = place_in_time(blocks.blocks);
  if (blocks.blocks.size() <= most_searched_blocks) {
    const auto is_least = [&] { return best.peak == allocation.live_bytes; };
    if (!is_least()) {
      const Overlaps overlaps = overlaps_of(blocks.blocks);
      each_usual_order(blocks.blocks, [&](const BlockOrder& order) {
        Placed next = place_in(blocks.blocks, overlaps, order, best.peak - 1);
        if (next.peak >= best.peak) return false;
        best = std::move(next);
        best_order = order;
        return is_least();
      });
      search(blocks.blocks, overlaps, std::max(allocation.live_bytes, enough_bytes), rounds, std::move(best_order),
             best);
    }
  }
  allocation.peak_bytes = best.peak;
  for (const std::int32_t b : blocks.block_of) allocation.offsets.push_back(best.offsets[b]);
  return allocation;
}

bool fits_in(View<const MemoryValue> values, std::int64_t bytes) {
  const Blocks blocks = blocks_of(values);
  if (most_live(blocks.blocks) > bytes) return false;
  if (place_in_time(blocks.blocks).peak <= bytes) return true;
  if (blocks.blocks.size() > most_searched_blocks) return false;
  bool fits = false;
  const Overlaps overlaps = overlaps_of(blocks.blocks);
  each_usual_order(blocks.blocks, [&](const BlockOrder& order) {
    return fits = place_in(blocks.blocks, overlaps, order, bytes).peak <= bytes;
  });
  return fits;
}

std::int64_t most_live(View<const MemoryValue> values) { return most_live(blocks_of(values).blocks); }

Allocation allocate_stack(View<const MemoryValue> values) {
  std::vector<std::int32_t> order = by_birth(values);
  const auto start = std::ranges::find_if(order, [&](std::int32_t v) { return values[v].first >= 0; });
  const auto dies_later = [&](std::int32_t a, std::int32_t b) { return values[a].last > values[b].last; };
  std::stable_sort(order.begin(), start, dies_later);
  const std::int64_t live = most_live(blocks_of(values).blocks);
  Allocation best = pushed(values, order, live);
  // A value of the start whose place is taken over lives on: which lies lowest is then found by trying.
  const std::ptrdiff_t waiting = start - order.begin();
  if (waiting < 2 || waiting > most_permuted_values) return best;
  std::sort(order.begin(), start);
  do {
    if (best.peak_bytes == live) break;
    Allocation other = pushed(values, order, live);
    if (other.peak_bytes < best.peak_bytes) best = std::move(other);
  } while (std::next_permutation(order.begin(), start));
  return best;
}

std::vector<std::int64_t> highest_byte(View<const MemoryValue> values, const Allocation& allocation,
                                       std::int32_t instructions) {
  List<std::vector<std::int64_t>> dying(at(instructions));
  List<std::int64_t> highest(at(instructions), 0);
  std::multiset<std::int64_t> ends;
  const std::vector<std::int32_t> order = by_birth(values);
  std::size_t next = 0;
  for (std::int32_t i = 0; i < instructions; ++i) {
    for (; next < order.size() && values[order[next]].first <= i; ++next) {
      const std::int64_t end = allocation.offsets[order[next]] + values[order[next]].bytes;
      ends.insert(end);
      if (const std::int32_t last = values[order[next]].last; last < instructions)
        dying[std::max(last, 0)].push_back(end);
    }
    if (!ends.empty()) highest[i] = *ends.rbegin();
    for (const std::int64_t end : dying[i]) ends.erase(ends.find(end));
  }
  return highest;
}

std::vector<std::int64_t> live_bytes(View<const MemoryValue> values, std::int32_t instructions) {
  List<std::int64_t> change(at(instructions) + 2, 0);
  for (const Block& block : blocks_of(values).blocks) {
    change[std::clamp(block.first, 0, instructions)] += block.bytes;
    change[std::clamp(block.last, -1, instructions) + 1] -= block.bytes;
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.resize(at(instructions));
  return change;
}

Crossings crossings_of(View<const MemoryValue> values, std::size_t most) {
  const Blocks blocks = blocks_of(values);
  List<std::int32_t> name(blocks.blocks.size(), 0);  // the last value of each block
  for (std::size_t v = 0; v < values.size(); ++v) {
    std::int32_t& one = name[blocks.block_of[v]];
    if (values[v].last >= values[one].last || blocks.block_of[one] != blocks.block_of[v])
      one = static_cast<std::int32_t>(v);
  }
  std::vector<Span> spans;
  std::vector<std::int32_t> order(blocks.blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int32_t b) { return blocks.blocks[b].first; });
  // Twice as fine: what is made at an instruction is made before what dies there does.
  for (const std::int32_t b : order)
    spans.push_back(
        {2 * (std::int64_t{blocks.blocks[b].first} + 1), 2 * (std::int64_t{blocks.blocks[b].last} + 1) + 1});
  Crossings crossings;
  crossings.count = crossing_pairs(spans);
  most = std::min(most, as_size(crossings.count));
  for (std::size_t upper = 0; upper < order.size() && crossings.pairs.size() < most; ++upper)
    for (std::size_t lower = 0; lower < upper && crossings.pairs.size() < most; ++lower)
      if (spans[lower].from < spans[upper].from && spans[upper].from < spans[lower].to &&
          spans[lower].to < spans[upper].to)
        crossings.pairs.push_back({name[order[lower]], name[order[upper]]});
  return crossings;
}

}  // namespace sdip
