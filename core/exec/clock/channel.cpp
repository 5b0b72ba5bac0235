// The clock's transfers, one after the other through the stage's share of DRAM.
#include <algorithm>

#include "core/base/units.h"
#include "core/exec/clock/clock.h"

namespace sdip::exec {

Count Clock::Buffers::free_for_next(std::size_t buffers, Count instruction_begin, Count now) {
  before.push_back(now);  // until then the tile now loaded was used
  return before.size() <= buffers ? instruction_begin : before[before.size() - buffers];
}

Clock::Transfer Clock::transfer(Count bytes, Count copies) const {
  Count bursts = 0;
  for (Count left = bytes; left > 0; left -= burst_bytes_) ++bursts;
  const Count whole = bursts * burst_bytes_ * copies;
  const Int128 scaled = whole * cycle_shares_;
  auto cycles = static_cast<Count>(scaled / byte_shares_);
  if (cycles * byte_shares_ < scaled) ++cycles;
  return {whole, cycles};
}

/// Bytes of all cores. On several dies this takes as long as the fullest die needs for its own over its share of
/// the channels.
Clock::Transfer Clock::activation_transfer(Count bytes) const {
  Transfer t = transfer(bytes, copies_);
  if (dies_ > 1) t.cycles = transfer(bytes, copies_ / cores_ * fullest_cores_ * dies_).cycles;
  return t;
}

/// The channel is taken up to its end; a turn comes first.
void Clock::move(Count start, Count cycles, bool to_chip) {
  channel_ = start + cycles;
  const Heading heading = to_chip ? Heading::to_chip : Heading::to_dram;
  if (heading_ != Heading::none && heading_ != heading) {
    channel_ += turn_cycles_;
    ++pass_.turns;
    ++count_.turns;
  }
  heading_ = heading;
}

/// Weights for each of so many cores, one behind the other.
Clock::Transfer Clock::weight_transfer(Count dram_bytes, Count psram_bytes, Count cores) const {
  Transfer t = transfer(dram_bytes, cores);
  psram_bytes *= cores;
  if (m_.weight_compression.hundredths > 100)
    t.cycles = std::max(t.cycles, ceil_div(psram_bytes, m_.decompressor_bytes_per_cycle));
  if (dies_ > 1)  // gathered from all dies
    t.cycles = std::max(t.cycles, ceil_div(8 * t.bytes, m_.die_link_bits));
  return t;
}

/// Fetches a tile of weights of each core that needs one of its own, or those that are held. Returns when all are
/// there.
Count Clock::fetch(Count a_core, Count tile, bool held) {
  using_ = psram_.none();
  const InstructionClass& c = *class_;
  if (wired_ || (c.pinned && passes_ > 0) || a_core == 0) return 0;
  const bool vectors = held && c.compound != Compound::strips;  // stand as they are
  const Count cores = held ? 1 : c.spread_cores, psram_bytes = a_core * cores;
  const Transfer t = weight_transfer(vectors ? a_core : packed_bytes(a_core, m_), a_core, cores);
  Count start = channel_;
  if (c.pinned) {
    // Instructions share what stands at one place in `.weight`; without a `.weight` those of a class do.
    const bool stored = instruction_->weight_bytes.value > 0;
    const std::int64_t reader = instruction_->instruction_class;
    psram_.pin({stored ? no_tile : reader, instruction_->weight_offset.value}, reader, tile, psram_bytes);
  } else {
    start = std::max(start, psram_.make_room(psram_bytes));
    if (m_.weight_buffering == Buffering::single_buffer) start = std::max(start, tile_before_until_);
    using_ = psram_.put(psram_bytes, start, start + t.cycles, held);
  }
  count_.weight_bytes += t.bytes;
  move(start, t.cycles, true);
  return channel_ + latency_cycles_;
}

/// Words come in behind those of older instructions, which stay until they have retired. Returns when they are
/// there.
Count Clock::fetch_words(Count bytes) {
  Count start = channel_;
  while (!imem_.empty() && (imem_bytes_ + bytes > m_.imem_bytes || imem_.front().used_until <= start)) {
    start = std::max(start, imem_.front().used_until);
    imem_bytes_ -= imem_.front().bytes;
    imem_.pop_front();
  }
  const Transfer t = transfer(bytes, 1);
  imem_.push_back({bytes, 0});
  imem_bytes_ += bytes;
  imem_peak_bytes_ = std::max(imem_peak_bytes_, imem_bytes_);
  count_.program_bytes += t.bytes;
  move(start, t.cycles, true);
  return channel_ + latency_cycles_;
}

Count Clock::load(Count bytes, Buffers& buffers) {
  const Transfer t = activation_transfer(bytes);
  const Count space = buffers.free_for_next(tile_buffers(), begin_, now_);
  move(std::max(channel_, space), t.cycles, true);
  count_.activation_in_bytes += t.bytes;
  return channel_ + latency_cycles_;
}

void Clock::store() {
  if (leaving_ == 0) return;
  const Transfer t = activation_transfer(leaving_);
  move(std::max(channel_, now_), t.cycles, false);
  count_.activation_out_bytes += t.bytes;
  if (leaving_partials_) pass_.partial_out_bytes += t.bytes;
  left_.push_back(channel_);
  leaving_ = 0;
}

}  // namespace sdip::exec
