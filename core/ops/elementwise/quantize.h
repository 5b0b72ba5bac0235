// One quantised number: what QuantizeLinear and the quantised products share.
#pragma once

#include "core/base/tensor.h"

namespace sdip {

/// `scaled` (a number divided by its scale) as the type holds it: integers rounded to the nearest, ties to even,
/// plus `zero`, kept within the type; floats rounded, beyond the largest as `saturate` says. 1.5 with zero 128 as
/// uint8: 130; 200 as int8: 127.
double quantised(ElementType type, double scaled, double zero, bool saturate = true);

}  // namespace sdip
