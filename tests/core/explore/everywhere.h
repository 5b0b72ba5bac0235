// A graph compiled for many machines: estimated, executed, validated and written out and read again.
#pragma once

#include <string>

#include "core/graph/graph.h"

namespace sdip {

/// Equal types, shapes and integers, and floats within 1e-4 of the larger of 1 and what they should be; NaN is NaN.
bool same_numbers(const Tensor& found, const Tensor& wanted);

/// On every preset and on machines with as little memory as there may be, all in fp32: compiled, it is feasible,
/// computes what the graph computes of random inputs, and its estimate and the executor agree. Weights of the graph
/// are known values.
void expect_same_everywhere(const Graph& graph);

}  // namespace sdip
