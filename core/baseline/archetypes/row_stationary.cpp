// Time and traffic of layers on an array that shares registers between neighbours, and the choice of a mapping.
#include "core/baseline/archetypes/row_stationary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/units.h"

namespace sdip {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

/// Inputs along an axis that so many results need, without those that a stride beyond the kernel leaves out.
std::int64_t reached_by(std::int64_t results, std::int64_t stride, std::int64_t kernel) {
  return (results - 1) * std::min(stride, kernel) + kernel;
}
std::int64_t input_rows(const RowStationaryLayer& layer, std::int64_t strip) {
  return reached_by(strip, layer.row_stride, layer.kernel_rows);
}
std::int64_t input_columns(const RowStationaryLayer& layer) {
  return reached_by(layer.columns, layer.column_stride, layer.kernel_columns);
}

/// A whole cut into parts of a size, the last maybe smaller: how many of which.
struct RowStationaryParts {
  std::int64_t count = 0, size = 0;
};
std::array<RowStationaryParts, 2> parts_of(std::int64_t whole, std::int64_t size) {
  return {{{whole / size, size}, {whole % size != 0 ? 1 : 0, whole % size}}};
}

/// Cycles of one pass: in all, of its multiplications, and without what it cannot hide.
struct PassCycles {
  double all = 0, array = 0, bound = 0;
};
PassCycles pass_cycles(const RowStationaryLayer& l, const RowStationaryMapping& m,
                       const RowStationaryMachine& machine, std::int64_t strip, std::int64_t images) {
  const double sets_channels = real(m.channels * m.channel_sets), sets_filters = real(m.filters * m.filter_sets);
  const double reached = real(input_rows(l, strip)) * sets_channels;
  const double weights = real(l.kernel_rows * l.kernel_columns) * sets_channels * sets_filters;
  const double first = std::ceil(reached * real(l.kernel_columns) / real(machine.input_bus));
  const double sums = std::ceil(real(images * strip) * real(l.columns) * sets_filters / real(machine.sum_bus));
  const double inputs = std::ceil(real(images) * reached * real(input_columns(l)) / real(machine.input_bus));
  PassCycles pass;
  pass.array = real(images * l.columns) * real(l.kernel_columns * m.filters * m.channels);
  pass.bound = std::max({pass.array, sums, inputs});
  pass.all = std::ceil(weights / real(machine.weight_bus)) + std::max({pass.array + first, sums, inputs});
  return pass;
}

/// Sizes of at most `most` that cut a whole into each number of parts; of very many some, the ends among them, so
/// that the search of a large array ends soon, too.
std::vector<std::int64_t> part_sizes(std::int64_t whole, std::int64_t most) {
  constexpr std::size_t most_sizes = 40;
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = std::min(whole, most); size >= 1;) {
    sizes.push_back(ceil_div(whole, ceil_div(whole, size)));
    size = sizes.back() - 1;
  }
  if (sizes.size() <= most_sizes) return sizes;
  std::vector<std::int64_t> some;
  for (std::size_t i = 0; i < most_sizes; ++i) some.push_back(sizes[i * (sizes.size() - 1) / (most_sizes - 1)]);
  return some;
}

/// The fewest that leave as many turns as `most` at once do.
std::int64_t balanced(std::int64_t whole, std::int64_t most) {
  return ceil_div(whole, ceil_div(whole, std::min(whole, most)));
}

/// Filters whose sums fit beside the inputs of a pass: a whole number of passes' filters, in equal blocks. 0: none.
std::int64_t filters_held(const RowStationaryLayer& l, const RowStationaryMapping& m,
                          const RowStationaryMachine& machine) {
  const double inputs =
      real(m.images * input_rows(l, m.strip)) * real(input_columns(l)) * real(m.channels * m.channel_sets);
  const double filter = real(m.images * m.strip) * real(l.columns);
  const std::int64_t at_once = m.filters * m.filter_sets, passes = ceil_div(l.filters, at_once);
  const double fit = std::floor((real(machine.buffer_words) - inputs) / (filter * real(at_once)));
  if (fit < 1) return 0;
  return at_once * (fit >= real(passes) ? passes : balanced(passes, static_cast<std::int64_t>(fit)));
}

/// A mapping and what it takes, as far as choices ask.
struct RowStationaryOffer {
  RowStationaryMapping mapping;
  RowStationaryCost cost;
  double words() const { return cost.input_words + cost.weight_words; }
};

/// The mappings that are the first of the least bound, words and cycles at some rates, in the order of the search.
class RowStationaryOffers {
 public:
  RowStationaryOffers(const RowStationaryLayer& layer, const RowStationaryMachine& machine)
      : layer_(layer), machine_(machine) {}

  void offer(RowStationaryMapping m) {
    m.held_filters = filters_held(layer_, m, machine_);
    if (m.held_filters == 0) return;
    const RowStationaryOffer one{m, cost_of(layer_, m, machine_)};
    const auto no_worse = [&](const RowStationaryOffer& kept) {
      return kept.cost.bound_cycles <= one.cost.bound_cycles && kept.words() <= one.words() &&
             kept.cost.cycles <= one.cost.cycles;
    };
    if (std::ranges::none_of(kept_, no_worse)) kept_.push_back(one);
  }
  std::vector<RowStationaryOffer>& kept() { return kept_; }

 private:
  const RowStationaryLayer& layer_;
  const RowStationaryMachine& machine_;
  std::vector<RowStationaryOffer> kept_;
};

const RowStationaryOffer& best_offer(std::span<const RowStationaryOffer> offers, double bytes_per_element,
                                     const MachineRates& rates) {
  return *std::ranges::min_element(offers, {}, [&](const RowStationaryOffer& one) {
    const double loads = one.words() * bytes_per_element / rates.dram_bytes_per_s * rates.clock_hz;
    return std::tuple(std::max(one.cost.bound_cycles, loads), one.words(), one.cost.cycles);
  });
}

/// All ways to give the sets to channels and filters, and registers to filters, of a strip, images and channels.
void offer_sets(RowStationaryMapping m, const RowStationaryLayer& l, const RowStationaryMachine& machine,
                std::int64_t sets, RowStationaryOffers& offers) {
  for (const std::int64_t r : part_sizes(ceil_div(l.channels, m.channels), sets)) {
    m.channel_sets = r;
    for (std::int64_t p = 1; p <= machine.sum_words && p * m.channels * l.kernel_columns <= machine.weight_words;
         p *= 2) {
      m.filters = std::min(p, l.filters);
      m.filter_sets = balanced(ceil_div(l.filters, m.filters), sets / m.channel_sets);
      offers.offer(m);
      if (p >= l.filters) break;
    }
  }
}

/// A product's rows as the results of a 1 x 1 convolution of so many columns.
RowStationaryLayer laid_out(const MatrixProduct& product, std::int64_t columns) {
  return {.groups = product.count,
          .channels = product.terms,
          .filters = product.columns,
          .rows = ceil_div(product.rows, columns),
          .columns = columns};
}

bool has_window(const LoopNest& n) { return n.kernel_h * n.kernel_w > 1 || n.stride_h > 1 || n.stride_w > 1; }

std::vector<RowStationaryOffer> offers_of(const RowStationaryLayer& l, const RowStationaryMachine& machine) {
  RowStationaryOffers offers(l, machine);
  const std::int64_t widest = machine.columns * (machine.rows / l.kernel_rows);
  const std::int64_t most_channels =
      std::min(l.channels, std::min(machine.input_words, machine.weight_words) / l.kernel_columns);
  const std::vector<std::int64_t> strips = part_sizes(l.rows, widest);
  const std::vector<std::int64_t> batches = part_sizes(l.images, std::min<std::int64_t>(l.images, 16));
  const std::vector<std::int64_t> channels = part_sizes(most_channels, most_channels);
  RowStationaryMapping m;
  for (const std::int64_t strip : strips)
    for (const std::int64_t images : batches)
      for (const std::int64_t q : channels) {
        m.strip = strip, m.images = images, m.channels = q;
        offer_sets(m, l, machine, sets_in_array(l.kernel_rows, strip, machine), offers);
      }
  return std::move(offers.kept());
}

/// The ways to lay a product out, each with its mappings: none is empty.
using RowStationaryLayouts = std::vector<std::vector<RowStationaryOffer>>;

/// A layer with a window, its columns in so many parts as it takes to fit the buffer.
RowStationaryLayouts layouts_of_window(const LoopNest& n, const RowStationaryMachine& machine) {
  RowStationaryLayer layer{.groups = n.groups,
                           .images = n.batch,
                           .channels = n.in_channels,
                           .filters = n.out_channels,
                           .rows = n.out_h,
                           .columns = n.out_w,
                           .kernel_rows = n.kernel_h,
                           .kernel_columns = n.kernel_w,
                           .row_stride = n.stride_h,
                           .column_stride = n.stride_w};
  layer = folded_kernel(layer, machine);
  for (;;) {
    std::vector<RowStationaryOffer> offers = offers_of(layer, machine);
    if (!offers.empty()) return {std::move(offers)};
    check(layer.columns > 1, "row_stationary: a column of results has a mapping");
    layer.images *= 2;
    layer.columns = ceil_div(layer.columns, 2);
  }
}

RowStationaryLayouts layouts_of_product(const MatrixProduct& product, const RowStationaryMachine& machine) {
  constexpr std::int64_t most_columns = 1024;
  RowStationaryLayouts layouts = {};
  const auto add = [&](std::int64_t columns) {
    std::vector<RowStationaryOffer> offers = offers_of(laid_out(product, columns), machine);
    if (!offers.empty()) layouts.push_back(std::move(offers));
  };
  for (std::int64_t columns = 1; columns <= std::min(product.rows, most_columns); columns *= 4) add(columns);
  if (product.rows <= most_columns) add(product.rows);
  check(!layouts.empty(), "row_stationary: a column of results has a mapping");
  return layouts;
}

/// A layer's time at any rates: a product's layouts, elementwise operations, bytes in and out.
struct RowStationaryWork {
  RowStationaryLayouts layouts = {};
  double activation_bytes = 0, weight_bytes = 0;  // of a word in DRAM
  double beside = 0, results = 0;                 // bytes
  double vector_s = 0;
};

RowStationaryWork work_of(const Layer& layer, const RowStationaryMachine& machine) {
  const double activation = machine.bytes_per_element / machine.activation_compression;
  RowStationaryWork work{.activation_bytes = activation};
  if (is_product(layer)) {
    const LoopNest& nest = layer.work.nest;
    work.layouts =
        has_window(nest) ? layouts_of_window(nest, machine) : layouts_of_product(product_of(layer), machine);
    work.weight_bytes = layer.weighted ? machine.bytes_per_element : activation;
    const double beside = real(layer.other_elements) + (layer.weighted ? 0 : real(layer.weight_elements));
    work.beside = machine.bytes_per_element * beside;
    work.results = activation * real(layer.output_elements);
    return work;
  }
  const double activations =
      real(layer.other_elements) +
      (layer.joint == Joint::fused ? 0
                                   : real(layer.a_elements) + real(layer.b_elements) + real(layer.output_elements));
  work.beside =
      machine.bytes_per_element * (activations / machine.activation_compression + real(layer.weight_elements));
  work.vector_s = real(operations_of(layer)) / machine.vector_operations_per_s;
  return work;
}

LayerTime time_at(const RowStationaryWork& work, double bytes_per_element, const MachineRates& rates) {
  LayerTime time{.vector_s = work.vector_s};
  if (work.layouts.empty()) {
    time.dram_bytes = work.beside;
    time.memory_s = time.dram_bytes / rates.dram_bytes_per_s;
    time.seconds = std::max(time.vector_s, time.memory_s);
    return time;
  }
  const RowStationaryCost* cost = nullptr;
  for (const auto& offers : work.layouts) {
    const RowStationaryCost& one = best_offer(offers, bytes_per_element, rates).cost;
    if (cost == nullptr || one.cycles < cost->cycles) cost = &one;
  }
  const double loads =
      work.activation_bytes * cost->input_words + work.weight_bytes * cost->weight_words + work.beside;
  time.compute_s = cost->array_cycles / rates.clock_hz;
  time.on_chip_s = (cost->cycles - cost->array_cycles) / rates.clock_hz;
  time.dram_bytes = loads + work.results;
  time.memory_s = time.dram_bytes / rates.dram_bytes_per_s;
  time.seconds = std::max(cost->cycles / rates.clock_hz, loads / rates.dram_bytes_per_s) +
                 work.results / rates.dram_bytes_per_s;
  return time;
}

}  // namespace

std::int64_t sets_in_array(std::int64_t kernel_rows, std::int64_t strip, const RowStationaryMachine& machine) {
  const std::int64_t stacked = machine.rows / kernel_rows;
  if (strip <= machine.columns) return stacked * (machine.columns / strip);
  return stacked / ceil_div(strip, machine.columns);
}

std::int64_t active_elements(const RowStationaryLayer& layer, const RowStationaryMapping& m) {
  return layer.kernel_rows * m.strip * m.channel_sets * m.filter_sets;
}

RowStationaryCost cost_of(const RowStationaryLayer& l, const RowStationaryMapping& m,
                          const RowStationaryMachine& machine) {
  const std::int64_t filter_turns = ceil_div(l.filters, m.filters * m.filter_sets);
  const std::int64_t channel_turns = ceil_div(l.channels, m.channels * m.channel_sets);
  const double turns = real(l.groups * filter_turns) * real(channel_turns);
  RowStationaryCost cost;
  double rows_read = 0;  // of inputs, over all strips
  for (const RowStationaryParts& strips : parts_of(l.rows, m.strip)) {
    if (strips.count == 0) continue;
    rows_read += real(strips.count * input_rows(l, strips.size));
    for (const RowStationaryParts& batches : parts_of(l.images, m.images)) {
      if (batches.count == 0) continue;
      const PassCycles pass = pass_cycles(l, m, machine, strips.size, batches.size);
      const double times = real(strips.count * batches.count) * turns;
      cost.passes += times;
      cost.cycles += times * pass.all;
      cost.array_cycles += times * pass.array;
      cost.bound_cycles += times * pass.bound;
    }
  }
  const double inputs = real(l.groups * l.images) * real(l.channels * input_columns(l)) * rows_read;
  const double results = real(l.groups * l.images) * real(l.filters) * real(l.rows * l.columns);
  cost.input_words = inputs * real(ceil_div(l.filters, m.held_filters));
  cost.weight_words = real(l.groups * l.filters) * real(l.channels * l.kernel_rows * l.kernel_columns) *
                      real(ceil_div(l.rows, m.strip) * ceil_div(l.images, m.images));
  cost.output_words = results;
  cost.buffer_words = inputs * real(filter_turns) + 2 * results * real(channel_turns);
  return cost;
}

RowStationaryLayer folded_kernel(RowStationaryLayer layer, const RowStationaryMachine& machine) {
  const auto fold = [&](std::int64_t& kernel, std::int64_t most) {
    const std::int64_t parts = ceil_div(kernel, most);
    kernel = ceil_div(kernel, parts);
    layer.channels *= parts;
  };
  fold(layer.kernel_rows, machine.rows);
  fold(layer.kernel_columns, std::min(machine.input_words, machine.weight_words));
  return layer;
}

std::optional<RowStationaryMapping> row_stationary_mapping(const RowStationaryLayer& l,
                                                           const RowStationaryMachine& machine) {
  const std::vector<RowStationaryOffer> offers = offers_of(l, machine);
  if (offers.empty()) return std::nullopt;
  return best_offer(offers, machine.bytes_per_element, {machine.clock_hz, machine.dram_bytes_per_s}).mapping;
}

bool is_row_stationary(const RowStationaryMachine& m) {
  constexpr std::int64_t most_elements = 65'536, most_words = 4096;  // that mappings can be sought for
  if (m.rows > most_elements / std::max<std::int64_t>(m.columns, 1) || m.input_words > most_words ||
      m.weight_words > most_words || m.sum_words > most_words)
    return false;
  const bool positive = m.rows >= 1 && m.columns >= 1 && m.input_words >= 1 && m.weight_words >= 1 &&
                        m.sum_words >= 1 && m.weight_bus >= 1 && m.input_bus >= 1 && m.sum_bus >= 1;
  return positive && m.buffer_words > m.rows * std::min(m.input_words, m.weight_words);
}

MappedLayers mapped_layers(std::span<const Layer> layers, const RowStationaryMachine& machine) {
  check(is_row_stationary(machine) && machine.vector_operations_per_s > 0 && machine.activation_compression > 0,
        "mapped_layers: a row-stationary machine's figures are positive");
  return mapped_each(
      layers, [&](const Layer& layer) { return work_of(layer, machine); },
      [bytes = machine.bytes_per_element](const RowStationaryWork& work, const MachineRates& rates) {
        check(rates.clock_hz > 0 && rates.dram_bytes_per_s > 0, "times of layers: rates are positive");
        return time_at(work, bytes, rates);
      });
}

std::vector<LayerTime> times_of(std::span<const Layer> layers, const RowStationaryMachine& machine) {
  return mapped_layers(layers, machine)({machine.clock_hz, machine.dram_bytes_per_s});
}

}  // namespace sdip
