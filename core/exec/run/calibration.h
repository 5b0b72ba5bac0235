// How wide the range of an integer format should be, from numbers that were seen: the largest, a percentile, or
// what loses least.
//
// Worked example, int4 (codes -8 to 7), the numbers 1, 1, 2, 3, 7 and 14:
//   min-max     the largest magnitude, 14: scale 2; held as 0, 0, 2, 4, 8, 14 (ties to even): the error squared is
//               1 + 1 + 0 + 1 + 1 + 0 = 4
//   percentile  at 80: the least magnitude that 80 % of them do not exceed, the fifth of six, 7: scale 1; all are
//               held but 14, which saturates at 7: 49
//   mse         of 14 k / 40, k = 1, ..., 40, the range with the least error: k 38, 13.3: scale 1.9; held
//               as 1.9, 1.9, 1.9, 3.8, 7.6, 13.3: 3.12
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/number_format.h"
#include "core/exec/chip/execute.h"

namespace sdip {

enum class CalibrationMethod { minmax, percentile, mse };
inline constexpr std::string_view calibration_names[] = {"minmax", "percentile", "mse"};

struct CalibrationRule {
  CalibrationMethod method = CalibrationMethod::minmax;
  double percent = 99.9;  // of CalibrationMethod::percentile; above 50, at most 100
};

struct NumberRange {
  double least = 0, most = 0;  // 0 lies between them
  friend bool operator==(const NumberRange&, const NumberRange&) = default;
};

/// The range of `format` for these numbers, with 0 in it; of signed formats symmetric. `percentile`: of a signed
/// format the least magnitude that `percent` of them do not exceed (nearest rank); of an unsigned one the numbers
/// that `percent` do not exceed, and that `percent` are not below. `mse`: of `mse_steps` fractions of the whole
/// range the one whose numbers, encoded and decoded, have the least squared error; of equals the widest. Numbers
/// that are not finite say nothing. Requires a format that needs a scale.
NumberRange calibrated_range(NumberFormat format, std::span<const float> numbers, const CalibrationRule& rule);
inline constexpr int mse_steps = 40;

/// The most elements of a value that `percentile` and `mse` look at, evenly spaced; least and greatest are of all
/// elements.
inline constexpr std::int64_t most_calibration_elements = 16384;

/// Raises numbers that a Softmax makes nothing of. In each row of a value that only a Softmax reads, those below
/// the maximum less D = ln(2 L n) become that, with n the row's length and L the format's largest code (of floating
/// formats 2^24): what is further below weighs, all of it together, less than half a step of a result, so that a
/// mask's -1e38 is neither large nor wrong. Others stay.
void raise_masked(const Graph& graph, ValueId v, NumberFormat format, std::vector<double>& numbers);

/// Scales of the values that an integer activation format keeps, from what the graph computes for each of
/// `samples`, masked scores raised. Empty for formats that need none. Requires a sample. Throws what `compute`
/// throws.
ActivationScales calibrated_scales(const Graph& graph, const Machine& machine,
                                   std::span<const std::vector<Tensor>> samples, const StoredTensors& stored,
                                   const CalibrationRule& rule, const Stop& stop = {});

/// A stage and its weights with each float weight, per tensor or output channel as the machine's scales are, kept
/// within its calibrated range, so that `weight_format`'s scale, which just holds it, is the calibrated one. The
/// same as given for `minmax`, formats without scale, and sparse weights (whose order decides what stays). Weights
/// of at most 1,024 elements that stand in the program itself stay what they are.
struct CalibratedWeights {
  CompiledStage stage;
  StoredTensors stored;
};
CalibratedWeights calibrated_weights(const CompiledStage& stage, const Machine& machine,
                                     const StoredTensors& stored, const CalibrationRule& rule);

}  // namespace sdip
