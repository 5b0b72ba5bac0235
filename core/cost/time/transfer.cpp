// What a program's DRAM transfers take on a channel.
//
// Worked example. 100 bytes on 3 cores, bursts of 64, 10 bytes a cycle: 2 bursts each, 384 bytes, 39 cycles.
#include "core/cost/time/transfer.h"

#include <algorithm>

#include "core/cost/work/micro_operations.h"

namespace sdip {
namespace {

Transfer transfer(std::int64_t bytes, std::int64_t copies, const TimelineRules& rules) {
  const std::int64_t whole = ceil_div(bytes, rules.burst_bytes) * rules.burst_bytes * copies;
  return {whole, rules.rate.time_for(Bytes(whole)).value};
}

/// Of tiles for `parts` cores, one behind the other.
Transfer weight_transfer(std::int64_t stored, std::int64_t unpacked, std::int64_t parts,
                         const TimelineRules& rules) {
  Transfer t = transfer(stored, parts, rules);
  if (rules.decompressor_bytes > 0) t.time = std::max(t.time, ceil_div(unpacked * parts, rules.decompressor_bytes));
  return t;
}

/// Of a program that IMEM cannot hold.
std::vector<WordsTimes> words_times(const Program& program, const std::vector<ClassCost>& costs,
                                    const TimelineRules& rules) {
  std::vector<WordsTimes> words;
  if (rules.imem_bytes == 0) return words;
  std::int64_t all = 0;
  words.reserve(program.instructions.size());
  for (const Instruction& i : program.instructions) {
    const ClassCost& cost = costs[static_cast<std::size_t>(i.instruction_class)];
    const std::int64_t bytes = instruction_bytes(i, cost, rules.granularity);
    words.push_back({bytes, transfer(bytes, 1, rules)});
    all += bytes;
  }
  if (all <= rules.imem_bytes) words.clear();
  return words;
}

}  // namespace

TransferTimes transfer_times(const Program& program, const std::vector<ClassCost>& costs,
                             const TimelineRules& rules) {
  TransferTimes times;
  times.words = words_times(program, costs, rules);
  times.classes.reserve(costs.size());
  times.shapes.reserve(2 * costs.size());
  times.windows.reserve(costs.size());
  for (const ClassCost& cost : costs) {
    const std::int64_t cores = rules.cores * cost.cores;
    ClassTimes& c = times.classes.emplace_back();
    c.first_shape = times.shapes.size();
    c.first_window = times.windows.size();
    for (const TileCost& tile : cost.shapes) {
      ShapeTimes& shape = times.shapes.emplace_back();
      shape.cycles = tile.cycles;
      shape.dispatch_cycles =
          rules.dispatch_cycles * tile.micro_operations + (cost.on_host ? rules.host_command_cycles : 0);
      shape.psram_bytes = tile.weight_bytes * cost.weight_parts;
      if (cost.weighted)
        shape.weights = weight_transfer(tile.weight_stored_bytes, tile.weight_bytes, cost.weight_parts, rules);
      shape.b = transfer(tile.b_bytes, cores, rules);
      shape.split = transfer(tile.split_in_bytes, cores, rules);
      shape.partial = transfer(tile.partial_in_bytes, cores, rules);
      shape.out = transfer(tile.out_bytes, cores, rules);
    }
    for (const WindowBytes& window : cost.windows) {
      WindowTimes& w = times.windows.emplace_back();
      w.all = transfer(window.all, cores, rules);
      w.fresh = transfer(window.fresh, cores, rules);
    }
    c.held = weight_transfer(cost.held_weight_stored_bytes, cost.held_weight_bytes, 1, rules);
    c.held_psram_bytes = cost.held_weight_bytes;
  }
  return times;
}

}  // namespace sdip
