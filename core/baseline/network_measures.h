// Totals of a network as published analyses of accelerators state them: weights, moves, working buffers, vector
// work. Internal to its room.
#pragma once

#include <cstdint>

#include "core/graph/graph.h"

namespace sdip {

// Elements, so bytes in int8. All require a graph with inferred shapes; `rewritten` graphs have every norm and
// every activation as one node. They throw Error("model_too_large", ...) where a total is beyond 2^63.

/// Distinct elements of the weights that multiply-accumulates read: no biases, no norms, no embeddings.
std::int64_t mac_weight_elements(const Graph& rewritten);

/// These, with the biases behind them and the parameters of norms.
std::int64_t mac_and_norm_elements(const Graph& rewritten);

/// Constants of floats that a sum, difference, product or quotient joins with an activation, each as large as the
/// result. Example: a mask [1,1,77,77] added to scores [1,12,77,77] counts 12 x 77 x 77 = 71,148; a scale of one
/// element counts nothing.
std::int64_t expanded_constant_elements(const Graph& as_written);

/// Operands and results of every node that have more than `kept_elements`: what goes to and from external memory
/// when nothing larger stays on the chip. Views, transposes and slices move nothing. Example: x [4] -> Exp -> a,
/// a -> Relu -> b moves 16 elements where 3 are kept, and none where 4 are.
std::int64_t moved_elements(const Graph& rewritten, std::int64_t kept_elements);

/// The largest operands and result of one node of multiply-accumulates, weights not counted.
std::int64_t largest_mac_operands(const Graph& graph);

/// The largest result of a product of two activations; 0 where there is none.
std::int64_t largest_product(const Graph& graph);

/// The largest result of a convolution; 0 where there is none.
std::int64_t largest_convolved(const Graph& graph);

/// Results of multiply-accumulates, summed.
std::int64_t mac_result_elements(const Graph& graph);

/// Results of elementwise operators, norms and softmaxes: an operation each, whatever the operator takes for one.
/// Pieces, copies and transposes compute nothing.
std::int64_t vector_elements(const Graph& rewritten);

}  // namespace sdip
