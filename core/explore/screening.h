// Which parameters matter, over whole ranges and not around one machine: elementary effects and shares of variance.
//
// Both take points of the unit cube, a factor a dimension, and what a function is there; NaN, where it has no
// value, leaves out what it is part of.
//
// Morris: trajectories of one step a factor each, over `levels` places 0, 1/(p-1), ..., 1 of a factor, each step
// being p/(2(p-1)) long; an effect is the change over the length (Morris, Technometrics 33(2), 1991). Worked
// example: of 3 x + 5 y all effects are 3 and 5; of x y that of x has the mean 1/2, and a deviation, since y
// differs.
//
// Sobol: of samples A and B the first-order index, the share of the variance that a factor makes alone, by Saltelli
// et al. (Computer Physics Communications 181, 2010), and the total one, with all that it makes together with
// others, by Jansen (ibid. 117, 1999). Worked example: of x + y each makes half of it, alone and in total.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sdip {

using UnitPoint = std::vector<double>;  // each from 0 to 1, both included

/// Points in the order in which trajectories go; behind the first of each point k + 1 differs from k in one factor.
struct MorrisDesign {
  std::vector<UnitPoint> points;
  std::vector<std::size_t> stepped;  // of each step its factor; as many in a trajectory as factors
};
inline constexpr std::int64_t usual_trajectories = 10, morris_levels = 4;
MorrisDesign morris_design(std::size_t factors, std::int64_t trajectories, std::uint64_t seed);

/// Over all effects of a factor that have a value: their mean, the mean of their sizes, their standard deviation.
struct MorrisEffect {
  double mean = 0, mean_size = 0, deviation = 0;
  std::int64_t effects = 0;
};
/// `values` of the design's points.
std::vector<MorrisEffect> morris_effects(const MorrisDesign& design, std::span<const double> values);

/// `samples` times A, B, and A with each factor of B.
std::vector<UnitPoint> sobol_design(std::size_t factors, std::int64_t samples, std::uint64_t seed);

/// Shares of the variance with their standard errors, the variance taken for known; NaN where nothing varies.
struct SobolIndex {
  double first = 0, first_error = 0, total = 0, total_error = 0;
};
/// `values` of the design's points.
std::vector<SobolIndex> sobol_indices(std::size_t factors, std::span<const double> values);

/// Where a value of `size` in a row lies at u.
std::size_t place_in(std::size_t size, double u);

}  // namespace sdip
