// The tile operations of an instruction: loops over a few shapes, in the order they run.
//
// Worked example. 3 x 3 convolution, pad 1, 6 rows of one column in tiles of 2: windows of rows 0..2, 1..4, 3..5:
// 3, 4 and 3 rows, of which the second and third find 2 on chip and load 2 and 1: three windows, though one shape.
#include "core/cost/work/expansion.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace sdip {

using namespace cost;

namespace {

/// A size that tiles of one dimension have, and how many have it.
struct PieceKind {
  std::int64_t size, count;
};
struct Kinds {
  std::array<PieceKind, 3> of{};
  std::size_t count = 0;
  void push_back(const PieceKind& kind) { of[count++] = kind; }
  std::size_t size() const { return count; }
  const PieceKind* begin() const { return of.data(); }
  const PieceKind* end() const { return of.data() + count; }
  const PieceKind& operator[](std::size_t i) const { return of[i]; }
};

Kinds piece_kinds(const Cut& cut, std::int64_t full, std::int64_t unit = 1) {
  Kinds kinds;
  kinds.push_back({full, cut.full});
  if (cut.edge > 0) kinds.push_back({cut.edge * unit, 1});
  return kinds;
}

/// The kinds of tiles along the sums: the first, those between, the last.
Kinds sums_of(const TilePlan& plan) {
  const std::int64_t count = plan.sums.count();
  Kinds kinds;
  kinds.push_back({plan.tile_sums, 1});
  if (count == 1) return kinds;
  if (count > 2) kinds.push_back({plan.tile_sums, count - 2});
  kinds.push_back({plan.sums.edge != 0 ? plan.sums.edge : plan.tile_sums, 1});
  return kinds;
}

/// Tiles along rows or columns whose windows are equally large.
struct AxisRun {
  std::int64_t tiles;
  std::int32_t kind;
  std::int64_t all, fresh;
};
using AxisRuns = FewOf<AxisRun, 4>;

/// The number of positions that results first .. first + count - 1 read and those just before them had not read.
std::int64_t fresh_positions(const Axis& a, std::int64_t first, std::int64_t count) {
  const auto inside = [&](std::int64_t position) { return std::clamp<std::int64_t>(position, 0, a.inputs); };
  const std::int64_t begin = first * a.stride - a.pad;
  const std::int64_t shared = inside(begin - a.stride + a.reach()) - inside(begin);  // with the result before
  return window(a, first, count) - std::max<std::int64_t>(0, shared);
}

AxisRuns unclipped_windows(const Axis& a, const Cut& cut, std::int64_t tile) {
  AxisRuns runs;
  const auto add = [&](std::int64_t tiles, std::int64_t count, std::int32_t kind) {
    const std::int64_t held = held_window(a, count);
    runs.push_back({tiles, kind, held, std::min(held, count * a.stride)});
  };
  add(cut.full, tile, 0);
  if (cut.edge > 0) add(1, cut.edge, 1);
  return runs;
}

/// The windows of the tiles along an axis; full tiles in [from, to) are not clipped, and so all alike.
AxisRuns clipped_windows(const Axis& a, const Cut& cut, std::int64_t tile, std::int64_t from, std::int64_t to) {
  AxisRuns runs;
  const auto add = [&](std::int64_t number, std::int64_t tiles, std::int64_t count, std::int32_t kind) {
    const std::int64_t first = number * tile;
    runs.push_back({tiles, kind, window(a, first, count), fresh_positions(a, first, count)});
  };
  const auto add_full = [&](std::int64_t number, std::int64_t tiles) { add(number, tiles, tile, 0); };
  for (std::int64_t i = 0; i < from; ++i) add_full(i, 1);
  if (to > from) add_full(from, to - from);
  for (std::int64_t i = to; i < cut.full; ++i) add_full(i, 1);
  if (cut.edge > 0) add(cut.full, 1, cut.edge, 1);
  return runs;
}

AxisRuns windows_along(const Axis& a, const Cut& cut, std::int64_t tile) {
  const std::int64_t step = tile * a.stride, span = (tile - 1) * a.stride + a.reach();
  const std::int64_t from = std::clamp<std::int64_t>(ceil_div(a.pad, step), 0, cut.full);
  const std::int64_t to = std::clamp((a.inputs + a.pad - span + step) / step, from, cut.full);
  return from + cut.full - to > most_clipped_tiles ? unclipped_windows(a, cut, tile)
                                                   : clipped_windows(a, cut, tile, from, to);
}

enum class Of { repeats, groups, rows, columns, channels, sums };

/// The six loops of a nest, outermost first.
std::array<Of, 6> nesting(const LoopOrder& order, bool weighted) {
  std::array<Of, 6> loops{};
  std::size_t size = 0;
  bool repeated = false;
  const auto repeat = [&] {
    if (!repeated) loops[size++] = Of::repeats;
    repeated = true;
  };
  if (!weighted) repeat();
  for (const Loop loop : order) {
    if (loop == Loop::rows || loop == Loop::columns) repeat();
    if (loop == Loop::channels) loops[size++] = Of::groups;
    loops[size++] = loop == Loop::rows       ? Of::rows
                    : loop == Loop::columns  ? Of::columns
                    : loop == Loop::channels ? Of::channels
                                             : Of::sums;
  }
  return loops;
}

class NestExpansion {
 public:
  NestExpansion(const InstructionClass& c, const TilePlan& plan)
      : c_(c), plan_(plan), by_groups_(plan.tile_channels > c.work.nest.out_channels) {
    rows_ = piece_kinds(plan.rows, plan.tile_rows);
    columns_ = piece_kinds(plan.columns, plan.tile_columns);
    channels_ = by_groups_ ? piece_kinds(plan.groups, plan.tile_channels, c.work.nest.out_channels)
                           : piece_kinds(plan.channels, plan.tile_channels);
    sums_ = sums_of(plan);
    if (c.operand_a != Place::dram) return;
    row_runs_ = windows_along(rows_of(c.work.nest), plan.rows, plan.tile_rows);
    column_runs_ = windows_along(columns_of(c.work.nest), plan.columns, plan.tile_columns);
  }

  Expansion run() {
    Expansion e;
    loops(e.order);
    shapes(e);
    if (c_.operand_a == Place::dram)
      windows(e);
    else
      e.windows.push_back({});
    return e;
  }

 private:
  std::int64_t count(Of loop) const {
    static constexpr Cut TilePlan::*cuts[] = {&TilePlan::groups, &TilePlan::rows, &TilePlan::columns,
                                              &TilePlan::channels, &TilePlan::sums};
    return loop == Of::repeats ? plan_.repeats : (plan_.*cuts[at(loop) - 1]).count();
  }

  /// How far apart the shapes, and the windows, of two kinds of a dimension are numbered: sums fastest, then
  /// channels, columns, rows.
  std::int32_t shape_step(Of loop) const {
    std::size_t step = 1;
    if (loop == Of::sums) return 1;
    step *= sums_.size();
    if (loop == Of::channels || loop == Of::groups) return static_cast<std::int32_t>(step);
    step *= channels_.size();
    if (loop == Of::columns) return static_cast<std::int32_t>(step);
    return static_cast<std::int32_t>(step * columns_.size());
  }
  std::int32_t window_step(Of loop) const {
    if (c_.operand_a != Place::dram || loop == Of::channels) return 0;
    std::size_t step = 1;
    if (loop == Of::sums) return 1;
    step *= sums_.size();
    if (loop == Of::groups) return static_cast<std::int32_t>(step);
    step *= channels_.size();
    if (loop == Of::columns) return static_cast<std::int32_t>(step);
    return static_cast<std::int32_t>(step * column_runs_.size());
  }

  void add_kinds(TileLoops& order, const Kinds& kinds, Of loop) const {
    std::int32_t shape = 0, window = 0;
    for (const PieceKind& kind : kinds) {
      order.runs.push_back({kind.count, shape, window});
      shape += shape_step(loop);
      window += window_step(loop);
    }
  }

  void add_axis(TileLoops& order, const AxisRuns& runs, const Kinds& kinds, Of loop) const {
    if (c_.operand_a != Place::dram) {
      add_kinds(order, kinds, loop);
      return;
    }
    std::int32_t window = 0;
    for (const AxisRun& run : runs) {
      order.runs.push_back({run.tiles, run.kind * shape_step(loop), window});
      window += window_step(loop);
    }
  }

  void loops(TileLoops& order) {
    const bool weighted = c_.operand_b == Place::psram;
    for (const Of loop : nesting(c_.mapping.order, weighted)) {
      if (count(loop) == 1) continue;
      const std::size_t before = order.runs.size();
      if (loop == Of::rows)
        add_axis(order, row_runs_, rows_, loop);
      else if (loop == Of::columns)
        add_axis(order, column_runs_, columns_, loop);
      else if (loop == Of::sums)
        add_kinds(order, sums_, loop);
      else if (loop == Of::repeats || (loop == Of::groups) != by_groups_)
        order.runs.push_back({count(loop), 0, 0});
      else
        add_kinds(order, channels_, loop);
      const bool space = loop == Of::rows || loop == Of::columns;
      const bool b = !space && (loop != Of::repeats || !weighted);
      if (loop != Of::channels) slide_ = loop;  // the innermost loop over tiles of A
      order.loops.push_back(
          {static_cast<std::int32_t>(order.runs.size() - before), loop != Of::channels, b, false});
    }
    if (slide_ != Of::rows && slide_ != Of::columns) return;
    for (auto loop = order.loops.rbegin(); loop != order.loops.rend(); ++loop)
      if (loop->a) {
        loop->slides = true;
        return;
      }
  }

  void shapes(Expansion& e) const {
    const std::int64_t others = plan_.repeats * (by_groups_ ? 1 : plan_.groups.count());
    for (const PieceKind& rows : rows_)
      for (const PieceKind& columns : columns_)
        for (const PieceKind& channels : channels_)
          for (std::size_t s = 0; s < sums_.size(); ++s)
            e.shapes.push_back({{rows.size, columns.size, channels.size, sums_[s].size},
                                s == 0,
                                s + 1 == sums_.size(),
                                others * rows.count * columns.count * channels.count * sums_[s].count});
  }

  void windows(Expansion& e) const {
    const bool rows_slide = slide_ == Of::rows, columns_slide = slide_ == Of::columns;
    for (const AxisRun& rows : row_runs_)
      for (const AxisRun& columns : column_runs_)
        for (const PieceKind& channels : channels_)
          for (const PieceKind& sums : sums_) {
            const auto elements = [&](std::int64_t r, std::int64_t k) {
              return tile_a_elements(c_, plan_, channels.size, sums.size, r * k);
            };
            e.windows.push_back(
                {elements(rows.all, columns.all),
                 elements(rows_slide ? rows.fresh : rows.all, columns_slide ? columns.fresh : columns.all)});
          }
  }

  const InstructionClass& c_;
  const TilePlan& plan_;
  const bool by_groups_;
  Kinds rows_, columns_, channels_, sums_;
  AxisRuns row_runs_, column_runs_;
  Of slide_ = Of::channels;
};

Expansion expand_rowwise(const InstructionClass& c, const TilePlan& plan) {
  Expansion e;
  const bool chunked = plan.tile_channels < c.work.row_length;
  const std::int64_t passes = plan.passes_apart, rows = plan.repeats;
  const Kinds kinds = piece_kinds(plan.rows, chunked ? plan.tile_channels : plan.tile_rows);
  const auto add_loop = [&](std::int32_t runs) { e.order.loops.push_back({.runs = runs}); };
  const std::int32_t step = passes > 1 ? 2 : 1;  // shapes by size, then whether it is the last pass
  if (rows > 1) {
    e.order.runs.push_back({rows, 0, 0});
    add_loop(1);
  }
  if (passes > 1) {
    e.order.runs.push_back({passes - 1, 0, 0});
    e.order.runs.push_back({1, 1, 0});
    add_loop(2);
  }
  if (plan.rows.count() > 1) {
    std::int32_t shape = 0;
    for (const PieceKind& kind : kinds) {
      e.order.runs.push_back({kind.count, shape, 0});
      shape += step;
    }
    add_loop(static_cast<std::int32_t>(kinds.size()));
  }
  for (const PieceKind& kind : kinds) {
    const TileExtent size =
        chunked ? TileExtent{1, 1, kind.size, 1} : TileExtent{kind.size, 1, c.work.row_length, 1};
    if (passes > 1) e.shapes.push_back({size, true, false, rows * (passes - 1) * kind.count});
    e.shapes.push_back({size, passes == 1, true, rows * kind.count});
  }
  e.windows.push_back({});
  return e;
}

}  // namespace

std::array<TileStep, most_tile_loops> tile_steps(const TileLoops& order) {
  check(order.loops.size() <= most_tile_loops, "more tile loops than are walked");
  std::array<TileStep, most_tile_loops> steps;
  bool a = false, b = false;  // of the loops from here inwards
  for (std::size_t l = order.loops.size(); l-- > 0;) {
    a |= order.loops[l].a;
    b |= order.loops[l].b;
    steps[l] = {a, b, order.loops[l].slides};
  }
  return steps;
}

Expansion expand(const InstructionClass& c, const TilePlan& plan) {
  return plan.nest ? NestExpansion(c, plan).run() : expand_rowwise(c, plan);
}

}  // namespace sdip
