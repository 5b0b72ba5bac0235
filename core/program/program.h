// What SDIP runs: a straight-line program a stage, one instruction an operator, with every mapping chosen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/machine/machine.h"
#include "core/ops/operator.h"
#include "core/program/workload.h"

namespace sdip {

/// Where an operand is read from while an instruction runs.
enum class Source : std::int8_t { none, dsram, stackram, dram, psram, general_register, input };
std::string_view source_text(Source source);

/// Tile sizes and loop order of one instruction. A whole dimension: its full size.
struct Mapping {
  std::int64_t tile_rows = 0;      // output rows of the nest (or data rows) a tile
  std::int64_t tile_channels = 0;  // output channels a tile
  bool weights_outer = true;       // for each channel tile, every row tile; else the other way round
  friend auto operator<=>(const Mapping&, const Mapping&) = default;
};

struct SourceOperand {
  Source source = Source::none;
  std::int32_t value = none;  // of the graph
  Bytes bytes;                // whole operand
  bool pop = false;           // last use of a STACKRAM entry
};

struct Instruction {
  std::string name;  // node it came from
  std::string mnemonic;
  std::int32_t work_class = 0;  // index into Program::classes
  std::vector<SourceOperand> sources;
  std::int32_t destination_value = none;
  Bytes destination_bytes;
  bool to_dsram = true, push = false, to_dram = false;
  std::vector<std::int32_t> fused;                    // mnemonics folded in, as indices into Program::fused_names
  bool pinned = false;                                // weights stay in PSRAM after the first pass
  Bytes weight_bytes;                                 // once through all its weights, as stored in DRAM
  Bytes dsram_read_side, dsram_write_side, stackram;  // occupancy while it runs
};

/// Instructions that cost the same: same work, same mapping, same operand places.
struct WorkClass {
  Work work;
  Mapping mapping;
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<WorkClass> classes;
};

struct CompiledStage {
  Role role = Role::network;
  std::string name;
  Program program;
};

struct Application {
  std::string name;
  std::vector<CompiledStage> stages;
  bool feasible = true;
  std::string reason;
};

/// Programs for every stage of a workload. Depends only on the workload and compile_key(machine). An operand that
/// cannot be placed makes the application infeasible, with the reason; input that cannot be compiled throws Error.
Application compile(const Workload& workload, const Machine& machine);

}  // namespace sdip
