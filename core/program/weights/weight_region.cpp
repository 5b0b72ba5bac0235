// How the weights of one instruction stand in `.weight`.
#include "core/program/weights/weight_region.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/base/error.h"
#include "core/program/form/fields.h"
#include "core/program/tiling/strips.h"

namespace sdip {
namespace {

constexpr std::int64_t most_tiles = std::int64_t{1} << 24;

[[noreturn]] void refuse(const Instruction& instruction, const std::string& why) {
  throw Error("graph_inconsistent", instruction.name, "the weights of '" + instruction.name + "': " + why);
}

/// The node whose nest has the value as its second operand: of the instruction's name, or its first. An instruction
/// that makes sums alone has no nodes; then any of the graph's.
const Node* nest_node(const CompiledStage& stage, const Instruction& instruction, ValueId weight) {
  const List<Node>& nodes = stage.graph->nodes;
  const auto reads = [&](const Node& node) { return node.inputs.size() >= 2 && node.inputs[1] == weight; };
  if (instruction.nodes.empty()) {
    const auto any = std::ranges::find_if(nodes, reads);
    return any == nodes.end() ? nullptr : &*any;
  }
  const Node* found = nullptr;
  for (const NodeId n : instruction.nodes) {
    const Node& node = nodes[n];
    if (!reads(node)) continue;
    if (node.name == instruction.name) return &node;
    if (found == nullptr) found = &node;
  }
  return found;
}

/// The tiles of an instruction in their order. Where cores share groups, the tiles of one operation stand together,
/// the first core's first.
std::vector<WeightTile> tiles_of(const InstructionClass& c) {
  const LoopNest& nest = c.work.nest;
  const std::int64_t parts = weight_parts(c);
  const TilePlan plan = tile_plan(c);
  if (bounded_product(parts, nest.groups, plan.channels.count(), plan.sums.count()) > most_tiles)
    throw Error("limit_exceeded", "tile_channels", "weights in more than 2^24 tiles");
  std::vector<WeightTile> tiles;
  const std::int64_t all = nest.groups * nest.out_channels;
  const bool runs = plan.tile_channels > nest.out_channels;
  const std::int64_t run = runs ? plan.tile_channels / nest.out_channels * nest.out_channels : plan.tile_channels;
  for (std::int64_t c0 = 0; c0 < all;) {
    const std::int64_t end = runs ? all : (c0 / nest.out_channels + 1) * nest.out_channels;
    const std::int64_t channels = std::min(run, end - c0);
    for (std::int64_t s = 0; s < nest.in_channels; s += plan.tile_sums)
      for (std::int64_t part = 0; part < parts; ++part)
        tiles.push_back({part * all + c0, channels, s, std::min(plan.tile_sums, nest.in_channels - s)});
    c0 += channels;
  }
  return tiles;
}

struct Building {
  const CompiledStage& stage;
  const WeightForm& form;
  const Instruction& instruction;
  std::size_t next = 0;  // of the instruction's weights

  const Shape& shape(std::size_t weight) const {
    return stage.graph->values[instruction.weights[weight]].operand.shape;
  }

  RegionPart nest(const InstructionClass& c, std::size_t own, std::vector<WeightTile> tiles) {
    RegionPart part;
    part.nest = true;
    NestWeights& weights = part.weights;
    weights.first = next;
    weights.biases = own - 1;
    weights.counts.work.nest = c.work.nest;
    weights.counts.weight_elements_per_channel = c.weight_elements_per_channel;
    weights.counts.bias_elements_per_channel = c.bias_elements_per_channel;
    const Node* node = nest_node(stage, instruction, instruction.weights[next]);
    LoopNest& all = weights.counts.work.nest;  // of all cores that share it
    (c.shares_channels ? all.out_channels : all.groups) *= weight_parts(c);
    if (node != nullptr) weights.channels = weight_channels(*node, all, shape(next));
    const std::int64_t channels = all.groups * all.out_channels;
    weights.tiles = std::move(tiles);
    weights.channel_scales = form.scale_bits_per_channel > 0;
    weights.scale_group = form.scale_group;
    if (weights.channels.count == 0 &&
        (weights.channel_scales || weights.tiles.size() > 1 || form.group > 0 || form.scale_group > 0))
      throw Error(
          "not_modelled", instruction.name,
          fmt::format("no rule says which elements of the weight {} of '{}' belong to an output channel; expected "
                      "scale_granularity=tensor, no format of blocks{}",
                      shape_text(shape(next)), instruction.name,
                      weights.tiles.size() > 1 || form.group > 0 ? ", no skipping and no compression" : ""));
    if (weights.channels.count == 0) count_apart(weights, channels);
    check_counts(weights, channels);
    next += own;
    return part;
  }

  /// A nest of a recurrent layer multiplies several weights, one behind the other. Those behind the first stand as
  /// biases do: as many elements in all.
  void count_apart(NestWeights& weights, std::int64_t channels) const {
    InstructionClass& counts = weights.counts;
    const std::int64_t first = ceil_div(element_count(shape(weights.first)), channels);
    const std::int64_t more = counts.weight_elements_per_channel - first;
    if (more <= 0) return;
    if (form.skipping)
      throw Error("not_modelled", instruction.name,
                  "'" + instruction.name + "' multiplies several weights; expected no skipping of them");
    counts.weight_elements_per_channel -= more;
    counts.bias_elements_per_channel += more;
  }

  void check_counts(const NestWeights& weights, std::int64_t channels) const {
    const auto elements = [&](std::size_t i) { return element_count(shape(i)); };
    std::int64_t biases = 0;
    for (std::size_t i = 1; i <= weights.biases; ++i) biases += elements(weights.first + i);
    if (elements(weights.first) > weights.counts.weight_elements_per_channel * channels ||
        biases > weights.counts.bias_elements_per_channel * channels)
      refuse(instruction, "more elements than its class counts");
    if ((form.group > 0 || form.scale_group > 0) &&
        weights.counts.weight_elements_per_channel % weights.counts.work.nest.in_channels != 0)
      refuse(instruction, "weights of a channel that are no whole number of its sums");
  }

  RegionPart region_part(const std::vector<Fetch>& fetches, std::int64_t cores, std::int64_t counted) {
    RegionPart part;
    part.held.first = next;
    std::int64_t elements = 0;
    for (const Fetch& fetch : fetches) {
      if (fetch.place != Place::psram) continue;
      if (next == instruction.weights.size()) refuse(instruction, "fewer than its class fetches");
      const std::int64_t there = std::min(fetch.elements * cores, element_count(shape(next++)));
      elements += part.held.elements.emplace_back(there);
    }
    if (elements > counted) refuse(instruction, "more held elements than its class counts");
    part.held.bytes = ceil_div(counted * form.vector_bits, 8);
    return part;
  }

  /// How many of the weights from `next` on are operands of the nest: those of its node.
  std::size_t own_of_node() const {
    if (next == instruction.weights.size()) refuse(instruction, "fewer than its parts have");
    const Node* node = nest_node(stage, instruction, instruction.weights[next]);
    if (node == nullptr) refuse(instruction, "no operator that a part's weight is of");
    std::size_t own = 0;
    for (const ValueId v : node->inputs)
      if (v != none && stage.graph->values[v].kind == ValueKind::weight) ++own;
    if (own > instruction.weights.size() - next) refuse(instruction, "fewer than its operators have");
    return own;
  }
};

/// The tiles of a part of strips: the channels that are held, then each tile of those that come again for each
/// strip.
std::vector<WeightTile> tiles_of(const Part& part) {
  std::vector<WeightTile> tiles;
  const std::int64_t all = part_channels(part), sums = part.work.nest.in_channels;
  for (std::int64_t channel = 0, held = all - part.streamed_channels; channel < all;) {
    const std::int64_t channels = channel < held ? held : std::min(part.tile_channels, all - channel);
    tiles.push_back({channel, channels, 0, sums});
    channel += channels;
  }
  return tiles;
}

void add_strips(Building& building, const InstructionClass& c, WeightRegion& region) {
  region.one_unit = true;
  for (const Part& part : c.parts) {
    if (part.operand_b == Place::psram) {
      InstructionClass one;
      one.work.nest = part.work.nest;
      one.weight_elements_per_channel = part.weight_elements_per_channel;
      one.bias_elements_per_channel = part.bias_elements_per_channel;
      std::vector<WeightTile> tiles = tiles_of(part);
      region.one_unit = region.one_unit && part.streamed_channels == 0;
      region.parts.push_back(building.nest(one, building.own_of_node(), std::move(tiles)));
    }
    RegionPart held = building.region_part(part.fetches, 1, part.weight_elements);
    if (held.held.bytes > 0) region.parts.push_back(std::move(held));
  }
  region.bytes = held_weight_bytes(c, building.form);
}

double size_of(const Tensor& weight, std::int64_t i) {
  if (weight.floats.empty()) return std::fabs(static_cast<double>(weight.ints[at(i)]));
  const double x = std::fabs(weight.floats[at(i)]);
  return std::isnan(x) ? std::numeric_limits<double>::infinity() : x;
}

/// Keeps the largest of `elements`, of each channel at most so many.
void keep_largest(const NestWeights& nest, const Tensor& weight, std::vector<std::int64_t>& elements,
                  const Slots& slots, List<char>& kept) {
  std::ranges::stable_sort(elements,
                           [&](std::int64_t a, std::int64_t b) { return size_of(weight, a) > size_of(weight, b); });
  std::vector<std::int64_t> taken(at(std::max<std::int64_t>(nest.channels.count, 1)), 0);
  std::int64_t left = slots.all;
  for (const std::int64_t i : elements) {
    if (left == 0) return;
    std::int64_t& of_channel = taken[nest.channels.count == 0 ? 0 : nest.channels.of(i)];
    if (nest.channels.count > 0 && of_channel == slots.a_channel) continue;
    ++of_channel, --left;
    kept[i] = 1;
  }
}

/// Keeps the largest of each group.
void keep_in_groups(const NestWeights& nest, const WeightTile& tile, const Tensor& weight,
                    const GroupPattern& pattern, List<char>& kept) {
  std::vector<std::int64_t> by_size;
  for_each_group(nest, tile, pattern.group, [&](std::span<const std::int64_t> group) {
    by_size.assign(group.begin(), group.end());
    std::ranges::stable_sort(
        by_size, [&](std::int64_t a, std::int64_t b) { return size_of(weight, a) > size_of(weight, b); });
    by_size.resize(std::min(by_size.size(), at(pattern.stay)));
    for (const std::int64_t i : by_size) kept[i] = 1;
  });
}

}  // namespace

WeightRegion weight_region(const CompiledStage& stage, const WeightForm& form, const Instruction& instruction) {
  const InstructionClass& c = stage.program.classes[instruction.instruction_class];
  Building building{stage, form, instruction};
  WeightRegion region;
  if (c.compound == Compound::strips) {
    add_strips(building, c, region);
  } else {
    const auto fetched =
        as_size(std::ranges::count(c.fetches, Place::psram, [](const Fetch& f) { return f.place; }));
    const bool nest = c.compound == Compound::single && is_nest(c.work.family) && c.operand_b == Place::psram;
    if (fetched + (nest ? 1 : 0) > instruction.weights.size()) refuse(instruction, "fewer than its class fetches");
    if (nest) {
      const LoopNest& n = c.work.nest;
      auto tiles = form.by_tile()
                       ? tiles_of(c)
                       : std::vector{WeightTile{0, weight_parts(c) * n.groups * n.out_channels, 0, n.in_channels}};
      region.parts.push_back(building.nest(c, instruction.weights.size() - fetched, std::move(tiles)));
    }
    RegionPart held = building.region_part(c.fetches, c.spread_cores, c.weight_elements);
    if (held.held.bytes > 0) region.parts.push_back(std::move(held));
  }
  if (building.next != instruction.weights.size()) refuse(instruction, "more than its class fetches");
  return region;
}

const NestWeights* nest_of_weight(const WeightRegion& region, std::size_t index) {
  for (const RegionPart& part : region.parts)
    if (part.nest && part.weights.first == index) return &part.weights;
  return nullptr;
}

std::vector<std::int64_t> tile_elements(const NestWeights& nest, const WeightTile& tile, std::int64_t elements) {
  const WeightChannels& c = nest.channels;
  std::vector<std::int64_t> all;
  if (nest.tiles.size() == 1) {
    all.resize(at(elements));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  const auto add = [&](std::int64_t from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) all.push_back(from + i);
  };
  for (std::int64_t channel = tile.channel; channel < tile.channel + tile.channels;) {
    const std::int64_t block = channel / c.columns * c.block, column = channel % c.columns;
    const std::int64_t wide = std::min(c.columns - column, tile.channel + tile.channels - channel);
    if (c.columns == 1)
      add(block + tile.sum * c.run, tile.sums * c.run);
    else
      for (std::int64_t s = tile.sum; s < tile.sum + tile.sums; ++s) add(block + s * c.run + column, wide);
    channel += wide;
  }
  return all;
}

std::optional<GroupPattern> pattern_of(const WeightForm& form) {
  if (form.group == 0) return std::nullopt;
  return group_pattern(form.group, form.density_hundredths);
}

void for_each_group(const NestWeights& nest, const WeightTile& tile, std::int64_t group,
                    const std::function<void(std::span<const std::int64_t>)>& visit) {
  const WeightChannels& c = nest.channels;
  const std::int64_t positions = c.columns == 1 ? c.run : 1;  // else a run is a row of the matrix
  std::vector<std::int64_t> elements;
  for (std::int64_t channel = tile.channel; channel < tile.channel + tile.channels; ++channel)
    for (std::int64_t position = 0; position < positions; ++position) {
      const std::int64_t first = channel / c.columns * c.block + channel % c.columns + position;
      for (std::int64_t s = 0; s < tile.sums; s += group) {
        elements.clear();
        for (std::int64_t i = s; i < std::min(s + group, tile.sums); ++i)
          elements.push_back(first + (tile.sum + i) * c.run);
        visit(elements);
      }
    }
}

std::vector<std::uint32_t> groups_of_elements(const NestWeights& nest, std::int64_t elements) {
  List<std::uint32_t> groups(at(elements), 0);
  std::uint32_t number = 0;
  for (const WeightTile& tile : nest.tiles)
    for_each_group(nest, tile, nest.scale_group, [&](std::span<const std::int64_t> group) {
      for (const std::int64_t i : group) groups[i] = number;
      ++number;
    });
  return groups;
}

std::int64_t group_count(const NestWeights& nest) {
  const WeightChannels& c = nest.channels;
  std::int64_t count = 0;
  for (const WeightTile& tile : nest.tiles)
    count += tile.channels * (c.columns == 1 ? c.run : 1) * ceil_div(tile.sums, nest.scale_group);
  return count;
}

std::int64_t counted_elements(const NestWeights& nest, const WeightTile& tile) {
  const std::int64_t per_channel = nest.counts.weight_elements_per_channel, all = nest.counts.work.nest.in_channels;
  return tile.channels * (tile.sums == all ? per_channel : ceil_div(per_channel, all) * tile.sums);
}

Slots slots_of(const NestWeights& nest, const WeightTile& tile, const WeightForm& form) {
  const std::int64_t elements = counted_elements(nest, tile), a_channel = elements / tile.channels;
  if (const auto pattern = pattern_of(form)) {
    const std::int64_t kept = ceil_div(a_channel, tile.sums) * pattern->kept_of(tile.sums);
    return {tile.channels * kept, kept};
  }
  return {ceil_div(elements * form.density_hundredths, 100), ceil_div(a_channel * form.density_hundredths, 100)};
}

std::vector<char> kept_elements(const NestWeights& nest, const Tensor& weight, const Machine& machine) {
  const std::int64_t elements = element_count(weight.shape), density = machine.weight_density.hundredths;
  List<char> kept(at(elements), 0);
  if (machine.sparsity_group > 0) {
    if (nest.channels.count == 0)
      throw Error("not_modelled", "sparsity_group",
                  "no rule says which elements of the weight " + shape_text(weight.shape) +
                      " belong to an output channel; expected sparsity_group=0");
    const GroupPattern pattern = group_pattern(machine.sparsity_group, density);
    const bool whole = machine.sparsity == Sparsity::gating;
    const WeightTile all{0, nest.channels.count, 0, nest.counts.work.nest.in_channels};
    for (const WeightTile& tile : whole ? std::vector{all} : nest.tiles)
      keep_in_groups(nest, tile, weight, pattern, kept);
    return kept;
  }
  if (machine.sparsity == Sparsity::gating) {
    std::vector<std::int64_t> all(at(elements));
    std::iota(all.begin(), all.end(), 0);
    const std::int64_t stay = ceil_div(elements * density, 100);
    keep_largest(nest, weight, all, {stay, stay}, kept);
    return kept;
  }
  for (const WeightTile& tile : nest.tiles) {
    std::vector<std::int64_t> of_tile = tile_elements(nest, tile, elements);
    keep_largest(nest, weight, of_tile, slots_of(nest, tile, weight_form(machine)), kept);
  }
  return kept;
}

}  // namespace sdip
