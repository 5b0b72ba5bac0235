// The rewriting passes, one file each. Each takes a linked graph whose shapes are known and returns how often it
// rewrote; what is dead afterwards is dropped by `rewrite`. Internal to its room.
#pragma once

#include <cstdint>

#include "core/graph/graph.h"

namespace sdip {

/// Marks what is made of weights alone as weights: after a pass that put a constant in the place of an activation.
void spread_weights(Graph& graph);

/// Identity, Cast to the same type, Mul by 1, Add of 0, Expand to the same shape, ...: their uses take their input.
std::int64_t drop_no_ops(Graph& graph);

/// Exp(x - max), divided by its sum -> Softmax.
std::int64_t fuse_softmax(Graph& graph);

/// ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div [, Mul [, Add]] -> LayerNormalization, or
/// InstanceNormalization.
std::int64_t fuse_layernorm(Graph& graph);

/// Pow, ReduceMean, Add, Sqrt, Div [, Mul] -> sdip.RMSNorm.
std::int64_t fuse_rmsnorm(Graph& graph);

/// Reshape, InstanceNormalization, Reshape [, Mul, Add] -> sdip.GroupNorm.
std::int64_t fuse_groupnorm(Graph& graph);

/// Div, Erf, Add, Mul, Mul, and the same with tanh -> sdip.Gelu.
std::int64_t fuse_gelu(Graph& graph);

/// Mul, Sigmoid, Mul -> sdip.QuickGelu.
std::int64_t fuse_quick_gelu(Graph& graph);

/// Sigmoid, Mul -> sdip.Silu.
std::int64_t fuse_silu(Graph& graph);

/// HardSigmoid, Mul -> HardSwish.
std::int64_t fuse_hard_swish(Graph& graph);

/// Softplus, Tanh, Mul -> Mish.
std::int64_t fuse_mish(Graph& graph);

/// BatchNormalization after Conv: a Conv with other weights.
std::int64_t fold_batchnorm(Graph& graph);

/// Add of a constant a channel after Conv: its bias.
std::int64_t fuse_conv_bias(Graph& graph);

/// Einsum -> Transpose, MatMul, sdip.Scores or sdip.Linear.
std::int64_t fuse_einsum(Graph& graph);

/// Reshape, Expand, Reshape -> Resize.
std::int64_t fuse_upsample(Graph& graph);

/// MatMul of q and k with the scale before Softmax -> sdip.Scores.
std::int64_t fuse_scores(Graph& graph);

/// DequantizeLinear twice, Conv, MatMul or Gemm, QuantizeLinear -> sdip.QuantizedConv, sdip.QuantizedMatMul.
std::int64_t fuse_quantized(Graph& graph);

/// MatMul, Gemm and sdip.QuantizedMatMul of a weight and an activation -> Conv, sdip.QuantizedConv; Einsum of them
/// -> of the activation and the weight.
std::int64_t put_weights_second(Graph& graph);

/// MatMul with a weight [, Add of a bias], Gemm -> sdip.Linear, sdip.LinearBatch.
std::int64_t fuse_linear(Graph& graph);

/// Casts to single precision and back around norms, softmax and activations.
std::int64_t drop_casts(Graph& graph);

/// Makes one Reshape of two views in a row.
std::int64_t merge_reshapes(Graph& graph);

/// Whether a Softmax stands between a product of two activations and another one that takes its result.
bool is_attention(const Graph& graph, NodeId softmax);
std::int64_t count_attention(const Graph& graph);

/// Counts patterns that stay as they are: attention, GEGLU, adaLN, rotary and timestep embeddings, residuals,
/// skips, ...
RewriteCounts count_patterns(const Graph& graph);

}  // namespace sdip
