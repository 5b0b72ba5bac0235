// Results that are put where they go as they are made, piece by piece, by all threads. Internal to its room.
#pragma once

#include <functional>
#include <mutex>
#include <span>

#include "core/exec/numbers/scratch.h"
#include "core/exec/operators/pointwise.h"

namespace sdip::exec {

/// Whether pieces of the current instruction's result may be put while others are still to be read: no byte of it
/// is read by any operator but one of `by_elements`, which read what lies at a piece's own elements. A result is
/// then put over nothing that another piece needs. (Nor may it be summed or kept in a register.) Example: of a
/// residual sum over x, written where x lies, the sum may be put piece by piece; of a transposition no. Never while
/// what tile operations move is noted.
bool may_stream(Chip& chip, std::span<const Node* const> by_elements);

/// Calls `visit` with the results of each tile operation of the current instruction, which `nodes` make; with all
/// of them at once where results may stream: all threads then have work at once. Those of none are left out.
void for_each_result_tile(Chip& chip, std::span<const Node* const> nodes, std::span<const Elements> tiles,
                          const std::function<void(const Elements& at)>& visit);

/// Takes the pieces of a result: what is made of one, then the operators behind it.
class PieceSink {
 public:
  PieceSink(Chip& chip, std::span<const Node* const> nodes);

  /// Element 0 of the result, where a piece that has all its numbers may put them itself: without operators behind
  /// it, and where the result lies once, in single precision. Else nullptr.
  float* in_place() const { return in_place_; }

  /// Computes the nodes on a piece and puts it.
  void put_piece(TileValues piece);

  /// The shadow learns that elements `at` are there.
  void claim_all(const Elements& at);

 private:
  struct Target {
    Memory& memory;
    Slot slot;
  };
  Chip& chip_;
  std::span<const Node* const> nodes_;
  std::vector<Target> targets_{};
  float* in_place_ = nullptr;
  bool moved_ = false;  // an operator puts elements elsewhere
  std::mutex mutex_{};
  std::vector<Elements> elsewhere_{};
};

/// Makes `count` pieces of elements `at`, shared by the team; each is put, or put in place, by its task. The shadow
/// knows of them when all are there. Requires may_stream(chip, nodes).
using PieceTask = std::function<void(std::int64_t piece, Scratch& scratch, PieceSink& sink)>;
void write_streamed(Chip& chip, std::span<const Node* const> nodes, const Elements& at, std::int64_t count,
                    const PieceTask& make);

}  // namespace sdip::exec
