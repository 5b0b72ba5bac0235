// The tile operations of an instruction: loops over a few shapes, in the order they run. Internal to its room.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>

#include "core/cost/work/tile_plan.h"
#include "core/program/program.h"

namespace sdip {

template <class T, std::size_t Few>
using FewOf = boost::container::small_vector<T, Few>;

/// Tiles one after the other in a loop that do the same work: what they add to the numbers of their operations'
/// shape and of their window of operand A.
struct TileRun {
  std::int64_t tiles;
  std::int32_t shape, window;
};

/// A loop of more than one tile. Its runs stand one after the other in TileLoops::runs. `a`, `b`: its tiles are
/// different ones of operand A; of B or the weights.
struct TileLoop {
  std::int32_t runs{};
  bool a = false, b = false;
  bool slides = false;  // a step of it alone loads only what the window before had not
};

/// Loops in the order of nesting, outermost first; inside the last stands one tile operation. Its shape, and its
/// window of A, are the sums of what the runs that it is in add. An operand's tile is loaded by the first operation
/// of all, and by every one before which a loop that changes it has stepped or begun again.
/// Worked example: 5 rows in tiles of 2 inside 2 channel tiles: loops {b; 2 tiles of shape 0}, {a; 2 tiles of shape
/// 0, 1 of shape 1}: shapes 0 0 1 0 0 1; A is loaded by all six, B by the first and the fourth.
struct TileLoops {
  FewOf<TileLoop, 3> loops;
  FewOf<TileRun, 4> runs;
};

/// The operands that an operation loads because of the loops that stepped or began again before it; the first loads
/// all.
struct TileStep {
  bool a = true, b = true, fresh = false;
};
inline constexpr std::size_t most_tile_loops = 8;
/// The operands that the next operation loads after a step of each loop.
std::array<TileStep, most_tile_loops> tile_steps(const TileLoops& order);

/// Calls of(shape, window, step, times) for all operations in their order; those of a run but its first, which are
/// alike, at once.
template <class Of>
void walk_operations(const TileLoops& order, const Of& of) {
  const auto steps = tile_steps(order);
  const auto visit = [&](const auto& self, std::size_t level, const TileRun* run, std::int32_t shape,
                         std::int32_t window, TileStep step, std::int64_t times) -> void {
    if (level == order.loops.size()) {
      of(shape, window, step, times);
      return;
    }
    const TileRun* const next = run + order.loops[level].runs;
    for (bool begins = true; run != next; ++run, begins = false) {
      const std::int32_t s = shape + run->shape, w = window + run->window;
      if (begins) self(self, level + 1, next, s, w, step, times);
      if (run->tiles > begins) self(self, level + 1, next, s, w, steps[level], times * (run->tiles - begins));
    }
  };
  visit(visit, 0, order.runs.data(), 0, 0, TileStep{}, 1);
}

/// One shape: a nest's size, or row-wise rows and elements of each (`channels`); its place in the sum (in the
/// passes over chunks, where only the last writes), and how many operations have it.
struct TileShape {
  cost::TileExtent size;
  bool first, last;
  std::int64_t times;
};

/// Elements of operand A in a window, and of them those that the window one step of the sliding loop before had
/// not.
struct InputWindow {
  std::int64_t all, fresh;
};

struct Expansion {
  TileLoops order;
  FewOf<TileShape, 2> shapes;
  FewOf<InputWindow, 1> windows;  // of a nest; one of no elements when A does not lie in DRAM
};

/// Expands a class that is no compound. `plan` is cost::tile_plan(c).
Expansion expand(const InstructionClass& c, const cost::TilePlan& plan);

/// More tiles than this clipped at the edges of the input along one dimension are all taken as unclipped.
inline constexpr std::int64_t most_clipped_tiles = 256;

}  // namespace sdip
