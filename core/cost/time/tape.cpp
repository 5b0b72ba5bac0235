// A pass as a tape.
//
// Worked example. An instruction of 5 tiles of weights, all alike: operate; loop 4 times: operate; next. The first
// operation stands apart, since it also loads what the others find loaded.
#include "core/cost/time/tape.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/cost/work/micro_operations.h"

namespace sdip {
namespace {

/// Where the transfers of a class stand among all: none where nothing is moved.
struct ClassMoved {
  struct Shape {
    std::int32_t weights, b, split, partial, out;
  };
  struct Window {
    std::int32_t all, fresh;
  };
  std::vector<Shape> shapes;
  std::vector<Window> windows;
};

class TapeMaker {
 public:
  TapeMaker(const Program& program, const List<ClassCost>& costs, const TimelineRules& rules)
      : program_(program), costs_(costs), rules_(rules) {
    tape_.classes.resize(costs.size());
    tape_.instructions.reserve(program.instructions.size());
    for (const Instruction& instruction : program.instructions) {
      tape_.instructions.push_back(instruction.instruction_class);
      ++tape_.classes[instruction.instruction_class].uses;
      if (rules.overlaps) tape_.after.push_back(instruction.after);
    }
    for (std::size_t c = 0; c < costs.size(); ++c) number_transfers(c);
  }

  Tape make() {
    tape_.pinned_bytes = rules_.pinned_bytes;
    tape_.weights_double_buffered = rules_.weights_double_buffered;
    tape_.tiles_double_buffered = rules_.tiles_double_buffered;
    tape_.dispatch_overlaps = rules_.dispatch_overlaps;
    tape_.dispatches_tiles = rules_.dispatches_tiles;
    tape_.overlaps = rules_.overlaps;
    for (std::size_t c = 0; c < costs_.size(); ++c) write_class(c);
    tape_.shapes = as_size(shapes_);
    if (streams_words(program_, costs_, rules_)) {
      tape_.words = static_cast<std::int32_t>(tape_.moved.size());
      tape_.moved.insert(tape_.moved.end(), tape_.instructions.size(),
                         {Tape::Direction::words, Tape::none, 1, 1, 1});
      tape_.runs_ahead = true;
    }
    return std::move(tape_);
  }

 private:
  std::int32_t transfer(Tape::Direction direction, std::int64_t bytes, std::int64_t copies = 1) {
    if (bytes == 0) return Tape::none;
    tape_.moved.push_back({direction, number_, copies, 0, 0});
    return static_cast<std::int32_t>(tape_.moved.size() - 1);
  }

  void number_transfers(std::size_t number) {
    using enum Tape::Direction;
    const ClassCost& cost = costs_[number];
    Tape::Class& c = tape_.classes[number];
    ClassMoved& moved = moved_.emplace_back();
    const bool fetched = rules_.psram_bytes > 0;
    number_ = static_cast<std::int32_t>(number);
    c.first_shape = shapes_;
    shapes_ += static_cast<std::int32_t>(cost.kinds.empty() ? cost.shapes.size() : cost.kinds.size());
    for (const TileCost& tile : cost.shapes)
      moved.shapes.push_back({transfer(weights, cost.weighted && fetched ? tile.weight_stored_bytes : 0),
                              transfer(in, tile.b_bytes, cost.cores), transfer(in, tile.split_in_bytes, cost.cores),
                              transfer(in, tile.partial_in_bytes, cost.cores),
                              transfer(out, tile.out_bytes, cost.cores)});
    for (const WindowBytes& window : cost.windows)
      moved.windows.push_back({transfer(in, window.all, cost.cores), transfer(in, window.fresh, cost.cores)});
    c.pinned = program_.classes[number].pinned;
    c.held = transfer(weights, fetched ? cost.held_weight_stored_bytes : 0);
    c.held_tile_bytes = cost.held_weight_bytes;
    tape_.fetches_once |= c.pinned;
    tape_.runs_ahead |= fetched && !c.pinned && (cost.weighted || cost.held_weight_bytes > 0);
  }

  static bool moves(const ClassMoved& moved) {
    const auto some = [](std::int32_t number) { return number != Tape::none; };
    return std::ranges::any_of(moved.windows, [&](const auto& w) { return some(w.all); }) ||
           std::ranges::any_of(moved.shapes, [&](const auto& s) {
             return some(s.weights) || some(s.b) || some(s.split) || some(s.partial) || some(s.out);
           });
  }

  void write(Tape::Kind kind, std::size_t what) {
    tape_.steps.emplace_back().kind = kind;
    tape_.steps.back().what = static_cast<std::int32_t>(what);
  }

  /// Operations that move nothing are work alone, unless each is dispatched.
  void write_class(std::size_t number) {
    Tape::Class& c = tape_.classes[number];
    c.first_step = c.end_step = tape_.steps.size();
    if (c.uses == 0 || (!moves(moved_[number]) && c.held == Tape::none && !rules_.dispatches_tiles)) return;
    use(c.held, 1, c.held_tile_bytes);
    class_ = number;
    steps_ = tile_steps(costs_[number].order);
    walk(0, costs_[number].order.runs.data(), 0, 0, TileStep{}, true, 1);
    c.end_step = tape_.steps.size();
  }

  void use(std::int32_t transfer, std::int64_t times, std::int64_t psram_bytes) {
    if (transfer == Tape::none) return;
    Tape::Moved& moved = tape_.moved[transfer];
    moved.uses += times;
    Tape::Class& c = tape_.classes[moved.of_class];
    c.psram_bytes += times * psram_bytes;
    if (c.pinned && moved.direction == Tape::Direction::weights) return;
    moved.in_pass += times * c.uses * moved.copies;
    tape_.psram_bytes += times * c.uses * psram_bytes;
  }

  /// The operations inside loop `level`, all of them `times` over. `first_use`: of their weights, in this
  /// instruction.
  void walk(std::size_t level, const TileRun* run, std::int32_t shape, std::int32_t window, TileStep step,
            bool first_use, std::int64_t times) {
    const auto& loops = costs_[class_].order.loops;
    if (level == loops.size()) {
      operate(shape, window, step, first_use, times);
      return;
    }
    const TileLoop& loop = loops[level];
    const TileRun* const inner = run + loop.runs;
    for (bool begins = true; run != inner; ++run, begins = false) {
      const std::int32_t s = shape + run->shape, w = window + run->window;
      if (begins) walk(level + 1, inner, s, w, step, first_use, times);
      const std::int64_t others = run->tiles - begins;
      if (others == 0) continue;
      const std::size_t begin = tape_.steps.size();
      if (others > 1) {
        tape_.steps.emplace_back().kind = Tape::Kind::loop;
        tape_.steps.back().count = others;
      }
      walk(level + 1, inner, s, w, steps_[level], first_use && loop.b, times * others);
      if (others > 1) close_loop(begin);
    }
  }

  void close_loop(std::size_t begin) {
    Tape::Step& loop = tape_.steps[begin];
    for (std::size_t i = begin + 1; i < tape_.steps.size(); ++i) {
      const Tape::Step& step = tape_.steps[i];
      if (step.kind != Tape::Kind::operate) continue;
      const Tape::Operation& o = tape_.operations[step.what];
      loop.fetches |= o.weights != Tape::none;
      for (const std::int32_t t : {o.a, o.b, o.split, o.partial, o.out}) loop.loads |= t != Tape::none;
    }
    write(Tape::Kind::next, begin);
  }

  void operate(std::int32_t shape, std::int32_t window, TileStep step, bool first_use, std::int64_t times) {
    const ClassMoved& moved = moved_[class_];
    const auto s = at(shape), w = as_size(window);
    const ClassMoved::Shape& m = moved.shapes[s];
    const bool pinned = tape_.classes[class_].pinned;
    const bool fetches = step.b && m.weights != Tape::none && (first_use || !pinned);
    Tape::Operation o;
    const std::size_t kind = costs_[class_].kinds.empty() ? s : kind_of(costs_[class_], shape, window, step);
    o.shape = tape_.classes[class_].first_shape + static_cast<std::int32_t>(kind);
    o.weights = fetches ? m.weights : Tape::none;
    o.tile_bytes = costs_[class_].shapes[s].weight_bytes * costs_[class_].weight_parts;
    o.leaves_tile = step.b && !fetches;
    if (step.a) o.a = step.fresh ? moved.windows[w].fresh : moved.windows[w].all;
    if (step.b) o.b = m.b;
    o.split = m.split;
    o.partial = m.partial;
    o.out = m.out;
    use(o.weights, times, o.tile_bytes);
    for (const std::int32_t t : {o.a, o.b, o.split, o.partial, o.out}) use(t, times, 0);
    write(Tape::Kind::operate, tape_.operations.size());
    tape_.operations.push_back(o);
  }

  const Program& program_;
  const List<ClassCost>& costs_;
  const TimelineRules& rules_;
  Tape tape_;
  std::vector<ClassMoved> moved_;
  std::int32_t shapes_ = 0, number_ = 0;  // of the class whose transfers are numbered
  std::size_t class_ = 0;
  std::array<TileStep, most_tile_loops> steps_;
};

}  // namespace

bool streams_words(const Program& program, const List<ClassCost>& costs, const TimelineRules& rules) {
  if (rules.imem_bytes == 0) return false;
  std::int64_t bytes = 0;
  for (const Instruction& i : program.instructions)
    bytes += instruction_bytes(i, costs[i.instruction_class], rules.granularity);
  return bytes > rules.imem_bytes;
}

Tape make_tape(const Program& program, const List<ClassCost>& costs, const TimelineRules& rules) {
  return TapeMaker(program, costs, rules).make();
}

namespace {

/// Example: 130 bytes in bursts of 64 are 192; most bursts are a power of two.
std::int64_t whole_bursts(std::int64_t bytes, std::int64_t burst) {
  if ((burst & (burst - 1)) == 0) return (bytes + burst - 1) & -burst;
  return ceil_div(bytes, burst) * burst;
}

}  // namespace

TapeNumbers tape_numbers(const Tape& tape, const Program& program, const List<ClassCost>& costs,
                         const TimelineRules& rules) {
  TapeNumbers n;
  n.bytes.reserve(tape.moved.size());
  n.least_cycles.reserve(tape.moved.size());
  n.cycles.reserve(tape.shapes);
  for (auto* of_classes : {&n.class_dispatch_cycles, &n.delay_cycles, &n.link_in_cycles, &n.behind_cycles})
    of_classes->reserve(costs.size());
  const auto transfer = [&](std::int64_t bytes, std::int64_t least_cycles, std::int64_t parts = 1) {
    if (bytes == 0) return;
    n.bytes.push_back(whole_bursts(bytes, rules.burst_bytes) * parts);
    n.least_cycles.push_back(least_cycles);
  };
  const auto weights = [&](std::int64_t bytes, std::int64_t unpacked, std::int64_t parts) {
    if (bytes == 0) return;
    std::int64_t least = rules.decompressor_bytes > 0 ? ceil_div(unpacked * parts, rules.decompressor_bytes) : 0;
    if (rules.gathered_bits > 0)
      least = std::max(least, ceil_div(8 * whole_bursts(bytes, rules.burst_bytes) * parts, rules.gathered_bits));
    transfer(bytes, least, parts);
  };
  const auto dispatch = [&](const ClassCost& cost, const TileCost& tile) {
    return rules.dispatch_cycles * tile.micro_operations + (cost.on_host ? rules.host_command_cycles : 0);
  };
  const bool fetched = rules.psram_bytes > 0;
  n.psram_bytes = rules.psram_bytes;
  n.pipeline_stages = rules.pipeline_stages;
  for (std::size_t c = 0; c < costs.size(); ++c) {
    const ClassCost& cost = costs[c];
    for (const OperationKind& kind : cost.kinds) {
      n.cycles.push_back(kind.cycles);
      if (tape.dispatches_tiles) n.tile_dispatch_cycles.push_back(dispatch(cost, cost.shapes[at(kind.shape)]));
    }
    for (const TileCost& tile : cost.shapes) {
      if (cost.kinds.empty()) n.cycles.push_back(tile.cycles);
      if (cost.kinds.empty() && tape.dispatches_tiles) n.tile_dispatch_cycles.push_back(dispatch(cost, tile));
      weights(cost.weighted && fetched ? tile.weight_stored_bytes : 0, tile.weight_bytes, cost.weight_parts);
      for (const std::int64_t bytes : {tile.b_bytes, tile.split_in_bytes, tile.partial_in_bytes, tile.out_bytes})
        transfer(bytes, 0);
    }
    for (const WindowBytes& window : cost.windows) {
      transfer(window.all, 0);
      transfer(window.fresh, 0);
    }
    weights(fetched ? cost.held_weight_stored_bytes : 0, cost.held_weight_bytes, 1);
    n.class_dispatch_cycles.push_back(dispatch(cost, cost.shapes[0]));
    n.link_in_cycles.push_back(cost.link_in_cycles);
    n.behind_cycles.push_back(cost.link_out_cycles + rules.pipeline_stages);
    n.delay_cycles.push_back(n.link_in_cycles.back() + cost.cycles + n.behind_cycles.back());
    n.fixed_cycles += n.delay_cycles.back() * tape.classes[c].uses;
    n.dispatch_cycles += n.class_dispatch_cycles.back() * tape.classes[c].uses;
    if (!tape.overlaps) continue;
    n.circuits.push_back(cost.circuit);
    n.owned.push_back(cost.owned);
  }
  if (tape.words == Tape::none) return n;
  n.imem_bytes = rules.imem_bytes;
  for (const Instruction& i : program.instructions) {
    const ClassCost& cost = costs[i.instruction_class];
    n.words_bytes.push_back(instruction_bytes(i, cost, rules.granularity));
    transfer(n.words_bytes.back(), 0);
  }
  return n;
}

std::vector<PassCost> class_bytes(const Tape& tape, const TapeNumbers& numbers, std::int64_t cores, bool cold) {
  List<PassCost> bytes(tape.classes.size());
  for (std::size_t c = 0; c < bytes.size(); ++c)
    if (cold || !tape.classes[c].pinned) bytes[c].weight_psram_bytes = tape.classes[c].psram_bytes;
  for (std::size_t t = 0; t < tape.moved.size(); ++t) {
    const Tape::Moved& moved = tape.moved[t];
    if (moved.direction == Tape::Direction::words) break;
    const auto c = at(moved.of_class);
    const std::int64_t all = moved_bytes(tape, numbers, t, cores) * moved.uses;
    if (moved.direction == Tape::Direction::in) bytes[c].activation_in_bytes += all;
    if (moved.direction == Tape::Direction::out) bytes[c].activation_out_bytes += all;
    if (moved.direction == Tape::Direction::weights && (cold || !tape.classes[c].pinned))
      bytes[c].weight_bytes += all;
  }
  return bytes;
}

PassCost pass_bytes(const Tape& tape, const TapeNumbers& numbers, std::int64_t cores) {
  Array<std::int64_t, 4> bytes{};  // by direction
  for (std::size_t t = 0; t < tape.moved.size(); ++t)
    bytes[tape.moved[t].direction] += numbers.bytes[t] * tape.moved[t].in_pass;
  PassCost pass;
  pass.weight_bytes = bytes[0];
  pass.activation_in_bytes = bytes[1] * cores;
  pass.activation_out_bytes = bytes[2] * cores;
  pass.program_bytes = bytes[3];
  pass.weight_psram_bytes = tape.psram_bytes;
  return pass;
}

PassCost pinned_bytes(const Tape& tape, const TapeNumbers& numbers) {
  PassCost pinned;
  const List<PassCost> bytes = class_bytes(tape, numbers, 1, true);
  for (std::size_t c = 0; c < bytes.size(); ++c) {
    if (!tape.classes[c].pinned) continue;
    pinned.weight_bytes += bytes[c].weight_bytes * tape.classes[c].uses;
    pinned.weight_psram_bytes += bytes[c].weight_psram_bytes * tape.classes[c].uses;
  }
  return pinned;
}

}  // namespace sdip
