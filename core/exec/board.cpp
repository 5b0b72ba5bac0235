// The board: section "A DSRAM for each operator", one retirement after the other.
#include "core/exec/board.h"

#include <algorithm>
#include <optional>

namespace sdip::exec {

std::string circuit_name(Family family, const Machine& m) {
  const bool multiplies = family == Family::conv2d || family == Family::linear || family == Family::matmul;
  if (multiplies && m.mac_sharing == MacSharing::shared) return "circuit of all products";
  return "circuit " + std::string(family_text(family));
}

std::string circuit_name(const InstructionClass& c, const Machine& m) {
  return host_computes(c, m) ? "host" : circuit_name(c.work.family, m);
}

Uses uses_of(const InstructionClass& c, const std::vector<Operation>& operations, const Machine& m) {
  Uses uses{circuit_name(c, m)};
  const bool host = host_computes(c, m);  // it does what is fused behind as well
  const auto also = [&](std::int64_t passes, Family family) {
    if (passes > 0 && !host) uses.insert(circuit_name(family, m));
  };
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
  const std::string own(family_text(c.work.family));
  for (const Operation& o : operations) {
    if (o.needs.dsram_read > 0) uses.insert("read " + own);
    if (o.needs.dsram_write > 0) uses.insert("write " + own);
    for (const auto& [pair, beats] : o.needs.other_pairs)
      if (beats > 0) uses.insert("read " + std::string(family_text(pair)));
    if (o.needs.stackram_read > 0) uses.insert("pop");
    if (o.needs.stackram_write > 0) uses.insert("push");
    if (o.needs.psram_read > 0) uses.insert("weights");
  }
  if (c.spread_cores > 1) uses.insert("link");
  return uses;
}

std::string Board::sequencer_of(const InstructionClass& c) const {
  return m_.sequencer == Sequencer::distributed ? circuit_name(c, m_) : "the sequencer";
}

std::int64_t Board::turn(const InstructionClass& c) const {
  const auto sequencer = busy_until_.find(sequencer_of(c));
  return sequencer == busy_until_.end() ? issued_ : std::max(issued_, sequencer->second);
}

std::int64_t Board::issue(const InstructionClass& c, std::int64_t time) {
  issued_ = time;
  const bool command = m_.sequencer == Sequencer::host || host_computes(c, m_);
  return busy_until_[sequencer_of(c)] = time + m_.dispatch_cycles + (command ? m_.host_command_cycles : 0);
}

std::int64_t Board::wait(std::int64_t time, const Uses& uses, const std::vector<std::int32_t>& after) const {
  while (true) {
    std::optional<std::int64_t> next;  // retirement of one in the way
    for (std::size_t i = 0; i < running_.size(); ++i) {
      const Running& other = running_[i];
      if (other.end <= time) continue;
      const bool shares = std::ranges::any_of(uses, [&](const std::string& u) { return other.uses.contains(u); });
      if (shares || std::ranges::count(after, static_cast<std::int32_t>(i)) > 0)
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
