// How long the search for a layer's tiling takes: the slowest of all layers of SD 1.5 and ResNet-50 at each size,
// beside the 100 microseconds allowed. Prints ratios and is run by hand.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "core/program/tiling/tuner.h"
#include "server/studies/tiling_report.h"

namespace {

double best_of(int runs, const auto& work) {
  double best_us = 1e9;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best_us = std::min(best_us,
                       std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  return best_us;
}

}  // namespace

int main() {
  using namespace sdip;
  constexpr double allowed_us = 100;
  std::vector<TilingLayer> layers;
  const Catalog catalog;
  for (const LayerTiling& l : tile_models(catalog, tiled_models(), {}, nullptr)) layers.push_back(l.layer);
  std::printf("%zu distinct layers\n   words   mean us  slowest us  of 100 us  greedy us\n", layers.size());
  for (std::int64_t words = 1 << 16; words <= 1 << 24; words *= 2) {
    double sum = 0, slowest = 0, greedy = 0;
    const TilingLayer* which = nullptr;
    for (const TilingLayer& layer : layers) {
      const double us = best_of(5, [&] { best_tiling(layer.nest, words); });
      greedy += best_of(5, [&] { greedy_tiling(layer.nest, words); });
      sum += us;
      if (us > slowest) which = &layer;
      slowest = std::max(slowest, us);
    }
    const double count = static_cast<double>(layers.size());
    std::printf("%8lld  %8.1f  %10.1f  %9.2f  %9.1f  %s\n", static_cast<long long>(words), sum / count, slowest,
                slowest / allowed_us, greedy / count, nest_text(which->nest).c_str());
  }
  return 0;
}
