// The words that the best tiling of each convolution and product moves, beside the bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/program/compile/tiling_layers.h"
#include "core/study/workloads.h"

namespace sdip {

/// A layer on one memory of `words`, single-buffered. `found` is nothing when no tile fits.
struct TilingAt {
  std::int64_t words = 0, least_words = 0;
  std::optional<Tiling> found;
};

struct LayerTiling {
  std::string model;
  TilingLayer layer;
  std::int64_t compulsory_words = 0, compulsory_capacity = 0;
  std::vector<TilingAt> at;
  std::optional<MachineTiling> on_machine;
};

/// The networks of SD 1.5 and ResNet-50: what is reported when no model is named.
std::vector<std::string> tiled_models();

/// Every distinct layer of a network in that role, at each number of words; and on `machine` unless it is null.
std::vector<LayerTiling> tile_network(const NetworkPart& network, const Graph& graph,
                                      const std::vector<std::int64_t>& words, const Machine* machine);

/// Over the least, 1 of nothing.
double ratio_of(std::int64_t moved, std::int64_t least);

/// All layers of a report at one number of words, each as often as it stands in its model; layers that do not fit
/// are left out and counted.
struct TilingTotal {
  std::int64_t words = 0, moved = 0, least = 0, infeasible = 0;
  double worst = 1;  // ratio of a layer
};
std::vector<TilingTotal> totals_of(const std::vector<LayerTiling>& layers);
TilingTotal machine_total_of(const std::vector<LayerTiling>& layers);

}  // namespace sdip
