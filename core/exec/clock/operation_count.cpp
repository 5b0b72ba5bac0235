// How many tile operations an instruction has, before they are made: one loop's tiles times another's.
#include <algorithm>

#include "core/exec/clock/operations.h"
#include "core/exec/clock/port_beats.h"
#include "core/exec/walk/row_walk.h"
#include "core/program/kinds.h"

namespace sdip::exec {
namespace {

Count of_nest(const InstructionClass& c) {
  const LoopNest& n = c.work.nest;
  const Mapping& m = c.mapping;
  const bool weighted = c.operand_b == Place::psram;
  const Count rows = ceil_div(n.out_h, m.tile_rows), columns = ceil_div(n.out_w, m.tile_columns);
  const Count channels = ceil_div(n.out_channels, std::min(n.out_channels, m.tile_channels));
  const Count groups = ceil_div(weighted ? n.groups : 1, std::max<Count>(1, m.tile_channels / n.out_channels));
  const bool together = rows == 1 && columns == 1 && (weighted || channels == 1);
  const Count copies = together ? 1 : weighted ? n.batch : n.batch * n.groups;
  return copies * rows * columns * channels * groups * ceil_div(n.in_channels, m.tile_sums);
}

Count of_strip(const InstructionClass& c) {
  Count operations = 0;
  bool together = true;
  for (const Part& part : c.parts) {
    const Count channels = part.work.nest.out_channels * part.work.nest.groups;
    together = together && part.streamed_channels == 0;
    operations += (channels > part.streamed_channels) +
                  (part.streamed_channels > 0 ? ceil_div(part.streamed_channels, part.tile_channels) : 0);
  }
  return together ? 1 : operations;
}

}  // namespace

std::int64_t operation_count(const InstructionClass& c) {
  const LoopNest& n = c.work.nest;
  if (c.compound == Compound::attention)
    return n.groups * ceil_div(n.out_h, c.mapping.tile_rows) * ceil_div(n.out_channels, c.mapping.tile_channels);
  if (c.compound == Compound::strips)
    return c.parts[0].work.nest.batch * ceil_div(c.parts.back().work.nest.out_h, c.mapping.tile_rows) * of_strip(c);
  if (is_nest(c.work.family)) return of_nest(c);
  return row_loops(c.work.rows, c.work.row_length, c.work.passes, c.mapping).operations();
}

}  // namespace sdip::exec
