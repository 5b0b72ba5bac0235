// Small applications drawn from a seed: stages of random programs, on a machine that has room for them.
#pragma once

#include <vector>

#include "core/machine/machine.h"
#include "core/program/program.h"
#include "tests/core/cost/random_program.h"

namespace sdip {

/// A machine as counted_frame() wants it: bursts of a byte, weights neither compressed nor pinned.
Machine random_frame_machine(Dice& dice);

/// An application of stages of these roles, of networks several in series; without strips. Sets PSRAM and IMEM of
/// `machine`.
Application random_application(Dice& dice, const std::vector<Role>& roles, Machine& machine);

/// Gives it one of the three memory hierarchies by `n`, private memories where another cannot be.
void set_hierarchy(std::uint64_t n, Machine& machine);

/// Puts the cores on up to five dies by `n`, where they can be.
void set_dies(std::uint64_t n, Machine& machine);

/// Makes encoder and decoder circuits of every third `n`, each kind of lanes their own or as the cores have them.
void set_circuits(std::uint64_t n, Machine& machine);

/// Rows of text encoder, encoder and decoder by a number: some stages none, of others most; and sizes of operators'
/// DSRAMs.
void set_own_rows(std::uint64_t n, Machine& machine);

/// The roles of the `n`-th of a few kinds of application, repeated.
std::vector<Role> application_roles(std::uint64_t n);
inline constexpr std::uint64_t application_kinds = 9;

}  // namespace sdip
