// Random pairs of a program and a machine, with what the executor counts on them: what an estimate must say.
#pragma once

#include <functional>
#include <vector>

#include "core/exec/clock/operations.h"
#include "core/exec/clock/step.h"
#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip::mutants {

/// What an instruction class's tile operations need in sum, counted one by one.
struct ClassCounts {
  exec::Needs needs;
  std::int64_t operations = 0, cycles = 0, lane_operations = 0, commands = 0;
  bool counts_lanes = false;   // what lanes do in row-wise work and compounds is not counted
  bool counts_cycles = false;  // where transfers have ports of their own: elsewhere they may last longer
};

struct Pair {
  Program program;
  Machine machine;
  Decimal share{100};
  std::int64_t cores = 1;
  Role role = Role::network;
  std::vector<ClassCounts> classes;
  StepCounts counts;
};

/// Sample `number` of what is counted and estimated: a pair, or, one in six, an application on a machine, whose
/// whole report must follow from the counts; one in three is of machines beside each other, and of what each was
/// worth alone. What is returned says whether the estimate does now.
std::function<bool()> drawn_sample(std::uint64_t number);

/// Pair number `seed`, with the counts of as many passes as an estimate simulates, and two more.
Pair drawn_pair(std::uint64_t seed);

/// True when the estimate of core/cost differs from the counts in nothing.
bool agrees(const Pair& pair);

}  // namespace sdip::mutants
