// The report of `sdip tiling`: what the best tiling of each convolution and product moves, beside the bound.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "core/study/tilings.h"
#include "server/models/catalog.h"

namespace sdip {

/// Every distinct layer of the models, batch 1. Throws Error unknown_model, and what importing throws.
std::vector<LayerTiling> tile_models(const Catalog& catalog, const std::vector<std::string>& models,
                                     const std::vector<std::int64_t>& words, const Machine* machine);

/// Within 100 columns: the layers with numbers, then what each moves; its lines end with the first capacity at
/// which it moves nothing twice.
void print_tilings(std::ostream& out, const std::vector<LayerTiling>& layers, bool colour);
void print_tilings_csv(std::ostream& out, const std::vector<LayerTiling>& layers);
OrderedJson tilings_json(const std::vector<LayerTiling>& layers);

/// Six layers of the U-Net, all layers together, and all on each preset: the short form in docs/model/tiling.md.
void print_tilings_markdown(std::ostream& out, const Catalog& catalog);

}  // namespace sdip
