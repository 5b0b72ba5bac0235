// How fast programs are made for machines that differ in everything, and published machines evaluated: for `sdip
// bench`. Internal to its room.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.h"

namespace sdip {

/// Machines of a model, drawn at large around a preset's with `changes` ("name=value name=value"), which stay: over
/// the whole space that `sdip best` searches, or over cores, lanes, memories, ports, DRAM, formats, fusion,
/// attention, strips, transposition, sharing, skips and schedule. `costed`: a program is evaluated for its machine
/// as well.
struct RatedMachines {
  std::string_view name, model, preset = default_preset, changes = {};
  bool whole = true, costed = false;
  int threads = 1;
};

/// Compiled as a search compiles them, with what it keeps from machine to machine, and some from scratch as well.
/// `refused` break a rule between rows, on `misfits` a layer finds no place; of those that fit a program is made.
/// `unequal`: of the compared ones whose program differs.
struct MachineRate {
  RatedMachines rated;
  std::int64_t drawn = 0, refused = 0, misfits = 0, fitting = 0, compared = 0, unequal = 0;
  double seconds = 0;                                // until all that are not refused were done
  double fitting_seconds = 0;                        // of those that fit, one thread
  double compared_seconds = 0, scratch_seconds = 0;  // of the compared ones, kept and from scratch
  double per_second() const { return static_cast<double>(misfits + fitting) / seconds; }
  double speedup() const { return scratch_seconds / compared_seconds; }
};

/// Draws until so many are not refused; every `compared_every`-th of these is compiled from scratch, too; 0: none.
MachineRate machine_rate(const RatedMachines& rated, std::int64_t machines, std::int64_t compared_every);

/// How long the slowest device of an archetype takes on a frame of SD 1.5: at first, and with mappings and layouts
/// found, at another clock and another rate of DRAM (a median of several).
struct DeviceRate {
  std::string archetype;
  int devices = 0;
  std::string slowest_first, slowest_again;  // by id
  double first_s = 0, again_s = 0;
};
/// Rates in order of archetypes. The first times hold in a process that has evaluated no device before.
std::vector<DeviceRate> device_rates();

}  // namespace sdip
