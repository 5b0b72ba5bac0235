// The board of instructions that run side by side: what each uses, and when it is off the board. Internal to its
// room.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/exec/clock/operations.h"

namespace sdip::exec {

/// Circuits and ports, one bit each (board.cpp names them).
using Uses = std::uint32_t;

/// Everything that an instruction of those operations uses while it runs.
Uses uses_of(const InstructionClass& c, const std::vector<Operation>& operations, const Machine& machine);

class Board {
 public:
  explicit Board(const Machine& machine) : m_(machine) {}

  /// A pass begins: the board is empty.
  void clear(std::int64_t now) {
    running_.clear();
    issued_ = begin_ = now;
    busy_until_ = {};
  }

  /// When the sequencer, or the circuit's own, turns to the next instruction, the one before dispatched.
  std::int64_t turn(const InstructionClass& c) const;
  /// It is issued at `time`; returns when it is dispatched.
  std::int64_t issue(const InstructionClass& c, std::int64_t time);

  /// From then, retirement after retirement, until nothing on the board is in the way.
  std::int64_t wait(std::int64_t time, Uses uses, const std::vector<std::int32_t>& after) const;

  void put(Uses uses, std::int64_t end) { running_.push_back({uses, end}); }

  /// When the board is empty.
  std::int64_t last_end() const;

 private:
  std::size_t sequencer_of(const InstructionClass& c) const;

  struct Running {
    Uses uses = 0;
    std::int64_t end = 0;
  };
  const Machine& m_;
  std::vector<Running> running_;  // in the order of the program
  std::int64_t issued_ = 0, begin_ = 0;
  std::array<std::int64_t, 32> busy_until_{};  // each sequencer: of all, or of a circuit
};

}  // namespace sdip::exec
