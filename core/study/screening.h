// Which rows matter to a model's metrics over whole ranges: machines of a design, evaluated.
#pragma once

#include <string>
#include <vector>

#include "core/explore/screening.h"
#include "core/explore/search/search.h"
#include "core/study/analysis.h"

namespace sdip {

enum class ScreeningMethod { morris, sobol };

struct ScreeningRequest {
  std::string model, preset;  // a model, or a mix
  SearchSpace space;          // the base, and rows with at least two values each
  std::vector<Formula> formulas;
  std::vector<Measure> measures;  // at least one
  ScreeningMethod method = ScreeningMethod::morris;
  std::int64_t samples = usual_trajectories;  // trajectories of morris
  std::uint64_t seed = 1;

  /// Machines that it takes.
  std::int64_t machines() const;
};
inline constexpr std::int64_t most_screened = 100'000;
inline constexpr std::size_t most_screened_measures = 32;

/// For each measure what each row does, in the order of the axes.
struct Screening {
  ScreeningRequest request;
  std::int64_t evaluated = 0, without_value = 0, compiled = 0;
  std::string reason;                              // of the first machine without a value of some measure
  std::vector<std::vector<MorrisEffect>> effects;  // by measure; of morris
  std::vector<std::vector<SobolIndex>> indices;    // of sobol
};

/// Evaluates them on the threads; a program is compiled once for all machines that share it. Machines that break a
/// limit alone count as what they would do. Throws Error unknown_model, and cancelled.
Screening screen(const CompileFunction& compile_machine, const ScreeningRequest& request, int threads);

/// Axes by how much they do to a measure, most first.
std::vector<std::size_t> by_importance(const Screening& screening, std::size_t measure);

}  // namespace sdip
