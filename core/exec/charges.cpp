// What the datapath moved beside what the clock charges for it.
#include "core/exec/charges.h"

#include "core/base/error.h"
#include "core/exec/port_beats.h"
#include "core/exec/row_walk.h"
#include "core/exec/windows.h"
#include "core/program/kinds.h"

namespace sdip::exec {
namespace {

constexpr Stream all_streams[] = {Stream::a,      Stream::b,           Stream::values,
                                  Stream::others, Stream::partials_in, Stream::partials_out,
                                  Stream::results};

struct Charges {
  const InstructionClass& c;
  const Machine& m;
  const InstructionTransfers& moved;
  const std::string& who;

  [[noreturn]] void fail(const std::string& what, Count bytes, Count charged) const {
    throw Error(
        "execution_failed", who,
        who + " moved " + std::to_string(bytes) + " of " + what + ", but is charged " + std::to_string(charged));
  }

  void require(const std::string& what, Count bytes, Count charged) const {
    if (bytes != charged) fail(what, bytes, charged);
  }

  Count total(Stream stream, Through memory) const {
    Count bits = 0;
    for (const TileTransfers& t : moved.operations) bits += t(stream, memory);
    return bits;
  }

  /// Windows that the model takes as in an input without edges.
  bool clips() const {
    const LoopNest& n = c.work.nest;
    bool many = false;
    for (const TileLoop& loop : tile_loops(n, c.operand_b == Place::psram, c.mapping, {0, n.out_h})) {
      if (loop.extent == &TileOperation::rows) many |= clips_too_many(rows_of(n), loop.tiles);
      if (loop.extent == &TileOperation::columns) many |= clips_too_many(columns_of(n), loop.tiles);
    }
    return many;
  }

  /// Operation by operation: A, B, partial sums and results of nests and attention.
  void charge(Operation& o, const TileTransfers& t, std::size_t number, bool other_windows) const {
    const std::string of = " in tile operation " + std::to_string(number);
    const auto bytes = [&](Stream stream) { return up(t(stream, Through::dram), 8); };
    if (!other_windows) {
      require("operand A, bytes" + of, bytes(Stream::a), o.a_bytes);
      o.a_bytes = bytes(Stream::a);
    }
    const Count b = bytes(Stream::b) + bytes(Stream::values);
    require("operand B, bytes" + of, b, o.b_bytes);
    o.b_bytes = b;
    require("partial sums, bytes back" + of, bytes(Stream::partials_in), o.partial_bytes);
    o.partial_bytes = bytes(Stream::partials_in);
    const Count out = bytes(Stream::partials_out) + bytes(Stream::results);
    require("results or partial sums, bytes" + of, out, o.out_bytes);
    o.out_bytes = out;
  }

  /// Of an operand that is no nest's: elements that its loads come to, in all.
  Count loaded(const Fetch& f) const {
    if (is_nest(c.work.family)) return f.elements;
    const RowLoops loops = row_loops(c.work.rows, c.work.row_length, c.work.passes, c.mapping);
    return f.elements * (loops.chunked && f.passes >= c.work.passes ? c.work.passes : 1);
  }

  void require_totals(const std::vector<Operation>& operations) const {
    const Count bits = bits_of(m.activation_format),
                result_bits = bits_of(c.formats ? c.formats->results : m.activation_format);
    Count others = 0, charged_others = 0;
    for (const Fetch& f : c.fetches)
      if (f.place == Place::dram) others += loaded(f) * bits;
    Count charged_out = 0;
    for (const Operation& o : operations) charged_others += o.other_bytes, charged_out += o.out_bytes;
    const Count brought = total(Stream::others, Through::dram);
    require("other operands, bits in all", brought, others);
    if (brought > 8 * charged_others) fail("other operands, bits in all", brought, 8 * charged_others);
    const bool unified = m.activation_memory == ActivationMemory::unified;
    const Count results = c.out_elements * result_bits;
    require("results to DRAM, bits in all", total(Stream::results, Through::dram), c.to_dram ? results : 0);
    if (c.to_dram && results > 8 * charged_out) fail("results to DRAM, bits in all", results, 8 * charged_out);
    const bool kept = c.to_dsram || (unified && c.push);  // one memory has it once
    require("results to DSRAM, bits in all", total(Stream::results, Through::dsram), kept ? results : 0);
    require("results to STACKRAM, bits in all", total(Stream::results, Through::stackram),
            c.push && !unified ? results : 0);
  }

  /// No port writes more than its beats.
  void require_beats(const Operation& o, const TileTransfers& t, std::size_t number) const {
    const auto within = [&](Through memory, Count beats, Count port) {
      const Count bits = t(Stream::results, memory);
      if (bits > beats * port) fail("results in tile operation " + std::to_string(number), bits, beats * port);
    };
    within(Through::dsram, o.needs.dsram_write, m.dsram_port_bits);
    within(Through::stackram, o.needs.stackram_write, m.stackram_port_bits);
  }
};

}  // namespace

bool compares_moved(const InstructionClass& c, const InstructionTransfers& moved) {
  return moved.by_tiles && c.compound != Compound::strips;
}

void charge_moved(std::vector<Operation>& operations, const InstructionClass& c, const Machine& machine,
                  const InstructionTransfers& moved, const std::string& who) {
  if (!compares_moved(c, moved)) return;
  const Machine m = machine_for(c, machine);
  const Charges charges{c, m, moved, who};
  charges.require("tile operations", std::ssize(moved.operations), std::ssize(operations));
  const bool nest = is_nest(c.work.family), single = c.compound == Compound::single;
  const bool other_windows = nest && single && (moved.reads_rows_again || charges.clips());
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Operation& o = operations[i];
    const TileTransfers& t = moved.operations[i];
    if (nest) charges.charge(o, t, i, other_windows);
    if (nest && single && t.weight_elements > 0)
      charges.require("weights in tile operation " + std::to_string(i), t.weight_elements, o.weight_elements);
    charges.require_beats(o, t, i);
  }
  charges.require_totals(operations);
}

}  // namespace sdip::exec
