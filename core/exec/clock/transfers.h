// The transfers of an instruction's tile operations, noted where the datapath reads and writes its memories at real
// addresses.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/program/program.h"

namespace sdip {

/// Why something moves. `values`: of an attention, its second product's; `others`: operands beside the nest's two.
enum class Stream : std::int8_t { a, b, values, others, partials_in, partials_out, results };
inline constexpr std::size_t streams = 7;

/// Memories that streams go through; of a unified one what stands in it, as of DSRAM.
enum class Through : std::int8_t { dram, dsram, stackram };
inline constexpr std::size_t throughs = 3;

/// Bits that one tile operation moved, by stream and memory; elements of the tile of weights that it began with,
/// 0 where it is that of the operation before; elements that a strip's parts made.
struct TileTransfers {
  Array<Array<std::int64_t, throughs>, streams> bits{};
  std::int64_t weight_elements = 0, made_elements = 0;
  std::int64_t operator()(Stream stream, Through memory) const { return bits[stream][memory]; }
};

/// The transfers of one instruction, by tile operation; of products that several cores share, those of the first
/// core. Not `by_tiles`: an operator was computed on whole operands by its own arithmetic.
struct InstructionTransfers {
  bool by_tiles = true;
  bool at_once = false;  // nor did it move anything operation by operation
  // Whether elements of other operands are named by the class but not read, or are read but not named by it
  // (docs/model/counting.md#what-the-datapath-moves).
  bool reads_less = false, reads_more = false;
  bool reads_rows_again = false;  // for the sums of a prologue, rows that tiles cut
  bool other_windows = false;     // of a pool or an enlargement in strips: rows are not read as its class has them
  std::vector<TileTransfers> operations{};
};

namespace exec {

/// Notes what moves while instructions run.
class TransferLog {
 public:
  void begin_instruction();
  /// `noted`: it is the first core's.
  void begin_operation(bool noted);
  /// Notes what moves from now on for operation `number`, which has begun before.
  void resume(std::size_t number);
  void reads_rows_again() { done_.reads_rows_again = true; }
  void other_windows() { done_.other_windows = true; }
  void computed_whole() { done_.by_tiles = false; }
  void computed_at_once() { done_.by_tiles = false, done_.at_once = true; }
  void reads_less() { done_.reads_less = true; }
  void reads_more() { done_.reads_more = true; }
  /// Called by several threads.
  void add(Stream stream, Place place, std::int64_t bits);
  /// `there`: weights that are gone through from now on are on chip already, and do not count.
  void weights_there(bool there) { weights_there_ = there; }
  void add_weights(std::int64_t elements);
  void add_made(std::int64_t elements) { made_elements_ += elements; }
  /// Those of the instruction that ends.
  InstructionTransfers end_instruction();

 private:
  void end_operation();

  InstructionTransfers done_{};
  std::optional<std::size_t> now_{};  // number of the operation
  bool begun_ = false;                // before the first one what moves is that one's
  Array<Array<std::atomic<std::int64_t>, throughs>, streams> bits_{};
  std::int64_t weight_elements_ = 0, made_elements_ = 0;
  bool weights_there_ = false;
};

}  // namespace exec
}  // namespace sdip
