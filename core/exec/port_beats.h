// Ports: what goes through them, a beat at a time.
#pragma once

#include <algorithm>

#include "core/exec/operations.h"

namespace sdip::exec {

using Count = std::int64_t;

inline Count up(Count a, Count b) { return (a + b - 1) / b; }

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
        unified(m.activation_memory == ActivationMemory::unified),
        wired(weights_wired(m, role)),
        dsram(m.dsram_port_bits),
        stackram(m.stackram_port_bits),
        psram(m.psram_port_bits) {}
  Family own;  // whose pair results lie in
  bool unified, wired;
  Count dsram, stackram, psram;

  void read(Place place, DsramPair pair, Count elements, Count bits, Needs& needs) const {
    if (place == Place::psram) {
      if (!wired) needs.psram_read += up(elements * bits, psram);
    } else if (place == Place::stackram && !unified) {
      needs.stackram_read += up(elements * bits, stackram);
    } else if (place == Place::dsram && pair.value_or(own) != own) {
      needs.other_pairs[*pair] += up(elements * bits, dsram);
    } else if (place == Place::dsram || place == Place::dram || place == Place::stackram) {
      needs.dsram_read += up(elements * bits, dsram);
    }
  }
  void write(bool to_stack, Count elements, Count bits, Needs& needs) const {
    if (to_stack && !unified)
      needs.stackram_write += up(elements * bits, stackram);
    else
      needs.dsram_write += up(elements * bits, dsram);
  }
};

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
  needs.dsram_write += std::max(made.dsram_write, turned.dsram_write);
  needs.stackram_write += std::max(made.stackram_write, turned.stackram_write);
}

}  // namespace sdip::exec
