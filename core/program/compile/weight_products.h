// Products with weights, which passes put others in the place of. Internal to its room.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace sdip {

/// A product with weights, each output channel of which is a row or a column of them.
struct WeightProduct {
  ValueId weight = none, bias = none;
  bool turned = false;            // of matrices: the weight is stored [channels, sums]
  std::size_t weight_axis = 1;    // along which the weight's output channels lie,
  std::size_t channels_axis = 0;  // and those of the result
};

/// MatMul, Gemm and sdip.Linear of activations and a floating matrix of weights; else nothing.
std::optional<WeightProduct> matrix_product(const Graph& graph, const Node& node);

/// The same, and a Conv of one group.
std::optional<WeightProduct> channel_product(const Graph& graph, const Node& node);

/// A value without a producer yet.
ValueId add_named_value(Graph& graph, std::string name);

/// A value like `v` that a new last node, sdip's `type` of it alone, makes; nothing is inferred or computed.
ValueId append_like(Graph& graph, std::string_view type, ValueId v, std::string node_name, std::string name);

}  // namespace sdip
