// Instructions side by side, with a DSRAM pair for each operator family: what each owns, and when it may begin.
//
// Worked example. Dispatch takes 2 cycles, a pipeline of one stage; three instructions, all on chip: a convolution
// of 10 cycles; a vector operator of 4 that shares nothing with it; a linear of 6 that reads the convolution's
// result. They are issued at 0, 2 and 4. The first runs 0..13, the second 2..9, dispatch included; the third waits
// for the first and runs 13..20, having waited 9. One after the other they take (2 + 10 + 1) + (2 + 4 + 1) +
// (2 + 6 + 1) = 29 cycles.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip {

/// The circuits of SDIP_ALU, one an operator family; and the host, for the operators that it computes.
enum class Circuit : std::int8_t { conv2d, linear, matmul, vector, softmax, norm, transpose, host };
inline constexpr std::size_t circuit_count = 8;

/// The circuit that runs a family; with mac_sharing=shared conv2d, linear and matmul have one.
Circuit circuit_of(Family family, const Machine& machine);
/// The one that runs a class: of its family, or the host.
Circuit circuit_of(const InstructionClass& c, const Machine& machine);

/// Those that an instruction of the class works on.
std::bitset<circuit_count> circuits_of(const InstructionClass& c, const Machine& machine);

/// The place of a family among those that have a DSRAM pair. Requires that it makes results: no view, no constant.
std::size_t pair_index(Family family);

/// DSRAM pairs of a core.
std::int64_t dsram_pairs(const Machine& machine);

/// The number of resources that can be owned: each circuit, read and write port of each pair, STACKRAM's ports,
/// PSRAM's read port, the link to the next core.
inline constexpr std::size_t ownable_count = circuit_count + 2 * pair_families + 4;
using Owned = std::bitset<ownable_count>;

template <class Number>
struct BusyOf;
using Busy = BusyOf<std::int64_t>;
/// The resources that an instruction of the class owns from when it begins until it retires: the circuits that it
/// works on, and the ports over which it moves at least one beat, `busy` in all.
Owned owned_by(const InstructionClass& c, const Busy& busy, const Machine& machine);

/// When the instructions of a pass begin, given in the order of the program.
class Scoreboard {
 public:
  /// All before has retired, and was dispatched before. There is one sequencer, or with `side_by_side` one for each
  /// circuit.
  void begin_pass(std::int64_t now, bool side_by_side) {
    issued_ = latest_ = now;
    running_ = waiting_ = 0;
    side_by_side_ = side_by_side;
    ends_.clear();
  }

  /// When the sequencer of the next instruction is done with the one before.
  std::int64_t turn(Circuit circuit) const {
    return std::max(issued_, side_by_side_ ? next_on_[place(circuit)] : next_);
  }

  /// It is issued at `time`, its turn or later, and takes `dispatch_cycles` to dispatch.
  void issue(Circuit circuit, std::int64_t time, std::int64_t dispatch_cycles) {
    issued_ = time;
    (side_by_side_ ? next_on_[place(circuit)] : next_) = time + dispatch_cycles;
  }

  /// When it begins: issued, those it comes after retired, and all that it owns free.
  std::int64_t begin(const Owned& owned, std::span<const std::int32_t> after) const {
    std::int64_t time = issued_;
    for (const std::int32_t earlier : after) time = std::max(time, ends_[earlier]);
    for (std::size_t i = 0; i < ownable_count; ++i)
      if (owned[i]) time = std::max(time, free_[i]);
    return time;
  }

  /// The instruction last issued began at `begin`.
  void retire(const Owned& owned, std::int64_t begin, std::int64_t end) {
    running_ += end - begin;
    waiting_ += begin - issued_;
    for (std::size_t i = 0; i < ownable_count; ++i)
      if (owned[i]) free_[i] = end;
    ends_.push_back(end);
    latest_ = std::max(latest_, end);
  }

  /// When all have retired.
  std::int64_t latest_end() const { return latest_; }

  /// From begin to end, and from issue to begin, summed.
  std::int64_t running() const { return running_; }
  std::int64_t waiting() const { return waiting_; }

 private:
  static constexpr std::size_t place(Circuit circuit) { return at(circuit); }

  std::int64_t issued_ = 0, next_ = 0, latest_ = 0, running_ = 0, waiting_ = 0;
  bool side_by_side_ = false;
  std::array<std::int64_t, circuit_count> next_on_{};
  std::array<std::int64_t, ownable_count> free_{};
  List<std::int64_t> ends_;  // by instruction
};

}  // namespace sdip
