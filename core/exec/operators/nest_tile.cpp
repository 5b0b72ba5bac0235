// One tile of a nest on chip.
#include "core/exec/operators/nest_tile.h"

#include <algorithm>
#include <cstring>

namespace sdip::exec {
namespace {

std::int64_t first_a(const NestMap& m, const Copy& copy) { return copy.frame * m.a_frame + m.a_group[copy.group]; }

std::int64_t kernel_size(const LoopNest& nest) { return nest.kernel_h * nest.kernel_w; }

/// Whether a tile of A is kept row by row, the channels of a pixel side by side.
bool channels_inside(const NestMap& m) { return m.a_k == 1; }

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
              for (std::int64_t c = 0; c < block.columns;) {
                const std::int64_t position = (block.column + c) / depth, k = (block.column + c) % depth;
                const std::int64_t count = std::min(block.columns - c, depth - k);
                const T* from =
                    b + (block.row + r) * at.n + k * at.k + position / width * at.h + position % width * at.w;
                for (std::int64_t i = 0; i < count; ++i) to[c + i] = from[i * at.k];
                c += count;
              }
          }};
}

/// Pixels [q, q + count) of result row p, which stand from `place` on in a block's rows.
struct Pixels {
  std::int64_t p = 0, q = 0, count = 0, place = 0;
};

std::vector<Pixels> pixels_of(const TileOperation& tile, const Block& block) {
  const std::int64_t width = tile.columns.size();
  std::vector<Pixels> lines;
  for (std::int64_t done = 0; done < block.columns;) {
    const std::int64_t pixel = block.column + done, q = pixel % width;
    const std::int64_t count = std::min(block.columns - done, width - q);
    lines.push_back({tile.rows.begin + pixel / width, tile.columns.begin + q, count, done});
    done += count;
  }
  return lines;
}

/// `count` rows of `size` numbers, the steps between them given. The compiler knows how many in the commonest size.
template <std::int64_t Size, class T>
void copy_known_rows(const T* from, std::int64_t from_step, T* to, std::int64_t to_step, std::int64_t count,
                     std::int64_t behind) {
  for (std::int64_t i = 0; i < count; ++i, from += from_step, to += to_step) {
    std::memcpy(to, from, Size * sizeof(T));
    std::memcpy(to + behind, from + behind, Size * sizeof(T));  // the rest, with what the first has of it
  }
}

template <class T>
void copy_rows(const T* from, std::int64_t from_step, T* to, std::int64_t to_step, std::int64_t count,
               std::int64_t size) {
  if (size >= 4 && size <= 8) return copy_known_rows<4>(from, from_step, to, to_step, count, size - 4);
  if (size > 8 && size <= 16) return copy_known_rows<8>(from, from_step, to, to_step, count, size - 8);
  if (size > 16 && size <= 32) return copy_known_rows<16>(from, from_step, to, to_step, count, size - 16);
  for (std::int64_t i = 0; i < count; ++i, from += from_step, to += to_step) std::copy_n(from, size, to);
}

template <class T>
void clear_rows(T* to, std::int64_t to_step, std::int64_t count, std::int64_t size) {
  for (std::int64_t i = 0; size > 0 && i < count; ++i, to += to_step) std::fill_n(to, size, T{});
}

/// The elements that column w of the kernel reads in input row `row` for a line of pixels, for `depth` channels: 0
/// outside the input.
template <class T>
void take_pixels(const LoopNest& n, const Extent& columns, const T* row, const TileStrides& at, std::int64_t w,
                 const Pixels& pixels, T* to, std::int64_t stride, std::int64_t depth) {
  const std::int64_t first = pixels.q * n.stride_w - n.pad_left + w * n.dilation_w;
  if (n.stride_w == 1 && at.x == 1) {
    const std::int64_t before = std::clamp<std::int64_t>(columns.begin - first, 0, pixels.count);
    const std::int64_t inside = std::clamp<std::int64_t>(columns.end - first, before, pixels.count);
    clear_rows(to, stride, depth, before);
    if (inside > before)
      copy_rows(row + first + before - columns.begin, at.k, to + before, stride, depth, inside - before);
    return clear_rows(to + inside, stride, depth, pixels.count - inside);
  }
  for (std::int64_t k = 0; k < depth; ++k, row += at.k, to += stride)
    for (std::int64_t i = 0; i < pixels.count; ++i) {
      const std::int64_t x = first + i * n.stride_w;
      to[i] = x < columns.begin || x >= columns.end ? T{} : row[(x - columns.begin) * at.x];
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
            const std::vector<Pixels> lines = pixels_of(tile, block);
            const std::int64_t depth = tile.sums.size(), end = block.row + block.rows;
            for (std::int64_t r = block.row; r < end;) {
              const std::int64_t position = r / depth, k = r % depth, count = std::min(end - r, depth - k);
              const std::int64_t h = position / n.kernel_w, w = position % n.kernel_w;
              for (const Pixels& pixels : lines) {
                const std::int64_t y = pixels.p * n.stride_h - n.pad_top + h * n.dilation_h;
                if (y < rows.begin || y >= rows.end)
                  clear_rows(to + pixels.place, stride, count, pixels.count);
                else
                  take_pixels(n, columns, a + k * at.k + (y - rows.begin) * at.y, at, w, pixels, to + pixels.place,
                              stride, count);
              }
              to += count * stride;
              r += count;
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

std::vector<WindowLine> lines_of_a(const TileShape& s, std::span<const Extent> rows,
                                   std::span<const Extent> columns, const Extent& height, const Extent& width) {
  const NestMap& m = s.map;
  const Extent& k = s.tile.sums;
  const bool inside = channels_inside(m);
  std::vector<WindowLine> lines;
  std::int64_t copy_begin = 0;
  for (const Copy& copy : s.copies) {
    const std::int64_t first = first_a(m, copy);
    for (std::int64_t c = k.begin; c < (inside ? k.begin + 1 : k.end); ++c)
      for (const Extent& run : rows)
        for (std::int64_t y = run.begin; y < run.end; ++y)
          for (const Extent& part : columns) {
            const std::int64_t begin = first + c * m.a_k + y * m.a_y + part.begin * m.a_x;
            const std::int64_t position = (y - height.begin) * width.size() + part.begin - width.begin;
            if (inside)
              for (std::int64_t x = 0; x < part.size(); ++x)
                lines.push_back({{begin + x * m.a_x, k.size(), 1}, copy_begin + (position + x) * k.size()});
            else
              lines.push_back({{begin, part.size(), m.a_x},
                               copy_begin + (c - k.begin) * height.size() * width.size() + position});
          }
    copy_begin += k.size() * height.size() * width.size();
  }
  return lines;
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
    const std::int64_t first = m.b_group[copy.group];
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

template <class T>
ProductOperands<T> product_operands(const TileShape& s, const Copy& copy, const T* a, const TileStrides& a_at,
                                    const T* b, const TileStrides& b_at, std::int64_t lanes) {
  const std::int64_t depth = s.tile.sums.size() * kernel_size(s.map.nest);
  const bool at_once = lanes == all_lanes;
  const std::int64_t run = at_once ? depth : s.tile.sums.size();
  if (at_once) lanes = std::max<std::int64_t>(1, depth);
  const std::int64_t pixels = s.pixels(), channels = copy.channels.size();
  if (s.by_rows()) return {{pixels, channels, depth, run, lanes}, {a, a_at.y, a_at.k, {}}, weights_of(s, b, b_at)};
  return {{channels, pixels, depth, run, lanes}, filters_of(s, b, b_at), windows_of(s, a, a_at)};
}

template <class T>
void lay_filters(const TileShape& s, const T* b, const TileStrides& at, std::int64_t row, std::int64_t rows, T* to,
                 std::int64_t stride) {
  constexpr std::int64_t together = 64;  // channels, with all their positions: a few KiB
  const std::int64_t depth = s.tile.sums.size(), kernel = kernel_size(s.map.nest), width = s.map.nest.kernel_w;
  const T* from = b + row * at.n;
  for (std::int64_t r = 0; r < rows; ++r, from += at.n, to += stride)
    for (std::int64_t k = 0; k < depth; k += together) {
      const std::int64_t count = std::min(together, depth - k);
      for (std::int64_t position = 0; position < kernel; ++position) {
        const T* one = from + k * at.k + position / width * at.h + position % width * at.w;
        for (std::int64_t i = 0; i < count; ++i) to[position * depth + k + i] = one[i * at.k];
      }
    }
}

template <class T, class S>
void add_products(const TileShape& s, const Copy& copy, const T* a, const TileStrides& a_at, const T* b,
                  const TileStrides& b_at, S* sums, const Arithmetic& arithmetic) {
  const auto [shape, left, right] = product_operands(s, copy, a, a_at, b, b_at, arithmetic.lanes);
  const Sums<S> to{sums, shape.columns};
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::uint64_t>)
    multiply(shape, left, right, to, arithmetic.kernel);
  else
    multiply(shape, arithmetic.accumulator, left, right, to, arithmetic.kernel);
}

template void lay_filters(const TileShape&, const float*, const TileStrides&, std::int64_t, std::int64_t, float*,
                          std::int64_t);
template void lay_filters(const TileShape&, const std::int8_t*, const TileStrides&, std::int64_t, std::int64_t,
                          std::int8_t*, std::int64_t);
template ProductOperands<std::int8_t> product_operands(const TileShape&, const Copy&, const std::int8_t*,
                                                       const TileStrides&, const std::int8_t*, const TileStrides&,
                                                       std::int64_t);
template ProductOperands<float> product_operands(const TileShape&, const Copy&, const float*, const TileStrides&,
                                                 const float*, const TileStrides&, std::int64_t);
template void add_products(const TileShape&, const Copy&, const float*, const TileStrides&, const float*,
                           const TileStrides&, float*, const Arithmetic&);
template void add_products(const TileShape&, const Copy&, const double*, const TileStrides&, const double*,
                           const TileStrides&, double*, const Arithmetic&);
template void add_products(const TileShape&, const Copy&, const std::uint64_t*, const TileStrides&,
                           const std::uint64_t*, const TileStrides&, std::uint64_t*, const Arithmetic&);
template void add_products(const TileShape&, const Copy&, const std::int8_t*, const TileStrides&,
                           const std::int8_t*, const TileStrides&, std::int32_t*, const Arithmetic&);

}  // namespace sdip::exec
