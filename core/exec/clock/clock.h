// The clock of one stage: it runs the program once more each time that it is told to, and keeps what a pass leaves
// behind: what PSRAM holds and what the channel still does. Between passes it stands still. Internal to its room.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <vector>

#include "core/exec/clock/board.h"
#include "core/exec/clock/operations.h"
#include "core/exec/clock/psram.h"
#include "core/exec/clock/rooms.h"
#include "core/exec/clock/step.h"

namespace sdip::exec {

class Clock {
 public:
  /// `share` of the channel, of it `thousandths`; `cores` in lockstep. The program must outlive it. Throws
  /// Error("cancelled", ...), as `pass` does.
  Clock(const Program& program, const Machine& machine, Decimal share, std::int64_t thousandths, std::int64_t cores,
        Role role, StepOptions options = {});
  Clock(const Clock&) = delete;  // it points into itself
  Clock& operator=(const Clock&) = delete;

  /// Follows what lies where in the activation memories, too. The stage is that of the program.
  void follow(const CompiledStage& stage);

  /// Compares what instructions moved with what the tile operations of their classes are charged. Throws what
  /// require_charged throws.
  void charge(std::span<const InstructionTransfers> moved) const;

  /// The next pass: the first is cold. Throws Error("execution_failed", ...) when weights or tiles do not fit where
  /// they are loaded to, and what Rooms throws.
  PassCounts pass();

  std::int64_t psram_peak_bytes() const { return psram_.peak_bytes(); }
  std::int64_t imem_peak_bytes() const { return imem_peak_bytes_; }
  const std::vector<Occupancy>& occupancy() const { return occupancy_; }

 private:
  struct Transfer {
    Count bytes = 0, cycles = 0;
  };
  /// The loads of one operand within an instruction.
  struct Buffers {
    std::vector<Count> before;  // end of the last operation before each load: its tile's predecessor is free then
    Count free_for_next(std::size_t buffers, Count instruction_begin, Count now);
  };
  /// When what one operation needs is there.
  struct Arrivals {
    Count weights = 0, activations = 0;
  };

  bool side_by_side() const { return has_pairs(m_); }
  std::size_t tile_buffers() const { return m_.tile_buffering == Buffering::double_buffer ? 2 : 1; }
  Transfer transfer(Count bytes, Count copies) const;
  Transfer activation_transfer(Count bytes) const;
  void move(Count start, Count cycles, bool to_chip);
  Transfer weight_transfer(Count dram_bytes, Count psram_bytes, Count cores) const;
  Count fetch(Count a_core, Count tile, bool held);
  Count fetch_words(Count bytes);
  Count load(Count bytes, Buffers& buffers);
  void store();
  void count_beats(const Needs& needs);
  Count command_cycles(const Operation& o) const;
  Count overhead(const Operation& o) const;
  Count beats_of(Count bytes, Count port_bits) const;
  Count duration(const Operation& o);
  Count over_dies(const std::vector<Operation>& operations) const;
  void require_buffers(const std::vector<Operation>& operations) const;
  void run_beside(std::size_t index);
  void run(std::size_t index);
  void begin(std::size_t index);
  void transfer_tiles(const Operation& o, Arrivals& there);
  void operate(const std::vector<Operation>& operations, Count weights_there);
  void finish();

  const Program& program_;
  const Machine m_;  // of the stage
  const StepOptions options_;
  const Count cores_;
  Count dies_ = 1, fullest_cores_ = 0;  // of dies that share the channels, and of cores that work on the fullest
  const bool wired_;
  Board board_;
  Psram psram_;
  std::optional<Rooms> rooms_;
  std::vector<Occupancy> occupancy_;         // by instruction, of the first pass
  List<std::vector<Operation>> operations_;  // by class
  std::vector<Uses> uses_;                   // by class
  std::vector<Count> words_;                 // bytes, by instruction
  bool streamed_ = false;
  Int128 cycle_shares_ = 1, byte_shares_ = 1;  // a byte takes cycle_shares / byte_shares cycles
  Count burst_bytes_ = 1, latency_cycles_ = 0, turn_cycles_ = 0;
  enum class Heading { none, to_chip, to_dram } heading_ = Heading::none;  // of the last transfer
  Count now_ = 0, channel_ = 0, last_duration_ = 0, passes_ = 0;
  std::list<PsramTile> imem_;  // words of instructions, oldest first
  Count imem_bytes_ = 0, imem_peak_bytes_ = 0;

  // The instruction that runs:
  const Instruction* instruction_ = nullptr;
  const InstructionClass* class_ = nullptr;
  Beats dma_{};  // beats of the operation's ports that its transfers take
  Count begin_ = 0, dispatched_ = 0, copies_ = 1, leaving_ = 0, issued_ = 0;
  bool leaving_partials_ = false;
  Count tile_before_until_ = 0;
  Psram::Tile using_;
  Buffers a_, b_, other_, partial_;
  const Operation* before_ = nullptr;  // the operation before
  std::vector<Count> left_;            // when each of its results had left
  std::set<Count> fetched_;            // pinned weight tiles that it has fetched
  InstructionCounts count_;
  PassCounts pass_;
};

}  // namespace sdip::exec
