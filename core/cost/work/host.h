// The cost of an operator that the host computes.
//
// Worked example. Softmax of 2 rows of 5, int8, three passes; a bus of 32 bit, 1.5 cycles an element and pass,
// DSRAM ports of 64 bit. In: 10 bytes, 3 beats of the bus, 2 of the port. The host: 10 x 3 x 1.5 = 45 cycles. Out:
// 3 and 2. The operation lasts 3 + 45 + 3 = 51 cycles. With host_access_cycles 316 and host_result_bits 32 (floats
// come back): 3 x 316 + 45 + 10 x 316 = 4153.
#pragma once

#include <array>

#include "core/cost/work/fold.h"
#include "core/cost/work/ports.h"

namespace sdip {

/// True for an instruction of its own whose operator `host_operators` gives to the host.
bool on_host(const InstructionClass& c, HostOperators host_operators);

/// A tile operation on the host (docs/model/work.md#operators-on-the-host), its steps one after the other: operands
/// in, each once however often the operator reads it; its work; results out. Requires on_host(c, r.host_operators).
/// Cycles beyond 2^58 of all such operations are cut there, more than any stage may last.
template <class Number>
std::array<BusyOf<Number>, 3> host_formulas(const InstructionClass& c, const Resolved& r,
                                            const cost::TilePlan& plan, const TileShape& tile) {
  const Machine& m = r.machine;
  const std::int64_t most = most_cycles / tile.times, rows = tile.size.rows, length = tile.size.channels;
  const std::int64_t elements = rows * length, results = tile.last ? row_results(c, rows, length) : 0;
  const auto on_bus = [&](std::int64_t count, std::int64_t bits) {
    return capped_product(beats<Number>({count, bits}, m.host_bus_bits), Number(m.host_access_cycles), most);
  };
  std::array<BusyOf<Number>, 3> steps;
  BusyOf<Number>&in = steps[0], &work = steps[1], &out = steps[2];
  for (const Fetch& f : c.fetches) {
    if (f.place == Place::scalar || f.place == Place::nowhere || reads_of(f, plan, tile.last) == 0) continue;
    const std::int64_t part = f.per_fold ? elements : ceil_div(f.elements, plan.result_tiles());
    const std::int64_t bits = f.place == Place::psram ? r.form.vector_bits : r.activation_bits;
    in[Resource::compute] = capped_sum(in[Resource::compute], on_bus(part, bits), most);
    book_read(r, in, f.place, f.pair, beats<Number>({part, bits}, r.read_bits(f.place)));
  }
  const Number worked = capped_sum(
      capped_product(Number(elements), Number(passes_of(c, plan)), most_cycles),
      capped_product(Number(results), Number(c.fused_operators + c.statistics_passes), most_cycles), most_cycles);
  work[Resource::compute] = capped_hundredths(worked, m.host_cycles_per_element.hundredths, most);
  const bool to_dsram = c.to_dsram || c.to_dram;
  const std::int64_t bits = r.result_bits(c);
  if (to_dsram || c.push)
    out[Resource::compute] = on_bus(results, m.host_result_bits == 0 ? bits : m.host_result_bits);
  const auto write = [&](Resource port) { out[port] = beats<Number>({results, bits}, r.port_bits[port]); };
  if (to_dsram) write(Resource::dsram_write);
  if (c.push) write(Resource::stackram_write);
  return steps;
}

}  // namespace sdip
