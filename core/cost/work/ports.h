// The widths that data meets on its way between memories and circuits, and the beats that it takes there. Internal
// to the cost folder.
#pragma once

#include "core/cost/work/circuit.h"

namespace sdip {

/// Bits of an element by format, and of a port; `vector`: of weights that no product multiplies by.
struct Widths {
  std::int64_t activation, weight, vector, accumulator, dsram, stackram, psram;
  std::int64_t result;  // another than that of activations when the instruction converts
};
inline Widths widths_of(const InstructionClass& c, const Machine& m) {
  const bool unified = m.activation_memory == ActivationMemory::unified;
  const std::int64_t own_stack = stack_in_psram(m) ? m.psram_port_bits : m.stackram_port_bits;
  return {bits_of(m.activation_format),
          bits_of(m.weight_format),
          bits_of(vector_format(m.weight_format)),
          bits_of(m.accumulator_format),
          m.dsram_port_bits,
          unified ? m.dsram_port_bits : own_stack,
          m.psram_port_bits,
          bits_of(c.formats ? c.formats->results : m.activation_format)};
}

/// Books the beats of reading from a place on that place's port; tiles of DRAM operands are read from DSRAM.
/// `pair` is that of an operand in DSRAM when it is another than the instruction's own.
template <class Number>
void book_read(BusyOf<Number>& busy, Place place, DsramPair pair, const Number& beats_read) {
  if (place == Place::stackram) busy.stackram_read += beats_read;
  if (place == Place::psram) busy.psram_read += beats_read;
  if (place == Place::dsram && pair)
    busy.other_pairs.add(pair_index(*pair), beats_read);
  else if (place == Place::dsram || place == Place::dram)
    busy.dsram_read += beats_read;
}

inline std::int64_t port_bits(const Widths& w, Place place) {
  return place == Place::stackram ? w.stackram : place == Place::psram ? w.psram : w.dsram;
}

/// Cycles that each beat of PSRAM takes on its way over the links between dies: they all take it at once.
inline std::int64_t psram_pace(const Machine& m) {
  return m.dies == 1 ? 1 : ceil_div(m.psram_port_bits, std::min(m.psram_port_bits, m.die_link_bits));
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
/// ports; a ROM is `wired` to its multipliers; of stacks in PSRAM through its port, those of all cores in lockstep.
/// Of one of `tiles` operations.
template <class Number>
void merge_ports(const Machine& m, bool wired, std::int64_t tiles, BusyOf<Number>& busy) {
  if (wired) busy.psram_read = Number(0);
  if (const std::int64_t pace = psram_pace(m); pace > 1)
    busy.psram_read = capped_product(Number(pace), busy.psram_read, most_cycles / tiles);
  if (stack_in_psram(m)) {
    busy.psram_stack = busy.stackram_read + busy.stackram_write;
    busy.psram_stacks = capped_product(Number(m.cores), busy.psram_stack, most_cycles / tiles);
    busy.psram_read += busy.psram_stacks;
    busy.stackram_read = busy.stackram_write = Number(0);
  }
  if (m.activation_memory != ActivationMemory::unified) return;
  busy.dsram_read += busy.stackram_read;
  busy.dsram_write += busy.stackram_write;
  busy.stackram_read = busy.stackram_write = Number(0);
}

/// What a step of a tile operation needs; how many such steps there are, one after the other.
template <class Number>
struct StepOf {
  BusyOf<Number> busy;
  std::int64_t times = 1;
};

/// What steps need that run one after the other, in sum, and how long they last.
struct Steps {
  Busy busy;
  std::int64_t cycles = 0;
  void then(const Busy& step, std::int64_t times = 1) {
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
