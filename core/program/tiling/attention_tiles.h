// Fused attention: how its instruction expands into tile operations, the room they take and the tile sizes chosen.
// Internal to its room.
#pragma once

#include <cstdint>
#include <optional>

#include "core/program/tiling/draft.h"

namespace sdip {

/// Sizes of an attention: `heads` independent copies (of every frame) of `rows` queries by `keys`, each of `depth`
/// elements; results have `values` elements a row. Requires Compound::attention.
struct AttentionSizes {
  std::int64_t heads = 1, rows = 1, keys = 1, depth = 1, values = 1;
};
AttentionSizes attention_sizes(const InstructionClass& c);

/// Tile operations: each head, row tiles outer, key tiles inner. `channels` are the key tiles; its edge is the last
/// one, which also divides and writes, whether it is smaller or not.
TilePlan attention_plan(const InstructionClass& c);

/// Elements that an operation of `rows` by `keys` takes of what is fused to the scores: a mask's own elements, or
/// an equal part of an operand that has not one for each score.
std::int64_t mask_elements(const Fetch& mask, const TilePlan& plan, std::int64_t rows, std::int64_t keys);

/// DRAM operands' tile buffers on DSRAM's reading side; scores, accumulators, running maxima and sums, and the
/// result's tile buffers on its writing side.
TileBuffers attention_buffers(const InstructionClass& c, const TileRoom& room);

/// The tile sizes of fewest DRAM bytes (dram_bytes), then fewest folds (attention_folds), then smallest; nothing
/// when one query by one key does not fit. With goal cycles reference_cycles come first; with balanced, too, among
/// those of at most a hundredth more than the fewest bytes. For each number of tiles the smallest size is tried and
/// those that save a fold, whatever the room. `weights`: room.weight_bytes, which held weights must fit.
std::optional<Mapping> choose_attention(const InstructionClass& c, const TileRoom& room,
                                        const AskedCapacity& weights);

/// Elements of keys and values that a class with its mapping loads from DRAM; and its folds of one head on an array
/// of 128 x 128 whose summed dimension is one, rescaling on 128 rows at a time.
std::int64_t attention_loads(const InstructionClass& c);
std::int64_t attention_folds(const InstructionClass& c);

/// Cycles of a class with its mapping on the reference machine, whose ports and lanes of softmax are 128 words
/// wide: one step after the other, each as long as its array or its port (docs/model/fusion.md#attention).
std::int64_t attention_cycles(const InstructionClass& c);

}  // namespace sdip
