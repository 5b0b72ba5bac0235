// The beats that data takes on its way between memories and circuits. Internal to its library.
#pragma once

#include "core/cost/work/circuit.h"

namespace sdip {

/// Books the beats of reading from a place on that place's port; tiles of DRAM operands are read from DSRAM.
/// `pair` is that of an operand in DSRAM; nothing: the instruction's own.
template <class Number>
void book_read(const Resolved& r, BusyOf<Number>& busy, Place place, DsramPair pair, const Number& beats_read) {
  if (place == Place::nowhere || place == Place::scalar) return;
  if (place == Place::dsram && pair && pair != r.own_pair)
    busy.other_pairs.add(pair_index(*pair), beats_read);
  else
    busy[read_port(place)] += beats_read;
}

/// More cycles or beats of an instruction are not counted: no stage that has them is feasible.
inline constexpr std::int64_t most_cycles = std::int64_t{1} << 58;
inline std::int64_t at_most(Int128 cycles, std::int64_t most) {
  return static_cast<std::int64_t>(std::min<Int128>(cycles, most));
}
inline std::int64_t capped_sum(std::int64_t a, std::int64_t b, std::int64_t most) {
  return at_most(static_cast<Int128>(a) + b, most);
}
inline std::int64_t capped_product(std::int64_t a, std::int64_t b, std::int64_t most) {
  return at_most(static_cast<Int128>(a) * b, most);
}
/// a `hundredths` / 100, rounded up.
inline std::int64_t capped_hundredths(std::int64_t a, std::int64_t hundredths, std::int64_t most) {
  return at_most((static_cast<Int128>(a) * hundredths + 99) / 100, most);
}

/// Beats where they really go: over links between dies at their pace; in a unified memory all through DSRAM's
/// ports; a ROM is wired to its multipliers; of stacks in PSRAM through its port, those of all cores in lockstep.
/// `busy` is that of one of `tiles` operations.
template <class Number>
void merge_ports(const Resolved& r, std::int64_t tiles, BusyOf<Number>& busy) {
  if (r.wired()) busy[Resource::psram_read] = Number(0);
  if (r.psram_pace > 1)
    busy[Resource::psram_read] =
        capped_product(Number(r.psram_pace), busy[Resource::psram_read], most_cycles / tiles);
  if (r.stack_in_psram) {
    busy.psram_stack = busy[Resource::stackram_read] + busy[Resource::stackram_write];
    busy.psram_stacks = capped_product(Number(r.cores), busy.psram_stack, most_cycles / tiles);
    busy[Resource::psram_read] += busy.psram_stacks;
    busy[Resource::stackram_read] = busy[Resource::stackram_write] = Number(0);
  }
  if (!r.unified) return;
  busy[Resource::dsram_read] += busy[Resource::stackram_read];
  busy[Resource::dsram_write] += busy[Resource::stackram_write];
  busy[Resource::stackram_read] = busy[Resource::stackram_write] = Number(0);
}

/// The needs of one step of a tile operation, and how many such steps there are, one after the other.
template <class Number>
struct StepOf {
  BusyOf<Number> busy;
  std::int64_t times = 1;
};

/// The summed needs of steps that run one after the other, and how long they last.
struct Steps {
  Busy busy;
  std::int64_t cycles = 0;
  void add_step(const Busy& step, std::int64_t times = 1) {
    cycles = at_most(cycles + static_cast<Int128>(step.longest()) * times, most_cycles);
    if (cycles < most_cycles) busy.add(step, times);
  }
};

/// Adds to a class's sums an operation of it as often as it is done. What lasts longer than any stage may is cut.
inline void add_operation(const TileCost& tile, ClassCost& cost) {
  cost.cycles = at_most(cost.cycles + static_cast<Int128>(tile.cycles) * tile.times, most_cycles);
  if (cost.cycles < most_cycles) cost.busy.add(tile.busy, tile.times);
}

/// Bytes of so many elements of so many bits.
inline std::int64_t bytes_of(std::int64_t elements, std::int64_t bits) { return ceil_div(elements * bits, 8); }

/// Passes that one operation of row-wise work makes.
inline std::int64_t passes_of(const InstructionClass& c, const cost::TilePlan& plan) {
  return plan.passes_apart == 1 ? c.work.passes : 1;
}

/// How often an operation of row-wise work reads an operand. When passes run apart, one that is read less often
/// than there are passes is read in the last.
inline std::int64_t reads_of(const Fetch& f, const cost::TilePlan& plan, bool last_pass) {
  if (f.passes >= plan.passes_apart) return f.passes / plan.passes_apart;
  return last_pass ? f.passes : 0;
}

/// Results of row-wise work that rows x length of its elements make: their share of all, rounded up.
inline std::int64_t row_results(const InstructionClass& c, std::int64_t rows, std::int64_t length) {
  const Int128 whole = static_cast<Int128>(c.work.rows) * c.work.row_length;
  return static_cast<std::int64_t>((static_cast<Int128>(c.out_elements) * rows * length + whole - 1) / whole);
}

}  // namespace sdip
