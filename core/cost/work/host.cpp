// What an operator costs that the host computes.
//
// Worked example. Softmax of 2 rows of 5, int8, three passes; a bus of 32 bit, 1.5 cycles an element and pass,
// DSRAM ports of 64 bit. In: 10 bytes, 3 beats of the bus, 2 of the port. The host: 10 x 3 x 1.5 = 45 cycles. Out:
// 3 and 2. The operation lasts 3 + 45 + 3 = 51 cycles. With host_access_cycles 316 and host_result_bits 32 (floats
// come back): 3 x 316 + 45 + 10 x 316 = 4153.
#include "core/cost/work/host.h"

#include <algorithm>

#include "core/cost/work/fold.h"

namespace sdip {

using namespace cost;
namespace {

/// Accesses of the bus for `elements` of `bits`, each of host_access_cycles.
Int128 bus_cycles(std::int64_t elements, std::int64_t bits, const Machine& m) {
  return static_cast<Int128>(beats(elements, bits, m.host_bus_bits)) * m.host_access_cycles;
}

/// Operands that this operation needs, each sent once however often the operator reads it.
Busy sent(const InstructionClass& c, const Machine& m, const Widths& w, const TilePlan& plan, std::int64_t elements,
          bool last, std::int64_t most) {
  Busy in;
  Int128 cycles = 0;
  for (const Fetch& f : c.fetches) {
    if (f.place == Place::scalar || f.place == Place::nowhere || reads_of(f, plan, last) == 0) continue;
    const std::int64_t part = f.per_fold ? elements : ceil_div(f.elements, plan.result_tiles());
    const std::int64_t bits = f.place == Place::psram ? w.weight : w.activation;
    cycles += bus_cycles(part, bits, m);
    book_read(in, f.place, f.pair, beats(part, bits, port_bits(w, f.place)));
  }
  in.compute = at_most(cycles, most);
  return in;
}

Busy returned(const InstructionClass& c, const Machine& m, const Widths& w, std::int64_t results,
              std::int64_t most) {
  Busy out;
  if (!c.to_dsram && !c.to_dram && !c.push) return out;
  const Int128 cycles = bus_cycles(results, m.host_result_bits == 0 ? w.result : m.host_result_bits, m);
  out.compute = at_most(cycles, most);
  if (c.to_dsram || c.to_dram) out.dsram_write = beats(results, w.result, w.dsram);
  if (c.push) out.stackram_write = beats(results, w.result, w.stackram);
  return out;
}

}  // namespace

bool on_host(const InstructionClass& c, const Machine& m) {
  if (c.compound != Compound::single || m.host_operators == HostOperators::no_operators) return false;
  return c.work.family == Family::softmax ||
         (c.work.family == Family::norm && m.host_operators == HostOperators::softmax_and_norm);
}

Steps host_steps(const InstructionClass& c, const Machine& m, const TilePlan& plan, std::int64_t rows,
                 std::int64_t length, bool last, bool wired, std::int64_t tiles) {
  const Widths w = widths_of(c, m);
  const std::int64_t elements = rows * length, results = last ? row_results(c, rows, length) : 0;
  Int128 worked = static_cast<Int128>(elements) * passes_of(c, plan);
  worked += static_cast<Int128>(results) * (c.fused_operators + c.statistics_passes);
  const Int128 cycles = (worked * m.host_cycles_per_element.hundredths + 99) / 100;
  const std::int64_t most = most_cycles / tiles;
  Busy in = sent(c, m, w, plan, elements, last, most), work, out = returned(c, m, w, results, most);
  work.compute = at_most(cycles, most);
  merge_ports(m, wired, tiles, in);
  merge_ports(m, wired, tiles, out);
  Steps steps;
  for (const Busy& step : {in, work, out}) steps.then(step);
  return steps;
}

}  // namespace sdip
