// The layers of a network that are tiled, and what tiling each moves.
#include "core/program/compile/tiling_layers.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/program/compile/passes.h"

namespace sdip {
namespace {

/// The room of a machine with nothing whole on chip.
TileRoom empty_room(const Machine& machine, Role role, Family family) {
  TileRoom room = machine_room(machine, weight_place(machine, role));
  room.read_bytes = room.write_bytes =
      is_unified(machine) ? unified_bytes(machine) / 2 : dsram_bytes_of(machine, family);
  return room;
}

InstructionClass class_of(const Nest& nest) {
  const LoopNest& n = nest.loops;
  InstructionClass c;
  c.work.family = !nest.weighted ? Family::matmul : n.kernel_h * n.kernel_w > 1 ? Family::conv2d : Family::linear;
  c.work.nest = n;
  c.operand_a = Place::dram;
  c.operand_b = nest.weighted ? Place::psram : Place::dram;
  c.to_dsram = false, c.to_dram = true;
  c.out_elements = compulsory(nest).out;
  if (nest.weighted) c.weight_elements_per_channel = n.in_channels * n.kernel_h * n.kernel_w;
  return c;
}

}  // namespace

std::vector<TilingLayer> tiling_layers(const Graph& graph) {
  const Machine machine;
  const std::shared_ptr<const Graph> shared(std::shared_ptr<void>(), &graph);  // outlives the compilation
  Compilation c{machine, Role::network, {}, shared, {}, {}, {}, {}, {}, {}};
  lower(c);
  std::vector<TilingLayer> layers;
  std::map<std::pair<LoopNest, bool>, std::size_t> seen;
  for (const Draft& draft : c.drafts) {
    if (!is_nest(draft.work.family)) continue;
    const auto [entry, fresh] = seen.try_emplace({draft.work.nest, draft.weighted}, layers.size());
    if (!fresh) {
      ++layers[entry->second].count;
      continue;
    }
    layers.push_back({graph.nodes[draft.node].name, {draft.work.nest, draft.weighted}, 1});
  }
  return layers;
}

std::string nest_text(const Nest& nest) {
  const LoopNest& n = nest.loops;
  const auto by = [](std::int64_t a, std::int64_t b) { return fmt::format("{}x{}", a, b); };
  const auto times = [](std::int64_t count) { return count == 1 ? std::string() : std::to_string(count) + " x "; };
  if (!nest.weighted || (n.kernel_h * n.kernel_w == 1 && n.out_w == 1 && n.in_w == 1))
    return fmt::format("{}{}{} x {}", nest.weighted ? "linear " : "matmul ", times(n.batch * n.groups),
                       by(n.out_h, n.in_channels), by(n.in_channels, n.out_channels));
  std::string text = "conv " + by(n.kernel_h, n.kernel_w);
  if (n.stride_h * n.stride_w != 1) text += " s" + std::to_string(n.stride_h);
  if (n.groups > 1) text += " g" + std::to_string(n.groups);
  return fmt::format("{} {}{}x{} -> {}x{}", text, times(n.batch), by(n.in_channels * n.groups, n.in_h), n.in_w,
                     by(n.out_channels * n.groups, n.out_h), n.out_w);
}

std::int64_t compulsory_capacity(const Nest& nest) {
  const std::int64_t least = compulsory(nest).words();
  const auto reaches = [&](std::int64_t words) {
    const auto found = best_tiling(nest, words);
    return found && found->price <= least;
  };
  std::int64_t below = 0, enough = tile_words(nest, whole_mapping(nest)).all();
  while (below + 1 < enough) {
    const std::int64_t middle = below + (enough - below) / 2;
    (reaches(middle) ? enough : below) = middle;
  }
  return enough;
}

std::optional<MachineTiling> tiling_on(const Nest& nest, const Machine& given, Role role) {
  const StageMachine its(given, role);
  const Machine& machine = *its;
  InstructionClass c = class_of(nest);
  const TileRoom room = empty_room(machine, role, c.work.family);
  const auto mapping = choose_mapping(c, room);
  if (!mapping) return std::nullopt;
  const Traffic moved = traffic(nest, *mapping);
  const Compulsory once = compulsory(nest);
  const std::int64_t bits = room.activation_bits;
  const auto bytes = [](std::int64_t words, std::int64_t each) {
    return static_cast<std::int64_t>(std::min<Int128>(most_words, (static_cast<Int128>(words) * each + 7) / 8));
  };
  std::int64_t b_bytes = bytes(once.b, bits);
  if (nest.weighted)
    b_bytes =
        room.weight_bytes == 0 ? 0 : stored_bytes(weight_tile_bytes(c, nest.channels(), room.form), room.form);
  MachineTiling tiling{*mapping, 0, 0};
  tiling.bytes = bytes(moved.a, bits) + moved.b / once.b * b_bytes + bytes(moved.out, bits) +
                 bytes(moved.partials_read, room.accumulator_bits) +
                 bytes(moved.partials_written, room.accumulator_bits);
  const double sram_bytes = static_cast<double>(machine.psram_bytes + 2 * dsram_bytes_of(machine, c.work.family) +
                                                machine.stackram_bytes);
  const double a = static_cast<double>(bits) / 8, b = static_cast<double>(b_bytes) / static_cast<double>(once.b);
  const double streamed = products_over_root(nest, sram_bytes) * 2 * std::sqrt(a * b * a) - 2 * sram_bytes;
  tiling.least_bytes = std::max(bytes(once.a, bits) + b_bytes + bytes(once.out, bits),
                                static_cast<std::int64_t>(std::ceil(std::max(streamed, 0.0) * (1 - 1e-12))));
  return tiling;
}

}  // namespace sdip
