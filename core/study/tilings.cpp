// The best tiling of each layer.
#include "core/study/tilings.h"

#include <algorithm>
#include <utility>

namespace sdip {
namespace {

void add(TilingTotal& total, std::int64_t count, std::int64_t moved, std::int64_t least) {
  total.moved += count * moved;
  total.least += count * least;
  total.worst = std::max(total.worst, ratio_of(moved, least));
}

}  // namespace

double ratio_of(std::int64_t moved, std::int64_t least) {
  return least == 0 ? 1.0 : static_cast<double>(moved) / static_cast<double>(least);
}

std::vector<std::string> tiled_models() {
  return {"sd15-text", "sd15-vae-encoder", "sd15-unet", "sd15-vae-decoder", "resnet50"};
}

std::vector<LayerTiling> tile_network(const NetworkPart& network, const Graph& graph,
                                      const std::vector<std::int64_t>& words, const Machine* machine) {
  std::vector<LayerTiling> layers;
  for (TilingLayer& layer : tiling_layers(graph)) {
    LayerTiling& tiling = layers.emplace_back(LayerTiling{network.name, std::move(layer), 0, 0, {}, {}});
    const Nest& nest = tiling.layer.nest;
    tiling.compulsory_words = compulsory(nest).words();
    tiling.compulsory_capacity = compulsory_capacity(nest);
    for (const std::int64_t size : words)
      tiling.at.push_back({size, least_words(nest, size), best_tiling(nest, size)});
    if (machine != nullptr) tiling.on_machine = tiling_on(nest, *machine, network.role);
  }
  return layers;
}

std::vector<TilingTotal> totals_of(const std::vector<LayerTiling>& layers) {
  std::vector<TilingTotal> totals;
  for (std::size_t i = 0; !layers.empty() && i < layers[0].at.size(); ++i) {
    TilingTotal& total = totals.emplace_back();
    for (const LayerTiling& l : layers) {
      total.words = l.at[i].words;
      if (l.at[i].found)
        add(total, l.layer.count, l.at[i].found->price, l.at[i].least_words);
      else
        total.infeasible += l.layer.count;
    }
  }
  return totals;
}

TilingTotal machine_total_of(const std::vector<LayerTiling>& layers) {
  TilingTotal total;
  for (const LayerTiling& l : layers) {
    if (l.on_machine)
      add(total, l.layer.count, l.on_machine->bytes, l.on_machine->least_bytes);
    else
      total.infeasible += l.layer.count;
  }
  return total;
}

}  // namespace sdip
