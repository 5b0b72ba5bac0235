// How fast machines are evaluated side by side: sweeps of the SD 1.5 pipeline for `sdip bench`. Internal to its
// room.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/vectors.h"
#include "core/explore/space/space.h"

namespace sdip {

double seconds_of(const std::function<void()>& work);
double median_of(int runs, const std::function<void()>& work);

/// The axes of both sweeps, as a command would say them.
std::string rated_machine();

/// A grid over cores, conv2d lanes, vector lanes, weight format, PSRAM capacity, DSRAM width, DRAM channels and
/// sharing: 65,536 machines, each of which can be built.
Space grid_sweep();

/// 20,000 machines drawn from fine values of the same parameters, no two of one capacity of PSRAM and weight
/// format.
Space fine_sweep();

/// Points of a sweep a second on `threads`, how many of them are feasible, and what its programs took before, on
/// one: their number, the searches for mappings and the seconds of both together.
struct SweepRate {
  std::int64_t points = 0, feasible = 0, programs = 0, searches = 0;
  double compile_s = 0, points_per_second = 0;
};
SweepRate sweep_rate(const Space& space, int threads, Vectors vectors = widest_vectors());

/// The programs of the first points, and, if so wished, these evaluated on one thread: to be counted.
void sweep_first(const Space& space, std::int64_t points, bool evaluated);

}  // namespace sdip
