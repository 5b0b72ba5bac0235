// Ports: what goes through them, a beat at a time. Internal to its room.
#pragma once

#include <algorithm>

#include "core/base/units.h"
#include "core/exec/clock/operations.h"

namespace sdip::exec {

inline std::vector<Count> pieces(Count size, Count piece) {
  std::vector<Count> sizes;
  while (size > 0) {
    sizes.push_back(std::min(size, piece));
    size -= sizes.back();
  }
  return sizes;
}

struct Ports {
  Ports(const Machine& m, Role role, Family its)
      : own(its),
        unified(is_unified(m)),
        wired(weights_wired(m, role)),
        dsram(m.dsram_port_bits),
        stackram(psram_holds_stacks(m) ? m.psram_port_bits : m.stackram_port_bits),
        psram(m.psram_port_bits) {
    if (m.dies == 1) return;
    psram_pace = 0;
    for (Count left = psram; left > 0; left -= m.die_link_bits) ++psram_pace;
  }
  Family own;  // whose pair results lie in
  bool unified, wired;
  Count dsram, stackram, psram;
  Count psram_pace = 1;  // cycles until the links to other dies have taken a beat

  /// A port, and where its beats are counted; the beats of what lies in none are thrown away.
  struct Access {
    Count* beats;
    Count bits;
    Count pace = 1;  // cycles of a beat
    void move(Count elements, Count bits_each) const { *beats += pace * ceil_div(elements * bits_each, bits); }
  };
  Access reading(Place place, DsramPair pair, Needs& needs, Count& nowhere) const {
    if (place == Place::psram) return {wired ? &nowhere : &needs[Port::psram_read], psram, psram_pace};
    if (place == Place::stackram && !unified) return {&needs[Port::stackram_read], stackram};
    if (place == Place::dsram && pair.value_or(own) != own) return {&needs[other_pair(*pair)], dsram};
    const bool through_dsram = place == Place::dsram || place == Place::dram || place == Place::stackram;
    return {through_dsram ? &needs[Port::dsram_read] : &nowhere, dsram};
  }
  void read(Place place, DsramPair pair, Count elements, Count bits, Needs& needs) const {
    Count nowhere = 0;
    reading(place, pair, needs, nowhere).move(elements, bits);
  }
  Access writing(bool to_stack, Needs& needs) const {
    if (to_stack && !unified) return {&needs[Port::stackram_write], stackram};
    return {&needs[Port::dsram_write], dsram};
  }
  void write(bool to_stack, Count elements, Count bits, Needs& needs) const {
    writing(to_stack, needs).move(elements, bits);
  }
};

/// Where PSRAM holds the stacks: every core in lockstep moves its own over the one port, one after the other.
inline void put_stack_in_psram(const Machine& m, Needs& needs) {
  if (!psram_holds_stacks(m)) return;
  const Count own = needs[Port::stackram_read] + needs[Port::stackram_write];
  needs[Port::stackram_read] = needs[Port::stackram_write] = 0;
  needs.psram_stack += own;
  for (Count core = 0; core < m.cores; ++core) needs[Port::psram_read] += own;
}

/// A result fold goes to DSRAM, also when it leaves for DRAM, and to STACKRAM when pushed.
inline void write_result(const InstructionClass& c, const Ports& ports, Count elements, Count bits, Needs& needs) {
  if (c.to_dsram || c.to_dram) ports.write(false, elements, bits, needs);
  if (c.push) ports.write(true, elements, bits, needs);
}

/// Writes an operation's results, made in these folds. Turned, they go run by run, and no faster than they are
/// made.
inline void write_results(const InstructionClass& c, const Ports& ports, const std::vector<Count>& folds,
                          Count bits, Needs& needs) {
  Needs made, turned;
  Count left = 0;
  for (const Count fold : folds) {
    write_result(c, ports, fold, bits, made);
    left += fold;
  }
  for (; c.turned_run > 0 && left > 0; left -= c.turned_run)
    write_result(c, ports, std::min(left, c.turned_run), bits, turned);
  for (std::size_t port = 0; port < port_count; ++port)
    needs.beats[port] += std::max(made.beats[port], turned.beats[port]);
}

}  // namespace sdip::exec
