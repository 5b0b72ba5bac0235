// Weights of a program that comes without its `.weight`.
#pragma once

#include <cstdint>

#include "core/exec/chip/execute.h"

namespace sdip {

/// The stage with every weight that its text holds no values of marked as stored elsewhere, so that whoever
/// computes it asks for them.
CompiledStage asking_for_weights(CompiledStage stage);

/// Random values of the weights of a graph that asks for them: of floats those that `sdip run MODEL` gives to a
/// weight of the same name, shape and reader (core/workload/workload.h), of integers and booleans 0 or 1. The graph
/// must outlive it.
StoredTensors random_weights(const Graph& graph, std::uint64_t seed);

}  // namespace sdip
