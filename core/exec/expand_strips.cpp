// Strips: each part of each strip, or so many of its channels, expanded as an instruction of its own
// that is all on chip at once.
#include <algorithm>
#include <map>

#include "core/exec/operations.h"

namespace sdip::exec {
namespace {

using Count = std::int64_t;

Count up(Count a, Count b) { return (a + b - 1) / b; }

/// Input rows under `rows` results, found by walking: the span of a window somewhere inside; of an enlargement, the
/// most that so many results next to each other come from.
Count rows_under(const Part& part, Count rows) {
  const LoopNest& n = part.work.nest;
  Count most = 0;
  if (part.work.family == Family::vector && n.out_h > n.in_h) {
    const Count scale = n.out_h / n.in_h;
    for (Count first = 0; first < scale; ++first)
      most = std::max(most, (first + rows - 1) / scale - first / scale + 1);
  } else {
    for (Count row = 0; row < rows; ++row)
      for (Count k = 0; k < n.kernel_h; ++k) most = std::max(most, row * n.stride_h + k * n.dilation_h + 1);
  }
  return std::min(most, n.in_h);
}

struct PartRows {
  Count made = 0, under = 0;
};

/// Section "Compound instructions: strips", from the last part back to the first.
std::vector<PartRows> rows_of(const InstructionClass& c, Count strip) {
  std::vector<PartRows> rows(c.parts.size());
  const Count height = c.parts.back().work.nest.out_h;
  for (std::size_t i = c.parts.size(); i-- > 0;) {
    rows[i].made = i + 1 == c.parts.size() ? strip : rows[i + 1].under;
    if (c.line_buffers) rows[i].made = up(strip * c.parts[i].work.nest.out_h, height);
    rows[i].under = rows_under(c.parts[i], rows[i].made);
  }
  return rows;
}

Count channels_of(const Part& part) { return part.work.nest.out_channels * part.work.nest.groups; }

/// What one tile operation of a strip does: channels of one part, and which tile of streamed weights it needs.
struct Piece {
  std::size_t part = 0;
  Count channels = 0, weight_tile = no_tile, of_part = 1;  // of so many of the part in a strip
};

/// The pieces of a strip: one a part where all weights are held (they are then one operation together), else the
/// channels held and the tiles of the others.
std::vector<Piece> pieces_of(const InstructionClass& c) {
  std::vector<Piece> pieces;
  Count tile = 0;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    const std::size_t before = pieces.size();
    Count left = channels_of(c.parts[i]) - c.parts[i].streamed_channels;
    if (left > 0) pieces.push_back({i, left});
    for (left = c.parts[i].streamed_channels; left > 0; left -= pieces.back().channels)
      pieces.push_back({i, std::min(left, c.parts[i].tile_channels), tile++});
    for (std::size_t j = before; j < pieces.size(); ++j)
      pieces[j].of_part = static_cast<Count>(pieces.size() - before);
  }
  return pieces;
}

/// Weights of so many channels of a part, as PSRAM holds them.
Count weights_of(const Part& part, Count channels, const Machine& m) {
  if (part.operand_b != Place::psram || channels == 0) return 0;
  const Count bits = bits_of(m.weight_format);
  const bool integer = !number_formats[static_cast<std::size_t>(m.weight_format)].floating;
  const bool skipping = m.sparsity == Sparsity::skipping;
  const Count zero = is_unsigned(m.weight_format) ? bits : 0;
  const Count scale = integer && m.scale_granularity == ScaleGranularity::channel ? 32 + zero : 0;
  const Count elements = channels * part.weight_elements_per_channel;
  const Count kept = skipping ? up(elements * m.weight_density.hundredths, 100) : elements;
  return up(kept * bits + (skipping ? elements : 0) + channels * (part.bias_elements_per_channel * bits + scale),
            8);
}

Count row_of_inputs(const Part& part) {
  return part.work.nest.in_w * part.work.nest.in_channels * part.work.nest.groups;
}

/// One piece of a strip. `in` rows of its operand are there.
InstructionClass alone(const InstructionClass& c, const Piece& piece, Count made, Count in, Count strips) {
  const std::size_t i = piece.part;
  const Part& part = c.parts[i];
  const bool last = i + 1 == c.parts.size();
  InstructionClass one;
  one.work = part.work;
  one.work.nest.batch = 1;
  one.work.nest.out_h = made;
  one.work.nest.in_h = in;
  one.work.nest.pad_top = 0;
  one.operand_a = i == 0 ? c.operand_a : Place::dsram;
  one.operand_b = part.operand_b;
  one.pair_b = part.pair_b;
  const DsramPair before = i == 0 ? c.pair_a : DsramPair();
  one.pair_a = before;
  one.to_dsram = last ? c.to_dsram : true;
  one.push = last && c.push;
  one.to_dram = last && c.to_dram;
  one.out_elements = made * part.work.nest.out_w * piece.channels;
  if (piece.channels != channels_of(part)) one.work.nest.out_channels = piece.channels;
  one.fused_operators = part.fused_operators;
  one.fused_passes = part.fused_passes;
  one.prologue_passes = part.prologue_passes;
  one.statistics_passes = part.statistics_passes;
  const LoopNest& n = one.work.nest;
  one.mapping = {made, n.out_w, piece.channels, n.in_channels, rows_outermost};
  if (part.work.family == Family::vector) {
    const Count whole = part.work.row_length;
    one.mapping = {1, 1, whole, 1, rows_outermost};
    one.work.row_length = whole * made / (part.work.nest.batch * part.work.nest.out_h);
    const bool touched = part.read_elements == whole;
    one.fetches.push_back(
        {one.operand_a, touched ? one.work.row_length : in * row_of_inputs(part), 1, touched, before});
    one.operand_a = Place::nowhere;
  }
  for (Fetch f : part.fetches) {
    f.elements = f.per_fold ? one.out_elements : up(f.elements, strips * piece.of_part);
    one.fetches.push_back(f);
  }
  return one;
}

}  // namespace

namespace {

/// The operations of a strip of so many rows of the last result.
std::vector<Operation> strip_of(const InstructionClass& c, const Machine& m, Role role,
                                const std::vector<Piece>& pieces, Count strip, Count strips) {
  const Count bits = bits_of(m.activation_format);
  const Count height = c.parts.back().work.nest.out_h, first_height = c.parts[0].work.nest.in_h;
  const bool together = std::ranges::all_of(pieces, [](const Piece& p) { return p.weight_tile == no_tile; });
  const std::vector<PartRows> rows = rows_of(c, strip);
  const Count loaded = c.line_buffers ? std::min(first_height, up(strip * first_height, height)) : rows[0].under;
  std::vector<Operation> operations;
  for (const Piece& piece : pieces) {
    const std::size_t i = piece.part;
    if (!together || i == 0) {
      operations.emplace_back();
      if (m.granularity == Granularity::micro_operation) operations.back().commands = 0;
      if (c.operand_a == Place::dram) operations.back().a_bytes = up(loaded * row_of_inputs(c.parts[0]) * bits, 8);
    }
    Operation& o = operations.back();
    const InstructionClass one = alone(c, piece, rows[i].made, i == 0 ? loaded : rows[i].under, strips);
    const std::vector<Operation> part = expand(one, m, role, c.work.family);
    o.needs += part.at(0).needs;
    if (m.granularity == Granularity::micro_operation) o.commands += part.at(0).commands;
    o.steps_cycles += part.at(0).needs.longest();
    o.lane_operations += part.at(0).lane_operations;
    if (one.work.family == Family::vector)
      o.lane_operations += one.work.row_length + (one.fused_operators + one.statistics_passes) * one.out_elements;
    for (std::size_t f = one.fetches.size() - c.parts[i].fetches.size(); f < one.fetches.size(); ++f)
      if (one.fetches[f].place == Place::dram) o.other_bytes += up(one.fetches[f].elements * bits, 8);
    o.weight_tile = piece.weight_tile;
    if (piece.weight_tile != no_tile) o.weight_psram_bytes = weights_of(c.parts[i], piece.channels, m);
    o.weight_dram_bytes = packed_bytes(o.weight_psram_bytes, m);
    if (c.to_dram && i + 1 == c.parts.size())
      o.out_bytes = up(strip * c.parts[i].work.nest.out_w * piece.channels * bits, 8);
  }
  return operations;
}

}  // namespace

std::vector<Operation> expand_strips(const InstructionClass& c, const Machine& m, Role role) {
  const Count batch = c.parts[0].work.nest.batch, height = c.parts.back().work.nest.out_h;
  const Count strips = batch * up(height, c.mapping.tile_rows);
  const std::vector<Piece> pieces = pieces_of(c);
  std::map<Count, std::vector<Operation>> folded;  // by rows: equal strips have equal folds, gone through once
  std::vector<Operation> operations;
  for (Count frame = 0; frame < batch; ++frame) {
    for (Count row = 0; row < height; row += c.mapping.tile_rows) {
      const Count strip = std::min(c.mapping.tile_rows, height - row);
      const auto [entry, fresh] = folded.try_emplace(strip);
      if (fresh) entry->second = strip_of(c, m, role, pieces, strip, strips);
      for (Operation o : entry->second) {
        if (c.operand_a == Place::dram) o.a_tile = frame * height + row;
        operations.push_back(o);
      }
    }
  }
  return operations;
}

std::int64_t strips_psram_bytes(const InstructionClass& c, const Machine& m) {
  Count bytes = 0;
  for (const Part& part : c.parts)
    bytes += up(part.weight_elements * bits_of(m.weight_format), 8) +
             weights_of(part, channels_of(part) - part.streamed_channels, m);
  return bytes;
}

}  // namespace sdip::exec
