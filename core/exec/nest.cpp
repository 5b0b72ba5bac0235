// A nest run tile by tile.
#include "core/exec/nest.h"

#include <algorithm>
#include <tuple>

#include "core/exec/accumulators.h"
#include "core/exec/finish.h"
#include "core/exec/partial_sums.h"

namespace sdip::exec {
namespace {

/// Input positions that results [first, last) read along an axis, clipped.
Extent window(const Extent& out, std::int64_t stride, std::int64_t dilation, std::int64_t kernel, std::int64_t pad,
              std::int64_t size) {
  const std::int64_t begin = out.begin * stride - pad;
  const std::int64_t end = (out.end - 1) * stride - pad + (kernel - 1) * dilation + 1;
  return {std::clamp<std::int64_t>(begin, 0, size), std::clamp<std::int64_t>(end, 0, size)};
}

/// A copy: the frame and group range of a tile operation, one product at a time.
struct Copy {
  std::int64_t frame = 0, group = 0;
  Extent channels;  // within the group
};

std::vector<Copy> copies_of(const LoopNest& nest, bool weighted, const TileOperation& tile) {
  std::vector<Copy> copies;
  for (std::int64_t c = tile.copies.begin; c < tile.copies.end; ++c) {
    if (!weighted) {
      copies.push_back({c / nest.groups, c % nest.groups, tile.channels});
      continue;
    }
    const std::int64_t in_group = nest.out_channels;
    for (std::int64_t g = tile.channels.begin / in_group; g * in_group < tile.channels.end; ++g)
      copies.push_back({c,
                        g,
                        {std::max<std::int64_t>(0, tile.channels.begin - g * in_group),
                         std::min(in_group, tile.channels.end - g * in_group)}});
  }
  return copies;
}

/// One tile of A, of B and of sums on chip; T is double, or std::uint64_t for integers, which wrap.
template <class T>
struct Tiles {
  const NestMap& map;
  bool weighted;
  const Accumulators& accumulators;
  TileOperation tile;
  std::vector<Copy> copies;
  Extent rows, columns;  // of the input
  std::vector<T> a, b, sums;

  std::size_t a_size() const { return static_cast<std::size_t>(tile.sums.size() * rows.size() * columns.size()); }
  std::size_t b_size(const Copy& copy) const {
    return static_cast<std::size_t>(copy.channels.size() * tile.sums.size() * map.nest.kernel_h *
                                    map.nest.kernel_w);
  }
};

template <class T>
void append(std::vector<T>& to, const Tensor& numbers) {
  if constexpr (std::is_same_v<T, double>) {
    if (is_floating(numbers.type))
      to.insert(to.end(), numbers.floats.begin(), numbers.floats.end());
    else
      for (const std::int64_t x : numbers.ints) to.push_back(static_cast<double>(x));
  } else {
    for (const std::int64_t x : numbers.ints) to.push_back(static_cast<std::uint64_t>(x));
  }
}

template <class T>
void load_a(Tiles<T>& t, const OperandReader& read) {
  const NestMap& m = t.map;
  std::vector<std::int64_t> at;
  for (const Copy& copy : t.copies) {
    const std::int64_t first = copy.frame * m.a_frame + m.a_group[static_cast<std::size_t>(copy.group)];
    for (std::int64_t k = t.tile.sums.begin; k < t.tile.sums.end; ++k)
      for (std::int64_t y = t.rows.begin; y < t.rows.end; ++y)
        for (std::int64_t x = t.columns.begin; x < t.columns.end; ++x)
          at.push_back(first + k * m.a_k + y * m.a_y + x * m.a_x);
  }
  t.a.clear();
  append(t.a, read(at));
}

template <class T>
void load_b(Tiles<T>& t, const OperandReader& read) {
  const NestMap& m = t.map;
  std::vector<std::int64_t> at;
  for (const Copy& copy : t.copies) {
    if (t.weighted && copy.frame != t.copies[0].frame) break;  // all frames share their weights
    for (std::int64_t n = copy.channels.begin; n < copy.channels.end; ++n)
      for (std::int64_t k = t.tile.sums.begin; k < t.tile.sums.end; ++k)
        for (std::int64_t h = 0; h < m.nest.kernel_h; ++h)
          for (std::int64_t w = 0; w < m.nest.kernel_w; ++w)
            at.push_back(m.b_group[static_cast<std::size_t>(copy.group)] + n * m.b_n + k * m.b_k + h * m.b_h +
                         w * m.b_w);
  }
  t.b.clear();
  append(t.b, read(at));
}

/// One result's products of this tile: over its sums and the kernel positions that lie inside the input.
template <class T>
T products(const Tiles<T>& t, const T* a, const T* b, std::int64_t p, std::int64_t q) {
  const LoopNest& n = t.map.nest;
  const std::int64_t width = t.columns.size(), plane = t.rows.size() * width;
  T sum{};
  for (std::int64_t k = 0; k < t.tile.sums.size(); ++k)
    for (std::int64_t h = 0; h < n.kernel_h; ++h) {
      const std::int64_t y = p * n.stride_h - n.pad_top + h * n.dilation_h - t.rows.begin;
      if (y < 0 || y >= t.rows.size()) continue;
      for (std::int64_t w = 0; w < n.kernel_w; ++w) {
        const std::int64_t x = q * n.stride_w - n.pad_left + w * n.dilation_w - t.columns.begin;
        if (x < 0 || x >= width) continue;
        sum += a[k * plane + y * width + x] * b[(k * n.kernel_h + h) * n.kernel_w + w];
      }
    }
  return sum;
}

template <class T>
void multiply(Tiles<T>& t) {
  std::size_t a_first = 0, b_first = 0, out = 0;
  for (const Copy& copy : t.copies) {
    if (t.weighted && copy.group == t.copies[0].group) b_first = 0;  // the next frame
    for (std::int64_t n = 0; n < copy.channels.size(); ++n) {
      const T* b = t.b.data() + b_first + static_cast<std::size_t>(n) * t.b_size({0, 0, {0, 1}});
      for (std::int64_t p = t.tile.rows.begin; p < t.tile.rows.end; ++p)
        for (std::int64_t q = t.tile.columns.begin; q < t.tile.columns.end; ++q, ++out) {
          const T sum = t.sums[out] + products(t, t.a.data() + a_first, b, p, q);
          t.sums[out] = t.accumulators.kept(sum, copy.group, copy.channels.begin + n);
        }
    }
    a_first += t.a_size();
    b_first += t.b_size(copy);
  }
}

/// Elements of the result that a tile makes, in the order of its sums.
template <class T>
std::vector<std::int64_t> results_of(const Tiles<T>& t) {
  std::vector<std::int64_t> at;
  for (const Copy& copy : t.copies)
    for (std::int64_t n = copy.channels.begin; n < copy.channels.end; ++n)
      for (std::int64_t p = t.tile.rows.begin; p < t.tile.rows.end; ++p)
        for (std::int64_t q = t.tile.columns.begin; q < t.tile.columns.end; ++q)
          at.push_back(t.map.out(copy.frame, copy.group, n, p, q));
  return at;
}

using ResultKey = std::tuple<Extent, Extent, Extent, Extent>;
ResultKey key_of(const TileOperation& t) { return {t.copies, t.rows, t.columns, t.channels}; }

/// Sums as a memory has them, and back.
Tensor tensor_of(const std::vector<double>& sums) { return {ElementType::float64, {std::ssize(sums)}, {}, sums}; }
Tensor tensor_of(const std::vector<std::uint64_t>& sums) {
  Tensor tensor{ElementType::int64, {std::ssize(sums)}, {}, {}};
  for (const std::uint64_t x : sums) tensor.ints.push_back(static_cast<std::int64_t>(x));
  return tensor;
}

template <class T>
void run_tiles(Chip& chip, const Node& node, const NestMap& map, bool weighted, const Mapping& mapping,
               const Extent& rows, const OperandReader& a, const OperandReader& b, const TileSink& sink) {
  const Accumulators accumulators(chip, node, map, weighted);
  Tiles<T> t{map, weighted, accumulators, {}, {}, {}, {}, {}, {}, {}};
  PartialSums partials(chip);
  std::optional<ResultKey> on_chip;  // of the tile whose sums are in a tile buffer
  Finish finish(chip, node);
  const auto run = [&](const TileOperation& tile) {
    ++chip.counts.tile_operations;
    const ResultKey key = key_of(tile);
    if (on_chip && *on_chip != key) partials.leave();
    t.tile = tile;
    t.copies = copies_of(map.nest, weighted, tile);
    t.rows = window_rows(map.nest, tile.rows);
    t.columns = window_columns(map.nest, tile.columns);
    const std::vector<std::int64_t> at = results_of(t);
    t.sums.clear();
    if (tile.first_sums) {
      t.sums.assign(at.size(), T{});
    } else if (on_chip == key) {
      append(t.sums, partials.kept());
    } else {
      append(t.sums, partials.back(at));
      ++chip.counts.partial_tiles;
    }
    load_a(t, a);
    load_b(t, b);
    multiply(t);
    on_chip.reset();
    if (tile.last_sums) {
      sink(at, finish(at, t.sums));
      return;
    }
    partials.keep(at, tensor_of(t.sums));
    on_chip = key;
  };
  for_each_tile(map.nest, weighted, mapping, rows, run, chip.instruction_class().spread_cores);
}

}  // namespace

Extent window_rows(const LoopNest& n, const Extent& rows) {
  return window(rows, n.stride_h, n.dilation_h, n.kernel_h, n.pad_top, n.in_h);
}

Extent window_columns(const LoopNest& n, const Extent& columns) {
  return window(columns, n.stride_w, n.dilation_w, n.kernel_w, n.pad_left, n.in_w);
}

void run_nest(Chip& chip, const Node& node, const NestMap& map, bool weighted, const Mapping& mapping,
              const Extent& rows, const OperandReader& a, const OperandReader& b, const TileSink& sink) {
  const auto floating = [&](std::size_t i) { return is_floating(chip.value(node.inputs[i]).operand.type); };
  const OperandReader first = without_zero(chip, node, 0, a), second = without_zero(chip, node, 1, b);
  if (floating(0) || floating(1))
    run_tiles<double>(chip, node, map, weighted, mapping, rows, first, second, sink);
  else
    run_tiles<std::uint64_t>(chip, node, map, weighted, mapping, rows, first, second, sink);
}

}  // namespace sdip::exec
