// Rows of stages.
#include "core/machine/stage_rows.h"

#include <algorithm>

namespace sdip {
namespace {

constexpr std::size_t rows_of_a_stage = 19;

#define ROW(stage, name) \
  { &Machine::stage##_##name, &Machine::name }
#define ROWS(stage)                                                                                              \
  {                                                                                                              \
    {                                                                                                            \
      ROW(stage, dsram_bytes), ROW(stage, stackram_bytes), ROW(stage, psram_bytes), ROW(stage, dsram_port_bits), \
          ROW(stage, stackram_port_bits), ROW(stage, psram_port_bits), ROW(stage, conv_lanes_in),                \
          ROW(stage, conv_lanes_out), ROW(stage, conv_lanes_pixel), ROW(stage, linear_lanes_m),                  \
          ROW(stage, linear_lanes_n), ROW(stage, linear_lanes_k), ROW(stage, matmul_lanes_m),                    \
          ROW(stage, matmul_lanes_n), ROW(stage, matmul_lanes_k), ROW(stage, vector_lanes),                      \
          ROW(stage, softmax_lanes), ROW(stage, norm_lanes), ROW(stage, transpose_lanes)                         \
    }                                                                                                            \
  }
constexpr std::array<StageRow, rows_of_a_stage> rows[own_stages.size()] = {ROWS(text_encoder), ROWS(vae_encoder),
                                                                           ROWS(vae_decoder)};
#undef ROWS
#undef ROW

}  // namespace

std::string_view own_stage_text(OwnStage stage) {
  constexpr std::string_view names[own_stages.size()] = {"text_encoder", "vae_encoder", "vae_decoder"};
  return names[at(stage)];
}

std::span<const StageRow> stage_rows(OwnStage stage) { return rows[at(stage)]; }

bool says_rows(const Machine& machine, OwnStage stage) {
  return std::ranges::any_of(stage_rows(stage), [&](const StageRow& row) { return machine.*row.own != 0; });
}

bool says_row(const Machine& machine, OwnStage stage, std::int64_t Machine::*cores) {
  return std::ranges::any_of(stage_rows(stage),
                             [&](const StageRow& row) { return row.cores == cores && machine.*row.own != 0; });
}

Machine with_rows_of(Machine machine, OwnStage stage) {
  for (const StageRow& row : stage_rows(stage))
    if (machine.*row.own != 0) machine.*row.cores = machine.*row.own;
  if (!says_row(machine, stage, &Machine::dsram_bytes)) return machine;
  machine.conv2d_dsram_bytes = machine.linear_dsram_bytes = machine.matmul_dsram_bytes = 0;
  machine.vector_dsram_bytes = machine.softmax_dsram_bytes = machine.norm_dsram_bytes = 0;
  machine.transpose_dsram_bytes = 0;
  return machine;
}

Machine without_stage_rows(Machine machine) {
  for (const OwnStage stage : own_stages)
    for (const StageRow& row : stage_rows(stage)) machine.*row.own = 0;
  return machine;
}

}  // namespace sdip
