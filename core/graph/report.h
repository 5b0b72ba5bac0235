// A report on a network: what it holds, what it computes, how much of it is alive at once, what was recognised.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/layers.h"
#include "core/graph/live.h"
#include "core/graph/residual.h"
#include "core/graph/tree.h"

namespace sdip {

/// Parameters of one element type.
struct ParameterCount {
  ElementType type = ElementType::float32;
  std::int64_t tensors = 0, elements = 0;
  std::int64_t bytes() const { return (elements * bits_of(type) + 7) / 8; }
};

/// Work of one family.
struct FamilyCount {
  Family family = Family::vector;
  std::int64_t nodes = 0, macs = 0, elements = 0;
};

struct TensorFigure {
  std::string name;
  ElementType type = ElementType::float32;
  Shape shape;
  std::int64_t elements = 0;
};

struct GraphReport {
  GraphFacts facts;  // of the network as it was imported
  std::vector<ParameterCount> parameters;
  std::vector<FamilyCount> families;      // after rewriting; without views and constants
  std::vector<LayerClass> layers;         // after rewriting
  std::vector<TensorFigure> activations;  // the largest, as imported; views are not told again
  std::vector<TensorFigure> weights;      // the largest parameters
  std::array<LiveFigures, 4> live;        // by LiveRule: naive and in_place as imported, fused and flash rewritten
  std::array<std::string, 4> live_nodes;  // the node at the peak
  ResidualFigures residual;               // after rewriting
  LayerTree tree;                         // after rewriting
  RewriteCounts rewrites;
  std::vector<Decomposed> decomposed;  // after rewriting
  ImportCounts imported;
  std::int64_t nodes = 0;            // as imported, with operators on weights alone
  std::int64_t constant_nodes = 0;   // of these: on weights alone, made once
  std::int64_t rewritten_nodes = 0;  // after rewriting
};

/// How many of the largest tensors a report names.
inline constexpr std::size_t most_largest_tensors = 12;

/// The report on a network as imported and as rewritten, in which `rewrites` were found. Throws
/// Error("model_too_large", ...) where a total is beyond 2^63.
GraphReport report_of(const Graph& imported, const Graph& rewritten, const RewriteCounts& rewrites);

}  // namespace sdip
