// The parts that comparisons of all kinds share, of what an instruction moved with what it is charged. Internal to
// its room.
#pragma once

#include <string>
#include <vector>

#include "core/exec/clock/operations.h"
#include "core/exec/clock/transfers.h"

namespace sdip::exec {

/// An instruction of class `c` on a machine of its formats, and what it moved. `require...` throw
/// Error("execution_failed", who, ...).
struct Comparison {
  const InstructionClass& c;
  const Machine& m;
  const InstructionTransfers& moved;
  const std::string& who;

  [[noreturn]] void fail(const std::string& what, std::int64_t amount, std::int64_t charged) const;
  void require(const std::string& what, std::int64_t amount, std::int64_t charged) const {
    if (amount != charged) fail(what, amount, charged);
  }
  void require_at_most(const std::string& what, std::int64_t amount, std::int64_t charged) const {
    if (amount > charged) fail(what, amount, charged);
  }

  std::int64_t activation_bits() const { return bits_of(m.activation_format); }

  /// Bits of a stream through a memory, in all.
  std::int64_t total(Stream stream, Through memory) const;

  /// Results: in all what the class makes, to each memory that it goes to.
  void require_results(const std::vector<Operation>& operations) const;

  /// No port writes more than its beats.
  void require_beats(const Operation& o, const TileTransfers& t, std::size_t number) const;
};

/// As require_charged, for an instruction of strips.
void require_strips_charged(const std::vector<Operation>& operations, const Comparison& comparison);

}  // namespace sdip::exec
