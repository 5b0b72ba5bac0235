// A nest computed without its tiles.
//
// Worked example: a product of 300 rows and 2000 columns for 2 threads: 2 blocks of columns, of 1024 and 976, by 4
// blocks of rows, of 96 but the last of 12: 8 tasks.
#include "core/exec/operators/nest_untiled.h"

#include <algorithm>
#include <array>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/exec/chip/accumulators.h"
#include "core/exec/chip/weights.h"
#include "core/exec/kernels/kernels_panels.h"
#include "core/exec/operators/finish.h"
#include "core/exec/operators/nest_groups.h"
#include "core/exec/operators/nest_tile.h"
#include "core/exec/operators/streams.h"

namespace sdip::exec {
namespace {

using Count = std::int64_t;

/// An operand where it lies, in floats or in codes: its element 0.
template <class T>
struct InPlace {
  const T* data = nullptr;
  TileStrides strides{};
};

/// Elements `at` of what an operand reads, or nullptr.
template <class T>
const T* found_in_place(Chip& chip, ValueId v, const Elements& at) {
  constexpr bool floats = std::is_same_v<T, float>;
  if (v == none || !chip.views.map[v].empty()) return nullptr;
  if (chip.value(v).operand.type != ElementType::float32) return nullptr;
  if (chip.value(v).kind == ValueKind::weight) {
    const HeldWeight* weight = read_weight(chip, v);
    if (weight == nullptr) return nullptr;
    check(at.are_below(element_count(weight->shape)), "elements of a weight");
    if constexpr (floats)
      return whole_floats(chip, v).data();
    else
      return weight->codes.data();
  }
  const auto placed = placed_operand(chip, chip.views.root[v]);
  if (!placed) return nullptr;
  if constexpr (floats)
    return floats_in_place(placed->memory, placed->reading, at);
  else
    return codes_in_place(placed->memory, placed->reading, at);
}

/// Whether the results of a row of C stand at equal steps.
bool in_lines(const TileShape& s) {
  const LoopNest& n = s.map.nest;
  if (s.by_rows()) return n.out_w == 1;
  return n.out_w == 1 || n.out_h == 1 || s.map.out_p == n.out_w * s.map.out_q;
}

// Numbers that are laid out at most: for all tasks, and by one for itself.
constexpr Count most_filters = 4 << 20, most_windows = 3 << 20, most_own_filters = 2 << 20;

/// Rows and columns of a task's block, the last ones smaller.
struct Blocks {
  Count rows = 0, columns = 0, row_parts = 0, column_parts = 0;
};

Blocks blocks_of(const ProductShape& p, Count copies, Count threads, bool laid) {
  constexpr Count most_sums = 196608;  // stay in a level-2 cache, with what is packed
  constexpr Count row_step = 12, column_step = 32, most_rows = 384, most_columns = 512;
  Blocks b;
  b.column_parts = ceil_div(p.columns, most_columns);
  b.columns = ceil_div(ceil_div(p.columns, b.column_parts), column_step) * column_step;
  b.column_parts = ceil_div(p.columns, b.columns);
  const Count wanted = ceil_div(4 * threads, copies * b.column_parts);
  Count rows = std::min({most_sums / std::min(b.columns, p.columns), most_rows, ceil_div(p.rows, wanted)});
  if (laid && (b.column_parts == 1 || p.rows * p.depth > most_filters))
    rows = std::min(rows, std::max(4 * row_step, most_own_filters / p.depth));
  b.rows = std::max<Count>(1, ceil_div(rows, row_step)) * row_step;
  b.row_parts = ceil_div(p.rows, b.rows);
  return b;
}

/// A matrix from a row and a column on.
template <class T>
Matrix<T> part_of(const Matrix<T>& m, Count row, Count column) {
  if (m.data != nullptr)
    return {m.data + row * m.row_stride + column * m.column_stride, m.row_stride, m.column_stride, {}};
  return {nullptr, 0, 1, [&m, row, column](const Block& block, T* to, Count stride) {
            m.fill({block.row + row, block.rows, block.column + column, block.columns}, to, stride);
          }};
}

/// Products of T's with sums of S.
template <class T, class S>
struct Untiled {
  Chip& chip;
  TileShape shape;
  Arithmetic arithmetic;
  InPlace<T> a, b;
  Finish finish;
  std::span<const Node* const> behind;
  ValueId result = none;
  std::vector<ProductOperands<T>> products{};  // by copy
  Blocks blocks{};
  bool unit_steps = true;                      // between the results of a row
  std::optional<Accumulators> accumulators{};  // of codes

  const T* filters(const Copy& copy) const {
    return b.data + shape.map.b_group[copy.group] + copy.channels.begin * shape.map.b_n;
  }

  void find_products() {
    for (const Copy& copy : shape.copies) {
      const NestMap& m = shape.map;
      const T* first = a.data + copy.frame * m.a_frame + m.a_group[copy.group];
      products.push_back(
          product_operands(shape, copy, first, a.strides, filters(copy), b.strides, arithmetic.lanes));
    }
  }

  /// Filters of several positions, which stand side by side, are laid out for the whole sum at once.
  bool laid() const { return !shape.by_rows() && products[0].left.data == nullptr; }

  Elements results(const Copy& copy, const Block& block) const {
    const NestMap& m = shape.map;
    Elements at;
    for (Count r = block.row; r < block.row + block.rows; ++r) {
      if (shape.by_rows()) {
        at.add({m.out(copy.frame, copy.group, copy.channels.begin + block.column, r, 0), block.columns, 1});
        continue;
      }
      const Count step = m.nest.out_w == 1 ? m.out_p : m.out_q;
      at.add({m.out(copy.frame, copy.group, copy.channels.begin + r, 0, 0) + block.column * step, block.columns,
              step});
    }
    return at;
  }

  /// Lays out once, by all threads, what several blocks of one product read: filters for blocks side by side,
  /// windows for those below each other, where they are not too large.
  void lay_together() {
    if (products.size() != 1 || !laid()) return;
    ProductOperands<T>& p = products[0];
    const Count rows = p.shape.rows, columns = p.shape.columns, depth = p.shape.depth, stride = depth + 16;
    if (blocks.column_parts > 1 && rows * stride <= most_filters) {
      T* to = room_in(chip.scratches->filters, rows * stride);
      share_in(rows, 16, [&](Count row, Count count) {
        lay_filters(shape, filters(shape.copies[0]), b.strides, row, count, to + row * stride, stride);
      });
      p.left = {to, stride, 1, {}};
    }
    if (blocks.row_parts > 1 && p.right.data == nullptr && depth * columns <= most_windows) {
      T* to = room_in(chip.scratches->windows, depth * columns);
      share_in(depth, 128, [&](Count row, Count count) {
        p.right.fill({row, count, 0, columns}, to + row * columns, columns);
      });
      p.right = {to, columns, 1, {}};
    }
  }

  static T* room_in(Storage& storage, Count numbers) {
    storage.grow(numbers * static_cast<Count>(sizeof(T)));
    return reinterpret_cast<T*>(storage.data());
  }

  /// `part(first, count)` of each `together` of `all`.
  template <class Part>
  void share_in(Count all, Count together, const Part& part) {
    share_tasks(*chip.team, ceil_div(all, together),
                [&](Count i) { part(i * together, std::min(together, all - i * together)); });
  }

  static Buffer<S>& sums_in(Scratch& scratch) {
    if constexpr (std::is_same_v<S, float>)
      return scratch.sums;
    else
      return scratch.code_sums;
  }

  Matrix<T> left_of(std::size_t number, const Block& block, Scratch& scratch) const {
    const ProductOperands<T>& p = products[number];
    if (!laid()) return part_of(p.left, block.row, 0);
    const Count stride = p.shape.depth + 16;
    T* to = room_in(scratch.left, block.rows * stride);
    lay_filters(shape, filters(shape.copies[number]), b.strides, block.row, block.rows, to, stride);
    return {to, stride, 1, {}};
  }

  /// The sums of a block.
  std::span<const S> summed(std::size_t number, const Block& block, Scratch& scratch) const {
    const ProductOperands<T>& p = products[number];
    ProductShape part = p.shape;
    part.rows = block.rows, part.columns = block.columns;
    Buffer<S>& sums = sums_in(scratch);
    sums.resize(as_size(block.rows * block.columns));
    KernelOptions options;
    options.workspace = &scratch.products;
    options.begins = true;
    const std::array<Count, 3> panels{static_cast<Count>(chip.now), static_cast<Count>(number), block.column};
    options.packed = scratch.packed == panels;
    scratch.packed = part.depth <= block_depth ? panels : std::array<Count, 3>{-1, -1, -1};
    multiply(part, arithmetic.accumulator, left_of(number, block, scratch), part_of(p.right, 0, block.column),
             Sums<S>{sums.data(), block.columns}, options);
    return sums;
  }

  /// The value of a 1 in each sum of a block of codes, or the one for all.
  std::vector<double> steps_of(const Copy& copy, const Block& block) const {
    if (accumulators->one_step()) return {accumulators->step(0, 0)};
    std::vector<double> steps;
    steps.reserve(as_size(block.rows * block.columns));
    for (Count r = block.row; r < block.row + block.rows; ++r)
      for (Count c = block.column; c < block.column + block.columns; ++c)
        steps.push_back(accumulators->step(copy.group, copy.channels.begin + (shape.by_rows() ? c : r)));
    return steps;
  }

  Numbers finished(const Copy& copy, const Block& block, const Elements& at, std::span<const S> sums) const {
    if constexpr (std::is_same_v<S, float>)
      return finish(at, sums);
    else
      return finish(at, sums, steps_of(copy, block));
  }

  void run() {
    const Count in_copy = blocks.row_parts * blocks.column_parts;
    const Elements all = Elements::first(element_count(chip.value(result).operand.shape));
    const auto task = [&](Count number, Scratch& scratch, PieceSink& sink) {
      const auto copy = at(number / in_copy);
      const Count row = number % in_copy % blocks.row_parts * blocks.rows;
      const Count column = number % in_copy / blocks.row_parts * blocks.columns;
      const ProductShape& p = products[copy].shape;
      const Block block{row, std::min(blocks.rows, p.rows - row), column,
                        std::min(blocks.columns, p.columns - column)};
      const Elements at = results(shape.copies[copy], block);
      const auto sums = summed(copy, block, scratch);
      if constexpr (std::is_same_v<S, float>)
        if (float* to = sink.in_place(); to != nullptr && unit_steps && finish.is_plain())
          return finish.into(at, sums, to);
      TileValues tile{at, result};
      tile.made[result] = finished(shape.copies[copy], block, at, sums);
      sink.put_piece(std::move(tile));
    };
    write_streamed(chip, behind, all, std::ssize(products) * in_copy, task);
  }
};

/// A nest whose sums no tile leaves unfinished.
bool is_plain(Chip& chip, const Node& node, const Mapping& mapping, const LoopNest& nest) {
  return !is_quantised(node) && is_single(chip.value(node.outputs[0]).operand.type) &&
         mapping.tile_sums >= nest.in_channels;
}

template <class T, class S>
bool run_in_place(Chip& chip, const Node& node, TileShape shape, const NestOperand& a, const NestOperand& b,
                  std::span<const Node* const> behind) {
  const NestMap& map = shape.map;
  InPlace<T> first{nullptr, {map.a_k, map.a_y, map.a_x, 0, 0, 0}},
      second{nullptr, {map.b_k, 0, 0, map.b_n, map.b_h, map.b_w}};
  try {
    first.data = found_in_place<T>(chip, a.as_it_lies, elements_of_a(shape));
    second.data = found_in_place<T>(chip, b.as_it_lies, elements_of_b(shape));
  } catch (const Error&) {
    return false;  // the first tile that reads what is not there tells
  }
  if (first.data == nullptr || second.data == nullptr) return false;
  shape.rows = {0, map.nest.in_h}, shape.columns = {0, map.nest.in_w};
  const bool weighted = shape.weighted;
  Untiled<T, S> untiled{chip,   std::move(shape), arithmetic_of(chip, node, weighted),
                        first,  second,           Finish(chip, node),
                        behind, node.outputs[0]};
  if constexpr (!std::is_same_v<T, float>) untiled.accumulators.emplace(chip, node, map, weighted);
  untiled.find_products();
  untiled.unit_steps = untiled.shape.by_rows() || (map.nest.out_w == 1 ? map.out_p : map.out_q) == 1;
  const ProductShape& p = untiled.products[0].shape;
  untiled.blocks = blocks_of(p, std::ssize(untiled.products), chip.team->threads(), untiled.laid());
  untiled.lay_together();
  const InstructionClass& c = chip.instruction_class();
  const auto begin = [&](const TileOperation&) { begin_operation(chip); };
  const NestPart all{{0, map.nest.out_h}};
  if (!weighted) for_each_tile(tile_loops(map.nest, weighted, c.mapping, all, c.spread_cores), begin);
  for (std::int64_t core = 0; weighted && core < c.spread_cores; ++core)
    for_each_tile(loops_of_core(map.nest, c, all, core), begin);
  untiled.run();
  return true;
}

}  // namespace

bool run_nest_untiled(Chip& chip, const Node& node, const NestMap& map, bool weighted, const NestOperand& a,
                      const NestOperand& b, std::span<const Node* const> behind) {
  if (!is_plain(chip, node, chip.instruction_class().mapping, map.nest) || !may_stream(chip, behind)) return false;
  if (grouped_weight(chip, node, weighted).weight != nullptr) return false;
  TileShape shape = whole_shape(map, weighted);
  if (shape.copies.empty() || !in_lines(shape)) return false;
  const NumberFormat format = accumulator_of(chip);
  if (is_floating(format)) return run_in_place<float, float>(chip, node, std::move(shape), a, b, behind);
  return needs_scale(format) && lies_in_codes(chip, a) && lies_in_codes(chip, b) &&
         run_in_place<std::int8_t, std::int32_t>(chip, node, std::move(shape), a, b, behind);
}

}  // namespace sdip::exec
