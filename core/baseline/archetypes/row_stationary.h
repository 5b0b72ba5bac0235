// Arrays whose neighbours share registers and run the row-stationary dataflow: Eyeriss (Chen, Emer, Sze, ISCA 2016;
// Chen, Krishna, Emer, Sze, JSSC 2017). docs/model/row_stationary.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/baseline/archetypes/layer_time.h"
#include "core/baseline/archetypes/layers.h"

namespace sdip {

/// One chip: Eyeriss unless said otherwise. Words are elements.
struct RowStationaryMachine {
  std::int64_t rows = 12, columns = 14;                               // of elements (PEs), each with a multiplier
  std::int64_t input_words = 12, weight_words = 224, sum_words = 24;  // registers of an element
  std::int64_t buffer_words = 100 * 1024 / 2;                         // of the global buffer, for inputs and sums
  std::int64_t weight_bus = 4, input_bus = 1, sum_bus = 4;            // words a cycle between it and the array
  double clock_hz = 200e6;
  double vector_operations_per_s = 33.6e9;
  double dram_bytes_per_s = 0.48e9;
  double bytes_per_element = 2;
  double activation_compression = 1;  // bytes of activations in DRAM over bytes coded (run lengths of zeros)
};

/// A convolution as the papers size it: N = images, C = channels and M = filters of each of the groups, E x F =
/// rows and columns of results, R x S = of a kernel, U = strides.
struct RowStationaryLayer {
  std::int64_t groups = 1, images = 1, channels = 1, filters = 1;
  std::int64_t rows = 1, columns = 1, kernel_rows = 1, kernel_columns = 1, row_stride = 1, column_stride = 1;
};

/// How a layer runs: in passes, each of `strip` rows of results (the papers' e) of `images` (n), with `filters` of
/// an element's registers (p) and `channels` of these (q), on `channel_sets` x `filter_sets` sets of elements (r,
/// t); the buffer holds sums of `held_filters` (m).
struct RowStationaryMapping {
  std::int64_t strip = 1, images = 1, filters = 1, channels = 1, channel_sets = 1, filter_sets = 1;
  std::int64_t held_filters = 1;
  friend auto operator<=>(const RowStationaryMapping&, const RowStationaryMapping&) = default;
};

/// Sets of R x e elements that the array has room for. A set wider than the array is folded: cut into parts of at
/// most its columns, one below the other.
/// Example: 12 x 14 elements, R = 5, e = 27: parts of 14 and 13 columns, ten rows, one set.
std::int64_t sets_in_array(std::int64_t kernel_rows, std::int64_t strip, const RowStationaryMachine& machine);
/// Elements at work: kernel rows x strip x sets.
std::int64_t active_elements(const RowStationaryLayer& layer, const RowStationaryMapping& mapping);

/// What a layer takes with a mapping. Words are moved in all; those of the buffer in both directions.
struct RowStationaryCost {
  double passes = 0;
  double cycles = 0;        // of all passes
  double array_cycles = 0;  // of them, multiplications of an element
  double bound_cycles = 0;  // most of array, sums, inputs in each pass: without what no pass hides
  double input_words = 0, weight_words = 0, output_words = 0;  // of DRAM
  double buffer_words = 0;
};
/// A pass of n images and e rows takes, one after the other, its weights and then the slowest of three:
///   weights  R S q r p t / weight_bus
///   array    n F S p q, behind the first window of each row, ((e - 1) U + R) S q r / input_bus
///   sums     n e F p t / sum_bus, read and written on two buses side by side
///   inputs   n ((e - 1) U + R) W q r / input_bus, W = (F - 1) U + S (U at most R or S)
/// over strips and images (the last maybe smaller), ceil(M / pt) and ceil(C / qr), of which the last counts whole.
/// DRAM: inputs once for each m filters held, windows of strips overlapping; weights once for each strip and n
/// images; results once. Worked example: docs/model/row_stationary.md.
///
/// Errors: of the five convolutions of AlexNet on the chip -5.4 to +4.8 % of the processing time, no constant
/// fitted.
RowStationaryCost cost_of(const RowStationaryLayer& layer, const RowStationaryMapping& mapping,
                          const RowStationaryMachine& machine);

/// A kernel larger than the array or an element's registers is taken as several over as many more channels.
RowStationaryLayer folded_kernel(RowStationaryLayer layer, const RowStationaryMachine& machine);

/// The mapping of the least bound_cycles, DRAM if that takes longer; of these of the least DRAM words; of these of
/// the fewest cycles. p is a power of two; sums of m filters and inputs of a pass fit the buffer. Nothing where no
/// mapping fits. Requires a folded kernel.
std::optional<RowStationaryMapping> row_stationary_mapping(const RowStationaryLayer& layer,
                                                           const RowStationaryMachine& machine);

/// Whether any layer, cut into columns of one result, has a mapping: registers and buffer of a word or more, and a
/// buffer that holds a set's inputs and a sum.
bool is_row_stationary(const RowStationaryMachine& machine);

/// Times of the layers in their order, for one operator of each. Products are 1 x 1 convolutions whose rows are
/// laid out in rows and columns as takes least. seconds = max(passes, loads) + results, which leave behind the last
/// pass; on_chip_s is what passes take beyond their multiplications. Elementwise work runs at
/// vector_operations_per_s or from DRAM. Layers do not overlap. Requires is_row_stationary and positive rates.
std::vector<LayerTime> times_of(std::span<const Layer> layers, const RowStationaryMachine& machine);
MappedLayers mapped_layers(std::span<const Layer> layers, const RowStationaryMachine& machine);

}  // namespace sdip
