// What a tile operation needs of its circuit and of each SRAM port, as formulas of docs/model/work.md, with
// their numbers filled in. Internal to the cost folder.
//
// Worked example. A linear of 4096 x 320 by 320 x 320, fp16, lanes 16 x 32 x 16, ports of 4096 bit and 8192
// (PSRAM): compute is "ceil(4096/16) x ceil(320/32) x ceil(320/16)", 51,200; operand A "10 x 256 x 20 x ceil(16 x
// 16 x 16/4096)", as many beats.
#pragma once

#include <array>
#include <vector>

#include "core/cost/explain/filled.h"
#include "core/cost/work/circuit.h"
#include "core/program/workload.h"

namespace sdip {

/// A Busy in formulas.
struct FilledBusy {
  Filled compute, dsram_read, dsram_write, stackram_read, stackram_write, psram_read;
  std::array<Filled, pair_families> other_pairs;

  /// Adds `times` of another.
  void add(const FilledBusy& other, std::int64_t times);
  /// Of the DSRAM read port that is busy longest.
  Filled longest_dsram_read() const;
  /// The largest of the needs, each worked out: "max(768, 256)".
  Filled longest_worked_out() const;
};

/// Whether the formulas come to the engine's figures.
bool agrees(const FilledBusy& filled, const Busy& busy);

/// An operation of an instruction that stands for one operator, on the chip. `m` is the machine in the class's
/// formats, `weights` where the stage has its weights.
FilledBusy filled_busy(const InstructionClass& c, const Machine& m, const cost::TilePlan& plan,
                       const TileShape& tile, WeightPlace weights);

/// The steps of an operation on the host, one after the other: operands in, its work, results out.
///
/// Worked example. The softmax of host.h: compute is "ceil(10 x 8/32)", "ceil(10 x 3 x 150/100)", "ceil(10 x
/// 8/32)".
std::vector<FilledBusy> filled_host(const InstructionClass& c, const Machine& m, const cost::TilePlan& plan,
                                    const TileShape& tile, WeightPlace weights);

}  // namespace sdip
