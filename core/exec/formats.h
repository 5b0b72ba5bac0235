// Elements as a machine's number format holds them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/number_format.h"
#include "core/base/tensor.h"

namespace sdip::exec {

/// Whether a format holds every number of an element type: then nothing is lost. Integers and booleans are held
/// exactly in every format.
bool holds(NumberFormat format, ElementType type);

/// A float as the format holds it: rounded to nearest, ties to even, and kept within the format; integer formats in
/// steps of `scale`. Requires a scale above 0 where the format needs one.
double held(NumberFormat format, double x, float scale);

/// The floats of `tensor` each as `held` says; integers as they are.
void hold(Tensor& tensor, NumberFormat format, float scale);

/// A sum as an accumulator keeps it: rounded to a floating format; any other as it is (core/exec/accumulators.h).
double accumulated(NumberFormat format, double sum);

/// Sets all but the ceil(hundredths / 100 x elements) largest magnitudes to 0; of equal ones the earlier stay.
/// Example: 1, -3, 2, 2 at 50: 0, -3, 2, 0.
void prune(std::vector<double>& elements, std::int64_t hundredths);

}  // namespace sdip::exec
