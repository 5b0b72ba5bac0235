// The rewriting passes, one file each. Each takes a linked graph whose shapes are known and returns how often it
// rewrote; what is dead afterwards is dropped by `rewrite`.
#pragma once

#include <cstdint>

#include "core/graph/graph.h"

namespace sdip {

/// Identity, Cast to the same type, Mul by 1, Add of 0, Expand to the same shape, ...: their uses take their input.
std::int64_t drop_no_ops(Graph& graph);

/// Reshape, InstanceNormalization, Reshape, Mul, Add -> sdip.GroupNorm.
std::int64_t fuse_groupnorm(Graph& graph);

/// ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div [, Mul [, Add]] -> LayerNormalization.
std::int64_t fuse_layernorm(Graph& graph);

/// Div, Erf, Add, Mul, Mul, and the same with tanh -> sdip.Gelu.
std::int64_t fuse_gelu(Graph& graph);

/// Mul, Sigmoid, Mul -> sdip.QuickGelu.
std::int64_t fuse_quick_gelu(Graph& graph);

/// Sigmoid, Mul -> sdip.Silu.
std::int64_t fuse_silu(Graph& graph);

/// BatchNormalization after Conv: a Conv with other weights.
std::int64_t fold_batchnorm(Graph& graph);

/// MatMul with a weight [, Add of a bias], Gemm -> sdip.Linear, sdip.LinearBatch.
std::int64_t fuse_linear(Graph& graph);

/// Of two views in a row, one Reshape.
std::int64_t merge_reshapes(Graph& graph);

}  // namespace sdip
