// The board: section "A DSRAM for each operator", one retirement after the other.
#include "core/exec/clock/board.h"

#include <algorithm>
#include <optional>

namespace sdip::exec {
namespace {

/// Numbers of what can be used: circuits of the families, others, ports of the families' pairs, other ports.
enum Used : std::size_t {
  circuits = 0,
  all_products = pair_families,
  host,
  reads,
  writes = reads + pair_families,
  pop = writes + pair_families,
  push,
  weights,
  link,
  sequencer  // of all circuits
};
static_assert(sequencer < 32);

std::size_t of(Family family) { return at(family); }

/// The circuit of a family.
std::size_t circuit(Family family, const Machine& m) {
  const bool multiplies = family == Family::conv2d || family == Family::linear || family == Family::matmul;
  return multiplies && m.mac_sharing == MacSharing::shared ? all_products : circuits + of(family);
}

/// The one that runs a class: its family's, or the host.
std::size_t circuit(const InstructionClass& c, const Machine& m) {
  return host_computes(c, m) ? host : circuit(c.work.family, m);
}

}  // namespace

Uses uses_of(const InstructionClass& c, const std::vector<Operation>& operations, const Machine& m) {
  Uses uses = 0;
  const auto use = [&](std::size_t what, bool used = true) { uses |= used ? Uses{1} << what : 0; };
  const bool hosted = host_computes(c, m);  // it does what is fused behind as well
  const auto also = [&](std::int64_t passes, Family family) { use(circuit(family, m), passes > 0 && !hosted); };
  use(circuit(c, m));
  also(c.fused_passes, Family::vector);
  also(c.prologue_passes, Family::norm);
  also(c.statistics_passes, Family::norm);
  if (c.compound == Compound::attention) {
    also(1, Family::softmax);
    also(1, c.parts[2].work.family);
  }
  for (const Part& part : c.parts) {
    if (c.compound != Compound::strips) continue;
    also(1, part.work.family);
    also(part.fused_passes, Family::vector);
    also(part.prologue_passes, Family::norm);
    also(part.statistics_passes, Family::norm);
  }
  for (const Operation& o : operations) {
    use(reads + of(c.work.family), o.needs[Port::dsram_read] > 0);
    use(writes + of(c.work.family), o.needs[Port::dsram_write] > 0);
    for (std::size_t pair = 0; pair < pair_families; ++pair)
      use(reads + pair, o.needs[other_pair(static_cast<Family>(pair))] > 0);
    use(pop, o.needs[Port::stackram_read] > 0);
    use(push, o.needs[Port::stackram_write] > 0);
    use(weights, o.needs[Port::psram_read] > 0);
  }
  use(link, c.spread_cores > 1);
  return uses;
}

std::size_t Board::sequencer_of(const InstructionClass& c) const {
  return m_.sequencer == Sequencer::distributed ? circuit(c, m_) : sequencer;
}

std::int64_t Board::turn(const InstructionClass& c) const {
  return std::max(issued_, busy_until_[sequencer_of(c)]);
}

std::int64_t Board::issue(const InstructionClass& c, std::int64_t time) {
  issued_ = time;
  const bool command = m_.sequencer == Sequencer::host || host_computes(c, m_);
  return busy_until_[sequencer_of(c)] = time + m_.dispatch_cycles + (command ? m_.host_command_cycles : 0);
}

std::int64_t Board::wait(std::int64_t time, Uses uses, const std::vector<std::int32_t>& after) const {
  while (true) {
    std::optional<std::int64_t> next;  // retirement of one in the way
    for (std::size_t i = 0; i < running_.size(); ++i) {
      const Running& other = running_[i];
      if (other.end <= time) continue;
      if ((uses & other.uses) != 0 || std::ranges::count(after, static_cast<std::int32_t>(i)) > 0)
        next = std::min(next.value_or(other.end), other.end);
    }
    if (!next) return time;
    time = *next;
  }
}

std::int64_t Board::last_end() const {
  std::int64_t last = begin_;
  for (const Running& one : running_) last = std::max(last, one.end);
  return last;
}

}  // namespace sdip::exec
