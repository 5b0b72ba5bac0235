// Rows that a stage of the line may have for itself, in place of the cores': its memories, their ports, its lanes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/machine/machine.h"

namespace sdip {

/// The stages that have them; "text_encoder", ... is the group of their rows and stands before their names.
enum class OwnStage { text_encoder, vae_encoder, vae_decoder };
inline constexpr std::array own_stages{OwnStage::text_encoder, OwnStage::vae_encoder, OwnStage::vae_decoder};
std::string_view own_stage_text(OwnStage stage);

/// A row of a stage, and the cores' row in whose place it stands where it is not 0.
struct StageRow {
  std::int64_t Machine::*own;
  std::int64_t Machine::*cores;
};
/// All of a stage: dsram_bytes, stackram_bytes, psram_bytes first, then ports and lanes.
std::span<const StageRow> stage_rows(OwnStage stage);

/// Whether any of a stage's rows is not 0.
bool says_rows(const Machine& machine, OwnStage stage);
/// Whether the one in whose place `cores` stands else is not 0.
bool says_row(const Machine& machine, OwnStage stage, std::int64_t Machine::*cores);

/// The machine with a stage's rows in the place of the cores'. A DSRAM size of the stage's own is that of each of
/// its operators', where these have DSRAMs of their own.
Machine with_rows_of(Machine machine, OwnStage stage);

/// The machine with all rows of stages at 0.
Machine without_stage_rows(Machine machine);

}  // namespace sdip
