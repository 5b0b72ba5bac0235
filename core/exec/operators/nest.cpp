// A nest run tile by tile.
#include "core/exec/operators/nest.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/exec/chip/accumulators.h"
#include "core/exec/chip/partial_sums.h"
#include "core/exec/chip/weights.h"
#include "core/exec/clock/operations.h"
#include "core/exec/numbers/formats.h"
#include "core/exec/operators/finish.h"
#include "core/exec/operators/nest_groups.h"
#include "core/exec/operators/nest_tile.h"
#include "core/exec/walk/nest_walk.h"
#include "core/exec/walk/resolve.h"
#include "core/exec/walk/windows.h"

namespace sdip::exec {
namespace {

constexpr double least_shared_macs = 1 << 18;  // below, sharing takes longer than the product

template <class T>
void take(const Numbers& numbers, Buffer<T>& to) {
  to.clear();
  to.reserve(numbers.size());
  for (const float x : numbers.floats) to.push_back(static_cast<T>(x));
  for (const double x : numbers.doubles) to.push_back(static_cast<T>(x));
  for (const std::int64_t x : numbers.ints) to.push_back(static_cast<T>(x));
}

/// Sums as a memory has them, and back.
Numbers kept_form(const Buffer<float>& sums) { return {ElementType::float32, {sums.begin(), sums.end()}, {}, {}}; }
Numbers kept_form(const Buffer<double>& sums) { return {ElementType::float64, {}, {sums.begin(), sums.end()}, {}}; }
template <class S>
Numbers kept_form(const Buffer<S>& sums) {
  return {ElementType::int64, {}, {}, std::vector<std::int64_t>(sums.begin(), sums.end())};
}

/// One operand's tile: loaded, or the part of a whole weight that it is.
template <class T>
struct Loaded {
  Buffer<T> data{};
  const T* whole = nullptr;
  TileStrides strides{};
};

/// A window of A: the results that read it, and its rows and columns.
struct LoadedWindow {
  Extent result_rows{}, result_columns{}, rows{}, columns{};
};

/// The nest's loops over T's with sums of S.
template <class T, class S>
struct Tiles {
  Chip& chip;
  TileShape shape;
  const NestOperand &a, &b;
  Arithmetic arithmetic;
  Loaded<T> loaded_a{}, loaded_b{};
  Buffer<S> sums{};
  LoadedWindow window{};  // in loaded_a
  GroupedWeight grouped{};

  void load(const NestOperand& operand, const Elements& at, Buffer<T>& to) {
    if constexpr (std::is_same_v<T, std::int8_t>) {
      to.resize(as_size(at.size()));
      if (operand.codes) return operand.codes(at, to);
      const ValueId root = chip.views.root[operand.as_it_lies];
      const auto placed = placed_operand(chip, root);
      note(chip, chip.stream, placed->reading.slot.second, at.size(), root);
      read_codes(placed->memory, placed->reading, through_view(chip, operand.as_it_lies, at), to);
    } else if constexpr (std::is_same_v<T, float>) {
      if (operand.as_it_lies == none) return take(operand.read(at), to);
      to.resize(as_size(at.size()));
      read_floats_together(chip, operand.as_it_lies, at, to);
    } else {
      take(operand.read(at), to);
    }
  }

  void load_a(const NestStep& step) {
    if (!step.loads_a) return;
    chip.stream = Stream::a;
    if (a.through_dram) return load_window(step);
    load(a, elements_of_a(shape), loaded_a.data);
    loaded_a.strides = strides_of_a(shape);
  }

  /// Loads what a step brings of A's window; the rest is there, or read by nothing.
  void load_window(const NestStep& step) {
    const InputAxis along_rows = rows_of(shape.map.nest), along_columns = columns_of(shape.map.nest);
    Runs rows = positions_read(along_rows, step.tile.rows),
         columns = positions_read(along_columns, step.tile.columns);
    if (step.next_rows) rows = fresh_positions(rows, positions_read(along_rows, window.result_rows));
    if (step.next_columns) columns = fresh_positions(columns, positions_read(along_columns, window.result_columns));
    const LoadedWindow now{step.tile.rows, step.tile.columns, shape.rows, shape.columns};
    const bool whole = rows == Runs{shape.rows} && columns == Runs{shape.columns};
    if (whole) {
      load(a, elements_of_a(shape), loaded_a.data);
    } else {
      const std::vector<WindowLine> coming = lines_of_a(shape, rows, columns, shape.rows, shape.columns);
      Elements at;
      for (const WindowLine& line : coming) at.add(line.from);
      Buffer<T> brought, all(shape.copies.size() * as_size(a_size()), T{});
      load(a, at, brought);
      if (step.next_rows || step.next_columns) keep_window(now, all);
      const T* from = brought.data();
      for (const WindowLine& line : coming) {
        std::copy_n(from, line.from.count, all.data() + line.to);
        from += line.from.count;
      }
      loaded_a.data = std::move(all);
    }
    window = now;
    loaded_a.strides = strides_of_a(shape);
  }

  /// The part of the window before that the next one has, too.
  void keep_window(const LoadedWindow& now, Buffer<T>& to) const {
    const auto both = [](const Extent& x, const Extent& y) {
      const Extent part{std::max(x.begin, y.begin), std::min(x.end, y.end)};
      return part.size() > 0 ? Runs{part} : Runs{};
    };
    const Runs rows = both(window.rows, now.rows), columns = both(window.columns, now.columns);
    const auto from = lines_of_a(shape, rows, columns, window.rows, window.columns);
    const auto there = lines_of_a(shape, rows, columns, now.rows, now.columns);
    for (std::size_t i = 0; i < from.size(); ++i)
      std::copy_n(loaded_a.data.data() + from[i].to, from[i].from.count, to.data() + there[i].to);
  }

  /// Elements of a copy's window.
  std::int64_t a_size() const { return shape.tile.sums.size() * shape.rows.size() * shape.columns.size(); }

  void load_b(const NestStep& step) {
    if (!step.loads_b) return;
    if (shape.weighted && chip.log) chip.log->add_weights(elements_of_b(shape).size());
    if (loaded_b.whole != nullptr) return;
    chip.stream = Stream::b;
    load(b, elements_of_b(shape), loaded_b.data);
    loaded_b.strides = strides_of_b(shape);
  }

  /// B's first element of a copy; `part` counts those before it in what was loaded.
  const T* first_of_b(const Copy& copy, std::int64_t part) const {
    if (loaded_b.whole == nullptr) return loaded_b.data.data() + part;
    const NestMap& m = shape.map;
    return loaded_b.whole + m.b_group[copy.group] + copy.channels.begin * m.b_n + shape.tile.sums.begin * m.b_k;
  }

  void multiply_all() {
    const LoopNest& n = shape.map.nest;
    const std::int64_t k = shape.tile.sums.size(), kernel = n.kernel_h * n.kernel_w;
    std::int64_t of_a = 0, of_b = 0;
    S* to = sums.data();
    for (const Copy& copy : shape.copies) {
      if (shape.weighted && copy.group == shape.copies[0].group) of_b = 0;  // the next frame
      Arithmetic way = arithmetic;
      const std::int64_t results = shape.results(copy);
      if (static_cast<double>(results) * static_cast<double>(k * kernel) < least_shared_macs)
        way.kernel.share = {}, way.kernel.threads = 1;
      if constexpr (std::is_same_v<T, float>)
        if (grouped.weight != nullptr)
          add_grouped_products(shape, copy, loaded_a.data.data() + of_a, loaded_a.strides, grouped, to, way);
      if (grouped.weight == nullptr)
        add_products(shape, copy, loaded_a.data.data() + of_a, loaded_a.strides, first_of_b(copy, of_b),
                     loaded_b.strides, to, way);
      to += results;
      of_a += a_size();
      of_b += copy.channels.size() * k * kernel;
    }
  }

  /// The value of a 1 in each of the sums [from, from + count) of codes, or the one for all.
  std::vector<double> steps_of(const Accumulators& accumulators, std::int64_t from, std::int64_t count) const {
    if (accumulators.one_step()) return {accumulators.step(0, 0)};
    std::vector<double> steps;
    steps.reserve(as_size(count));
    const std::int64_t pixels = shape.pixels(), end = from + count;
    std::int64_t first = 0;  // of the copy
    for (const Copy& copy : shape.copies) {
      const std::int64_t channels = copy.channels.size(), behind = first + pixels * channels;
      for (std::int64_t i = std::max(from, first); i < std::min(end, behind); ++i) {
        const std::int64_t channel = shape.by_rows() ? (i - first) % channels : (i - first) / pixels;
        steps.push_back(accumulators.step(copy.group, copy.channels.begin + channel));
      }
      first = behind;
    }
    return steps;
  }

  /// Ends an operation with sums in accumulators that no kernel has.
  template <class Kept>
  void keep_each(Kept kept) {
    std::size_t i = 0;
    for (const Copy& copy : shape.copies) {
      const std::int64_t pixels = shape.pixels(), channels = copy.channels.size();
      for (std::int64_t r = 0; r < pixels * channels; ++r, ++i)
        sums[i] = kept(sums[i], copy.group, copy.channels.begin + (shape.by_rows() ? r % channels : r / pixels));
    }
  }
};

template <class T, class S, class Kept, class Ended>
void run_tiles(Chip& chip, Tiles<T, S>& t, const Mapping& mapping, const NestPart& part, Kept kept, Ended ended) {
  PartialSums partials(chip);
  const LoopNest& nest = t.shape.map.nest;
  const InstructionClass& c = chip.instruction_class();
  const std::int64_t cores = c.spread_cores, first_core = nest.batch * nest.groups / cores;
  const bool each_by_itself = t.shape.weighted && cores > 1;
  std::int64_t core = 0;
  const bool own_operations = chip.instruction_class().compound == Compound::single;
  const auto run = [&](const NestStep& step) {
    if (own_operations) begin_operation(chip, each_by_itself ? core == 0 : step.tile.copies.begin < first_core);
    t.shape.tile = step.tile;
    t.shape.copies = copies_of(nest, t.shape.weighted, step.tile);
    t.shape.rows = window_rows(nest, step.tile.rows);
    t.shape.columns = window_columns(nest, step.tile.columns);
    const Elements at = results_of(t.shape);
    if (step.tile.first_sums) {
      t.sums.assign(as_size(at.size()), S{});
    } else if (!step.partials_come) {
      take(partials.kept(), t.sums);
    } else {
      take(partials.back(at), t.sums);
      ++chip.counts.partial_tiles;
    }
    t.load_a(step);
    t.load_b(step);
    chip.stream = Stream::others;
    t.multiply_all();
    kept();
    if (step.tile.last_sums) return ended(at);
    partials.keep(at, kept_form(t.sums));
    if (step.partials_leave) partials.leave();
  };
  if (!each_by_itself)
    return for_each_step(nest, t.shape.weighted, tile_loops(nest, t.shape.weighted, mapping, part, cores), run);
  for (; core < cores; ++core)  // each by itself: what lies in its memories is its own
    for_each_step(part_of_core(nest, c), true, loops_of_core(nest, c, part, core), run);
}

/// The whole weight that operand B is, and its strides; nullptr where it is read tile by tile.
template <class T>
void take_whole(Chip& chip, const TileShape& whole, const NestOperand& b, Loaded<T>& loaded) {
  if (b.as_it_lies == none || chip.value(b.as_it_lies).kind != ValueKind::weight) return;
  const HeldWeight* weight = read_weight(chip, b.as_it_lies);
  if (weight == nullptr) return;
  check(elements_of_b(whole).are_below(element_count(weight->shape)), "elements of a weight");
  const NestMap& m = whole.map;
  if constexpr (std::is_same_v<T, float>) loaded.whole = whole_floats(chip, b.as_it_lies).data();
  if constexpr (std::is_same_v<T, std::int8_t>) loaded.whole = weight->codes.data();
  loaded.strides = {m.b_k, 0, 0, m.b_n, m.b_h, m.b_w};
}

/// Lanes that multiply side by side along a sum.
std::int64_t lanes_along_sums(const Machine& m, Family family) {
  if (m.mac_sharing == MacSharing::shared || family == Family::conv2d) return m.conv_lanes_in;
  return family == Family::linear ? m.linear_lanes_k : m.matmul_lanes_k;
}

}  // namespace

bool lies_in_codes(Chip& chip, const NestOperand& operand) {
  const ValueId v = operand.as_it_lies;
  if (operand.codes) return true;
  if (v == none) return false;
  if (chip.value(v).kind == ValueKind::weight) {
    const HeldWeight* weight = read_weight(chip, v);
    return weight != nullptr && !weight->codes.empty();
  }
  const NumberFormat format = format_of(chip, v);
  return format == NumberFormat::int8 && !holds(format, chip.value(v).operand.type) &&
         placed_operand(chip, chip.views.root[v]).has_value();
}

Extent window_rows(const LoopNest& n, const Extent& rows) { return hull_read(rows_of(n), rows); }

Extent window_columns(const LoopNest& n, const Extent& columns) { return hull_read(columns_of(n), columns); }

TileShape whole_shape(const NestMap& map, bool weighted) {
  const LoopNest& n = map.nest;
  TileShape shape{map, weighted};
  shape.tile = {{0, n.batch * (weighted ? 1 : n.groups)},
                {0, n.out_h},
                {0, n.out_w},
                {0, n.out_channels * (weighted ? n.groups : 1)},
                {0, n.in_channels}};
  shape.copies = copies_of(n, weighted, shape.tile);
  shape.rows = window_rows(n, shape.tile.rows);
  shape.columns = window_columns(n, shape.tile.columns);
  return shape;
}

Arithmetic arithmetic_of(Chip& chip, const Node& node, bool weighted) {
  Arithmetic arithmetic;
  arithmetic.accumulator = accumulator_of(chip);
  const bool in_memory = weighted && weights_multiply(chip.machine, chip.stage.role);
  const Machine its = resolve(chip.instruction_class(), chip.machine);
  arithmetic.lanes = in_memory ? all_lanes : lanes_along_sums(its, work_of(chip.graph, node).family);
  arithmetic.kernel.stop = &chip.options.stop;
  arithmetic.kernel.threads = chip.team->threads();
  if (chip.team->threads() > 1) arithmetic.kernel.share = chip.team->share();
  return arithmetic;
}

void run_nest(Chip& chip, const Node& node, const NestMap& map, bool weighted, const Mapping& mapping,
              const NestPart& part, const NestOperand& a, const NestOperand& b, const TileSink& sink) {
  const auto type = [&](std::size_t i) { return chip.value(node.inputs[i]).operand.type; };
  const auto less_zero = [&](std::size_t i, const NestOperand& operand) {
    return is_quantised(node) ? NestOperand{without_zero(chip, node, i, operand.read), none, operand.through_dram}
                              : operand;
  };
  const NestOperand first = less_zero(0, a), second = less_zero(1, b);
  const Finish finish(chip, node);
  const Arithmetic arithmetic = arithmetic_of(chip, node, weighted);
  const NumberFormat format = accumulator_of(chip);
  const bool floating = is_floating(format);
  const auto run = [&]<class T, class S>(std::type_identity<T>, std::type_identity<S>, auto kept, auto ended) {
    TileShape shape{map, weighted};
    Tiles<T, S> t{chip, std::move(shape), first, second, arithmetic};
    take_whole(chip, whole_shape(map, weighted), second, t.loaded_b);
    if constexpr (std::is_same_v<T, float>) t.grouped = grouped_weight(chip, node, weighted);
    run_tiles<T, S>(
        chip, t, mapping, part, [&] { kept(t); }, [&](const Elements& at) { sink(at, ended(t)); });
  };
  const auto nothing = [](auto&) {};
  const auto finished = [&](auto& t) {
    return [&](const Elements& piece, std::int64_t from) {
      return finish(piece, std::span(std::as_const(t.sums)).subspan(as_size(from), as_size(piece.size())));
    };
  };
  if (floating && is_single(type(0)) && is_single(type(1)))
    return run(std::type_identity<float>{}, std::type_identity<float>{}, nothing, finished);
  const Accumulators accumulators(chip, node, map, weighted);
  const auto kept = [&](auto& t) {
    t.keep_each([&](auto sum, std::int64_t group, std::int64_t n) { return accumulators.kept(sum, group, n); });
  };
  if (!is_floating(type(0)) && !is_floating(type(1)))
    return run(std::type_identity<std::uint64_t>{}, std::type_identity<std::uint64_t>{}, kept, finished);
  if (needs_scale(format) && lies_in_codes(chip, first) && lies_in_codes(chip, second))
    return run(std::type_identity<std::int8_t>{}, std::type_identity<std::int32_t>{}, nothing, [&](auto& t) {
      return [&](const Elements& piece, std::int64_t from) {
        const auto sums = std::span(std::as_const(t.sums)).subspan(as_size(from), as_size(piece.size()));
        return finish(piece, sums, t.steps_of(accumulators, from, piece.size()));
      };
    });
  run(std::type_identity<double>{}, std::type_identity<double>{}, kept, finished);
}

}  // namespace sdip::exec
