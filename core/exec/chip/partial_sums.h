// Partial sums of a nest between the tiles of a sum, where the model has them: in the result's tile buffer on the
// writing side of DSRAM; those of a tile that is left, in DRAM, behind all that the program has there. Sums of a
// floating accumulator are codes of its format; those that are kept exactly stand beside.
#pragma once

#include "core/exec/chip/chip.h"

namespace sdip::exec {

class PartialSums {
 public:
  explicit PartialSums(Chip& chip) : chip_(chip) {}

  /// Keeps the sums of a tile of result elements `at` in a tile buffer. Throws Error("execution_failed", ...) when
  /// the instruction's buffers are smaller.
  void keep(const Elements& at, const Numbers& sums);
  /// Those that were kept last.
  Numbers kept() const;
  /// Sends those that were kept last to DRAM.
  void leave();
  /// Brings those of elements `at` back from DRAM.
  Numbers back(const Elements& at) const;

 private:
  void note_sums(Stream stream, std::int64_t count) const;
  Memory& buffers() const { return memory_of(chip_, Place::dsram, true); }

  Chip& chip_;
  Elements elements_{};  // of the tile kept last
  ElementType type_ = ElementType::float32;
  std::int64_t address_ = 0, tiles_ = 0;  // of its buffer; tiles that began
  bool in_dram_ = false;                  // their room there is open
};

}  // namespace sdip::exec
