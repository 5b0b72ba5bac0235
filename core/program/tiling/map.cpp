// pass `map`: tile sizes and loop order of one instruction.
#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "core/program/tiling/attention_tiles.h"
#include "core/program/tiling/draft.h"
#include "core/program/tiling/mapping_text.h"
#include "core/program/tiling/row_tiles.h"
#include "core/program/tiling/strips.h"
#include "core/program/tiling/tuner.h"

namespace sdip {
namespace {

constexpr std::int64_t reference_tile_elements = 1 << 18;  // of a result: smaller tiles only pay more starts
constexpr std::int64_t bit_parts = 100;  // rooms and prices are in hundredths of a bit, as densities

/// Full-size operands of fused operators that lie in DRAM: each has a tile as large as the results'.
std::int64_t full_size_fetches(const InstructionClass& c) {
  return std::ranges::count_if(
      c.fetches, [&](const Fetch& f) { return f.place == Place::dram && f.elements == c.out_elements; });
}

/// Of a weight, as one of a tile of many; by groups, of whole ones.
std::int64_t element_room(const WeightForm& form) {
  if (form.scale_group > 0) return form.bits * bit_parts + form.scale_group_bits * bit_parts / form.scale_group;
  if (!form.skipping || form.group == 0)
    return form.bits * form.density_hundredths * (bit_parts / 100) + (form.skipping ? bit_parts : 0);
  const GroupPattern pattern = group_pattern(form.group, form.density_hundredths);
  return pattern.stay * (form.bits + pattern.index_bits()) * bit_parts / pattern.group;
}

/// The machine as the search sees it: memories 0 reading side, 1 PSRAM, 2 writing side.
TileTerms terms_of(const InstructionClass& c, const Nest& nest, const TileRoom& room, std::int64_t weight_buffers) {
  const LoopNest& n = nest.loops;
  const Compulsory once = compulsory(nest);
  const std::int64_t bits = room.activation_bits * bit_parts, sums_bits = room.accumulator_bits * bit_parts;
  TileTerms terms;
  terms.capacity = {room.read_bytes * 8 * bit_parts, most_words, room.write_bytes * 8 * bit_parts};
  terms.b_memory = nest.weighted ? 1 : 0, terms.out_memory = 2;
  if (c.operand_a == Place::dram) terms.a_price = bits, terms.a_room = bits * room.buffers;
  if (c.operand_b == Place::dram) terms.b_price = once.b * bits, terms.b_room = bits * room.buffers;
  if (nest.weighted && room.weight_bytes > 0) {
    const std::int64_t held = held_weight_bytes(c, room.form);
    const std::int64_t an_element = element_room(room.form);
    terms.capacity[1] = (room.weight_bytes - held) / (weight_buffers * weight_parts(c)) * 8 * bit_parts;
    terms.b_price = stored_bytes(weight_tile_bytes(c, nest.channels(), room.form), room.form) * 8 * bit_parts;
    if (room.weights_stay) terms.b_price = 1;  // of equal bytes the fewest loads
    terms.b_room = ceil_div(c.weight_elements_per_channel * an_element, n.in_channels * n.kernel_h * n.kernel_w);
    terms.b_channel_room =
        (c.bias_elements_per_channel * room.form.vector_bits + room.form.scale_bits_per_channel) * bit_parts;
  }
  terms.beside_memory = 0;
  terms.beside_room = full_size_fetches(c) * bits * room.buffers;
  terms.partials_leave = writes_tiles(c);
  terms.price_a_cycle = reference_dram_bytes * 8 * bit_parts;
  terms.sums_room = sums_bits;
  if (!writes_tiles(c)) return terms;
  terms.out_price = once.out * bits, terms.partials_price = once.out * sums_bits;
  terms.out_room = bits * room.buffers, terms.sums_room = sums_bits * room.buffers;
  return terms;
}

/// Room for weights from what the search's capacity of it, one tile's of so many, was asked.
CapacityRange weight_room(const CapacityRange& same, std::int64_t held, std::int64_t tiles) {
  constexpr std::int64_t a_byte = 8 * bit_parts;
  CapacityRange room;
  if (same.least > 0) room.least = held + tiles * ceil_div(same.least, a_byte);
  if (same.most != room.most) room.most = held + tiles * (same.most / a_byte + 1) - 1;
  return room;
}

/// By all that a search asked of the room for weights: of itself, and of the capacity for a tile.
void narrow_weight_room(MappingStep& step, const InstructionClass& c, const TileRoom& room,
                        const AskedCapacity& weights, const TileTerms& terms, std::int64_t weight_buffers) {
  step.weight_room.narrow(weights.same());
  if (c.operand_b == Place::psram && room.weight_bytes > 0)
    step.weight_room.narrow(
        weight_room(terms.capacity[1].same(), held_weight_bytes(c, room.form), weight_buffers * weight_parts(c)));
}

std::int64_t weight_bytes_on_chip(const InstructionClass& c, const TileRoom& room, std::int64_t weight_buffers) {
  std::int64_t bytes = held_weight_bytes(c, room.form);
  if (c.operand_b == Place::psram) {
    InstructionClass tile = c;
    const std::int64_t sums = std::min(c.mapping.tile_sums, c.work.nest.in_channels);
    tile.weight_elements_per_channel = ceil_div(c.weight_elements_per_channel * sums, c.work.nest.in_channels);
    tile.work.nest.in_channels = sums;
    bytes += weight_buffers * weight_parts(c) * weight_tile_bytes(tile, c.mapping.tile_channels, room.form);
  }
  return bytes;
}

/// `in_memory`: folds are those of the weight memory, each row once for each tile of channels.
TileSizes sizes_of(const InstructionClass& c, bool weighted, bool in_memory) {
  const bool streams =
      c.operand_a == Place::dram || c.operand_b == Place::dram || writes_tiles(c) || fetches_from_dram(c);
  TileSizes sizes;
  sizes.split_rows = streams;
  sizes.split_columns = streams;
  sizes.split_channels = streams || weighted;
  sizes.split_sums = !c.prologue_sums;
  if (in_memory) sizes.reference_lanes = {1, nest_of(c).channels()};
  sizes.least_results = streams ? reference_tile_elements : 0;
  return sizes;
}

/// A nest whose mapping is searched for.
struct Task {
  const Nest& nest;
  const TileTerms& terms;
  const Accept& fits;
  TileGoal goal;
};

/// Columns and sums are split only where that moves fewer bytes, or nothing fits otherwise: a tile of part of the
/// sums costs an operation of its own and saves nothing on chip.
std::optional<Tiling> whole_or_split(const Task& task, const TileSizes& sizes) {
  TileSizes unsplit = sizes;
  unsplit.split_columns = unsplit.split_sums = false;
  const auto whole = best_tiling(task.nest, task.terms, unsplit, task.fits);
  const std::int64_t below = whole ? whole->price : std::numeric_limits<std::int64_t>::max();
  if ((sizes.split_columns || sizes.split_sums) && below > least_price(task.nest, task.terms))
    if (const auto split = best_tiling(task.nest, task.terms, sizes, task.fits, below)) return split;
  return whole;
}

std::optional<Mapping> best_mapping(const Task& task, const TileSizes& sizes) {
  const auto found = whole_or_split(task, sizes);
  if (!found) return std::nullopt;
  if (task.goal == TileGoal::bytes) return found->mapping;
  return fewest_cycles(task.nest, task.terms, sizes, task.fits, *found).mapping;
}

/// The same number for the same layer, whatever room it finds: sizes of its loops, each in its own place.
std::uint64_t seed_of(const Nest& nest) {
  const LoopNest& n = nest.loops;
  std::uint64_t seed = nest.weighted ? 1 : 2;
  for (const std::int64_t size :
       {n.batch, n.groups, n.out_channels, n.in_channels, n.out_h, n.out_w, n.in_h, n.in_w, n.kernel_h, n.kernel_w,
        n.stride_h, n.stride_w, n.dilation_h, n.dilation_w})
    seed = (seed ^ static_cast<std::uint64_t>(size)) * 0x100000001b3;  // FNV-1a's prime
  return seed;
}

/// What a mapping costs by a goal; nothing where it does not fit, or partial sums would have to leave the chip.
MappingCost cost_by(const Task& task, const TileSizes& sizes, TileGoal goal) {
  return [&, goal](const Mapping& m) -> std::optional<Asked> {
    if (!task.fits(m)) return std::nullopt;
    if (!task.terms.partials_leave && traffic(task.nest, m).partials_written > 0) return std::nullopt;
    return Asked{goal == TileGoal::bytes ? 0 : reference_cycles(task.nest, task.terms, sizes, m),
                 price_of(task.nest, task.terms, m), reference_folds(task.nest, m, sizes.reference_lanes),
                 std::max<std::int64_t>(0, sizes.least_results - tile_words(task.nest, m).out)};
  };
}

/// By the goal; nothing where what they try does not come to fit.
std::optional<Tuned> quick_tiling(const Task& task, const TileSizes& sizes, TileSearch search) {
  const MappingCost cost = cost_by(task, sizes, task.goal);
  if (search == TileSearch::greedy) return greedy_mapping(task.nest, sizes, cost);
  TunerOptions options;
  options.seed = seed_of(task.nest);
  const auto cheap = tune(task.nest, sizes, cost_by(task, sizes, TileGoal::bytes), options);
  if (!cheap || task.goal == TileGoal::bytes) return cheap;
  const Tuned timed{cheap->mapping, *cost(cheap->mapping)};
  const auto fast = tune(task.nest, sizes, cost, options);
  return fast && fast->cost < timed.cost ? *fast : timed;
}

/// The least that the goal asks for of any mapping: that of the whole one, which loads nothing twice and whose
/// folds are the fullest, whether it fits or not.
std::int64_t least_asked(const Task& task, const TileSizes& sizes) {
  if (task.goal == TileGoal::bytes) return least_price(task.nest, task.terms);
  return reference_cycles(task.nest, task.terms, sizes, whole_mapping(task.nest));
}

/// As whole_or_split: columns and sums whole unless splitting them brings less of what the goal asks for.
std::optional<Mapping> quick_mapping(const Task& task, const TileSizes& sizes, TileSearch search) {
  const auto asked = [&](const Tuned& t) { return task.goal == TileGoal::bytes ? t.cost.price : t.cost.goal; };
  TileSizes unsplit = sizes;
  unsplit.split_columns = unsplit.split_sums = false;
  const auto whole = quick_tiling(task, unsplit, search);
  const std::int64_t below = whole ? asked(*whole) : std::numeric_limits<std::int64_t>::max();
  if ((sizes.split_columns || sizes.split_sums) && below > least_asked(task, sizes))
    if (const auto split = quick_tiling(task, sizes, search); split && asked(*split) < below) return split->mapping;
  return whole ? std::optional(whole->mapping) : std::nullopt;
}

/// Whether a class with its mapping fits: missing_bytes would be none.
bool fits_in(const InstructionClass& c, const TileRoom& room, const AskedCapacity& weights,
             std::int64_t weight_buffers) {
  const TileBuffers buffers = tile_buffers(c, room);
  if (buffers.read_bytes > room.read_bytes || buffers.write_bytes > room.write_bytes) return false;
  return room.weight_bytes == 0 || weights.holds(weight_bytes_on_chip(c, room, weight_buffers));
}

std::optional<Mapping> search_nest(const Task& task, TileSizes sizes, TileSearch search) {
  sizes.channel_granule = even_channels, sizes.sum_granule = even_sums;
  if (search != TileSearch::exact)
    if (const auto found = quick_mapping(task, sizes, search)) return found;
  if (const auto found = best_mapping(task, sizes)) return found;
  sizes.channel_granule = sizes.sum_granule = 1;
  if (const auto found = best_mapping(task, sizes)) return found;
  const Mapping least = least_mapping(task.nest, sizes);
  return task.fits(least) ? std::optional(least) : std::nullopt;
}

/// `finer`: of an exact search, channels and sums one by one, too.
MappingStep choose_nest(InstructionClass c, const TileRoom& room, std::int64_t weight_buffers, bool finer = false) {
  const Nest nest = nest_of(c);
  const bool in_memory = room.weights_multiply && nest.weighted && room.goal == TileGoal::bytes;
  const AskedCapacity weights(room.weight_bytes);
  if (room.weight_bytes > 0 && !weights.holds(held_weight_bytes(c, room.form)))
    return {std::nullopt, weights.same()};  // whatever the tiles
  const TileTerms terms = terms_of(c, nest, room, weight_buffers);
  const Accept fits = [&](const Mapping& mapping) {
    c.mapping = mapping;
    return fits_in(c, room, weights, weight_buffers);
  };
  const Task task{nest, terms, fits, room.goal};
  const TileSizes sizes = sizes_of(c, nest.weighted, in_memory);
  MappingStep step{finer ? best_mapping(task, sizes) : search_nest(task, sizes, room.search), {}};
  narrow_weight_room(step, c, room, weights, terms, weight_buffers);
  return step;
}

/// What a mapping takes of the sides of DSRAM and of PSRAM.
struct RoomTaken {
  std::int64_t read, write, weights;
  bool within(const RoomTaken& room) const {
    return read <= room.read && write <= room.write && weights <= room.weights;
  }
};

/// The search for fewer bytes than a mapping has. What is tried is the same whatever the room, so that more of it
/// never means more bytes: finer tiles, and one weight tile at a time, only where no coarser mapping has room in
/// what they take themselves.
struct FewestBytes {
  InstructionClass c;
  const TileRoom& room;
  MappingStep& step;
  const Nest nest = nest_of(c);
  const TileSizes sizes = sizes_of(c, nest.weighted, room.weights_multiply&& nest.weighted);
  const bool streams_weights = nest.weighted && room.weight_bytes > 0;

  std::int64_t bytes_of(const Mapping& m) {
    c.mapping = m;
    return dram_bytes(c, room);
  }

  /// What every mapping moves beside what the search prices.
  std::int64_t fixed_bytes() const {
    std::int64_t bytes = room.weight_bytes > 0 ? held_stored_bytes(c, room.form) : 0;
    for (const Fetch& fetch : c.fetches)
      if (fetch.place == Place::dram) bytes += fetch.elements * room.activation_bits / 8;
    return bytes;
  }

  ExactBytes exact_bytes() {
    ExactBytes exact{[this](const Mapping& m) { return bytes_of(m); }, fixed_bytes(), 8 * bit_parts};
    exact.burst_bytes = room.burst_bytes;
    if (c.operand_a == Place::dram) exact.a_bits = room.activation_bits;
    if (c.to_dram) exact.out_bits = room.activation_bits;
    exact.sums_bits = room.accumulator_bits;
    exact.b_once = [this](std::int64_t channels, std::int64_t sums) {
      return second_operand_bytes(c, room, channels, sums);
    };
    return exact;
  }

  RoomTaken taken(const Mapping& m, std::int64_t weight_buffers) {
    c.mapping = m;
    const TileBuffers buffers = tile_buffers(c, room);
    return {buffers.read_bytes, buffers.write_bytes,
            streams_weights ? weight_bytes_on_chip(c, room, weight_buffers) : 0};
  }

  /// The smallest mappings of tiles of that granule: with sums cut, and, since partial sums take room, whole; and
  /// the whole mapping, which needs no two buffers.
  std::array<RoomTaken, 3> least(std::int64_t granule, std::int64_t weight_buffers) {
    const LoopNest& n = nest.loops;
    Mapping cut = least_mapping(nest, sizes);
    if (sizes.split_channels) cut.tile_channels = std::min(granule, n.out_channels);
    if (sizes.split_sums) cut.tile_sums = std::min(granule, n.in_channels);
    Mapping all_sums = cut;
    all_sums.tile_sums = n.in_channels;
    const Mapping whole{n.out_h, n.out_w, nest.channels(), n.in_channels, tiling_orders[0]};
    return {taken(cut, weight_buffers), taken(all_sums, weight_buffers), taken(whole, weight_buffers)};
  }

  void search(const TileRoom& within, std::span<const std::int64_t> granules, std::int64_t weight_buffers,
              std::span<const RoomTaken> coarser) {
    const AskedCapacity weights(within.weight_bytes);
    TileTerms terms = terms_of(c, nest, within, weight_buffers);
    if (room.weights_stay && streams_weights) terms.b_price = 0;
    const Accept fits = [&](const Mapping& m) {
      c.mapping = m;
      if (!fits_in(c, within, weights, weight_buffers)) return false;
      if (coarser.empty()) return true;
      const RoomTaken own = taken(m, weight_buffers);
      return std::ranges::none_of(coarser, [&](const RoomTaken& other) { return other.within(own); });
    };
    const ExactBytes exact = exact_bytes();
    if (const auto fewer = fewest_bytes(nest, terms, sizes, granules, fits, exact, bytes_of(*step.mapping)))
      step.mapping = fewer;
    if (within.weight_bytes < room.weight_bytes) return;  // of all capacities from there on
    narrow_weight_room(step, c, room, weights, terms, weight_buffers);
  }

  /// Whatever has no room for a coarser mapping takes less of one memory than the smallest of these.
  void search_finer(std::span<const std::int64_t> granules, std::int64_t weight_buffers,
                    std::span<const RoomTaken> coarser) {
    const RoomTaken& smallest = coarser.front();
    const auto with_less = [&](std::int64_t TileRoom::*part, std::int64_t taken_bytes) {
      TileRoom within = room;
      within.*part = std::min(within.*part, taken_bytes - 1);
      if (taken_bytes > 0) search(within, granules, weight_buffers, coarser);
    };
    with_less(&TileRoom::read_bytes, smallest.read);
    with_less(&TileRoom::write_bytes, smallest.write);
    if (!streams_weights || smallest.weights <= 1) return;
    const AskedCapacity weights(room.weight_bytes);
    weights.holds(smallest.weights);
    step.weight_room.narrow(weights.same());
    with_less(&TileRoom::weight_bytes, smallest.weights);
  }

  void run() {
    constexpr std::array granules{std::int64_t{1}, even_channels};
    static_assert(even_channels == even_sums);
    step.mapping = with_tried_channels(nest, granules, *step.mapping);
    search(room, std::span(granules).last(1), room.weight_buffers, {});
    search_finer(granules, room.weight_buffers, least(even_channels, room.weight_buffers));
    if (streams_weights && room.weight_buffers > 1) search_finer(granules, 1, least(1, room.weight_buffers));
  }
};

/// Of the mapping found for fewest cycles, that of fewest bytes, and those of finer tiles and of single weight
/// tiles the one that takes fewest: each of these may be all that fits in less room.
MappingStep fastest_of_all(const InstructionClass& c, TileRoom room, MappingStep found) {
  const Nest nest = nest_of(c);
  const TileTerms terms = terms_of(c, nest, room, room.weight_buffers);
  const TileSizes sizes = sizes_of(c, nest.weighted, false);
  const auto cycles = [&](const Mapping& m) { return reference_cycles(nest, terms, sizes, m); };
  const auto consider = [&](const MappingStep& other) {
    if (other.mapping && cycles(*other.mapping) < cycles(*found.mapping)) found.mapping = other.mapping;
    found.weight_room.narrow(other.weight_room);
  };
  const std::int64_t least = cycles(whole_mapping(nest));  // nothing takes fewer
  const bool streams = c.operand_b == Place::psram && room.weight_bytes > 0;
  for (std::int64_t buffers = room.weight_buffers; buffers > 0; buffers = buffers > 1 && streams ? 1 : 0) {
    if (cycles(*found.mapping) == least) break;
    if (buffers < room.weight_buffers) consider(choose_nest(c, room, buffers));
    if (cycles(*found.mapping) > least) consider(choose_nest(c, room, buffers, true));
  }
  room.goal = TileGoal::bytes;
  consider(mapping_step(c, room));
  return found;
}

/// Of a nest that has the mapping of fewest bytes the one that takes fewest cycles on the reference machine and at
/// most so many hundredths more bytes: of those that the search for cycles tries, or, where mappings are not
/// searched for exactly, the one that is found for cycles.
MappingStep faster_for_few_bytes(InstructionClass c, const TileRoom& room, MappingStep found) {
  const Nest nest = nest_of(c);
  const TileSizes sizes = sizes_of(c, nest.weighted, false);
  const AskedCapacity weights(room.weight_bytes);
  const TileTerms terms = terms_of(c, nest, room, room.weight_buffers);
  const auto bytes = [&](const Mapping& m) {
    c.mapping = m;
    return dram_bytes(c, room);
  };
  const std::int64_t most_bytes = most_balanced(bytes(*found.mapping));
  const std::int64_t price = price_of(nest, terms, *found.mapping);
  Mapping faster;
  if (room.search == TileSearch::exact) {
    TileSizes even = sizes;
    even.channel_granule = even_channels, even.sum_granule = even_sums;
    const Accept fits = [&](const Mapping& m) {
      c.mapping = m;
      return fits_in(c, room, weights, room.weight_buffers);
    };
    const Tiling start{*found.mapping, price, reference_folds(nest, *found.mapping, sizes.reference_lanes)};
    faster = fewest_cycles(nest, terms, even, fits, start, most_balanced(price)).mapping;
    narrow_weight_room(found, c, room, weights, terms, room.weight_buffers);
  } else {
    TileRoom for_cycles = room;
    for_cycles.goal = TileGoal::cycles;
    const MappingStep other = mapping_step(c, for_cycles);
    found.weight_room.narrow(other.weight_room);
    faster = *other.mapping;
  }
  const auto cycles = [&](const Mapping& m) { return reference_cycles(nest, terms, sizes, m); };
  if (bytes(faster) <= most_bytes && cycles(faster) < cycles(*found.mapping)) found.mapping = faster;
  return found;
}

}  // namespace

Nest nest_of(const InstructionClass& c) { return {c.work.nest, c.operand_b == Place::psram}; }

Mapping whole_mapping(const Nest& nest) {
  const LoopNest& n = nest.loops;
  return {n.out_h, n.out_w, nest.channels(), n.in_channels, tiling_orders[0]};
}

Mapping least_mapping(const Nest& nest, const TileSizes& sizes) {
  return {sizes.split_rows ? 1 : nest.loops.out_h, sizes.split_columns ? 1 : nest.loops.out_w,
          sizes.split_channels ? 1 : nest.channels(), sizes.split_sums ? 1 : nest.loops.in_channels,
          tiling_orders[0]};
}

MissingBytes missing_bytes(const InstructionClass& c, const TileRoom& room, std::int64_t weight_buffers) {
  const TileBuffers buffers = tile_buffers(c, room);
  MissingBytes missing;
  missing.read_bytes = std::max<std::int64_t>(0, buffers.read_bytes - room.read_bytes);
  missing.write_bytes = std::max<std::int64_t>(0, buffers.write_bytes - room.write_bytes);
  if (room.weight_bytes > 0)
    missing.weight_bytes =
        std::max<std::int64_t>(0, weight_bytes_on_chip(c, room, weight_buffers) - room.weight_bytes);
  return missing;
}

namespace {

/// A part of strips: of weights as if all lanes multiplied, of products of heads, which are narrow, in their folds.
std::int64_t part_cycles(const Part& part, const TileRoom& room) {
  if (part.work.family != Family::matmul) return reference_cycles(part.work);
  InstructionClass alone;
  alone.work = part.work;
  alone.operand_a = alone.operand_b = Place::dsram;
  alone.mapping = whole_mapping(nest_of(alone));
  return reference_cycles(alone, room);
}

}  // namespace

std::int64_t reference_cycles(const InstructionClass& c, const TileRoom& room) {
  const std::int64_t waits = ceil_div(dram_bytes(c, room), reference_dram_bytes);
  if (c.compound == Compound::attention) return std::max(waits, attention_cycles(c));
  if (c.compound == Compound::strips) {
    std::int64_t cycles = 0;
    for (const Part& part : c.parts) cycles += part_cycles(part, room);
    return std::max(waits, cycles);
  }
  if (!is_nest(c.work.family)) return std::max(waits, reference_cycles(c.work));
  const Nest nest = nest_of(c);
  if (room.weights_multiply && nest.weighted) return waits;  // not on the reference array
  const TileTerms on_chip;                                   // what moves is counted above
  return std::max(waits, reference_cycles(nest, on_chip, sizes_of(c, nest.weighted, false), c.mapping));
}

MappingStep mapping_step(const InstructionClass& c, const TileRoom& room, const MappingRule* rule) {
  const AskedCapacity weights(room.weight_bytes);
  const auto step = [&](std::optional<Mapping> mapping) { return MappingStep{mapping, weights.same()}; };
  if (c.compound == Compound::strips && rule == nullptr) return step(choose_strip_rows(c, room, weights));
  if (c.compound == Compound::attention) return step(choose_attention(c, room, weights));
  if (rule != nullptr) {
    InstructionClass said = c;
    said.mapping = mapping_for(*rule, nest_of(c));
    const bool fits = is_valid(nest_of(c), said.mapping) && fits_in(said, room, weights, 1);
    return step(fits ? std::optional(said.mapping) : std::nullopt);
  }
  if (!is_nest(c.work.family)) return step(choose_rowwise(c, room, weights));
  if (room.goal == TileGoal::balanced) {
    TileRoom for_bytes = room;
    for_bytes.goal = TileGoal::bytes;
    const MappingStep found = mapping_step(c, for_bytes);
    const bool on_lanes = !(room.weights_multiply && nest_of(c).weighted);
    return found.mapping && on_lanes ? faster_for_few_bytes(c, for_bytes, found) : found;
  }
  MappingStep found = choose_nest(c, room, room.weight_buffers);
  if (!found.mapping && room.weight_buffers > 1) {
    const MappingStep single = choose_nest(c, room, 1);
    found.mapping = single.mapping;
    found.weight_room.narrow(single.weight_room);
  }
  if (!found.mapping || room.search != TileSearch::exact) return found;
  if (room.goal == TileGoal::cycles) return fastest_of_all(c, room, found);
  FewestBytes{c, room, found}.run();
  return found;
}

std::optional<Mapping> choose_mapping(const InstructionClass& c, const TileRoom& room, const MappingRule* rule) {
  return mapping_step(c, room, rule).mapping;
}

}  // namespace sdip
