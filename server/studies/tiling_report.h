// The report of `sdip tiling`: what the best tiling of each convolution and product moves, beside the bound.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "core/program/compile/tiling_layers.h"
#include "server/models/catalog.h"

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

/// Every distinct layer of the models, batch 1, at each number of words; and on `machine` unless it is null. Throws
/// Error unknown_model, and what importing throws.
std::vector<LayerTiling> tile_models(const Catalog& catalog, const std::vector<std::string>& models,
                                     const std::vector<std::int64_t>& words, const Machine* machine);

/// All layers of a report at one number of words, each as often as it stands in its model; layers that do not fit
/// are left out and counted.
struct TilingTotal {
  std::int64_t words = 0, moved = 0, least = 0, infeasible = 0;
  double worst = 1;  // ratio of a layer
};
std::vector<TilingTotal> totals_of(const std::vector<LayerTiling>& layers);
TilingTotal machine_total_of(const std::vector<LayerTiling>& layers);

/// Within 100 columns: the layers with numbers, then what each moves; its lines end with the first capacity at
/// which it moves nothing twice.
void print_tilings(std::ostream& out, const std::vector<LayerTiling>& layers, bool colour);
void print_tilings_csv(std::ostream& out, const std::vector<LayerTiling>& layers);
OrderedJson tilings_json(const std::vector<LayerTiling>& layers);

/// Six layers of the U-Net, all layers together, and all on each preset: the short form in docs/model/tiling.md.
void print_tilings_markdown(std::ostream& out, const Catalog& catalog);

}  // namespace sdip
