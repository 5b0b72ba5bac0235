// Strips: how one compound instruction carries rows of the last result through a chain of operators.
//
// The rule. The last part's rows are cut into strips of `tile_rows` (Mapping), one frame of the batch after the
// other; a tile operation is one strip: all parts, one after the other. A part that makes n rows reads
//   min(in_h, (n - 1) stride_h + (kernel_h - 1) dilation_h + 1)   rows, the window being moved inside the input;
//   min(in_h, ceil((n - 1) / s) + 1)                              rows, when it enlarges by s = out_h / in_h.
// With halo_recompute the part before makes as many. With line_buffers rows that were made stay, and a strip of n
// of the last part's H rows makes ceil(n out_h / H) of each part's.
//
//
// Weights are held in PSRAM from the first strip to the last. Where they do not fit, the weights of a part's last
// `streamed_channels` channels come again for each strip, `tile_channels` at a time; a strip is then several tile
// operations: of each part the channels that are held, and each tile of the others.
//
// Worked example: two 3x3 convolutions of 16 rows, strips of 4. halo_recompute: the second makes 4 rows of 6, the
// first 6 of 8: 24 rows made of its 16. line_buffers: 4 and 4, 16 in all; 6 rows lie between them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/program/tiling/draft.h"
#include "core/program/tiling/tiles.h"

namespace sdip {

/// Rows of each part in a strip of `rows`: made, and read (on chip at once); rows of operand A that come in.
struct StripRows {
  std::vector<std::int64_t> made, window;
  std::int64_t loaded = 0;
};
StripRows strip_rows(const InstructionClass& c, std::int64_t rows);

TilePlan strip_plan(const InstructionClass& c);

/// Tile operations of a strip that are alike: so many output channels of one part, their weights held or not.
struct StripOperation {
  std::size_t part = 0;
  std::int64_t channels = 0, times = 1;
  bool streamed = false;
};
/// Those of one strip, in order; none when all weights are held: a strip is then one tile operation of all parts.
/// Example: 10 channels of which the last 7 are streamed by 3: 3 held, 3 streamed twice, 1 streamed.
std::vector<StripOperation> strip_operations(const InstructionClass& c);

/// Tile operations of the instruction.
std::int64_t strip_operation_count(const InstructionClass& c);

/// The work of a part in one strip, or of `channels` of it, as an instruction of one tile operation. `part` counts
/// from 0.
InstructionClass part_class(const InstructionClass& c, std::size_t part, const StripRows& rows,
                            std::int64_t channels);

/// Output channels of a part, of all groups.
std::int64_t part_channels(const Part& part);

/// Elements that a fetch of a part moves in one operation of `made` rows and so many channels.
std::int64_t strip_fetch_elements(const InstructionClass& c, std::size_t part, const Fetch& fetch,
                                  std::int64_t made, std::int64_t channels);

/// Elements of operand A in `rows` of its rows, of one frame; of `channels` of the last result.
std::int64_t strip_a_elements(const InstructionClass& c, std::int64_t rows);
std::int64_t strip_out_elements(const InstructionClass& c, std::int64_t rows, std::int64_t channels);

/// Weights as PSRAM holds them: those held from the first strip to the last; of one tile of the others, of so many
/// channels of a part; of the largest such tile.
std::int64_t strip_held_bytes(const InstructionClass& c, const WeightForm& form);
std::int64_t strip_tile_bytes(const Part& part, std::int64_t channels, const WeightForm& form);
std::int64_t largest_strip_tile_bytes(const InstructionClass& c, const WeightForm& form);

/// Marks which weights are streamed: none when all fit; else as few bytes a strip, to within the weights of one
/// channel, as make room for the rest and for two tiles on their way (one when that is all that fits), tiles being
/// of at most 32 channels (one when nothing fits else). False when even so it does not fit. Example: room for 100
/// bytes, parts of 4 channels of 20 bytes and of 8 of 10: all 8 of the second are streamed one by one, 80 bytes are
/// held. `weights`: room.weight_bytes.
bool stream_weights(InstructionClass& c, const TileRoom& room, const AskedCapacity& weights);

/// DSRAM beside whole operands: tiles of what comes from and goes to DRAM, and the rows between parts, which lie on
/// the two sides in turn: the largest of each side, with line buffers all of them.
TileBuffers strip_buffers(const InstructionClass& c, const TileRoom& room);

/// The tallest strips that fit, made equal; nothing when strips of one row do not, or the weights even streamed.
/// `weights`: room.weight_bytes.
std::optional<Mapping> choose_strip_rows(const InstructionClass& c, const TileRoom& room,
                                         const AskedCapacity& weights);

/// DRAM bytes of the instruction with its mapping, one core.
std::int64_t strip_dram_bytes(const InstructionClass& c, const TileRoom& room);

/// The cost of a part of a chain as one instruction: fewer bytes first.
struct ChainCost {
  std::int64_t dram_bytes = 0, macs = 0;
  friend auto operator<=>(const ChainCost&, const ChainCost&) = default;
};

/// Drafts, each of which reads the one before, as one that carries strips through them; nothing when they are no
/// chain of rows.
std::optional<Draft> joined_strips(const Graph& graph, const List<Draft>& drafts, bool line_buffers);

/// The same of products with weights and what is between them, rows of features; `roots`: as lowered.
std::optional<Draft> joined_chain(const Graph& graph, const List<ValueId>& roots, const List<Draft>& drafts);

/// Where to cut a chain of `count` drafts: the first of each instruction, such that the sum of `cost` (first, last)
/// is least. Every single draft must have a cost. Example: 3 drafts of cost 5 each, 1 and 2 together 6, all 20: cut
/// before the first and the second.
std::vector<std::size_t> best_cuts(std::size_t count,
                                   const std::function<std::optional<ChainCost>(std::size_t, std::size_t)>& cost);

/// MACs of the instruction with its mapping, rows made again included.
std::int64_t strip_macs(const InstructionClass& c);

}  // namespace sdip
