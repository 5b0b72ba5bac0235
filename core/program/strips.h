// Strips: how one compound instruction carries rows of the last result through a chain of operators.
//
// The rule. The last part's rows are cut into strips of `tile_rows` (Mapping), one frame of the batch after the
// other; a tile operation is one strip: all parts, one after the other. A part that makes n rows reads
//   min(in_h, (n - 1) stride_h + (kernel_h - 1) dilation_h + 1)   rows, the window being moved inside the input;
//   min(in_h, ceil((n - 1) / s) + 1)                              rows, when it enlarges by s = out_h / in_h.
// With halo_recompute the part before makes as many. With line_buffers rows that were made stay, and a strip of n
// of the last part's H rows makes ceil(n out_h / H) of each part's.
//
// Worked example: two 3x3 convolutions of 16 rows, strips of 4. halo_recompute: the second makes 4 rows of 6, the
// first 6 of 8: 24 rows made of its 16. line_buffers: 4 and 4, 16 in all; 6 rows lie between them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/program/draft.h"
#include "core/program/tiles.h"

namespace sdip {

/// Rows of each part in a strip of `rows`: made, and read (on chip at once); rows of operand A that come in.
struct StripRows {
  std::vector<std::int64_t> made, window;
  std::int64_t loaded = 0;
};
StripRows strip_rows(const InstructionClass& c, std::int64_t rows);

TilePlan strip_plan(const InstructionClass& c);

/// What a part does in one strip, as an instruction of one tile operation. `part` counts from 0.
InstructionClass part_class(const InstructionClass& c, std::size_t part, const StripRows& rows);

/// Elements that a fetch of a part moves in one strip of `made` rows.
std::int64_t strip_fetch_elements(const InstructionClass& c, const Part& part, const Fetch& fetch,
                                  std::int64_t made);

/// Elements of operand A in `rows` of its rows, of one frame; of the last result.
std::int64_t strip_a_elements(const InstructionClass& c, std::int64_t rows);
std::int64_t strip_out_elements(const InstructionClass& c, std::int64_t rows);

/// All parts' weights as PSRAM holds them: they are there at once, from the first strip to the last.
std::int64_t strip_weight_bytes(const InstructionClass& c, const WeightForm& form);

/// DSRAM beside whole operands: tiles of what comes from and goes to DRAM, and the rows between parts, which lie on
/// the two sides in turn: the largest of each side, with line buffers all of them.
TileBuffers strip_buffers(const InstructionClass& c, const TileRoom& room);

/// The tallest strips that fit, made equal; nothing when strips of one row or the weights do not.
std::optional<Mapping> choose_strip_rows(const InstructionClass& c, const TileRoom& room);

/// DRAM bytes of the instruction with its mapping, one core.
std::int64_t strip_dram_bytes(const InstructionClass& c, const TileRoom& room);

/// What part of a chain costs as one instruction: fewer bytes first.
struct ChainCost {
  std::int64_t dram_bytes = 0, macs = 0;
  friend auto operator<=>(const ChainCost&, const ChainCost&) = default;
};

/// Drafts, each of which reads the one before, as one that carries strips through them; nothing when they are no
/// chain of rows.
std::optional<Draft> joined_strips(const Graph& graph, const std::vector<Draft>& drafts, bool line_buffers);

/// Where to cut a chain of `count` drafts: the first of each instruction, such that the sum of `cost` (first, last)
/// is least. Every single draft must have a cost. Example: 3 drafts of cost 5 each, 1 and 2 together 6, all 20: cut
/// before the first and the second.
std::vector<std::size_t> best_cuts(std::size_t count,
                                   const std::function<std::optional<ChainCost>(std::size_t, std::size_t)>& cost);

/// MACs of the instruction with its mapping, rows made again included.
std::int64_t strip_macs(const InstructionClass& c);

}  // namespace sdip
