// The line of a machine: section 5 of the machine, docs/model/frames.md.
#include "core/exec/clock/line.h"

#include <algorithm>

#include "core/base/units.h"

namespace sdip::exec {
namespace {

bool left_out(Role role, const Machine& m) {
  return m.vae_stage == VaeStage::off_chip && (role == Role::encoder || role == Role::decoder);
}

/// Steps that a core does: handed out one after the other to all cores, as evenly as goes.
Count steps_of_a_core(const Machine& m) {
  Count steps = 0;
  for (Count given = 0; given < m.steps; given += m.cores) ++steps;
  return steps;
}

/// Cores that get a step when each takes as many as it can.
Count active_cores(const Machine& m) {
  Count active = 0;
  for (Count given = 0; given < m.steps; given += steps_of_a_core(m)) ++active;
  return active;
}

/// Between dies at most as many bits a cycle as their link has, and longer on the way.
Count cycles_over_link(const Program& program, const Machine& m, bool between_dies) {
  const Count bits = between_dies ? std::min(m.link_bits, m.die_link_bits) : m.link_bits;
  Count cycles = between_dies ? m.die_link_cycles : 0;
  for (Count left = (program.latent_bytes + program.context_bytes).value * 8; left > 0; left -= bits) ++cycles;
  return cycles;
}

bool crossed(const Machine& m) { return m.memory_hierarchy == MemoryHierarchy::crossbar; }

bool frames_side_by_side(const CompiledStage& stage, const Machine& m) {
  return stage.role == Role::network && stage.part.count == 1 && m.branches == Branches::serial;
}

}  // namespace

Decimal share_of(Role role, const Machine& m) {
  const Decimal all{100};
  if (role == Role::encoder) return m.encoder_dram_share;
  if (role == Role::decoder) return m.decoder_dram_share;
  if (role != Role::core || m.vae_stage == VaeStage::off_chip) return all;
  Decimal left = all;
  left.hundredths -= m.decoder_dram_share.hundredths;
  if (m.mode == Mode::image_to_image) left.hundredths -= m.encoder_dram_share.hundredths;
  return left;
}

std::int64_t FrameLine::seats() const {
  Count all = 0;
  for (const LineStage& stage : stages) all += stage.seats;
  return all;
}

FrameLine line_of(const Application& application, const Machine& m) {
  FrameLine line;
  line.frames_at_once = m.batch;
  const bool has_frames = std::ranges::any_of(
      application.stages, [](const CompiledStage& stage) { return stage.role != Role::text_encoder; });
  line.prompts_per_frame = m.prompt_per_frame && has_frames;
  for (std::size_t i = 0; i < application.stages.size(); ++i) {
    const CompiledStage& stage = application.stages[i];
    if (left_out(stage.role, m)) continue;
    if (stage.role == Role::text_encoder && has_frames) {
      line.per_prompt.push_back(i);
      continue;
    }
    LineStage seat{i, 1, 1, 0, stage.role != Role::encoder && stage.role != Role::core && stage.part.count == 1};
    if (stage.role == Role::core) {
      seat.seats = crossed(m) ? 1 : active_cores(m);
      seat.passes = crossed(m) ? m.steps : steps_of_a_core(m);
      if (crossed(m)) line.together = m.cores;
    }
    if (stage.role == Role::core || stage.part.count > 1)
      seat.link_cycles = cycles_over_link(stage.program, m, m.dies > 1 && m.cores > 1);
    if (frames_side_by_side(stage, m)) line.frames_at_once *= m.cores;
    line.stages.push_back(seat);
  }
  return line;
}

std::int64_t cores_in_lockstep(const CompiledStage& stage, const Machine& m) {
  if (frames_side_by_side(stage, m)) return m.cores;
  if (stage.role != Role::core) return 1;
  return crossed(m) ? m.cores : active_cores(m);
}

std::unique_ptr<Clock> clock_of(const CompiledStage& stage, const Machine& m, std::int64_t cores) {
  auto clock =
      std::make_unique<Clock>(stage.program, m, share_of(stage.role, m), stage.dram_thousandths, cores, stage.role);
  if (stage.graph) clock->follow(stage);
  return clock;
}

}  // namespace sdip::exec
