// The bits of one tile, and of held weights, for whoever writes or reads them. Internal to its room.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/program/tiling/tiles.h"
#include "core/program/weights/coded_weight.h"

namespace sdip {

/// Bits one after the other, as BitPacker puts them.
struct CodesOut {
  BitPacker& packer;
  void code(std::uint32_t& x, std::int64_t bits) { packer.put(x, bits); }
};
struct CodesIn {
  std::span<const std::byte> bytes;
  std::size_t at = 0;
  void code(std::uint32_t& x, std::int64_t bits) {
    x = 0;
    for (std::int64_t got = 0; got < bits;) {
      check(at / 8 < bytes.size(), "weights are not longer than their place");
      const auto take = std::min<std::int64_t>(bits - got, 8 - static_cast<std::int64_t>(at % 8));
      const std::uint32_t part = std::to_integer<std::uint32_t>(bytes[at / 8]) >> at % 8 & ((1U << take) - 1);
      x |= part << got;
      got += take;
      at += as_size(take);
    }
  }
};

/// A bit an element of the tile, then zeros up to what its channels' counts say.
template <class Bits>
void mask_bits(Bits& bits, std::span<const std::int64_t> elements, std::int64_t counted, List<char>& kept) {
  for (std::int64_t i = 0; i < counted; ++i) {
    const bool there = i < std::ssize(elements);
    std::uint32_t bit = there && kept[elements[at(i)]] != 0 ? 1 : 0;
    bits.code(bit, 1);
    if (there) kept[elements[at(i)]] = static_cast<char>(bit);
  }
}

/// Where the elements that stay of each group stand in it. False when what was read are no places in order.
template <class Bits>
bool place_bits(Bits& bits, const NestWeights& nest, const WeightTile& tile, const GroupPattern& pattern,
                List<char>& kept) {
  bool sound = true;
  for_each_group(nest, tile, pattern.group, [&](std::span<const std::int64_t> group) {
    std::vector<std::uint32_t> places;
    for (std::size_t i = 0; i < group.size(); ++i)
      if (kept[group[i]] != 0) places.push_back(static_cast<std::uint32_t>(i));
    places.resize(std::min(group.size(), as_size(pattern.stay)), 0);
    std::int64_t before = -1;
    for (std::uint32_t& place : places) {
      bits.code(place, pattern.index_bits());
      sound = sound && place < group.size() && std::int64_t{place} > before;
      before = place;
      if (sound) kept[group[place]] = 1;
    }
  });
  return sound;
}

/// Elements of a tile in the order of its slots.
inline std::vector<std::int64_t> slot_order(const NestWeights& nest, const WeightTile& tile, const WeightForm& form,
                                            std::int64_t elements) {
  if (form.group == 0) return tile_elements(nest, tile, elements);
  std::vector<std::int64_t> order;
  for_each_group(nest, tile, form.group, [&](std::span<const std::int64_t> group) {
    order.insert(order.end(), group.begin(), group.end());
  });
  return order;
}

/// Elements of the biases, one behind the other, that come with a tile's channels.
template <class Bits>
void bias_bits(Bits& bits, const NestWeights& nest, const WeightTile& tile, const WeightForm& form,
               std::span<CodedWeight> weights) {
  std::int64_t first = 0;
  const std::int64_t a_channel = nest.counts.bias_elements_per_channel;
  for (std::size_t b = 1; b <= nest.biases; ++b) {
    List<std::uint32_t>& codes = weights[nest.first + b].codes;
    const std::int64_t size = std::ssize(codes);
    const std::int64_t begin = std::clamp<std::int64_t>(tile.channel * a_channel - first, 0, size);
    const std::int64_t end = std::clamp<std::int64_t>((tile.channel + tile.channels) * a_channel - first, 0, size);
    for (std::int64_t i = begin; i < end; ++i) bits.code(codes[i], form.vector_bits);
    first += size;
  }
}

template <class Bits>
void scale_bits(Bits& bits, const NestWeights& nest, const WeightTile& tile, const WeightForm& form,
                std::vector<WeightScale>& scales) {
  if (!nest.channel_scales) return;
  for (std::int64_t c = tile.channel; c < tile.channel + tile.channels; ++c) {
    WeightScale& scale = scales[at(c)];
    auto code = std::bit_cast<std::uint32_t>(scale.scale);
    bits.code(code, 32);
    scale.scale = std::bit_cast<float>(code);
    if (!scale.zero) continue;
    std::uint32_t zero = *scale.zero;
    bits.code(zero, form.bits);
    scale.zero = static_cast<std::uint8_t>(zero);
  }
}

/// The scales of a tile's groups.
template <class Bits>
void group_scale_bits(Bits& bits, const NestWeights& nest, const WeightTile& tile, const WeightForm& form,
                      CodedWeight& weight) {
  if (nest.scale_group == 0) return;
  for_each_group(nest, tile, nest.scale_group, [&](std::span<const std::int64_t> group) {
    WeightScale& scale = weight.scales[weight.groups[at(group[0])]];
    std::uint32_t code = code_of_scale(weight.format, scale.scale, weight.tensor);
    bits.code(code, bits_of_group_scale(weight.format));
    scale.scale = scale_of_code(weight.format, code, weight.tensor);
    if (!scale.zero) return;
    std::uint32_t zero = *scale.zero;
    bits.code(zero, form.bits);
    scale.zero = static_cast<std::uint8_t>(zero);
  });
}

/// One tile of a nest's weights. False when a mask that was read keeps more elements than there are slots, or
/// places that were read are none.
template <class Bits>
bool tile_bits(Bits& bits, const NestWeights& nest, const WeightTile& tile, const WeightForm& form,
               std::span<CodedWeight> weights) {
  CodedWeight& weight = weights[nest.first];
  const List<std::int64_t> elements = slot_order(nest, tile, form, std::ssize(weight.codes));
  const auto code_of = [&](std::int64_t e) -> std::uint32_t& { return weight.codes[e]; };
  const auto is_kept = [&](std::int64_t e) { return weight.kept[e] != 0; };
  std::vector<std::uint32_t> slots;
  if (!form.skipping) {
    for (const std::int64_t e : elements) bits.code(code_of(e), form.bits);
  } else {
    for (const std::int64_t e : elements)
      if (is_kept(e)) slots.push_back(code_of(e));
    slots.resize(as_size(slots_of(nest, tile, form).all), 0);
    for (std::uint32_t& slot : slots) bits.code(slot, form.bits);
  }
  if (tile.sum == 0) {
    bias_bits(bits, nest, tile, form, weights);
    scale_bits(bits, nest, tile, form, weight.scales);
  }
  group_scale_bits(bits, nest, tile, form, weight);
  if (!form.skipping) return true;
  if (const auto pattern = pattern_of(form)) {
    if (!place_bits(bits, nest, tile, *pattern, weight.kept)) return false;
  } else {
    mask_bits(bits, elements, counted_elements(nest, tile), weight.kept);
  }
  std::size_t next = 0;
  for (const std::int64_t e : elements) {
    if (!is_kept(e)) continue;
    if (next == slots.size()) return false;
    code_of(e) = slots[next++];
  }
  return true;
}

template <class Bits>
void held_bits(Bits& bits, const HeldWeights& held, const WeightForm& form, std::span<CodedWeight> weights) {
  for (std::size_t i = 0; i < held.elements.size(); ++i)
    for (std::int64_t e = 0; e < held.elements[i]; ++e)
      bits.code(weights[held.first + i].codes[e], form.vector_bits);
}

/// Bytes of a tile as the memories hold it.
inline std::int64_t tile_bytes(const NestWeights& nest, const WeightTile& tile, const WeightForm& form) {
  return weight_tile_bytes(nest.counts, tile.channels, tile.sums, tile.sum == 0, form);
}

/// Bytes of a number of weight_format, as the compressor takes them apart.
inline std::size_t number_bytes(const WeightForm& form) {
  return as_size(std::max<std::int64_t>(1, form.bits / 8));
}

}  // namespace sdip
