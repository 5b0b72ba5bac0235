// Partial sums of a nest between the tiles of a sum, where the model has them: in the result's tile buffer on the
// writing side of DSRAM; those of a tile that is left, in DRAM, behind all that the program has there.
#pragma once

#include <span>

#include "core/exec/chip.h"

namespace sdip::exec {

class PartialSums {
 public:
  explicit PartialSums(Chip& chip) : chip_(chip) {}

  /// Keeps the sums of a tile of result elements `at` in a tile buffer. Throws Error("execution_failed", ...) when
  /// the instruction's buffers are smaller.
  void keep(std::span<const std::int64_t> at, const Tensor& sums);
  /// Those that were kept last.
  Tensor kept() const;
  /// Sends those that were kept last to DRAM.
  void leave();
  /// Brings those of elements `at` back from DRAM.
  Tensor back(std::span<const std::int64_t> at) const;

 private:
  Memory& buffers() const { return memory_of(chip_, Place::dsram, true); }

  Chip& chip_;
  std::vector<std::int64_t> elements_{};  // of the tile kept last
  std::int64_t address_ = 0, tiles_ = 0;  // of its buffer; tiles that began
  bool in_dram_ = false;                  // their room there is open
};

}  // namespace sdip::exec
