// What a layer takes on a device: the answer of every model of one.
#pragma once

namespace sdip {

/// Of one operator of a layer. The parts are what each would take alone; `seconds` is what they come to together.
struct LayerTime {
  double seconds = 0;
  double compute_s = 0;   // multiply-accumulates, idle lanes included
  double vector_s = 0;    // elementwise work, softmax, norms
  double memory_s = 0;    // off-chip traffic
  double on_chip_s = 0;   // between levels of memory on the chip, layout conversions, exchange between tiles
  double overhead_s = 0;  // launches, synchronisation
  double dram_bytes = 0;
};

}  // namespace sdip
