// The layers of a network that are tiled, and what tiling each moves: beside its bound, on one memory or on a
// machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/program/tiling/draft.h"

namespace sdip {

/// Layers of equal nests count as one; `name` is the first's.
struct TilingLayer {
  std::string name;
  Nest nest;
  std::int64_t count = 1;
};

/// The convolutions and products of a linked graph, distinct ones in the order of their first use.
std::vector<TilingLayer> tiling_layers(const Graph& graph);

/// "conv 3x3 s2 320x64x64 -> 640x32x32", "linear 4096x320 x 320x2560", "matmul 8 x 4096x40 x 40x4096".
std::string nest_text(const Nest& nest);

/// The least memory, in words, with which some mapping moves what must move and nothing more.
std::int64_t compulsory_capacity(const Nest& nest);

/// A nest whose activations come from DRAM and whose results go there, on a machine: the mapping that
/// choose_mapping takes, the bytes that it moves, and the fewest that any schedule could with all of the machine's
/// SRAM as one memory, max(compulsory, 2 sqrt(a b c) G / sqrt(R S) - 2 S) for a, b, c bytes of an element of A, B
/// and the result and S bytes of SRAM (mixed precision: Chen et al., PASC 2022, arXiv:2204.08279).
struct MachineTiling {
  Mapping mapping;
  std::int64_t bytes = 0, least_bytes = 0;
};
/// Nothing when the smallest tile does not fit. `role`: of the stage that has the nest, whose weights may be wired.
std::optional<MachineTiling> tiling_on(const Nest& nest, const Machine& machine, Role role);

}  // namespace sdip
