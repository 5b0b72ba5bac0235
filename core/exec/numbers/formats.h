// Elements as a machine's number format holds them.
#pragma once

#include "core/base/number_format.h"
#include "core/base/tensor.h"
#include "core/program/program.h"

namespace sdip::exec {

/// Whether a format holds every number of an element type: then nothing is lost. Integers and booleans are held
/// exactly in every format.
bool holds(NumberFormat format, ElementType type);

/// A float as the format holds it: rounded to nearest, ties to even, and kept within the format; integer formats in
/// steps of `scale` from its zero point. Requires a scale above 0 where the format needs one.
double rounded_to_format(NumberFormat format, double x, const WeightScale& scale);

/// The floats of `tensor` each as `rounded_to_format` says; integers as they are.
void round_to_format(Tensor& tensor, NumberFormat format, const WeightScale& scale);

/// A sum as an accumulator keeps it: rounded to a floating format; any other as it is
/// (core/exec/chip/accumulators.h).
double accumulated(NumberFormat format, double sum);

}  // namespace sdip::exec
