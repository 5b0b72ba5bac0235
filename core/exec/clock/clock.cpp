// The clock: one tile operation and one DRAM transfer after the other.
#include "core/exec/clock/clock.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/exec/clock/charges.h"
#include "core/machine/dram.h"

namespace sdip::exec {

Clock::Clock(const Program& program, const Machine& machine, Decimal share, Count thousandths, Count cores,
             Role role, StepOptions options)
    : program_(program),
      m_(machine_of_stage(machine, role, cores)),
      options_(std::move(options)),
      cores_(cores),
      wired_(weights_wired(m_, role)),
      board_(m_),
      psram_(m_.psram_bytes - m_.psram_pinned_bytes),
      using_(psram_.none()) {
  // Each channel moves its bits every transfer; a stage has so many hundred-thousandths of all of them.
  const DramChannels dram = dram_channels(m_);
  Count stage_share = m_.dram_efficiency.hundredths * share.hundredths * thousandths / 100;
  if (stage_share < 1) stage_share = 1;
  byte_shares_ = static_cast<Int128>(dram.rate_mtps) * stage_share * dram.channels * dram.channel_bits;
  cycle_shares_ = static_cast<Int128>(8 * 100000) * m_.core_clock_mhz;
  burst_bytes_ = dram.access_bytes;
  while (latency_cycles_ * 1000 < m_.dram_latency_ns * m_.core_clock_mhz) ++latency_cycles_;
  while (turn_cycles_ * 1000 < m_.dram_turn_ns * m_.core_clock_mhz) ++turn_cycles_;
  if (m_.host_memory) {  // an access of host_bus_bits takes host_access_cycles: bits over 8 x 100 x cycles
    byte_shares_ = static_cast<Int128>(m_.host_bus_bits) * share.hundredths * thousandths;
    cycle_shares_ = static_cast<Int128>(800) * m_.host_access_cycles * 1000;
    latency_cycles_ = turn_cycles_ = 0;
  }
  if (m_.dies > 1) {  // cores are put on the dies in order, as many on each as the fullest must take
    Count on_one = 0;
    while (on_one * machine.dies < machine.cores) ++on_one;
    dies_ = 0;
    for (Count left = machine.cores; left > 0; left -= on_one) ++dies_;
    fullest_cores_ = std::min(cores, on_one);
  }
  for (const InstructionClass& c : program.classes) {
    end_if(options_.stop, "");
    operations_.push_back(expand(c, m_, role));
    uses_.push_back(uses_of(c, operations_.back(), m_));
  }
  Count all = 0;
  for (const Instruction& i : program.instructions) {
    const auto number = at(i.instruction_class);
    all += words_.emplace_back(is_circuit(m_, role) ? 0 : words_bytes(i, operations_[number], m_));
  }
  streamed_ = m_.program_storage == ProgramStorage::streamed && all > m_.imem_bytes;
  if (!streamed_) imem_peak_bytes_ = all;
}

void Clock::follow(const CompiledStage& stage) { rooms_.emplace(stage, m_); }

void Clock::charge(std::span<const InstructionTransfers> moved) const {
  check(moved.size() == program_.instructions.size(), "what each instruction moved");
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const Instruction& instruction = program_.instructions[i];
    const auto number = at(instruction.instruction_class);
    require_charged(operations_[number], program_.classes[number], m_, moved[i], instruction.name);
  }
}

PassCounts Clock::pass() {
  pass_ = {};
  const Count pass_begin = now_;
  board_.clear(now_);
  if (rooms_) rooms_->start_pass();
  for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
    if (rooms_) {
      const Occupancy occupied = rooms_->run(i);
      if (passes_ == 0) occupancy_.push_back(occupied);
    }
    side_by_side() ? run_beside(i) : run(i);
    count_.start -= pass_begin;
    count_.end -= pass_begin;
    pass_.weight_bytes += count_.weight_bytes;
    pass_.activation_in_bytes += count_.activation_in_bytes;
    pass_.activation_out_bytes += count_.activation_out_bytes;
    pass_.program_bytes += count_.program_bytes;
    pass_.instructions.push_back(count_);
    if (options_.progress)
      options_.progress(passes_ * std::ssize(program_.instructions) + static_cast<Count>(i) + 1);
  }
  if (side_by_side()) now_ = board_.last_end();
  ++passes_;
  pass_.cycles = now_ - pass_begin;
  return std::move(pass_);
}

/// Issued when its sequencer turns to it and its words are there; then it waits for what is in its way.
void Clock::run_beside(std::size_t index) {
  const Instruction& instruction = program_.instructions[index];
  const auto number = at(instruction.instruction_class);
  const InstructionClass& c = program_.classes[number];
  const Count turn = board_.turn(c), words = streamed_ ? words_[index] : 0;
  count_ = {};
  const Count issued = words > 0 ? std::max(turn, fetch_words(words)) : turn;
  const Count program_bytes = count_.program_bytes, turns = count_.turns;
  dispatched_ = board_.issue(c, issued);
  now_ = board_.wait(issued, uses_[number], instruction.after);
  run(index);
  count_.stall_program = issued - turn;
  count_.program_bytes = program_bytes;
  count_.turns += turns;
  count_.waiting = count_.start - issued;
  board_.put(uses_[number], now_);
}

void Clock::begin(std::size_t index) {
  instruction_ = &program_.instructions[index];
  const auto number = at(instruction_->instruction_class);
  class_ = &program_.classes[number];
  count_ = {};
  begin_ = count_.start = now_;
  copies_ = cores_ * class_->spread_cores;
  if (side_by_side()) {
    now_ = std::max(now_, dispatched_);
  } else {
    const Operation& first = operations_[number].front();
    const Count dispatched = now_ + overhead(first);
    if (streamed_) {  // dispatch starts with the instruction before, or with this one, but not before its words
      const Count there = fetch_words(words_[index]);
      const bool early = m_.sequencer == Sequencer::distributed;
      const Count starts = std::max(there, early ? now_ - last_duration_ : now_);
      now_ = std::max(now_, starts + command_cycles(first));
      count_.stall_program = now_ - dispatched;
    } else {
      now_ = dispatched;
    }
  }
  now_ += sent_cycles(*class_, m_) + over_dies(operations_[number]);
  a_ = b_ = other_ = partial_ = {};
  left_.clear();
  fetched_.clear();
  before_ = nullptr;
  using_ = psram_.none();
  tile_before_until_ = begin_;
}

void Clock::run(std::size_t index) {
  begin(index);
  const auto& operations = operations_[instruction_->instruction_class];
  if (rooms_) require_buffers(operations);
  Count weights_there = 0;
  Psram::Tile held = psram_.none();
  if (const Count bytes = held_psram_bytes(*class_, m_); bytes > 0) {
    weights_there = fetch(bytes, no_tile, true);
    held = using_;
    using_ = psram_.none();
  }
  operate(operations, weights_there);
  store();
  if (held != psram_.none()) {
    held->held = false;
    held->used_until = now_;
  }
  finish();
}

Count Clock::beats_of(Count bytes, Count port_bits) const { return ceil_div(8 * bytes, port_bits); }

/// Cycles of an operation in its circuit and ports, with the beats that its own transfers take of these.
Count Clock::duration(const Operation& o) {
  if (m_.dma_port == DmaPort::own) return o.cycles();
  dma_[is_unified(m_) ? Port::dsram_read : Port::dsram_write] += beats_of(o.out_bytes, m_.dsram_port_bits);
  count_.dma_read_beats += dma_[Port::dsram_read];
  count_.dma_write_beats += dma_[Port::dsram_write];
  count_.dma_psram_beats += dma_[Port::psram_read];
  Count longest = o.cycles();
  for (std::size_t port = 0; port < port_count; ++port)
    longest = std::max(longest, o.needs.beats[port] + dma_[port]);
  return longest;
}

/// The tiles that an operation needs and the one before it did not; last, what that one leaves.
void Clock::transfer_tiles(const Operation& o, Arrivals& there) {
  dma_ = {};
  const auto lands = [&](Count bytes, bool partials) {
    dma_[is_unified(m_) || partials ? Port::dsram_write : Port::dsram_read] += beats_of(bytes, m_.dsram_port_bits);
  };
  const bool weights_differ = before_ == nullptr ? o.weight_tile != no_tile : o.weight_tile != before_->weight_tile;
  const bool a_differs = before_ == nullptr ? o.a_tile != no_tile : o.a_tile != before_->a_tile;
  const bool b_differs = before_ == nullptr ? o.b_tile != no_tile : o.b_tile != before_->b_tile;
  if (weights_differ && !(class_->pinned && fetched_.contains(o.weight_tile)))
    there.weights = std::max(there.weights, fetch(o.weight_psram_bytes, o.weight_tile, false));
  if (weights_differ && !class_->pinned && !wired_)
    dma_[Port::psram_read] += beats_of(o.weight_psram_bytes * class_->spread_cores, m_.psram_port_bits);
  if (weights_differ && class_->pinned) fetched_.insert(o.weight_tile);
  there.activations = 0;
  if (a_differs) lands(o.a_bytes, false);
  if (b_differs) lands(o.b_bytes, false);
  lands(o.other_bytes, false);
  lands(o.partial_bytes, true);
  if (a_differs && o.a_bytes > 0) there.activations = load(o.a_bytes, a_);
  if (b_differs) there.activations = load(o.b_bytes, b_);
  if (o.other_bytes > 0) there.activations = load(o.other_bytes, other_);
  const auto partials = [&] {
    const Count bytes = count_.activation_in_bytes;
    there.activations = load(o.partial_bytes, partial_);
    pass_.partial_in_bytes += count_.activation_in_bytes - bytes;
  };
  if (o.partial_bytes > 0 && tile_buffers() == 2) partials();
  store();
  if (o.partial_bytes > 0 && tile_buffers() == 1) partials();
  if (o.out_bytes > 0 && left_.size() >= tile_buffers())
    there.activations = std::max(there.activations, left_[left_.size() - tile_buffers()]);
}

void Clock::operate(const std::vector<Operation>& operations, Count weights_there) {
  const bool apart = m_.granularity != Granularity::per_operator;  // each operation an instruction, or more
  issued_ = begin_;
  Arrivals there{weights_there, 0};
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (i % asked_operations == 0) end_if(options_.stop, instruction_->name);
    const Operation& o = operations[i];
    transfer_tiles(o, there);
    Count earliest = now_;
    if (apart && before_ != nullptr) {
      const Count retired = now_ + m_.pipeline_stages;
      last_duration_ = retired - issued_;
      issued_ = retired;
      earliest = retired + overhead(o);
    }
    const Count start = std::max({earliest, there.weights, there.activations});
    (there.weights >= there.activations ? count_.stall_weights : count_.stall_activations) += start - earliest;
    now_ = start + duration(o);
    count_beats(o.needs);
    if (using_ != psram_.none()) using_->used_until = tile_before_until_ = now_;
    leaving_ = o.out_bytes;
    leaving_partials_ = o.leaves_partials;
    before_ = &o;
  }
}

void Clock::finish() {
  if (!left_.empty() && left_.back() > now_) {
    count_.stall_activations += left_.back() - now_;
    now_ = left_.back();
  }
  now_ += returned_cycles(*class_, m_) + m_.pipeline_stages;
  if (streamed_) imem_.back().used_until = now_;
  const bool apart = m_.granularity != Granularity::per_operator;
  last_duration_ = now_ - (apart ? issued_ : begin_);
  count_.end = now_;
}

void Clock::count_beats(const Needs& needs) {
  ++count_.tile_operations;
  count_.compute_cycles += needs.compute;
  count_.dsram_read_beats += needs[Port::dsram_read];
  for (std::size_t port = at(Port::other_pairs); port < port_count; ++port)
    count_.dsram_read_beats += needs.beats[port];
  count_.dsram_write_beats += needs[Port::dsram_write];
  count_.stackram_read_beats += needs[Port::stackram_read];
  count_.stackram_write_beats += needs[Port::stackram_write];
  count_.psram_read_beats += needs[Port::psram_read];
  count_.psram_stack_beats += needs.psram_stack;
  count_.accumulator_writes += needs.accumulator_writes;
  count_.accumulator_reads += needs.accumulator_reads;
  count_.register_writes += needs.register_writes;
}

Count Clock::command_cycles(const Operation& o) const {
  const bool hosted = m_.sequencer == Sequencer::host;
  Count cycles = 0;
  for (Count i = 0; i < o.commands; ++i) cycles += m_.dispatch_cycles + (hosted ? m_.host_command_cycles : 0);
  if (o.on_host && !hosted) cycles += m_.host_command_cycles;
  return cycles;
}

Count Clock::overhead(const Operation& o) const {
  const Count cycles = command_cycles(o);
  return m_.sequencer == Sequencer::distributed ? std::max<Count>(0, cycles - last_duration_) : cycles;
}

/// Weights come from the first die over each link on the way to the last.
Count Clock::over_dies(const std::vector<Operation>& operations) const {
  const bool reads =
      std::ranges::any_of(operations, [](const Operation& o) { return o.needs[Port::psram_read] > 0; });
  Count cycles = 0;
  for (Count die = 1; reads && die < dies_; ++die) cycles += m_.die_link_cycles;
  return cycles;
}

/// The largest tile of each operand, and of results, must fit in the buffers that the program names.
void Clock::require_buffers(const std::vector<Operation>& operations) const {
  Count a = 0, b = 0, other = 0, out = 0;
  for (const Operation& o : operations) {
    a = std::max(a, o.a_bytes);
    b = std::max(b, o.b_bytes);
    other = std::max(other, o.other_bytes);
    if (!class_->to_dsram || o.leaves_partials)
      out = std::max(out, o.out_bytes);  // else it leaves the whole result
    out = std::max(out, o.partial_bytes);
  }
  const auto require = [&](Count bytes, const MemorySpan& span, const char* what) {
    if (bytes > span.bytes.value)
      throw Error("execution_failed", instruction_->name,
                  fmt::format("{} B of {} do not fit in buffers of {} B", bytes, what, span.bytes.value));
  };
  require(a + b + other, instruction_->read_tiles, "operands' tiles");
  require(out, instruction_->write_tiles, "results' tiles");
}

}  // namespace sdip::exec
