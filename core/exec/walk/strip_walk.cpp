// The pieces of a strip, and the rows that it is charged.
#include "core/exec/walk/strip_walk.h"

namespace sdip::exec {
namespace {

using Count = std::int64_t;

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

}  // namespace

std::vector<StripPiece> strip_pieces(const InstructionClass& c) {
  std::vector<StripPiece> pieces;
  Count tile = 0;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    const Part& part = c.parts[i];
    const std::size_t before = pieces.size();
    const Count channels = part.work.nest.out_channels * part.work.nest.groups;
    Count done = channels - part.streamed_channels;
    if (done > 0) pieces.push_back({i, {0, done}});
    for (; done < channels; done = pieces.back().channels.end)
      pieces.push_back({i, {done, std::min(channels, done + part.tile_channels)}, tile++});
    for (std::size_t j = before; j < pieces.size(); ++j)
      pieces[j].of_part = static_cast<Count>(pieces.size() - before);
  }
  return pieces;
}

std::int64_t second_elements(const Part& part) {
  const LoopNest& n = part.work.nest;
  const bool product = part.work.family == Family::matmul && part.operand_b == Place::dram;
  return product ? n.batch * n.groups * n.in_channels * n.out_channels : 0;
}

/// From the last part back to the first.
StripRows strip_rows(const InstructionClass& c, Count strip) {
  StripRows rows;
  rows.parts.resize(c.parts.size());
  const Count height = c.parts.back().work.nest.out_h, first_height = c.parts[0].work.nest.in_h;
  for (std::size_t i = c.parts.size(); i-- > 0;) {
    StripRows::OfPart& own = rows.parts[i];
    own.made = i + 1 == c.parts.size() ? strip : rows.parts[i + 1].under;
    if (c.line_buffers) own.made = ceil_div(strip * c.parts[i].work.nest.out_h, height);
    own.under = rows_under(c.parts[i], own.made);
  }
  rows.loaded =
      c.line_buffers ? std::min(first_height, ceil_div(strip * first_height, height)) : rows.parts[0].under;
  return rows;
}

}  // namespace sdip::exec
