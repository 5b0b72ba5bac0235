// A nest's tile operations: plain loops over tiles. Tiles of equal sizes have equal folds, which are gone through
// once.
#include <array>
#include <iterator>
#include <map>

#include "core/exec/nest_folds.h"

namespace sdip::exec {
namespace {

enum Of { repeats, groups, rows, columns, channels, sums, loops };

/// Where an operation stands: its tile along each loop.
using At = std::array<Count, loops>;

/// Rows or columns of a nest.
struct Along {
  Count tile, results, stride, kernel, dilation, pad, in;
  Count reach() const { return (kernel - 1) * dilation + 1; }
};

/// Input positions that a tile of `count` results holds: of an input without edges, at most all that are read.
Count held(const Along& d, Count count) {
  const Count far = count * (d.stride + d.kernel * d.dilation) + 1;
  return std::min(std::ssize(positions_read(0, count, d.stride, d.kernel, d.dilation, 0, far)),
                  std::ssize(positions_read(0, d.results, d.stride, d.kernel, d.dilation, d.pad, d.in)));
}

/// Whether more whole tiles than the model clips reach beyond an edge of the input.
bool clips_too_many(const Along& d) {
  constexpr Count most_clipped = 256;
  Count clipped = 0;
  for (Count first = 0; first + d.tile <= d.results; first += d.tile) {
    const Count begin = first * d.stride - d.pad, end = begin + (d.tile - 1) * d.stride + d.reach();
    clipped += begin < 0 || end > d.in;
  }
  return clipped > most_clipped;
}

/// Input positions of each tile: all; and those that the tile before had not.
struct Positions {
  std::vector<Count> all, fresh;
};
Positions positions_of(const Along& d, const std::vector<Count>& tiles) {
  Positions found;
  if (clips_too_many(d)) {
    for (const Count count : tiles) {
      found.all.push_back(held(d, count));
      found.fresh.push_back(std::min(found.all.back(), count * std::min(d.stride, d.reach())));
    }
    return found;
  }
  std::vector<Count> had;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    std::vector<Count> fresh,
        now = positions_read(static_cast<Count>(i) * d.tile, tiles[i], d.stride, d.kernel, d.dilation, d.pad, d.in);
    std::ranges::set_difference(now, had, std::back_inserter(fresh));
    found.all.push_back(std::ssize(now));
    found.fresh.push_back(std::ssize(fresh));
    had = std::move(now);
  }
  return found;
}

/// What the folds of one tile depend on, and what they came to.
struct Shape {
  Count rows, columns, channels, groups, sums;
  bool first, last;
  auto operator<=>(const Shape&) const = default;
};

class NestExpansion {
 public:
  NestExpansion(const InstructionClass& c, const Machine& m, Role role, Family owner)
      : c_(c), m_(m), role_(role), ports_(m, role, owner), n_(c.work.nest) {
    weighted_ = c.operand_b == Place::psram;
    const Mapping& map = c.mapping;
    sizes_[rows] = pieces(n_.out_h, map.tile_rows);
    sizes_[columns] = pieces(n_.out_w, map.tile_columns);
    sizes_[sums] = pieces(n_.in_channels, map.tile_sums);
    sizes_[channels] = pieces(n_.out_channels, std::min(n_.out_channels, map.tile_channels));
    sizes_[groups] = pieces(weighted_ ? n_.groups : 1, std::max<Count>(1, map.tile_channels / n_.out_channels));
    const Count copies = weighted_ ? n_.batch : n_.batch * n_.groups;
    const bool together =
        sizes_[rows].size() == 1 && sizes_[columns].size() == 1 && (weighted_ || sizes_[channels].size() == 1);
    multiplicity_ = together ? copies : 1;
    sizes_[repeats].assign(static_cast<std::size_t>(together ? 1 : copies), 1);
    for (const auto& sizes : sizes_) operations_ *= static_cast<Count>(sizes.size());
    if (c.operand_a == Place::dram) {
      rows_in_ = positions_of(along_rows_, sizes_[rows]);
      columns_in_ = positions_of(along_columns_, sizes_[columns]);
    }
    result_bits_ = bits_of(c.formats ? c.formats->results : m.activation_format);
    widths_ = {bits_of(m.activation_format), bits_of(weighted_ ? m.weight_format : m.activation_format),
               bits_of(m.accumulator_format), c.push && !c.to_dsram && !c.to_dram && sizes_[sums].size() == 1};
  }

  std::vector<Operation> run() {
    std::vector<Of> nesting;  // outermost first
    const auto add_once = [&](Of loop) {
      if (std::ranges::count(nesting, loop) == 0) nesting.push_back(loop);
    };
    if (!weighted_) nesting.push_back(repeats);
    for (const Loop loop : c_.mapping.order) {
      if (loop == Loop::rows || loop == Loop::columns) add_once(repeats);
      if (loop == Loop::channels) nesting.push_back(groups);
      nesting.push_back(loop == Loop::rows       ? rows
                        : loop == Loop::columns  ? columns
                        : loop == Loop::channels ? channels
                                                 : sums);
    }
    At at{};
    nest(nesting, 0, at);
    done_.reserve(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) add(i);
    return std::move(done_);
  }

 private:
  void nest(const std::vector<Of>& nesting, std::size_t level, At& at) {
    if (level == nesting.size()) {
      order_.push_back(at);
      return;
    }
    const Of loop = nesting[level];
    for (std::size_t i = 0; i < sizes_[loop].size(); ++i) {
      at[loop] = static_cast<Count>(i);
      nest(nesting, level + 1, at);
    }
  }

  Count size(Of loop, const At& at) const { return sizes_[loop][static_cast<std::size_t>(at[loop])]; }
  static At without(At at, std::initializer_list<Of> loops_left_out) {
    for (const Of loop : loops_left_out) at[loop] = 0;
    return at;
  }
  Count number(const At& at) const {
    Count n = 0;
    for (std::size_t loop = 0; loop < loops; ++loop) n = n * std::ssize(sizes_[loop]) + at[loop];
    return n;
  }

  void add(std::size_t i) {
    const At& at = order_[i];
    const Count groups_in = size(groups, at), wide = size(channels, at) * groups_in, deep = size(sums, at);
    const Shape shape{size(rows, at),
                      size(columns, at),
                      size(channels, at),
                      groups_in,
                      deep,
                      at[sums] == 0,
                      at[sums] + 1 == std::ssize(sizes_[sums])};
    Operation& o = done_.emplace_back(folded(shape));
    const Count results = shape.rows * shape.columns * wide * multiplicity_;
    const Count a_elements = groups_in * deep * multiplicity_;  // at a position
    if (c_.operand_a == Place::dram) add_a(i, a_elements * widths_.activation_bits, o);
    if (c_.operand_b == Place::dram) {
      o.b_tile = number(without(at, {rows, columns}));
      o.b_bytes = up(deep * n_.kernel_h * n_.kernel_w * wide * multiplicity_ * widths_.activation_bits, 8);
    }
    if (weighted_) add_weights(at, wide, o);
    const auto result = [&](std::size_t j) { return without(order_[j], {sums}); };
    const Count partials = up(results * widths_.partial_bits, 8);
    if (!shape.first && result(i - 1) != result(i)) o.partial_bytes = partials;
    o.leaves_partials = !shape.last && result(i + 1) != result(i);
    if (o.leaves_partials) o.out_bytes = partials;
  }

  /// A tile of that shape: its folds, what is fused behind it, and what leaves of its results.
  const Operation& folded(const Shape& shape) {
    const auto [entry, fresh] = folded_.try_emplace(shape);
    Operation& o = entry->second;
    if (!fresh) return o;
    const bool skipping = weighted_ && m_.sparsity == Sparsity::skipping;
    const Count kernel = n_.kernel_h * n_.kernel_w, space = shape.rows * shape.columns;
    const TileProduct product{space * (weighted_ ? multiplicity_ : 1),
                              shape.channels,
                              skipping ? 1 : kernel,
                              skipping ? up(shape.sums * kernel * m_.weight_density.hundredths, 100) : shape.sums,
                              shape.first,
                              shape.last};
    Needs one;
    const std::vector<Count> made_by_one = fold_product(c_, m_, ports_, widths_, product, one);
    std::vector<Count> made;
    for (Count p = 0; p < (weighted_ ? shape.groups : multiplicity_); ++p) {
      o.needs += one;
      made.insert(made.end(), made_by_one.begin(), made_by_one.end());
    }
    write_results(c_, ports_, made, result_bits_, o.needs);
    const Count results = space * shape.channels * shape.groups * multiplicity_;
    turns_ = 0;
    if (shape.last) add_fused(results, o);
    add_norms(shape, shape.groups * shape.sums * multiplicity_, shape.last ? results : 0, o);
    if (micro_) {
      o.needs.compute = std::max(o.needs.compute, turns_);
      o.commands = std::ssize(micro_operations_of_nest(c_, m_, role_, shape.first, shape.last));
    }
    if (c_.to_dram && shape.last) o.out_bytes = up(results * result_bits_, 8);
    return o;
  }

  void add_fused(Count results, Operation& o) {
    const Count bits = widths_.activation_bits;
    const Count writing = operations_ / std::ssize(sizes_[sums]);
    for (const Fetch& f : c_.fetches) {
      ports_.read(f.place, f.pair, f.per_fold ? results : up(f.elements, writing),
                  f.place == Place::psram ? bits_of(m_.weight_format) : bits, o.needs);
      if (f.place == Place::dram) o.other_bytes += up(up(f.elements, writing) * bits, 8);
    }
    const Count pass = up(results, m_.vector_lanes);
    turns_ += c_.fused_operators * pass;
    if (!micro_) o.needs.compute = std::max(o.needs.compute, c_.fused_passes * pass);
  }

  /// Norms before and behind: element by element on the norm lanes, once for each pass.
  void add_norms(const Shape& shape, Count of_a_position, Count results, Operation& o) {
    Count before = 0, behind = 0;
    const Count read =
        c_.prologue_passes == 0 ? 0 : held(along_rows_, shape.rows) * held(along_columns_, shape.columns);
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

  /// The tile of A; when it is one step of rows or columns from the tile before, what that one had not.
  void add_a(std::size_t i, Count bits_a_position, Operation& o) {
    const At at = without(order_[i], {channels});
    o.a_tile = number(at);
    if (i == 0 || at != a_now_) a_before_ = i == 0 ? at : a_now_;
    a_now_ = at;
    const auto stepped = [&](Of loop) {
      At next = a_before_;
      ++next[loop];
      return next == at;
    };
    const auto r = static_cast<std::size_t>(at[rows]), k = static_cast<std::size_t>(at[columns]);
    const Count rows_new = (stepped(rows) ? rows_in_.fresh : rows_in_.all)[r];
    const Count columns_new = (stepped(columns) ? columns_in_.fresh : columns_in_.all)[k];
    o.a_bytes = up(rows_new * columns_new * bits_a_position, 8);
  }

  void add_weights(const At& at, Count wide, Operation& o) const {
    const Count bits = bits_of(m_.weight_format);
    const bool integer = !number_formats[static_cast<std::size_t>(m_.weight_format)].floating;
    const Count zero = is_unsigned(m_.weight_format) ? bits : 0;
    const bool skipping = m_.sparsity == Sparsity::skipping;
    const Count elements = wide * n_.kernel_h * n_.kernel_w * size(sums, at);
    const Count kept = skipping ? up(elements * m_.weight_density.hundredths, 100) : elements;
    const Count scale = integer && m_.scale_granularity == ScaleGranularity::channel ? 32 + zero : 0;
    const Count once = at[sums] == 0 ? wide * (c_.bias_elements_per_channel * bits + scale) : 0;
    o.weight_tile = number(without(at, {repeats, rows, columns}));
    o.weight_psram_bytes = up(kept * bits + (skipping ? elements : 0) + once, 8);
    o.weight_dram_bytes = packed_bytes(o.weight_psram_bytes, m_);
  }

  const InstructionClass& c_;
  const Machine& m_;
  const Role role_;
  Ports ports_;
  const LoopNest& n_;
  const Along along_rows_{c_.mapping.tile_rows, n_.out_h,   n_.stride_h, n_.kernel_h,
                          n_.dilation_h,        n_.pad_top, n_.in_h};
  const Along along_columns_{c_.mapping.tile_columns, n_.out_w,    n_.stride_w, n_.kernel_w,
                             n_.dilation_w,           n_.pad_left, n_.in_w};
  const bool micro_ = m_.granularity == Granularity::micro_operation;
  NestWidths widths_;
  Count result_bits_ = 0;  // as the next instruction reads them
  Count turns_ = 0;        // cycles that the vector unit is busy with one operation, one pass after the other
  bool weighted_ = false;
  std::array<std::vector<Count>, loops> sizes_;  // of the tiles along each loop
  Positions rows_in_, columns_in_;
  At a_now_{}, a_before_{};  // tiles of A: of the operation, and the last other one before it
  Count multiplicity_ = 1, operations_ = 1;
  std::map<Shape, Operation> folded_;
  std::vector<At> order_;
  std::vector<Operation> done_;
};

}  // namespace

std::vector<Operation> expand_nest(const InstructionClass& c, const Machine& m, Role role, Family owner) {
  return NestExpansion(c, m, role, owner).run();
}

}  // namespace sdip::exec
