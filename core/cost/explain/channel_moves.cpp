// Transfers of an instruction through DRAM, one by one.
#include "core/cost/explain/channel_moves.h"

#include <algorithm>
#include <initializer_list>

#include "core/cost/work/fold.h"

namespace sdip {
namespace {

/// Counts transfers over the tile loops, without running them.
class Walking {
 public:
  Walking(const ClassCost& cost, bool pinned, const TimelineRules& rules)
      : cost_(cost), fetches_(rules.psram_bytes != 0 && !pinned), copies_(rules.cores * cost.cores) {}

  ChannelMoves all() {
    if (fetches_ && cost_.held_weight_bytes != 0)
      add({"held weights", 1, cost_.held_weight_stored_bytes, cost_.held_weight_bytes, 1, true, false});
    walk_operations(cost_.order,
                    [this](std::int32_t shape, std::int32_t window, TileStep step, std::int64_t times) {
                      operate(cost_.shapes[at(shape)], cost_.windows[at(window)], step, times);
                    });
    return std::move(found_);
  }

 private:
  void operate(const TileCost& tile, const WindowBytes& window, TileStep step, std::int64_t times) {
    std::vector<Move> loads, stores;
    const auto move = [&](std::vector<Move>& to, std::string_view what, std::int64_t bytes, bool out = false) {
      if (bytes > 0) to.push_back({what, times, bytes, bytes, copies_, false, out});
    };
    if (step.b && fetches_ && tile.weight_stored_bytes > 0)
      add({"weights", times, tile.weight_stored_bytes, tile.weight_bytes, cost_.weight_parts, true, false});
    if (step.a)
      move(loads, step.fresh ? "operand A, new rows" : "operand A", step.fresh ? window.fresh : window.all);
    if (step.b) move(loads, "operand B", tile.b_bytes);
    move(loads, "other operands", tile.split_in_bytes);
    move(loads, "partial sums back", tile.partial_in_bytes);
    move(stores, "results", tile.out_bytes, true);
    if (first_) {
      found_.first_loads = loads;
      found_.first_cycles = tile.cycles;
    }
    first_ = false;
    found_.last_stores = stores;
    found_.last_cycles = tile.cycles;
    found_.last_loads = !loads.empty();
    for (const Move& load : loads) add(load);
    for (const Move& store : stores) add(store);
  }

  void add(const Move& move) {
    const auto known = std::ranges::find_if(found_.moves, [&](const Move& other) {
      return other.what == move.what && other.unpacked_bytes == move.unpacked_bytes;
    });
    if (known == found_.moves.end())
      found_.moves.push_back(move);
    else
      known->times += move.times;
  }

  const ClassCost& cost_;
  const bool fetches_;
  const std::int64_t copies_;
  bool first_ = true;
  ChannelMoves found_;
};

template <class Number>
Number bursts(const Move& move, const TimelineRules& rules) {
  return Number(move.copies) * ceiling(Number(move.bytes), rules.burst_bytes) * Number(rules.burst_bytes);
}

}  // namespace

ChannelMoves channel_moves(const ClassCost& cost, bool pinned, const TimelineRules& rules) {
  return Walking(cost, pinned, rules).all();
}

template <class Number>
Number channel_cycles(std::span<const Move> moves, const TimelineRules& rules) {
  Number sum(0);
  for (const Move& move : moves) {
    Number one = ceiling(bursts<Number>(move, rules), rules.rate.q, rules.rate.p);
    if (move.weights && rules.decompressor_bytes > 0)
      one = largest(std::initializer_list<Number>{
          one, ceiling(Number(move.copies) * Number(move.unpacked_bytes), rules.decompressor_bytes)});
    sum += Number(move.times) * one;
  }
  return sum;
}
template std::int64_t channel_cycles(std::span<const Move> moves, const TimelineRules& rules);
template Filled channel_cycles(std::span<const Move> moves, const TimelineRules& rules);

Filled channel_bytes(std::span<const Move> moves, const TimelineRules& rules) {
  Filled sum;
  for (const Move& move : moves) sum += number(move.times) * bursts<Filled>(move, rules);
  return sum;
}

}  // namespace sdip
