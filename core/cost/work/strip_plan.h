// The parts of strips, for the estimate: rows of each part in a strip, its tile operations, and the bytes of each.
// docs/model/fusion.md#strips has them.
//
// Worked example: two 3x3 convolutions of 16 rows, strips of 4. halo_recompute: the second makes 4 rows of 6, the
// first 6 of 8. line_buffers: 4 and 4. 10 channels of which the last 7 are streamed by 3 are three kinds of
// operation: 3 held, 3 streamed (twice), 1 streamed.
#pragma once

#include <vector>

#include "core/cost/work/tile_plan.h"

namespace sdip::cost {

/// Frames, and strips of the last part's rows in each.
TilePlan strip_plan(const InstructionClass& c);

/// The rows that each part makes and reads in a strip; and those of operand A that come in.
struct StripRows {
  std::vector<std::int64_t> made, read;
  std::int64_t loaded;
};
StripRows strip_rows(const InstructionClass& c, std::int64_t rows);

/// Tile operations of a strip that are alike: output channels of one part, whose weights come with each or are
/// held.
struct StripOperation {
  std::size_t part;
  std::int64_t channels, times;
  bool streamed;
};
/// Operations in their order; none where all weights are held and a strip is one operation of all parts.
std::vector<StripOperation> strip_operations(const InstructionClass& c);

std::int64_t part_channels(const Part& part);

/// So many channels of part number `part` in a strip, as an instruction of one tile operation.
InstructionClass part_class(const InstructionClass& c, std::size_t part, const StripRows& rows,
                            std::int64_t channels);

/// Elements of an operand beside that such an operation takes, `made` rows being made.
std::int64_t part_fetch_elements(const InstructionClass& c, std::size_t part, const Fetch& fetch, std::int64_t made,
                                 std::int64_t channels);

/// The same of a product's second activations that come from DRAM; those of a frame are held while its strips run.
std::int64_t second_operand_elements(const InstructionClass& c, std::size_t part);

/// Bytes in PSRAM: of so many channels of a part; of all that stays from the first strip to the last.
std::int64_t part_weight_bytes(const Part& part, std::int64_t channels, const WeightForm& form);
std::int64_t strip_held_bytes(const InstructionClass& c, const WeightForm& form);

}  // namespace sdip::cost
