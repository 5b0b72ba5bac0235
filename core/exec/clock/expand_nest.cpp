// A nest's tile operations: plain loops over tiles. Tiles of equal sizes have equal folds, which are gone through
// once.
#include <map>

#include "core/exec/clock/nest_folds.h"
#include "core/exec/walk/nest_walk.h"
#include "core/exec/walk/resolve.h"
#include "core/exec/walk/windows.h"

namespace sdip::exec {
namespace {

/// Input positions that a tile of `count` results holds: of an input without edges, at most all that are read.
Count positions_held(const InputAxis& axis, Count count) {
  InputAxis endless = axis;
  endless.pad = 0;
  endless.in = count * (axis.stride + axis.kernel * axis.dilation) + 1;
  return std::min(positions_in(positions_read(endless, {0, count})),
                  positions_in(positions_read(axis, {0, axis.results})));
}

/// Input positions of each tile along an axis: all; and those that the tile before had not.
struct Positions {
  std::vector<Count> all, fresh;
};
Positions positions_of(const InputAxis& axis, const std::vector<Extent>& tiles) {
  Positions found;
  if (clips_too_many(axis, tiles)) {
    for (const Extent& tile : tiles) {
      found.all.push_back(positions_held(axis, tile.size()));
      found.fresh.push_back(std::min(found.all.back(), tile.size() * std::min(axis.stride, axis.reach())));
    }
    return found;
  }
  Runs had;
  for (const Extent& tile : tiles) {
    Runs now = positions_read(axis, tile);
    found.all.push_back(positions_in(now));
    found.fresh.push_back(positions_in(fresh_positions(now, had)));
    had = std::move(now);
  }
  return found;
}

/// All that the folds of one tile depend on, and what they came to.
struct FoldShape {
  Count rows, columns, channels, groups, sums;
  bool first, last;
  Count copies;
  auto operator<=>(const FoldShape&) const = default;
};

class NestExpansion {
 public:
  NestExpansion(const InstructionClass& c, const Machine& m, Role role, Family owner)
      : c_(c),
        m_(m),
        role_(role),
        ports_(m, role, owner),
        n_(c.work.nest),
        weighted_(c.operand_b == Place::psram),
        loops_(tile_loops(n_, weighted_, c.mapping, {{0, n_.out_h}})) {
    for (const TileLoop& loop : loops_) {
      operations_ *= std::ssize(loop.tiles);
      if (loop.extent == &TileOperation::sums) sums_tiles_ = std::ssize(loop.tiles);
      if (c.operand_a != Place::dram) continue;
      if (loop.extent == &TileOperation::rows) rows_in_ = positions_of(along_rows_, loop.tiles);
      if (loop.extent == &TileOperation::columns) columns_in_ = positions_of(along_columns_, loop.tiles);
    }
    result_bits_ = bits_of(c.formats ? c.formats->results : m.activation_format);
    widths_ = {bits_of(m.activation_format),
               bits_of(weighted_ ? m.weight_format : m.activation_format),
               bits_of(m.accumulator_format),
               c.push && !c.to_dsram && !c.to_dram && sums_tiles_ == 1,
               weighted_ && weights_multiply(m, role),
               weighted_ && m.sparsity != Sparsity::skipping ? group_length(m) : 0,
               bits_of_scale(m)};
  }

  std::vector<Operation> run() {
    done_.reserve(as_size(operations_));
    for_each_step(n_, weighted_, loops_, [this](const NestStep& step) { add(step); });
    return std::move(done_);
  }

 private:
  void add(const NestStep& step) {
    const TileOperation& tile = step.tile;
    multiplicity_ = tile.copies.size();
    const Count wide = tile.channels.size(), in_group = std::min(wide, n_.out_channels), deep = tile.sums.size();
    const FoldShape shape{tile.rows.size(), tile.columns.size(), in_group,     wide / in_group, deep,
                          tile.first_sums,  tile.last_sums,      multiplicity_};
    Operation& o = done_.emplace_back(folded(shape));
    if (c_.operand_a == Place::dram) {
      o.a_tile = number(step.a);
      if (step.loads_a)
        o.a_bytes =
            ceil_div(positions_loaded(step) * shape.groups * deep * multiplicity_ * widths_.activation_bits, 8);
    }
    if (c_.operand_b == Place::dram) {
      o.b_tile = number(step.b);
      if (step.loads_b)
        o.b_bytes = ceil_div(deep * n_.kernel_h * n_.kernel_w * wide * multiplicity_ * widths_.activation_bits, 8);
    }
    if (weighted_) add_weights(step, o);
    const Count partials = ceil_div(shape.rows * shape.columns * wide * multiplicity_ * widths_.partial_bits, 8);
    if (step.partials_come) o.partial_bytes = partials;
    o.leaves_partials = step.partials_leave;
    if (o.leaves_partials) o.out_bytes = partials;
  }

  /// Positions of A's window that come: of a line buffer's next rows or columns those that are not there.
  Count positions_loaded(const NestStep& step) const {
    const auto r = at(step.tile.rows.begin / c_.mapping.tile_rows);
    const auto k = at(step.tile.columns.begin / c_.mapping.tile_columns);
    return (step.next_rows ? rows_in_.fresh : rows_in_.all)[r] *
           (step.next_columns ? columns_in_.fresh : columns_in_.all)[k];
  }

  /// A number of its own for each tile of an operand.
  Count number(const TileOperation& tile) const {
    Count n = tile.copies.begin;
    n = n * n_.out_h + tile.rows.begin;
    n = n * n_.out_w + tile.columns.begin;
    n = n * n_.groups * n_.out_channels + tile.channels.begin;
    return n * n_.in_channels + tile.sums.begin;
  }

  /// A tile of that shape: its folds, what is fused behind it, and what leaves of its results.
  const Operation& folded(const FoldShape& shape) {
    const auto [entry, fresh] = folded_.try_emplace(shape);
    Operation& o = entry->second;
    if (!fresh) return o;
    const bool skipping = weighted_ && m_.sparsity == Sparsity::skipping && !widths_.in_memory;
    const Count kernel = n_.kernel_h * n_.kernel_w, space = shape.rows * shape.columns;
    const TileProduct product{space * (weighted_ ? multiplicity_ : 1),
                              shape.channels,
                              skipping || widths_.in_memory ? 1 : kernel,
                              skipping            ? kept_weights(shape.sums * kernel, shape.sums, m_)
                              : widths_.in_memory ? shape.sums * kernel
                                                  : shape.sums,
                              shape.first,
                              shape.last};
    Needs one;
    const FoldedProduct of_one = fold_product(c_, m_, ports_, widths_, product, one);
    const std::vector<Count>& made_by_one = of_one.results;
    o.needs.compute += of_one.first_load;
    std::vector<Count> made;
    for (Count p = 0; p < (weighted_ ? shape.groups : multiplicity_); ++p) {
      o.needs += one;
      made.insert(made.end(), made_by_one.begin(), made_by_one.end());
    }
    write_results(c_, ports_, made, result_bits_, o.needs);
    const Count results = space * shape.channels * shape.groups * multiplicity_;
    if (widths_.group > 0)
      for (Count left = shape.sums; left > 0; left -= widths_.group) o.scalings += results * kernel;
    turns_ = 0;
    if (shape.last) add_fused(results, o);
    add_norms(shape, shape.groups * shape.sums * multiplicity_, shape.last ? results : 0, o);
    if (micro_) {
      o.needs.compute = std::max(o.needs.compute, turns_);
      o.commands = std::ssize(micro_operations_of_nest(c_, m_, role_, shape.first, shape.last));
    }
    if (c_.to_dram && shape.last) o.out_bytes = ceil_div(results * result_bits_, 8);
    put_stack_in_psram(m_, o.needs);
    return o;
  }

  void add_fused(Count results, Operation& o) {
    const Count bits = widths_.activation_bits;
    const Count writing = operations_ / sums_tiles_;
    for (const Fetch& f : c_.fetches) {
      ports_.read(f.place, f.pair, f.per_fold ? results : ceil_div(f.elements, writing),
                  f.place == Place::psram ? bits_beside_products(m_) : bits, o.needs);
      if (f.place == Place::dram) o.other_bytes += ceil_div(ceil_div(f.elements, writing) * bits, 8);
    }
    const Count pass = ceil_div(results, m_.vector_lanes);
    turns_ += c_.fused_operators * pass;
    if (!micro_) o.needs.compute = std::max(o.needs.compute, c_.fused_passes * pass);
  }

  /// Norms before and behind: element by element on the norm lanes, once for each pass.
  void add_norms(const FoldShape& shape, Count of_a_position, Count results, Operation& o) {
    Count before = 0, behind = 0;
    const Count read = c_.prologue_passes == 0 ? 0
                                               : positions_held(along_rows_, shape.rows) *
                                                     positions_held(along_columns_, shape.columns);
    const auto pass = [&](Count elements, Count& cycles) {
      for (Count left = elements; left > 0; left -= m_.norm_lanes) {
        ++cycles;
        o.lane_operations += std::min(left, m_.norm_lanes);
      }
    };
    for (Count i = 0; i < c_.prologue_passes; ++i) pass(read * of_a_position, before);
    for (Count i = 0; i < c_.statistics_passes; ++i) pass(results, behind);
    o.lane_operations += c_.fused_operators * results;
    turns_ += before + behind;
    if (!micro_) o.needs.compute = std::max({o.needs.compute, before, behind});
  }

  void add_weights(const NestStep& step, Operation& o) const {
    const Count wide = step.tile.channels.size(), sums = step.tile.sums.size(), kernels = n_.kernel_h * n_.kernel_w;
    o.weight_tile = number(step.b);
    o.weight_elements = wide * kernels * sums;
    o.weight_psram_bytes = psram_bytes_of(
        {wide, o.weight_elements, kernels, sums, c_.bias_elements_per_channel, step.tile.first_sums}, m_);
    o.weight_dram_bytes = packed_bytes(o.weight_psram_bytes, m_);
  }

  const InstructionClass& c_;
  const Machine& m_;
  const Role role_;
  Ports ports_;
  const LoopNest& n_;
  const bool weighted_;
  const std::vector<TileLoop> loops_;
  const InputAxis along_rows_ = rows_of(n_), along_columns_ = columns_of(n_);
  const bool micro_ = m_.granularity == Granularity::micro_operation;
  NestWidths widths_;
  Count result_bits_ = 0;  // as the next instruction reads them
  Count turns_ = 0;        // cycles that the vector unit is busy with one operation, one pass after the other
  Positions rows_in_, columns_in_;
  Count multiplicity_ = 1, operations_ = 1, sums_tiles_ = 1;
  std::map<FoldShape, Operation> folded_;
  std::vector<Operation> done_;
};

}  // namespace

std::vector<Operation> expand_nest(const InstructionClass& c, const Machine& m, Role role, Family owner) {
  return NestExpansion(c, m, role, owner).run();
}

}  // namespace sdip::exec
