// Area, wires and leakage of an application on a machine, from docs/model/ alone: written apart from core/cost.
#pragma once

#include <map>
#include <string>

#include "core/program/program.h"

namespace sdip {

/// A row of the technology table.
double counted_row(const std::string& name);

/// Whether the core that a stage runs on has a circuit for that family: of one made for the stage when the
/// executor sees its program use it. The machine is that of the stage.
bool has_circuit(const CompiledStage& stage, Family family, const Machine& machine);

/// docs/model/area.md: mm2 by block.
std::map<std::string, double> counted_area(const Application& application, const Machine& machine);

/// docs/model/energy.md: millimetres that a bit travels for a stage.
struct Wires {
  double broadcast = 0, psram = 0, dsram = 0, stackram = 0;
  double to_a_core = 0;          // from PSRAM, on average
  std::int64_t psram_bytes = 0;  // of the stage's PSRAM
};
Wires counted_wires(const CompiledStage& stage, const Machine& machine);

/// Area or energy ("area", "energy") of a MAC in that format over one that does not split.
double composable_ratio(const Machine& machine, NumberFormat format, const std::string& what);

/// Watts that a chip of that area leaks.
double counted_leakage(const std::map<std::string, double>& area_mm2, const Machine& machine);

/// Diffusion cores, and the encoder's and decoder's where these are on chip.
std::int64_t counted_cores(const Application& application, const Machine& machine);

}  // namespace sdip
