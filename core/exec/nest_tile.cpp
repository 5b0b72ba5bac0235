// One tile of a nest on chip.
#include "core/exec/nest_tile.h"

#include <algorithm>

namespace sdip::exec {
namespace {

std::int64_t first_a(const NestMap& m, const Copy& copy) {
  return copy.frame * m.a_frame + m.a_group[static_cast<std::size_t>(copy.group)];
}

std::int64_t kernel_size(const LoopNest& nest) { return nest.kernel_h * nest.kernel_w; }

/// Whether a tile of A is kept row by row, the channels of a pixel side by side.
bool channels_inside(const NestMap& m) { return m.a_k == 1; }

template <class T>
Matrix<T> turned(const Matrix<T>& matrix) {
  return {matrix.data, matrix.column_stride, matrix.row_stride, {}};
}

/// B as [sum, channels]: row d is kernel position d / K, channel d mod K.
template <class T>
Matrix<T> weights_of(const TileShape& s, const T* b, const TileStrides& at) {
  const std::int64_t kernel = kernel_size(s.map.nest), depth = s.tile.sums.size(), width = s.map.nest.kernel_w;
  if (kernel == 1) return {b, at.k, at.n, {}};
  return {nullptr, 0, 1, [=](const Block& block, T* to, std::int64_t stride) {
            for (std::int64_t r = block.row; r < block.row + block.rows; ++r, to += stride) {
              const std::int64_t position = r / depth, k = r % depth;
              const T* from = b + k * at.k + position / width * at.h + position % width * at.w;
              for (std::int64_t c = 0; c < block.columns; ++c) to[c] = from[(block.column + c) * at.n];
            }
          }};
}

/// The same as [channels, sum].
template <class T>
Matrix<T> filters_of(const TileShape& s, const T* b, const TileStrides& at) {
  const std::int64_t kernel = kernel_size(s.map.nest), depth = s.tile.sums.size(), width = s.map.nest.kernel_w;
  if (kernel == 1) return {b, at.n, at.k, {}};
  return {nullptr, 0, 1, [=](const Block& block, T* to, std::int64_t stride) {
            for (std::int64_t r = 0; r < block.rows; ++r, to += stride)
              for (std::int64_t c = 0; c < block.columns; ++c) {
                const std::int64_t position = (block.column + c) / depth, k = (block.column + c) % depth;
                to[c] = b[(block.row + r) * at.n + k * at.k + position / width * at.h + position % width * at.w];
              }
          }};
}

/// A line of pixels of one result row, columns [q, q + count), at a kernel position's distance: those outside are
/// 0.
template <class T>
void copy_pixels(const LoopNest& n, const Extent& columns, const T* row, std::int64_t step, std::int64_t w,
                 std::int64_t q, std::int64_t count, T* to) {
  const std::int64_t first = q * n.stride_w - n.pad_left + w * n.dilation_w;
  if (n.stride_w == 1 && step == 1) {
    const std::int64_t before = std::clamp<std::int64_t>(columns.begin - first, 0, count);
    const std::int64_t inside = std::clamp<std::int64_t>(columns.end - first, before, count);
    std::fill(to, to + before, T{});
    if (inside > before) std::copy_n(row + first + before - columns.begin, inside - before, to + before);
    std::fill(to + inside, to + count, T{});
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t x = first + i * n.stride_w;
    to[i] = x < columns.begin || x >= columns.end ? T{} : row[(x - columns.begin) * step];
  }
}

/// A as [sum, pixels].
template <class T>
Matrix<T> windows_of(const TileShape& s, const T* a, const TileStrides& at) {
  const LoopNest& n = s.map.nest;
  const bool plain = kernel_size(n) == 1 && n.stride_h == 1 && n.stride_w == 1 && n.pad_top == 0 &&
                     n.pad_left == 0 && n.pad_bottom == 0 && n.pad_right == 0;
  if (plain && (at.y == at.x * s.columns.size() || s.rows.size() == 1)) return {a, at.k, at.x, {}};
  const TileOperation tile = s.tile;
  const Extent rows = s.rows, columns = s.columns;
  return {nullptr, 0, 1, [=](const Block& block, T* to, std::int64_t stride) {
            const std::int64_t depth = tile.sums.size(), width = tile.columns.size();
            for (std::int64_t r = block.row; r < block.row + block.rows; ++r, to += stride) {
              const std::int64_t position = r / depth, k = r % depth;
              const std::int64_t h = position / n.kernel_w, w = position % n.kernel_w;
              for (std::int64_t done = 0; done < block.columns;) {
                const std::int64_t pixel = block.column + done, p = tile.rows.begin + pixel / width;
                const std::int64_t q = pixel % width, count = std::min(block.columns - done, width - q);
                const std::int64_t y = p * n.stride_h - n.pad_top + h * n.dilation_h;
                if (y < rows.begin || y >= rows.end)
                  std::fill(to + done, to + done + count, T{});
                else
                  copy_pixels(n, columns, a + k * at.k + (y - rows.begin) * at.y, at.x, w, tile.columns.begin + q,
                              count, to + done);
                done += count;
              }
            }
          }};
}

}  // namespace

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

Elements elements_of_a(const TileShape& s) {
  const NestMap& m = s.map;
  const Extent& k = s.tile.sums;
  Elements at;
  for (const Copy& copy : s.copies) {
    const std::int64_t first = first_a(m, copy);
    if (channels_inside(m)) {
      for (std::int64_t y = s.rows.begin; y < s.rows.end; ++y)
        for (std::int64_t x = s.columns.begin; x < s.columns.end; ++x)
          at.add({first + y * m.a_y + x * m.a_x + k.begin, k.size(), 1});
      continue;
    }
    for (std::int64_t c = k.begin; c < k.end; ++c)
      for (std::int64_t y = s.rows.begin; y < s.rows.end; ++y)
        if (s.columns.size() == 1 && m.a_y == 1) {
          at.add({first + c * m.a_k + s.rows.begin, s.rows.size(), 1});
          break;
        } else {
          at.add({first + c * m.a_k + y * m.a_y + s.columns.begin * m.a_x, s.columns.size(), m.a_x});
        }
  }
  return at;
}

TileStrides strides_of_a(const TileShape& s) {
  const std::int64_t k = s.tile.sums.size(), width = s.columns.size();
  if (channels_inside(s.map)) return {1, k * width, k, 0, 0, 0};
  return {s.rows.size() * width, width, 1, 0, 0, 0};
}

Elements elements_of_b(const TileShape& s) {
  const NestMap& m = s.map;
  const Extent& k = s.tile.sums;
  const std::int64_t kernel = kernel_size(m.nest);
  Elements at;
  for (const Copy& copy : s.copies) {
    if (s.weighted && copy.frame != s.copies[0].frame) break;  // all frames share their weights
    const std::int64_t first = m.b_group[static_cast<std::size_t>(copy.group)];
    if (m.b_n == 1) {
      for (std::int64_t c = k.begin; c < k.end; ++c)
        at.add({first + c * m.b_k + copy.channels.begin, copy.channels.size(), 1});
      continue;
    }
    for (std::int64_t n = copy.channels.begin; n < copy.channels.end; ++n)
      at.add({first + n * m.b_n + k.begin * m.b_k, k.size() * kernel, 1});
  }
  return at;
}

TileStrides strides_of_b(const TileShape& s) {
  const std::int64_t kernel = kernel_size(s.map.nest);
  if (s.map.b_n == 1) return {s.copies[0].channels.size(), 0, 0, 1, 0, 0};
  return {kernel, 0, 0, s.tile.sums.size() * kernel, s.map.nest.kernel_w, 1};
}

Elements results_of(const TileShape& s) {
  Elements at;
  const NestMap& m = s.map;
  for (const Copy& copy : s.copies) {
    const auto line = [&](std::int64_t n, std::int64_t p, std::int64_t count, std::int64_t step) {
      at.add({m.out(copy.frame, copy.group, n, p, s.tile.columns.begin), count, step});
    };
    if (s.by_rows()) {
      for (std::int64_t p = s.tile.rows.begin; p < s.tile.rows.end; ++p)
        line(copy.channels.begin, p, copy.channels.size(), 1);
      continue;
    }
    for (std::int64_t n = copy.channels.begin; n < copy.channels.end; ++n)
      for (std::int64_t p = s.tile.rows.begin; p < s.tile.rows.end; ++p) line(n, p, s.tile.columns.size(), m.out_q);
  }
  return at;
}

template <class T, class S>
void add_products(const TileShape& s, const Copy& copy, const T* a, const TileStrides& a_at, const T* b,
                  const TileStrides& b_at, S* sums, const Arithmetic& arithmetic) {
  const std::int64_t run = s.tile.sums.size(), depth = run * kernel_size(s.map.nest);
  const bool by_rows = s.by_rows();
  const std::int64_t pixels = s.pixels(), channels = copy.channels.size();
  const ProductShape shape{by_rows ? pixels : channels, by_rows ? channels : pixels, depth, run, arithmetic.lanes};
  const Sums<S> to{sums, shape.columns};
  const Matrix<T> left = by_rows ? Matrix<T>{a, a_at.y, a_at.k, {}} : filters_of(s, b, b_at);
  const Matrix<T> right = by_rows ? weights_of(s, b, b_at) : windows_of(s, a, a_at);
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::uint64_t>)
    multiply(shape, left, right, to, arithmetic.kernel);
  else
    multiply(shape, arithmetic.accumulator, left, right, to, arithmetic.kernel);
}

template void add_products(const TileShape&, const Copy&, const float*, const TileStrides&, const float*,
                           const TileStrides&, float*, const Arithmetic&);
template void add_products(const TileShape&, const Copy&, const double*, const TileStrides&, const double*,
                           const TileStrides&, double*, const Arithmetic&);
template void add_products(const TileShape&, const Copy&, const std::uint64_t*, const TileStrides&,
                           const std::uint64_t*, const TileStrides&, std::uint64_t*, const Arithmetic&);
template void add_products(const TileShape&, const Copy&, const std::int8_t*, const TileStrides&,
                           const std::int8_t*, const TileStrides&, std::int32_t*, const Arithmetic&);

}  // namespace sdip::exec
