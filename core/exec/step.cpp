// The clock: one tile operation and one DRAM transfer after the other.
#include "core/exec/step.h"

#include <algorithm>
#include <list>
#include <set>

#include "core/exec/board.h"
#include "core/exec/operations.h"

namespace sdip {
namespace {

using namespace exec;

using Count = std::int64_t;

struct Transfer {
  Count bytes = 0, cycles = 0;
};

struct PsramTile {
  Count bytes = 0;
  Count used_until = 0;
  bool held = false;  // by the instruction now running: not to be freed before it ends
};
using Tile = std::list<PsramTile>::iterator;

/// The loads of one operand within an instruction.
struct Buffers {
  std::vector<Count> before;  // end of the last operation before each load: its tile's predecessor is free then
  /// When the buffer for the next load is free, the tile now loaded having been used until `now`.
  Count free_for_next(std::size_t buffers, Count instruction_begin, Count now) {
    before.push_back(now);
    return before.size() <= buffers ? instruction_begin : before[before.size() - buffers];
  }
};

class Clock {
 public:
  Clock(const Program& program, const Machine& m, Decimal share, Count cores, Role role)
      : program_(program), m_(m), cores_(cores), wired_(weights_wired(m, role)), board_(m) {
    numerator_ =
        m.dram_bus_bits / 8 * 2 * m.dram_clock_ratio.hundredths * m.dram_efficiency.hundredths * share.hundredths;
    if (m.host_memory) {  // an access of host_bus_bits takes host_access_cycles: bits over 8 x 100 x cycles
      numerator_ = m.host_bus_bits * share.hundredths;
      denominator_ = 800 * m.host_access_cycles;
    }
    room_ = m.psram_bytes - m.psram_pinned_bytes;
    for (const InstructionClass& c : program.classes) {
      operations_.push_back(expand(c, m, role));
      uses_.push_back(uses_of(c, operations_.back(), m));
    }
    Count all = 0;
    for (const Instruction& i : program.instructions) {
      const auto number = static_cast<std::size_t>(i.instruction_class);
      all += words_.emplace_back(words_bytes(i, operations_[number], m));
    }
    streamed_ = m.program_storage == ProgramStorage::streamed && all > m.imem_bytes;
  }

  std::vector<InstructionCounts> pass(bool cold) {
    std::vector<InstructionCounts> counts;
    const Count begin = now_;
    board_.clear(now_);
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      side_by_side() ? run_beside(i, cold) : run(i, cold);
      count_.start -= begin;
      count_.end -= begin;
      counts.push_back(count_);
    }
    if (side_by_side()) now_ = board_.last_end();
    return counts;
  }

  Count peak() const { return peak_; }

 private:
  Transfer transfer(Count bytes, Count copies) const {
    Count bursts = 0;
    for (Count left = bytes; left > 0; left -= m_.dram_burst_bytes) ++bursts;
    const Count whole = bursts * m_.dram_burst_bytes * copies;
    const Int128 scaled = static_cast<Int128>(whole) * denominator_;
    Count cycles = static_cast<Count>(scaled / numerator_);
    if (static_cast<Int128>(cycles) * numerator_ < scaled) ++cycles;
    return {whole, cycles};
  }

  Transfer weight_transfer(Count dram_bytes, Count psram_bytes) const {
    Transfer t = transfer(dram_bytes, 1);
    if (m_.weight_compression.hundredths > 100)
      t.cycles =
          std::max(t.cycles, (psram_bytes + m_.decompressor_bytes_per_cycle - 1) / m_.decompressor_bytes_per_cycle);
    return t;
  }

  /// Fetches a tile of weights. Returns when it is there.
  Count fetch(Count psram_bytes, const InstructionClass& c, bool cold, bool held) {
    using_ = tiles_.end();
    if (wired_ || (c.pinned && !cold) || psram_bytes == 0) return 0;
    const bool vectors = held && c.compound != Compound::strips;  // stand as they are
    const Transfer t = weight_transfer(vectors ? psram_bytes : packed_bytes(psram_bytes, m_), psram_bytes);
    Count start = channel_;
    if (!c.pinned) {
      start = std::max(start, make_room(psram_bytes));
      if (m_.weight_buffering == Buffering::single_buffer) start = std::max(start, tile_before_until_);
      while (!tiles_.empty() && !tiles_.front().held && tiles_.front().used_until <= start) tiles_.pop_front();
      tiles_.push_back({psram_bytes, start + t.cycles, held});
      using_ = std::prev(tiles_.end());
    }
    Count occupied = program_.pinned_bytes.value;
    for (const PsramTile& tile : tiles_) occupied += tile.bytes;
    peak_ = std::max(peak_, occupied);
    count_.weight_bytes += t.bytes;
    return channel_ = start + t.cycles;
  }

  /// Frees the oldest tiles until `bytes` fit; one still held goes to the back. Returns when the space is there.
  Count make_room(Count bytes) {
    Count time = 0;
    while (true) {
      Count occupied = bytes;
      for (const PsramTile& tile : tiles_) occupied += tile.bytes;
      if (occupied <= room_) return time;
      if (tiles_.front().held) {
        tiles_.splice(tiles_.end(), tiles_, tiles_.begin());
        continue;
      }
      time = std::max(time, tiles_.front().used_until);
      tiles_.pop_front();
    }
  }

  Count load(Count bytes, Buffers& buffers) {
    const Transfer t = transfer(bytes, copies_);
    const Count space = buffers.free_for_next(tile_buffers(), begin_, now_);
    channel_ = std::max(channel_, space) + t.cycles;
    count_.activation_in_bytes += t.bytes;
    return channel_;
  }

  void store() {
    if (leaving_ == 0) return;
    const Transfer t = transfer(leaving_, copies_);
    channel_ = std::max(channel_, now_) + t.cycles;
    count_.activation_out_bytes += t.bytes;
    left_.push_back(channel_);
    leaving_ = 0;
  }

  std::size_t tile_buffers() const { return m_.tile_buffering == Buffering::double_buffer ? 2 : 1; }

  bool side_by_side() const { return m_.operator_dsram == OperatorDsram::per_operator; }

  /// Words come in behind those of older instructions, which stay until they have retired. Returns when they are
  /// there.
  Count fetch_words(Count bytes) {
    Count start = channel_, occupied = bytes;
    for (const PsramTile& words : imem_) occupied += words.bytes;
    while (occupied > m_.imem_bytes) {
      start = std::max(start, imem_.front().used_until);
      occupied -= imem_.front().bytes;
      imem_.pop_front();
    }
    const Transfer t = transfer(bytes, 1);
    imem_.push_back({bytes, 0});
    count_.program_bytes += t.bytes;
    return channel_ = start + t.cycles;
  }

  void count_beats(const Needs& needs) {
    ++count_.tile_operations;
    count_.compute_cycles += needs.compute;
    count_.dsram_read_beats += needs.dsram_read;
    for (const auto& [pair, beats] : needs.other_pairs) count_.dsram_read_beats += beats;
    count_.dsram_write_beats += needs.dsram_write;
    count_.stackram_read_beats += needs.stackram_read;
    count_.stackram_write_beats += needs.stackram_write;
    count_.psram_read_beats += needs.psram_read;
  }

  Count overhead(const Operation& o) const {
    const bool hosted = m_.sequencer == Sequencer::host;
    Count cycles = 0;
    for (Count i = 0; i < o.commands; ++i) cycles += m_.dispatch_cycles + (hosted ? m_.host_command_cycles : 0);
    if (o.on_host && !hosted) cycles += m_.host_command_cycles;
    return m_.sequencer == Sequencer::distributed ? std::max<Count>(0, cycles - last_duration_) : cycles;
  }

  /// Issued when its sequencer turns to it and its words are there; then it waits for what is in its way.
  void run_beside(std::size_t index, bool cold) {
    const Instruction& instruction = program_.instructions[index];
    const auto number = static_cast<std::size_t>(instruction.instruction_class);
    const InstructionClass& c = program_.classes[number];
    const Count turn = board_.turn(c), words = streamed_ ? words_[index] : 0;
    InstructionCounts before;
    count_ = {};
    const Count issued = words > 0 ? std::max(turn, fetch_words(words)) : turn;
    before.stall_program = issued - turn;
    before.program_bytes = count_.program_bytes;
    dispatched_ = board_.issue(c, issued);
    now_ = board_.wait(issued, uses_[number], instruction.after);
    run(index, cold);
    count_.stall_program = before.stall_program;
    count_.program_bytes = before.program_bytes;
    count_.waiting = count_.start - issued;
    board_.put(uses_[number], now_);
  }

  void run(std::size_t index, bool cold) {
    const auto number = static_cast<std::size_t>(program_.instructions[index].instruction_class);
    const InstructionClass& c = program_.classes[number];
    count_ = {};
    begin_ = count_.start = now_;
    copies_ = cores_ * c.spread_cores;
    if (side_by_side()) {
      now_ = std::max(now_, dispatched_) + sent_cycles(c, m_);
    } else {
      if (streamed_) {
        const Count there = fetch_words(words_[index]);
        count_.stall_program = std::max<Count>(0, there - now_);
        now_ += count_.stall_program;
      }
      now_ += overhead(operations_[number].front()) + sent_cycles(c, m_);
    }
    a_ = b_ = other_ = partial_ = {};
    left_.clear();
    using_ = tiles_.end();
    tile_before_until_ = begin_;
    Count weights_there = 0;
    Tile held = tiles_.end();
    if (const Count bytes = held_psram_bytes(c, m_); bytes > 0) {
      weights_there = fetch(bytes, c, cold, true);
      held = using_;
      using_ = tiles_.end();
    }
    Count a_tile = no_tile, b_tile = no_tile, weight_tile = no_tile;
    fetched_.clear();
    const bool apart = m_.granularity != Granularity::per_operator;  // each operation an instruction, or more
    Count issued = begin_;                                           // the last operation
    bool first = true;
    for (const Operation& o : operations_[number]) {
      if (o.weight_tile != weight_tile && !(c.pinned && fetched_.contains(o.weight_tile)))
        weights_there = std::max(weights_there, fetch(o.weight_psram_bytes, c, cold, false));
      Count activations_there = 0;
      if (o.a_tile != a_tile && o.a_bytes > 0) activations_there = load(o.a_bytes, a_);
      if (o.b_tile != b_tile) activations_there = load(o.b_bytes, b_);
      if (o.other_bytes > 0) activations_there = load(o.other_bytes, other_);
      if (o.partial_bytes > 0 && tile_buffers() == 2) activations_there = load(o.partial_bytes, partial_);
      if (o.weight_tile != weight_tile) fetched_.insert(o.weight_tile);
      a_tile = o.a_tile, b_tile = o.b_tile, weight_tile = o.weight_tile;
      store();
      if (o.partial_bytes > 0 && tile_buffers() == 1) activations_there = load(o.partial_bytes, partial_);
      if (o.out_bytes > 0 && left_.size() >= tile_buffers())
        activations_there = std::max(activations_there, left_[left_.size() - tile_buffers()]);
      Count earliest = now_;
      if (apart && !first) {
        const Count retired = now_ + m_.pipeline_stages;
        last_duration_ = retired - issued;
        issued = retired;
        earliest = retired + overhead(o);
      }
      first = false;
      const Count start = std::max({earliest, weights_there, activations_there});
      (weights_there >= activations_there ? count_.stall_weights : count_.stall_activations) += start - earliest;
      now_ = start + o.cycles();
      count_beats(o.needs);
      if (using_ != tiles_.end()) using_->used_until = tile_before_until_ = now_;
      leaving_ = o.out_bytes;
    }
    store();
    if (held != tiles_.end()) {
      held->held = false;
      held->used_until = now_;
    }
    if (!left_.empty() && left_.back() > now_) {
      count_.stall_activations += left_.back() - now_;
      now_ = left_.back();
    }
    now_ += returned_cycles(c, m_) + m_.pipeline_stages;
    if (streamed_) imem_.back().used_until = now_;
    last_duration_ = now_ - (apart ? issued : begin_);
    count_.end = now_;
  }

  const Program& program_;
  const Machine& m_;
  const Count cores_;
  const bool wired_;
  Board board_;
  std::vector<Uses> uses_;  // by class
  Count dispatched_ = 0;    // the instruction now beginning, where others run beside it
  Count numerator_ = 1, denominator_ = 1000000, room_ = 0, copies_ = 1;
  std::vector<std::vector<Operation>> operations_;
  Count now_ = 0, channel_ = 0, begin_ = 0, last_duration_ = 0, peak_ = 0, leaving_ = 0, tile_before_until_ = 0;
  std::vector<Count> words_;  // bytes, by instruction
  bool streamed_ = false;
  std::list<PsramTile> tiles_, imem_;  // oldest first
  Tile using_ = tiles_.end();
  Buffers a_, b_, other_, partial_;
  std::vector<Count> left_;  // when each of this instruction's results had left
  std::set<Count> fetched_;  // weight tiles that this instruction has fetched
  InstructionCounts count_;
};

}  // namespace

StepCounts step(const Program& program, const Machine& machine, Decimal share, std::int64_t cores,
                std::size_t passes, Role role) {
  Clock clock(program, machine, share, cores, role);
  StepCounts run;
  for (std::size_t i = 0; i < passes; ++i) run.passes.push_back(clock.pass(i == 0));
  run.psram_peak_bytes = clock.peak();
  return run;
}

}  // namespace sdip
