// Compares what the datapath moved with what the clock charges for it.
#include "core/exec/clock/charges.h"

#include <algorithm>

#include "core/exec/clock/comparison.h"
#include "core/exec/clock/port_beats.h"
#include "core/exec/walk/row_walk.h"
#include "core/exec/walk/windows.h"
#include "core/program/kinds.h"

namespace sdip::exec {
namespace {

/// Windows that the model takes as in an input without edges.
bool clips(const InstructionClass& c) {
  const LoopNest& n = c.work.nest;
  bool many = false;
  for (const TileLoop& loop : tile_loops(n, c.operand_b == Place::psram, c.mapping, {{0, n.out_h}})) {
    if (loop.extent == &TileOperation::rows) many |= clips_too_many(rows_of(n), loop.tiles);
    if (loop.extent == &TileOperation::columns) many |= clips_too_many(columns_of(n), loop.tiles);
  }
  return many;
}

/// Operation by operation: A, B, partial sums and results of nests and attention.
void require_nest(const Operation& o, const Comparison& x, std::size_t number, bool other_windows) {
  const TileTransfers& t = x.moved.operations[number];
  const std::string of = " in tile operation " + std::to_string(number);
  const auto bytes = [&](Stream stream) { return ceil_div(t(stream, Through::dram), 8); };
  if (!other_windows) x.require("operand A, bytes" + of, bytes(Stream::a), o.a_bytes);
  x.require("operand B, bytes" + of, bytes(Stream::b) + bytes(Stream::values), o.b_bytes);
  x.require("partial sums, bytes back" + of, bytes(Stream::partials_in), o.partial_bytes);
  x.require("results or partial sums, bytes" + of, bytes(Stream::partials_out) + bytes(Stream::results),
            o.out_bytes);
}

/// Elements that all loads of one fetch come to; in row-wise work each pass may load them again.
Count loaded(const InstructionClass& c, const Fetch& f) {
  if (is_nest(c.work.family)) return f.elements;
  const RowLoops loops = row_loops(c.work.rows, c.work.row_length, c.work.passes, c.mapping);
  return f.elements * (loops.chunked && f.passes >= c.work.passes ? c.work.passes : 1);
}

void require_others(const Comparison& x, const std::vector<Operation>& operations) {
  Count others = 0, charged_bytes = 0;
  for (const Fetch& f : x.c.fetches)
    if (f.place == Place::dram) others += loaded(x.c, f) * x.activation_bits();
  for (const Operation& o : operations) charged_bytes += o.other_bytes;
  const Count brought = x.total(Stream::others, Through::dram);
  const std::string what = "other operands, bits in all";
  if (brought < others && !x.moved.reads_less) x.fail(what, brought, others);
  if (!x.moved.reads_more) x.require_at_most(what, brought, std::min(others, 8 * charged_bytes));
}

}  // namespace

void require_charged(const std::vector<Operation>& operations, const InstructionClass& c, const Machine& machine,
                     const InstructionTransfers& moved, const std::string& who) {
  const Machine m = machine_for(c, machine);
  const Comparison x{c, m, moved, who};
  const bool nest = is_nest(c.work.family), single = c.compound == Compound::single;
  x.require("tile operations", std::ssize(moved.operations), std::ssize(operations));
  if (nest && !moved.by_tiles && c.spread_cores > 1) return;  // of all cores at once
  for (std::size_t i = 0; !moved.at_once && i < operations.size(); ++i)
    x.require_beats(operations[i], moved.operations[i], i);
  x.require_results(operations);
  if (c.compound == Compound::strips) return require_strips_charged(operations, x);
  if (moved.at_once || (nest && !moved.by_tiles)) return;
  if (!nest) return require_others(x, operations);
  const bool other_windows = single && (moved.reads_rows_again || clips(c));
  for (std::size_t i = 0; i < operations.size(); ++i) {
    require_nest(operations[i], x, i, other_windows);
    if (const Count weights = moved.operations[i].weight_elements; single && weights > 0)
      x.require("weights in tile operation " + std::to_string(i), weights, operations[i].weight_elements);
  }
  require_others(x, operations);
}

}  // namespace sdip::exec
