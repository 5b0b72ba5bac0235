// Exact search for the order of a window of operations: sets of operations done, those of least peak first.
//
// Two rules keep the sets few. An order that is no better than the one at hand is not followed. And an operation
// that is ready, leaves no more bytes alive than before it, and runs within the peak reached already (or that every
// order has) is run at once: in any order that runs it later it could be moved here, for what an operation adds
// only shrinks as others are done before it, so every other operation would see at most as many bytes alive.
//
// Example: x of 1 B makes a of 8 B and b of 8 B; a makes c of 1 B, b makes d of 1 B; c and d make y. In the order
// a b c d y the peak is 1 + 8 + 8 = 17 less x, which dies with b's making: 8 + 8 + 1 (x while b is made) = 17.
// a c b d y: while a is made 1 + 8 = 9, c 1 + 8 + 1 = 10, b (x and c wait) 1 + 1 + 8 = 10, d 1 + 8 + 1 = 10: 10.
#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/range/iterator_range.hpp>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "core/base/error.h"
#include "core/program/live_bytes.h"

namespace sdip {
namespace {

using Mask = std::uint64_t;

/// A value that operations of the window read or make.
struct Local {
  std::int64_t bytes = 0;
  Mask users = 0;
  bool outlives = false;  // used after the window, or kept
};

struct LocalOperation {
  std::vector<std::int32_t> reads, replaceable;  // of locals
  std::int32_t result = -1;
  Mask needs = 0;
};

struct Window {
  List<Local> values;
  std::vector<LocalOperation> operations;
  std::int64_t live = 0;  // when it begins

  bool dies(std::int32_t v, Mask done, std::size_t n) const {
    const Local& value = values[v];
    return !value.outlives && (value.users & ~done) == Mask{1} << n;
  }
  std::int64_t during(std::size_t n, Mask done, std::int64_t live_bytes) const {
    const LocalOperation& one = operations[n];
    if (one.result < 0) return live_bytes;
    const std::int64_t made = values[one.result].bytes;
    for (const std::int32_t v : one.replaceable)
      if (values[v].bytes == made && dies(v, done, n)) return live_bytes;
    return live_bytes + made;
  }
  std::int64_t after(std::size_t n, Mask done, std::int64_t live_bytes) const {
    const LocalOperation& one = operations[n];
    if (one.result >= 0) {
      const Local& made = values[one.result];
      if (made.outlives || made.users != 0) live_bytes += made.bytes;
    }
    for (const std::int32_t v : one.reads)
      if (dies(v, done, n)) live_bytes -= values[v].bytes;
    return live_bytes;
  }
};

/// The window's dependences, as a graph of operations: an edge from each to those that read its result.
using Dependences = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

Dependences dependences_of(const ScheduleProblem& problem, const std::vector<std::int32_t>& chosen,
                           const std::unordered_map<std::int32_t, std::int32_t>& local_maker) {
  Dependences edges(chosen.size());
  for (std::size_t n = 0; n < chosen.size(); ++n)
    for (const std::int32_t v : problem.operations[chosen[n]].reads)
      if (const auto maker = local_maker.find(v); maker != local_maker.end())
        boost::add_edge(at(maker->second), n, edges);
  return edges;
}

Window window_of(const Walk& walk, std::size_t first, std::size_t count, std::int64_t live) {
  const ScheduleProblem& problem = *walk.problem;
  const auto begin = walk.order.begin() + static_cast<std::ptrdiff_t>(first);
  const std::vector<std::int32_t> chosen(begin, begin + static_cast<std::ptrdiff_t>(count));
  Window window;
  window.live = live;
  std::unordered_map<std::int32_t, std::int32_t> local, local_maker;
  const auto local_of = [&](std::int32_t v) {
    const auto [entry, fresh] = local.try_emplace(v, static_cast<std::int32_t>(window.values.size()));
    if (!fresh) return entry->second;
    Local one{problem.values[v].bytes, 0, problem.values[v].kept};
    for (const std::int32_t user : walk.uses.users[v]) {
      const auto p = as_size(walk.position[user]);
      if (p >= first + count) one.outlives = true;
      if (p >= first && p < first + count) one.users |= Mask{1} << (p - first);
    }
    window.values.push_back(one);
    return entry->second;
  };
  for (std::size_t n = 0; n < count; ++n) {
    const ScheduledOperation& one = problem.operations[chosen[n]];
    LocalOperation operation;
    for (const std::int32_t v : one.reads) operation.reads.push_back(local_of(v));
    for (const std::int32_t v : one.replaceable) operation.replaceable.push_back(local_of(v));
    if (one.result >= 0) {
      operation.result = local_of(one.result);
      local_maker[one.result] = static_cast<std::int32_t>(n);
    }
    window.operations.push_back(std::move(operation));
  }
  const Dependences edges = dependences_of(problem, chosen, local_maker);
  for (std::size_t n = 0; n < count; ++n)
    for (const auto& edge : boost::make_iterator_range(boost::in_edges(n, edges)))
      window.operations[n].needs |= Mask{1} << boost::source(edge, edges);
  return window;
}

/// Bytes that every order has alive at some time: those of one operation with all that passes by the window.
std::int64_t least_peak(const Window& window) {
  std::int64_t by = window.live, most = window.live;
  List<char> made(window.values.size(), 0);
  for (const LocalOperation& one : window.operations)
    if (one.result >= 0) made[one.result] = 1;
  for (std::size_t v = 0; v < window.values.size(); ++v)
    if (made[v] == 0 && !window.values[v].outlives) by -= window.values[v].bytes;
  for (const LocalOperation& one : window.operations) {
    std::int64_t own = by;
    for (const std::int32_t v : one.reads)
      if (made[v] != 0 || !window.values[v].outlives) own += window.values[v].bytes;
    if (one.result >= 0 && one.replaceable.empty()) own += window.values[one.result].bytes;
    most = std::max(most, own);
  }
  return most;
}

struct WindowState {
  Mask done = 0;
  std::int64_t live = 0, peak = 0;
  std::int32_t before = -1;
  std::vector<std::int8_t> ran;  // since the state before
};

struct WindowSearch {
  const Window& window;
  std::int64_t least = 0;
  List<WindowState> states;
  std::unordered_map<Mask, std::int64_t> reached{};  // least peak at which a set was reached

  bool ready(const WindowState& state, std::size_t n) const {
    const Mask bit = Mask{1} << n;
    return (state.done & bit) == 0 && (window.operations[n].needs & ~state.done) == 0;
  }
  void run(WindowState& state, std::size_t n) const {
    state.peak = std::max(state.peak, window.during(n, state.done, state.live));
    state.live = window.after(n, state.done, state.live);
    state.done |= Mask{1} << n;
    state.ran.push_back(static_cast<std::int8_t>(n));
  }
  /// Runs at once what no order does better to run later.
  void run_free(WindowState& state) const {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t n = 0; n < window.operations.size(); ++n) {
        if (!ready(state, n) || window.after(n, state.done, state.live) > state.live) continue;
        if (window.during(n, state.done, state.live) > std::max(state.peak, least)) continue;
        run(state, n);
        again = true;
      }
    }
  }
  std::vector<std::int32_t> path(std::int32_t state) const {
    std::vector<std::int32_t> order;
    for (; state >= 0; state = states[state].before) {
      const auto& ran = states[state].ran;
      order.insert(order.end(), ran.rbegin(), ran.rend());
    }
    std::ranges::reverse(order);
    return order;
  }
};

/// Positions in the window in the order of least peak, when that is below `present`.
std::optional<std::vector<std::int32_t>> search(const Window& window, std::int64_t present,
                                                std::int64_t most_states, bool& proven) {
  WindowSearch found{window, least_peak(window), {}, {}};
  const std::size_t count = window.operations.size();
  const Mask all = count == 64 ? ~Mask{0} : (Mask{1} << count) - 1;
  proven = present <= found.least;
  if (proven) return std::nullopt;
  using Entry = std::tuple<std::int64_t, std::int32_t, std::int32_t>;  // peak, operations left, state
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  const auto add = [&](WindowState&& state) {
    found.run_free(state);
    if (state.peak >= present) return;
    const auto [entry, fresh] = found.reached.try_emplace(state.done, state.peak);
    if (!fresh && entry->second <= state.peak) return;
    entry->second = state.peak;
    const auto left = static_cast<std::int32_t>(count) - __builtin_popcountll(state.done);
    open.emplace(state.peak, left, static_cast<std::int32_t>(found.states.size()));
    found.states.push_back(std::move(state));
  };
  add({0, window.live, window.live, -1, {}});
  while (!open.empty()) {
    const auto [peak, left, number] = open.top();
    open.pop();
    const WindowState state = found.states[at(number)];
    if (found.reached.at(state.done) < peak) continue;
    if (state.done == all) {
      proven = true;
      return found.path(number);
    }
    if (static_cast<std::int64_t>(found.states.size()) > most_states) return std::nullopt;
    for (std::size_t n = 0; n < count; ++n) {
      if (!found.ready(state, n)) continue;
      WindowState next{state.done, state.live, state.peak, number, {}};
      found.run(next, n);
      add(std::move(next));
    }
  }
  proven = true;  // every order that is better was tried: there is none
  return std::nullopt;
}

/// All that search() depends on: what is alive before the window is so in every order.
KnownWindows::Key key_of(const Window& window, std::int64_t present, std::int64_t most_states) {
  KnownWindows::Key key{present - window.live, most_states, std::ssize(window.values)};
  const auto add = [&](const std::vector<std::int32_t>& numbers) {
    key.push_back(std::ssize(numbers));
    key.insert(key.end(), numbers.begin(), numbers.end());
  };
  for (const Local& value : window.values)
    key.insert(key.end(), {value.bytes * 2 + (value.outlives ? 1 : 0), static_cast<std::int64_t>(value.users)});
  for (const LocalOperation& one : window.operations) {
    add(one.reads);
    add(one.replaceable);
    key.push_back(one.result);
  }
  return key;
}

}  // namespace

WindowResult best_window(const Walk& walk, std::size_t first, std::size_t count, std::int64_t live_bytes,
                         std::int64_t most_states) {
  check(count <= 64 && first + count <= walk.order.size(), "a window of at most 64 operations");
  const Window window = window_of(walk, first, count, live_bytes);
  std::int64_t present = window.live, live = window.live;
  Mask done = 0;
  for (std::size_t n = 0; n < count; ++n) {
    present = std::max(present, window.during(n, done, live));
    live = window.after(n, done, live);
    done |= Mask{1} << n;
  }
  KnownWindows::Key key = key_of(window, present, most_states);
  auto found = walk.known->find(key);
  if (!found) {
    found.emplace();
    found->positions = search(window, present, most_states, found->proven);
    walk.known->keep(std::move(key), *found);
  }
  WindowResult result{{}, found->proven};
  if (!found->positions) return result;
  result.order.emplace();
  for (const std::int32_t p : *found->positions) result.order->push_back(walk.order[first + at(p)]);
  return result;
}

}  // namespace sdip
