// pass `map`: tile sizes and loop order of one instruction.
#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "core/program/tiling/attention_tiles.h"
#include "core/program/tiling/draft.h"
#include "core/program/tiling/mapping_text.h"
#include "core/program/tiling/nest_room.h"
#include "core/program/tiling/row_tiles.h"
#include "core/program/tiling/strips.h"
#include "core/program/tiling/tuner.h"

namespace sdip {
namespace {

constexpr std::int64_t reference_tile_elements = 1 << 18;  // of a result: smaller tiles only pay more starts

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

/// `first`: of goal bytes what ties are decided against; `cheapest`: no mapping of channels and sums by granules
/// that fits has a lower price.
struct Found {
  Mapping mapping;
  std::optional<Mapping> first{};
  bool cheapest = false;
};

std::optional<Found> best_mapping(const Task& task, const TileSizes& sizes) {
  const auto found = whole_or_split(task, sizes);
  if (!found) return std::nullopt;
  if (task.goal == TileGoal::bytes) return Found{found->mapping, found->first};
  return Found{fewest_cycles(task.nest, task.terms, sizes, task.fits, *found).mapping};
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

/// The cost of a mapping by a goal; nothing where it does not fit, or partial sums would have to leave the chip.
MappingCost cost_by(const Task& task, const TileSizes& sizes, TileGoal goal) {
  return [&, goal](const Mapping& m) -> std::optional<Asked> {
    if (!task.fits(m)) return std::nullopt;
    if (!task.terms.partials_leave && traffic(task.nest, m).partials_written > 0) return std::nullopt;
    return Asked{goal == TileGoal::bytes ? 0 : reference_cycles(task.nest, task.terms, sizes, m),
                 price_of(task.nest, task.terms, m), reference_folds(task.nest, m, sizes.reference_lanes),
                 std::max<std::int64_t>(0, sizes.least_results - tile_words(task.nest, m).out)};
  };
}

/// The tiling of a quick search, by the goal; nothing where no tiling that it tries comes to fit.
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

std::optional<Found> search_nest(const Task& task, TileSizes sizes, TileSearch search) {
  sizes.channel_granule = even_channels, sizes.sum_granule = even_sums;
  if (search != TileSearch::exact)
    if (const auto found = quick_mapping(task, sizes, search)) return Found{*found};
  if (auto found = best_mapping(task, sizes)) {
    found->cheapest = task.goal == TileGoal::bytes;
    return found;
  }
  sizes.channel_granule = sizes.sum_granule = 1;
  if (const auto found = best_mapping(task, sizes)) return found;
  const Mapping least = least_mapping(task.nest, sizes);
  return task.fits(least) ? std::optional(Found{least}) : std::nullopt;
}

/// The mapping found, the ranges of room in which everything that was asked would have been answered so, and the
/// least room in which the same is found; nothing where that is not known.
struct Chosen {
  MappingStep step;
  std::optional<RoomTaken> needed{};
  bool cheapest = false;  // as in Found
};

/// `finer`: of an exact search, channels and sums one by one, too.
Chosen choose_nest(InstructionClass c, const TileRoom& room, std::int64_t weight_buffers, bool finer = false) {
  const Nest nest = nest_of(c);
  const bool in_memory = room.weights_multiply && nest.weighted && room.goal == TileGoal::bytes;
  const AskedRoom asked(room);
  Chosen chosen{{std::nullopt, {}, CapacityRange(), CapacityRange()}};
  if (room.weight_bytes > 0 && !asked.weights.holds(held_weight_bytes(c, room.form))) {
    chosen.step.weight_room = asked.weights.same();  // whatever the tiles
    return chosen;
  }
  const TileTerms terms = terms_of(c, nest, room, weight_buffers);
  const Accept fits = [&](const Mapping& mapping) {
    c.mapping = mapping;
    return fits_in(c, room, asked, weight_buffers);
  };
  const Task task{nest, terms, fits, room.goal};
  const TileSizes sizes = sizes_of(c, nest.weighted, in_memory);
  const auto found = finer ? best_mapping(task, sizes) : search_nest(task, sizes, room.search);
  narrow_rooms(chosen.step, c, room, room, asked, terms, weight_buffers);
  if (!found) return chosen;
  chosen.step.mapping = found->mapping;
  chosen.cheapest = found->cheapest;
  if (!found->first) return chosen;
  c.mapping = found->mapping;
  chosen.needed = needed_by(c, room, weight_buffers);
  c.mapping = *found->first;
  const auto by_first = needed_by(c, room, weight_buffers);
  if (chosen.needed && by_first)
    chosen.needed->include(*by_first);
  else
    chosen.needed.reset();
  return chosen;
}

/// The search for fewer bytes than a mapping has. It tries the same whatever the room, so that more of it never
/// means more bytes: finer tiles, and one weight tile at a time, only where no coarser mapping has room in what
/// they take themselves.
struct FewestBytes {
  InstructionClass c;
  const TileRoom& room;
  MappingStep& step;
  std::optional<RoomTaken> needed;  // for what the step has now
  bool cheapest = false;            // as in Found
  const Nest nest = nest_of(c);
  const TileSizes sizes = sizes_of(c, nest.weighted, room.weights_multiply&& nest.weighted);
  const bool streams_weights = nest.weighted && room.weight_bytes > 0;

  std::int64_t bytes_of(const Mapping& m) {
    c.mapping = m;
    return dram_bytes(c, room);
  }

  /// The bytes that every mapping moves beside those that the search prices.
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

  RoomTaken room_taken(const Mapping& m, std::int64_t weight_buffers) {
    c.mapping = m;
    RoomTaken taken = taken_by(c, room, weight_buffers);
    if (!streams_weights) taken.weight_bytes = 0;
    return taken;
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
    return {room_taken(cut, weight_buffers), room_taken(all_sums, weight_buffers),
            room_taken(whole, weight_buffers)};
  }

  void search(const TileRoom& within, std::span<const std::int64_t> granules, std::int64_t weight_buffers,
              std::span<const RoomTaken> coarser) {
    const AskedRoom asked(within);
    TileTerms terms = terms_of(c, nest, within, weight_buffers);
    if (room.weights_stay && streams_weights) terms.b_price = 0;
    const Accept fits = [&](const Mapping& m) {
      c.mapping = m;
      if (!fits_in(c, within, asked, weight_buffers)) return false;
      if (coarser.empty()) return true;
      const RoomTaken own = room_taken(m, weight_buffers);
      return std::ranges::none_of(coarser, [&](const RoomTaken& other) { return other.within(own); });
    };
    const ExactBytes exact = exact_bytes();
    if (const auto fewer = fewest_bytes(nest, terms, sizes, granules, fits, exact, bytes_of(*step.mapping))) {
      step.mapping = fewer;
      c.mapping = *fewer;
      const auto more = needed_by(c, room, weight_buffers);
      if (more && needed) needed->include(*more);
      if (!more) needed.reset();
    }
    narrow_rooms(step, c, room, within, asked, terms, weight_buffers);
  }

  /// Whatever has no room for a coarser mapping takes less of one memory than the smallest of these.
  void search_finer(std::span<const std::int64_t> granules, std::int64_t weight_buffers,
                    std::span<const RoomTaken> coarser) {
    const RoomTaken& smallest = coarser.front();
    const auto with_less = [&](std::int64_t TileRoom::*part, CapacityRange MappingStep::*range,
                               std::int64_t taken_bytes) {
      const AskedCapacity capacity(room.*part);
      capacity.holds(taken_bytes);
      (step.*range).narrow(capacity.same());
      TileRoom within = room;
      within.*part = std::min(within.*part, taken_bytes - 1);
      search(within, granules, weight_buffers, coarser);
    };
    if (smallest.read_bytes > 0) with_less(&TileRoom::read_bytes, &MappingStep::read_room, smallest.read_bytes);
    if (smallest.write_bytes > 0) with_less(&TileRoom::write_bytes, &MappingStep::write_room, smallest.write_bytes);
    if (streams_weights && smallest.weight_bytes > 1)
      with_less(&TileRoom::weight_bytes, &MappingStep::weight_room, smallest.weight_bytes);
  }

  /// Whether the cheapest mapping has no transfer rounded up, so that others of its granules move no fewer bytes.
  bool moves_its_price() {
    if (!cheapest || room.weights_stay) return false;
    const std::int64_t below = (bytes_of(*step.mapping) - 1 - fixed_bytes()) * (8 * bit_parts);
    return below < price_of(nest, terms_of(c, nest, room, room.weight_buffers), *step.mapping);
  }

  void improve() {
    constexpr std::array granules{std::int64_t{1}, even_channels};
    static_assert(even_channels == even_sums);
    step.mapping = with_tried_channels(nest, granules, *step.mapping);
    if (bytes_of(*step.mapping) <= dram_bytes(least_moving(c), room)) return;  // nothing moves fewer
    if (!moves_its_price()) search(room, std::span(granules).last(1), room.weight_buffers, {});
    search_finer(granules, room.weight_buffers, least(even_channels, room.weight_buffers));
    if (streams_weights && room.weight_buffers > 1) search_finer(granules, 1, least(1, room.weight_buffers));
  }

  /// In less room there is less to choose from: what is best of all is so while it, and what it was found by, fits.
  void run() {
    improve();
    const RoomTaken whole{room.read_bytes, room.write_bytes, room.weight_bytes};
    if (!needed || !needed->within(whole)) return;
    step.read_room.least = needed->read_bytes;
    step.write_room.least = needed->write_bytes;
    if (room.weight_bytes > 0) step.weight_room.least = needed->weight_bytes;
  }
};

/// Chooses the mapping that takes fewest cycles among the one found for fewest cycles, the one of fewest bytes, and
/// those of finer tiles and of single weight tiles: each of these may be all that fits in less room.
MappingStep fastest_of_all(const InstructionClass& c, TileRoom room, MappingStep found) {
  const Nest nest = nest_of(c);
  const TileTerms terms = terms_of(c, nest, room, room.weight_buffers);
  const TileSizes sizes = sizes_of(c, nest.weighted, false);
  const auto cycles = [&](const Mapping& m) { return reference_cycles(nest, terms, sizes, m); };
  const auto consider = [&](const MappingStep& other) {
    if (other.mapping && cycles(*other.mapping) < cycles(*found.mapping)) found.mapping = other.mapping;
    narrow_rooms(found, other);
  };
  const std::int64_t least = cycles(whole_mapping(nest));  // nothing takes fewer
  const bool streams = c.operand_b == Place::psram && room.weight_bytes > 0;
  for (std::int64_t buffers = room.weight_buffers; buffers > 0; buffers = buffers > 1 && streams ? 1 : 0) {
    if (cycles(*found.mapping) == least) break;
    if (buffers < room.weight_buffers) consider(choose_nest(c, room, buffers).step);
    if (cycles(*found.mapping) > least) consider(choose_nest(c, room, buffers, true).step);
  }
  room.goal = TileGoal::bytes;
  consider(mapping_step(c, room));
  return found;
}

/// For a nest that has the mapping of fewest bytes, the mapping that takes fewest cycles on the reference machine
/// and moves at most so many hundredths more bytes: among those that the search for cycles tries or, where mappings
/// are not searched for exactly, the one that is found for cycles.
MappingStep faster_for_few_bytes(InstructionClass c, const TileRoom& room, MappingStep found) {
  const Nest nest = nest_of(c);
  const TileSizes sizes = sizes_of(c, nest.weighted, false);
  const AskedRoom asked(room);
  const TileTerms terms = terms_of(c, nest, room, room.weight_buffers);
  const auto bytes = [&](const Mapping& m) {
    c.mapping = m;
    return dram_bytes(c, room);
  };
  const auto cycles = [&](const Mapping& m) { return reference_cycles(nest, terms, sizes, m); };
  const std::int64_t most_cycles = cycles(*found.mapping) - 1;
  if (room.search == TileSearch::exact && most_cycles < cycles(whole_mapping(nest))) return found;
  const std::int64_t most_bytes = most_balanced(bytes(*found.mapping));
  const std::int64_t price = price_of(nest, terms, *found.mapping);
  Mapping faster;
  if (room.search == TileSearch::exact) {
    TileSizes even = sizes;
    even.channel_granule = even_channels, even.sum_granule = even_sums;
    const Accept fits = [&](const Mapping& m) {
      c.mapping = m;
      return fits_in(c, room, asked, room.weight_buffers);
    };
    const Tiling start{*found.mapping, price, reference_folds(nest, *found.mapping, sizes.reference_lanes)};
    faster = fewest_cycles(nest, terms, even, fits, start, most_balanced(price)).mapping;
    narrow_rooms(found, c, room, room, asked, terms, room.weight_buffers);
  } else {
    TileRoom for_cycles = room;
    for_cycles.goal = TileGoal::cycles;
    const MappingStep other = mapping_step(c, for_cycles);
    narrow_rooms(found, other);
    faster = *other.mapping;
  }
  if (bytes(faster) <= most_bytes && cycles(faster) <= most_cycles) found.mapping = faster;
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
  const RoomTaken taken = taken_by(c, room, weight_buffers);
  const auto beyond = [](std::int64_t bytes, std::int64_t there) {
    return std::max<std::int64_t>(0, bytes - there);
  };
  return {beyond(taken.read_bytes, room.read_bytes), beyond(taken.write_bytes, room.write_bytes),
          room.weight_bytes > 0 ? beyond(taken.weight_bytes, room.weight_bytes) : 0};
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

namespace {

MappingStep nest_step(const InstructionClass& c, const TileRoom& room) {
  if (room.goal == TileGoal::balanced) {
    TileRoom for_bytes = room;
    for_bytes.goal = TileGoal::bytes;
    const MappingStep found = nest_step(c, for_bytes);
    const bool on_lanes = !(room.weights_multiply && nest_of(c).weighted);
    return found.mapping && on_lanes ? faster_for_few_bytes(c, for_bytes, found) : found;
  }
  auto [found, needed, cheapest] = choose_nest(c, room, room.weight_buffers);
  if (!found.mapping && room.weight_buffers > 1) {
    Chosen single = choose_nest(c, room, 1);
    found.mapping = single.step.mapping, needed = single.needed;  // the cheapest with a buffer less
    narrow_rooms(found, single.step);
  }
  if (room.search != TileSearch::exact) return found;
  if (!found.mapping)
    found.read_room.least = found.write_room.least = found.weight_room.least = 0;  // nor in less
  else if (room.goal == TileGoal::cycles)
    return fastest_of_all(c, room, found);
  else
    FewestBytes{c, room, found, needed, cheapest}.run();
  return found;
}

}  // namespace

MappingStep mapping_step(const InstructionClass& c, const TileRoom& room, const MappingRule* rule) {
  const AskedRoom asked(room);
  const auto step = [&](std::optional<Mapping> mapping) { return MappingStep{mapping, asked.weights.same()}; };
  if (c.compound == Compound::strips && rule == nullptr) return step(choose_strip_rows(c, room, asked.weights));
  if (c.compound == Compound::attention) return step(choose_attention(c, room, asked.weights));
  if (rule != nullptr) {
    InstructionClass said = c;
    said.mapping = mapping_for(*rule, nest_of(c));
    const bool fits = is_valid(nest_of(c), said.mapping) && fits_in(said, room, asked, 1);
    return step(fits ? std::optional(said.mapping) : std::nullopt);
  }
  return is_nest(c.work.family) ? nest_step(c, room) : choose_rowwise(c, room);
}

std::optional<Mapping> choose_mapping(const InstructionClass& c, const TileRoom& room, const MappingRule* rule) {
  return mapping_step(c, room, rule).mapping;
}

}  // namespace sdip
