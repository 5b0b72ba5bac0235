// Micro-operations, the parts of tile operations that one unit works on; and the words that instructions take.
//
// Worked example. A convolution with bias and SiLU fused, its result pushed and kept, sums in two tiles. The first
// operation reads A and weights, multiplies, writes partial sums: 4. The second reads A, weights and partial sums,
// multiplies, passes the results through SiLU once, writes DSRAM and STACKRAM: 7.
#include "core/cost/work/micro_operations.h"

#include <algorithm>

#include "core/cost/work/host.h"

namespace sdip {

using namespace cost;
namespace {

bool is_read(Place place, bool wired) {
  return place == Place::dsram || place == Place::stackram || place == Place::dram ||
         (place == Place::psram && !wired);
}

std::int64_t writes_of(const InstructionClass& c) { return (c.to_dsram || c.to_dram) + c.push; }

std::int64_t fused_reads(const InstructionClass& c, bool wired) {
  return std::ranges::count_if(c.fetches, [&](const Fetch& f) { return is_read(f.place, wired); });
}

std::int64_t of_nest(const InstructionClass& c, bool first, bool last, bool wired) {
  const std::int64_t product = is_read(c.operand_a, wired) + is_read(c.operand_b, wired) + c.prologue_passes + 1;
  const std::int64_t partials = !first + !last;
  if (!last) return product + partials;
  return product + partials + fused_reads(c, wired) + c.fused_operators + c.statistics_passes + writes_of(c);
}

std::int64_t of_rows(const InstructionClass& c, const Resolved& r, const TilePlan& plan, bool last) {
  const bool host = on_host(c, r.host_operators);
  std::int64_t count = host ? 1 : c.work.passes / plan.passes_apart;
  for (const Fetch& f : c.fetches) {
    const std::int64_t reads = reads_of(f, plan, last);
    if (is_read(f.place, r.wired() && !host)) count += f.per_fold && !host ? reads : reads > 0;
  }
  if (!last) return count;
  return count + (host ? 0 : c.fused_operators + c.statistics_passes) + writes_of(c);
}

}  // namespace

std::int64_t micro_operations(const InstructionClass& c, const Resolved& r, const TilePlan& plan, bool first,
                              bool last) {
  return plan.nest ? of_nest(c, first, last, r.wired()) : of_rows(c, r, plan, last);
}

std::int64_t attention_micro_operations(const InstructionClass& c, bool rescales, bool last, bool wired) {
  const std::int64_t scores = 4 + fused_reads(c, wired) + c.fused_operators;  // q, k, product, scores written
  const std::int64_t softmax =
      5 + 2 + (rescales ? 3 : 0);                  // two passes read, one write; maxima and sums; accumulators
  const std::int64_t product = 4 + rescales;       // probabilities, v, product, accumulators written
  const std::int64_t division = 3 + writes_of(c);  // accumulators and sums read, one pass
  return scores + softmax + product + (last ? division : 0);
}

std::int64_t instruction_bytes(const Instruction& instruction, const ClassCost& cost, Granularity granularity) {
  constexpr Int128 most_bytes = Int128{1} << 56, word_bytes = instruction_word_bits / 8;
  Int128 words = instruction.words;
  if (granularity == Granularity::per_tile) words *= cost.operations;
  if (granularity == Granularity::micro_operation) {
    words = 0;
    for (const TileCost& tile : cost.shapes)
      words += static_cast<Int128>(tile.times) * tile.micro_operations * least_instruction_words;
  }
  return static_cast<std::int64_t>(std::min(most_bytes, words * word_bytes));
}

}  // namespace sdip
