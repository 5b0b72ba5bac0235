// Which parts of a Split, Slice or Gather, and which Concats, are read where their bytes lie: with part_views=on
// where that moves less, or where a graph that was compiled says so (Node::in_place). Internal to its room.
#pragma once

#include "core/program/compile/passes.h"

namespace sdip {

/// The values that values are other shapes of, or parts of: whose bytes they share; whether these are read in
/// another order, or are not all.
struct Views {
  List<ValueId> roots;
  List<char> turned;
  List<char> taken;  // by Joined
  Joined joined;
};

/// Whether a value of so many bytes cannot lie whole in DSRAM: of a memory for all, beside one as large.
bool exceeds_dsram(std::int64_t bytes, const Machine& machine);

/// The sizes for which parts_in_place and joins_in_place ask whether they exceed a DSRAM, or equal ones.
std::vector<std::int64_t> sizes_weighed(const Graph& graph, const Machine& machine);

/// Whether all results of a Split, Slice or Gather are read where the operand lies: one that an instruction makes,
/// in its format, unless the graph returns one of them. Their runs begin and end with whole words of 64 elements;
/// an operand too large for DSRAM is not left in DRAM for several readers of a part.
bool parts_in_place(const Graph& graph, const Node& node, const Views& views, const Machine& machine);

/// Whether what a node joins is read from its operands, which then lie in DRAM: of a Concat that is too large for
/// DSRAM (with one reader: for half of it) and not returned, of values that instructions make, each whole, in its
/// format and part of no other. The copy stays where it makes a norm's sums, which would take all operands from
/// DRAM once more, and less than half of them would be there anyway.
bool joins_in_place(const Graph& graph, const Node& node, const Views& views, const Machine& machine);

}  // namespace sdip
