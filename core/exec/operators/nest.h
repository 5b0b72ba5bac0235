// A nest run tile by tile. Internal to its room.
#pragma once

#include <functional>
#include <span>

#include "core/exec/chip/chip.h"
#include "core/exec/operators/nest_tile.h"
#include "core/exec/operators/pointwise.h"
#include "core/exec/walk/nest_map.h"
#include "core/exec/walk/tile_loops.h"

namespace sdip::exec {

/// Elements of an operand of a nest.
using OperandReader = std::function<Numbers(const Elements& at)>;

/// Codes of 8 bits of an operand that is kept so.
using CodeReader = std::function<void(const Elements& at, std::span<std::int8_t> to)>;

/// An operand: how it is read, and, where it is a value that lies in a memory or a weight as it is, that value.
struct NestOperand {
  OperandReader read;
  ValueId as_it_lies = none;
  bool through_dram = false;  // its tiles are loaded from DRAM: a line buffer keeps what the next one reads again
  CodeReader codes{};         // where the instruction holds it as codes
};

/// Takes results of the nest as their tiles are done: the elements, and what makes their values.
using TileSink = std::function<void(const Elements& at, const PieceMaker& make)>;

/// Input rows [first, last) that result rows read, clipped to the input, or columns.
Extent window_rows(const LoopNest& nest, const Extent& rows);
Extent window_columns(const LoopNest& nest, const Extent& columns);

/// Whether an operand lies in memory as codes of 8 bits, signed, with a scale: then its codes are multiplied, where
/// accumulators are integers.
bool lies_in_codes(Chip& chip, const NestOperand& operand);

/// A whole nest as one tile. The map must outlive it.
TileShape whole_shape(const NestMap& map, bool weighted);

/// How the products of a nest are summed; by all threads.
Arithmetic arithmetic_of(Chip& chip, const Node& node, bool weighted);

/// Runs `node`, a nest with a map, in the tiles of `mapping`: loads each tile of its operands, sums its products,
/// finishes a tile after its last sums and hands it to `sink`. It makes that part of the results alone. A
/// compound's walk begins its operations itself.
void run_nest(Chip& chip, const Node& node, const NestMap& map, bool weighted, const Mapping& mapping,
              const NestPart& part, const NestOperand& a, const NestOperand& b, const TileSink& sink);

}  // namespace sdip::exec
