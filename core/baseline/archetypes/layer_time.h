// Times of layers on a device: the answer of every model of one.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace sdip {

/// The time of one operator of a layer. The parts are what each would take alone; `seconds` is what they come to
/// together.
struct LayerTime {
  double seconds = 0;
  double compute_s = 0;   // multiply-accumulates, idle lanes included
  double vector_s = 0;    // elementwise work, softmax, norms
  double memory_s = 0;    // off-chip traffic
  double on_chip_s = 0;   // between levels of memory on the chip, layout conversions, exchange between tiles
  double overhead_s = 0;  // launches, synchronisation
  double dram_bytes = 0;
};

/// `times` as long, and as many bytes, more.
inline void add_time(LayerTime& sum, const LayerTime& one, double times) {
  for (double LayerTime::*part :
       {&LayerTime::seconds, &LayerTime::compute_s, &LayerTime::vector_s, &LayerTime::memory_s,
        &LayerTime::on_chip_s, &LayerTime::overhead_s, &LayerTime::dram_bytes})
    sum.*part += times * one.*part;
}

/// The rates of a machine. Mappings and layouts do not depend on them, so that machines that differ in nothing else
/// share these.
struct MachineRates {
  double clock_hz = 0, dram_bytes_per_s = 0;
};
/// A list of layers with all mappings of each that are best at some rates: times, in order, at any. Safe to call
/// from several threads.
using MappedLayers = std::function<std::vector<LayerTime>(const MachineRates&)>;

/// Times of layers that do not depend on each other: each is mapped once, and `time` says what that takes at some
/// rates.
template <class OneLayer, class Map, class Time>
MappedLayers mapped_each(std::span<const OneLayer> layers, const Map& map, Time time) {
  std::vector<decltype(map(layers[0]))> mapped;
  mapped.reserve(layers.size());
  for (const OneLayer& layer : layers) mapped.push_back(map(layer));
  return [mapped = std::move(mapped), time = std::move(time)](const MachineRates& rates) {
    std::vector<LayerTime> times;
    times.reserve(mapped.size());
    for (const auto& layer : mapped) times.push_back(time(layer, rates));
    return times;
  };
}

}  // namespace sdip
