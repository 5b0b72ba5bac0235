// The cost of sharing one instruction's groups over several cores.
//
// Worked example. 3 cores share 6 heads of q 4 x 8 in DSRAM and k 8 x 5 in DRAM, int8, results kept on chip; links
// of 64 bit. A part is 2 heads. In: 2 parts of q, 2 x 64 B, 16 cycles; k is loaded by each core itself. Out: 2
// parts of results, 2 x 40 B, 10 cycles.
//
// Worked example. 4 cores share a depthwise 3 x 3 convolution of 8 channels of 4 x 4, int8, on 32 x 16 x 16 lanes
// (pixels x output x input channels) behind a PSRAM port of 64 bit. A part is 2 channels. A core's tile of weights
// is 18 B, all four 72 B of PSRAM; in bursts of 64 B four transfers of 64 B, one behind the other. The two
// channels' products are 2 x 9 folds, 18 cycles. Each fold reads one weight, a beat: 18 beats a core, and since the
// four read different weights through one port, 72; so the operation lasts 72 cycles, as long as on one core. In: 3
// parts of 2 x 16 B over links of 64 bit, 12 cycles; out as many.
//
// Worked example. 4 cores share the 12 output channels of 4 rows by 8 inputs, int8, in DSRAM, results kept there,
// links of 64 bit. All cores read the same rows, which each passes on: 32 B, 4 cycles in. A part is 3 channels, 3
// parts of 12 B come back, 36 B, 5 cycles out.
#include "core/cost/work/branches.h"

#include "core/cost/work/ports.h"

namespace sdip {
namespace {

/// Bytes over the first core's link, of operands that lie on chip: one core's part for each of the others, and once
/// what cores that share channels all read.
std::int64_t sent_bytes(const InstructionClass& c, std::int64_t bits) {
  const LoopNest& n = c.work.nest;
  std::int64_t bytes = 0;
  const auto send = [&](Place place, std::int64_t elements, std::int64_t times) {
    if (place == Place::dsram || place == Place::stackram) bytes += ceil_div(elements * bits, 8) * times;
  };
  const std::int64_t others = c.spread_cores - 1;
  send(c.operand_a, n.groups * n.batch * n.in_h * n.in_w * n.in_channels, c.shares_channels ? 1 : others);
  send(c.operand_b, n.groups * n.batch * n.in_channels * n.out_channels, others);
  if (c.compound == Compound::attention) {
    const LoopNest& product = c.parts.at(2).work.nest;
    send(c.parts[2].operand_b, product.groups * product.in_channels * product.out_channels, others);
  }
  for (const Fetch& fetch : c.fetches) send(fetch.place, fetch.elements, others);
  return bytes;
}

/// Each core reads weights and constants of its own: PSRAM's one port hands them out one core after the other.
void read_in_turn(std::int64_t cores, ClassCost& cost) {
  cost.busy = {};
  cost.cycles = 0;
  for (TileCost& tile : cost.shapes) {
    const Int128 more = static_cast<Int128>(cores - 1) * tile.busy.weight_beats();
    tile.busy[Resource::psram_read] = at_most(tile.busy[Resource::psram_read] + more, most_cycles / tile.times);
    tile.cycles = tile.busy.longest();
    add_operation(tile, cost);
  }
}

}  // namespace

ClassCost spread_cost(const InstructionClass& c, const Resolved& r) {
  InstructionClass part = c;
  part.spread_cores = 1;
  ClassCost cost = step_cost(part, r);
  const std::int64_t bits = r.activation_bits, others = c.spread_cores - 1;
  const std::int64_t result = c.to_dsram || c.push ? ceil_div(c.out_elements * bits, 8) : 0;
  cost.cores = c.spread_cores;
  cost.link_in_cycles = ceil_div(sent_bytes(c, bits) * 8, r.machine.link_bits);
  cost.link_out_cycles = ceil_div(others * result * 8, r.machine.link_bits);
  if (!cost.weighted) return cost;
  cost.weight_parts = c.spread_cores;
  read_in_turn(c.spread_cores, cost);
  return cost;
}

}  // namespace sdip
