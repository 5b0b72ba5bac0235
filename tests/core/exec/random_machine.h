// Random machines whose memories are too small for what they run.
#pragma once

#include <cmath>

#include "core/program/program.h"
#include "tests/core/base/full_run.h"
#include "tests/core/exec/random_graph.h"

namespace sdip {

/// Pairs a test looks at; with SDIP_FULL set (./test --full) ten times as many.
inline std::uint64_t pair_count(std::uint64_t usual) { return full_run() ? 10 * usual : usual; }

/// Memories so small that most networks must be cut, spilled and stacked; every option drawn; fp32 throughout,
/// sums exact (an integer accumulator) or in fp32.
Machine random_machine(Draw& draw);

/// Formats and sparsity. Sums are exact (an accumulator that they do not fill), so that only the formats lose
/// something, and results are equal bits.
void draw_formats(Draw& draw, Machine& machine);

/// The network on the machine, whose DSRAM and PSRAM grow until one tile fits.
Application compiled_on(Machine& machine, const MadeNetwork& network, Role role);

/// The program's instructions in an order in which each comes behind those that it waits for, and behind no others.
std::vector<std::int32_t> random_order(Draw& draw, const Program& program);

/// Any tiles in any order for every nest, any for softmax and norms: what a mapping search might choose, and what
/// none would. The buffers of results lie behind all that the machine has, which grows by them.
void draw_mappings(Draw& draw, CompiledStage& stage, Machine& machine);

/// The network's only node as one instruction: its inputs one behind the other from an address of DRAM on, the
/// result behind them, tile buffers at the start of the writing DSRAM. Floats at an odd address are not read in
/// place.
CompiledStage stage_of_node(const MadeNetwork& network, const Machine& machine, std::int64_t address = 0);

/// Largest difference in units of the last place of fp32 at the reference's largest magnitude.
double ulps_apart(const Tensor& got, const Tensor& want);

}  // namespace sdip
