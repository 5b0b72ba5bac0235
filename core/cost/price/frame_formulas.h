// Period and latency of a frame and the bounds of a stage (docs/model/frames.md), each formula once: with whole
// numbers it counts, with Filled it is written out. Internal to its room.
#pragma once

#include <optional>
#include <span>

#include "core/cost/price/stage.h"
#include "core/cost/work/fold.h"

namespace sdip {

/// At full use of the arrays that the MACs of each family go to, each row of a product in memory once.
template <class Number>
Number bound_cycles(const WorkByFamily& work, const Machine& m) {
  Array<Number, 3> cycles{};
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul}) {
    const ArrayLanes lanes = array_lanes(family, m);
    cycles[family] = ceiling(Number(work[family].mac_cycles), lanes.rows * lanes.channels * lanes.sum) +
                     Number(work[family].memory_cycles);
  }
  if (has_pairs(m) && m.mac_sharing == MacSharing::separate) return largest(std::span<const Number>(cycles));
  return cycles[0] + cycles[1] + cycles[2];
}

/// The least that any schedule moves through DRAM in a steady pass.
template <class Number>
Number bound_dram_bytes(const CompiledStage& stage, std::int64_t active_cores, const Machine& m) {
  const Program& program = stage.program;
  const std::int64_t psram = (*StageMachine(m, stage.role)).psram_bytes;
  const std::int64_t distinct = program.distinct_weight_bytes.value;
  Number crossing = Number(active_cores) * (Number(program.input_bytes.value) + Number(program.output_bytes.value));
  if (weights_in_place(m, stage.role) || distinct <= psram) return crossing;
  return Number(distinct) - Number(psram) + crossing;
}

/// Calls `add` with the place of each stage that a frame passes through, in an order such that a text encoder made
/// per frame lengthens the cores' own time, not the longest stage's.
template <class Stages, class RoleOf, class Add>
void in_turn(const Stages& stages, const Machine& m, RoleOf role_of, Add add) {
  const auto turn_of = [](Role role) {
    return role == Role::core || role == Role::network ? 0 : role == Role::text_encoder ? 1 : 2;
  };
  for (int turn = 0; turn < 3; ++turn)
    for (std::size_t i = 0; i < stages.size(); ++i)
      if (const Role role = role_of(stages[i]); turn_of(role) == turn && on_chip(role, m)) add(i);
}

/// Cycles of a stage: of all passes of a frame alone, of a steady pass, and of what goes on with a frame.
template <class Number>
struct StageCycles {
  const CompiledStage* stage;
  FrameSchedule schedule;
  Number alone, steady, link;
};

/// Cycles of a frame alone, and between frames of a saturated stream. Stages are added in turn, then it is ended.
template <class Number>
struct FrameCycles {
  Number alone{}, drain{};
  std::int64_t waits = 0;
  std::int64_t frames = 1, together = 1;  // that a period brings; that the cores take in at once
  std::size_t pace = 0;                   // the stage that sets the period
  std::optional<std::size_t> main;        // the diffusion step, or the network
  FewOf<Number, 4> longest_of;            // the period is

  Number period() const { return largest(std::span<const Number>(longest_of.data(), longest_of.size())); }

  void add(const StageCycles<Number>& s, std::size_t number, const Machine& m) {
    const Role role = s.stage->role;
    alone += s.alone;
    if (role == Role::core) {
      together = s.schedule.frames();
      frames *= together;
      add_parallel(number, Number(s.schedule.steps_per_core) * s.steady + s.link);
      main = number;
      hand_over(s.schedule.cores_of_frame, s.link);
    } else if (s.stage->part.count > 1) {  // in series with the others, links included
      add_parallel(number, s.steady + s.link);
      main = pace;
      hand_over(1, s.link);
    } else if (role == Role::text_encoder) {
      if (m.prompt_per_frame) longest_of.assign(1, period() + Number(together) * s.steady);
    } else {
      if (role == Role::network) {
        main = number;
        frames *= s.schedule.active_cores;
      }
      const Number cycles = Number(together) * s.steady;
      add_parallel(number, cycles);
      if (role == Role::encoder)
        ++waits;
      else
        drain += cycles;
    }
  }

  /// `first`: of a steady pass of the first stage, which is the main one where none is.
  void end(const Number& first) {
    if (!main && period() < first) add_parallel(0, first);
    if (!main) main = 0;
  }

 private:
  /// The longest of such stages sets the pace.
  void add_parallel(std::size_t number, const Number& cycles) {
    if (period() < cycles) pace = number;
    longest_of.push_back(cycles);
  }
  /// From core to core, or from part to part.
  void hand_over(std::int64_t times, const Number& link) {
    alone += Number(times) * link;
    waits += times;
  }
};

}  // namespace sdip
