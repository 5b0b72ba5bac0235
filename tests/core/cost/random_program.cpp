// Small programs and machines drawn from a seed.
#include "tests/core/cost/random_program.h"

#include <algorithm>
#include <array>

#include "core/exec/clock/operations.h"
#include "core/machine/scale_groups.h"
#include "core/program/kinds.h"

namespace sdip {
namespace {

std::int64_t cut_of(Dice& dice, std::int64_t size) { return dice.one_in(3) ? size : dice.between(1, size); }

Place operand_place(Dice& dice) { return dice.one_of({Place::dsram, Place::stackram, Place::dram}); }

void draw_result(Dice& dice, InstructionClass& c) {
  c.to_dsram = dice.one_in(2);
  c.push = dice.one_in(3);
  c.to_dram = dice.one_in(2);
  if (!c.push && !c.to_dram) c.to_dsram = true;
}

void draw_fetches(Dice& dice, InstructionClass& c, std::int64_t full) {
  const std::int64_t count = dice.between(0, 2);
  for (std::int64_t i = 0; i < count; ++i) {
    Fetch fetch;
    fetch.place = dice.one_of({Place::dsram, Place::stackram, Place::dram, Place::psram});
    fetch.per_fold = dice.one_in(2);
    fetch.elements = fetch.per_fold ? full : dice.between(1, 70);
    fetch.passes = fetch.per_fold && dice.one_in(2) ? std::max<std::int64_t>(1, c.work.passes) : 1;
    if (fetch.place == Place::psram) c.weight_elements += fetch.per_fold ? dice.between(1, full) : fetch.elements;
    c.fetches.push_back(fetch);
  }
}

/// The input of `out` results: what they read, less padding (which may be more than the kernel's reach, or less
/// than nothing: positions that no result reads), and a few positions beyond.
std::int64_t input_of(Dice& dice, std::int64_t out, std::int64_t stride, std::int64_t kernel, std::int64_t dilation,
                      std::int64_t& before, std::int64_t& after) {
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  before = dice.one_in(2) ? dice.between(-3, reach) : 0;
  after = dice.one_in(2) ? dice.between(0, reach) : 0;
  return std::max<std::int64_t>(1, (out - 1) * stride + reach - before - after + dice.between(0, stride - 1));
}

LoopNest random_nest(Dice& dice, bool conv) {
  LoopNest n;
  n.groups = dice.one_in(3) ? dice.between(2, 4) : 1;
  n.batch = dice.between(1, 3);
  n.out_channels = dice.between(1, 9);
  n.in_channels = dice.between(1, 9);
  n.out_h = n.in_h = dice.one_in(4) ? dice.between(10, 60) : dice.between(1, 9);
  if (!conv) return n;
  n.out_w = dice.one_in(4) ? dice.between(7, 20) : dice.between(1, 6);
  n.kernel_h = dice.between(1, 3), n.kernel_w = dice.between(1, 3);
  n.stride_h = dice.between(1, 3), n.stride_w = dice.between(1, 3);
  n.dilation_h = dice.between(1, 3), n.dilation_w = dice.between(1, 3);
  n.in_h = input_of(dice, n.out_h, n.stride_h, n.kernel_h, n.dilation_h, n.pad_top, n.pad_bottom);
  n.in_w = input_of(dice, n.out_w, n.stride_w, n.kernel_w, n.dilation_w, n.pad_left, n.pad_right);
  return n;
}

/// Any four-loop mapping in any order, of a few thousand operations at most.
Mapping random_mapping(Dice& dice, const LoopNest& n, bool weighted) {
  Mapping m{cut_of(dice, n.out_h), cut_of(dice, n.out_w), cut_of(dice, n.out_channels), cut_of(dice, n.in_channels),
            channels_outermost};
  if (weighted && n.groups > 1 && dice.one_in(2)) m.tile_channels = dice.between(1, n.groups) * n.out_channels;
  for (std::size_t i = 3; i > 0; --i)
    std::swap(m.order[i], m.order[static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(i)))]);
  const auto operations = [&] {
    return n.groups * n.batch * ceil_div(n.out_h, m.tile_rows) * ceil_div(n.out_w, m.tile_columns) *
           ceil_div(n.out_channels, m.tile_channels) * ceil_div(n.in_channels, m.tile_sums);
  };
  while (operations() > 1500) {
    const bool whole = m.tile_rows == n.out_h && m.tile_columns == n.out_w;
    m.tile_rows = std::min(n.out_h, 2 * m.tile_rows);
    m.tile_columns = std::min(n.out_w, 2 * m.tile_columns);
    if (!whole) continue;  // 40 channels of 40 in tiles of one are more than that in any case
    m.tile_sums = std::min(n.in_channels, 2 * m.tile_sums);
    if (m.tile_channels < n.out_channels) m.tile_channels = std::min(n.out_channels, 2 * m.tile_channels);
  }
  return m;
}

InstructionClass random_product(Dice& dice) {
  const Family family = dice.one_of({Family::conv2d, Family::conv2d, Family::linear, Family::matmul});
  const bool weighted = !dice.one_in(family == Family::matmul ? 2 : 8);  // a kernel may be computed, too
  return random_product(dice, family, random_nest(dice, family == Family::conv2d), weighted);
}

}  // namespace

InstructionClass random_product(Dice& dice, Family family, const LoopNest& nest, bool weighted) {
  InstructionClass c;
  c.work.family = family;
  const LoopNest& n = c.work.nest = nest;
  c.operand_a = operand_place(dice);
  c.operand_b = weighted ? Place::psram : operand_place(dice);
  c.mapping = random_mapping(dice, n, weighted);
  c.out_elements = n.groups * n.batch * n.out_channels * n.out_h * n.out_w;
  if (weighted) {
    c.weight_elements_per_channel = n.in_channels * n.kernel_h * n.kernel_w;
    c.bias_elements_per_channel = dice.between(0, 1);
  }
  draw_result(dice, c);
  if (dice.one_in(3)) {
    c.fused_operators = dice.between(1, 3);
    c.fused_passes = dice.between(1, c.fused_operators);
    draw_fetches(dice, c, c.out_elements);
  }
  if (dice.one_in(3)) c.prologue_passes = dice.between(1, 4);
  if (dice.one_in(4)) c.statistics_passes = dice.between(1, 2);
  return c;
}

namespace {

InstructionClass random_rowwise(Dice& dice) {
  InstructionClass c;
  Work& w = c.work;
  w.family = dice.one_of({Family::vector, Family::softmax, Family::norm, Family::transpose});
  w.passes = w.family == Family::softmax ? 3 : w.family == Family::norm ? 2 : 1;
  w.rows = dice.between(1, 8);
  w.row_length = dice.one_in(3) ? dice.between(60, 400) : dice.between(1, 60);
  const bool chunked = dice.one_in(2);
  c.mapping = {chunked ? 1 : cut_of(dice, w.rows), 1, chunked ? dice.between(1, w.row_length) : w.row_length, 1};
  c.out_elements = dice.one_in(3) ? dice.between(1, w.rows * w.row_length) : w.rows * w.row_length;
  draw_result(dice, c);
  draw_fetches(dice, c, w.rows * w.row_length);
  c.fused_operators = dice.between(0, 2);
  c.fused_passes = std::min<std::int64_t>(1, c.fused_operators);
  if (dice.one_in(4)) c.statistics_passes = dice.between(1, 2);
  return c;
}

/// Fetches of a part: full-size ones by its rows, others held.
void draw_part_fetches(Dice& dice, Part& part) {
  InstructionClass one;
  draw_fetches(dice, one, part.out_elements);
  for (Fetch& fetch : one.fetches) fetch.passes = 1;
  part.fetches = one.fetches;
  part.weight_elements = one.weight_elements;
}

/// A part that reads `in_h` rows of `in_w` x `channels`: a convolution, or a pool, an enlargement, an elementwise
/// one.
Part random_part(Dice& dice, const LoopNest& before) {
  Part part;
  LoopNest& n = part.work.nest;
  n.batch = before.batch;
  n.in_channels = n.out_channels = before.out_channels;
  n.in_h = n.out_h = before.out_h;
  n.in_w = n.out_w = before.out_w;
  part.work.family = dice.one_in(2) ? Family::conv2d : Family::vector;
  const bool enlarges = part.work.family == Family::vector && dice.one_in(3);
  if (enlarges) {
    n.out_h *= dice.between(2, 3);
    n.out_w *= 2;
  } else if (!dice.one_in(4)) {
    n.kernel_h = dice.between(1, std::min<std::int64_t>(3, n.in_h));
    n.stride_h = dice.between(1, 2);
    n.out_h = (n.in_h - 1) / n.stride_h + 1;
    n.pad_top = n.kernel_h / 2;
    n.pad_bottom = n.kernel_h - 1 - n.pad_top;
  }
  if (part.work.family == Family::conv2d) {
    n.out_channels = dice.between(1, 5);
    n.kernel_w = dice.between(1, 3);
    n.pad_left = n.kernel_w / 2;
    n.pad_right = n.kernel_w - 1 - n.pad_left;
    part.operand_b = Place::psram;
    part.weight_elements_per_channel = n.in_channels * n.kernel_h * n.kernel_w;
    part.bias_elements_per_channel = dice.between(0, 1);
    if (dice.one_in(3)) part.prologue_passes = dice.between(1, 3);
    if (dice.one_in(3)) {
      part.streamed_channels = dice.between(1, n.out_channels);
      part.tile_channels = dice.between(1, part.streamed_channels);
    }
  }
  part.out_elements = n.batch * n.out_h * n.out_w * n.out_channels;
  if (part.work.family == Family::vector) {
    part.work.row_length = part.out_elements * (enlarges ? 1 : n.kernel_h);
    part.read_elements = enlarges ? n.batch * n.in_h * n.in_w * n.in_channels : part.work.row_length;
  }
  if (dice.one_in(2)) {
    part.fused_operators = dice.between(1, 3);
    part.fused_passes = dice.between(1, part.fused_operators);
    draw_part_fetches(dice, part);
  }
  return part;
}

InstructionClass random_strips(Dice& dice) {
  InstructionClass c;
  c.compound = Compound::strips;
  c.line_buffers = dice.one_in(2);
  LoopNest before;
  before.batch = dice.between(1, 2);
  before.out_channels = dice.between(1, 4);
  before.out_h = dice.between(1, 14);
  before.out_w = dice.between(1, 5);
  const std::int64_t parts = dice.between(1, 4);
  for (std::int64_t i = 0; i < parts; ++i) {
    c.parts.push_back(random_part(dice, before));
    before = c.parts.back().work.nest;
  }
  c.work.family = Family::conv2d;
  c.work.nest = before;
  c.operand_a = operand_place(dice);
  c.operand_b = Place::psram;
  c.mapping = {cut_of(dice, before.out_h), before.out_w, before.out_channels, before.in_channels, rows_outermost};
  c.out_elements = c.parts.back().out_elements;
  draw_result(dice, c);
  if (dice.one_in(4)) c.parts.back().statistics_passes = 1;
  if (c.parts.back().statistics_passes > 0 && dice.one_in(2)) {  // sums are all that it makes
    c.to_dsram = c.push = c.to_dram = false;
    c.out_elements = 0;
  }
  return c;
}

/// Self- and cross-attention of any tiles, with masks of one element a score or fewer.
InstructionClass random_attention(Dice& dice) {
  InstructionClass c;
  c.compound = Compound::attention;
  c.work.family = Family::matmul;
  LoopNest& scores = c.work.nest;
  scores.groups = dice.between(1, 4);
  scores.out_h = scores.in_h = dice.one_in(4) ? dice.between(20, 70) : dice.between(1, 12);
  scores.out_channels = dice.one_in(3) ? scores.out_h : dice.between(1, 12);
  scores.in_channels = dice.between(1, 9);
  c.parts.resize(3);
  c.parts[2].work = c.work;
  c.work.element_cycles = scores.groups;  // slower products, one as long as the other or not
  c.parts[2].work.element_cycles = scores.out_channels % 3 + 1;
  LoopNest& product = c.parts[2].work.nest;
  product.in_channels = scores.out_channels;
  product.out_channels = dice.one_in(2) ? scores.in_channels : dice.between(1, 9);
  c.operand_a = operand_place(dice);
  c.operand_b = operand_place(dice);
  c.parts[2].operand_b = operand_place(dice);
  c.mapping = {cut_of(dice, scores.out_h), 1, cut_of(dice, scores.out_channels), scores.in_channels,
               rows_outermost};
  const std::int64_t all = scores.groups * scores.out_h * scores.out_channels;
  c.out_elements = scores.groups * scores.out_h * product.out_channels;
  draw_result(dice, c);
  if (dice.one_in(2)) {
    c.fused_operators = dice.between(1, 2);
    c.fused_passes = dice.between(1, c.fused_operators);
    draw_fetches(dice, c, all);
  }
  return c;
}

/// Results in another order: in runs of a few elements, or of nearly all.
void turn(Dice& dice, InstructionClass& c) {
  if (c.compound == Compound::strips || !dice.one_in(3)) return;
  c.turned_run = dice.between(1, dice.one_in(3) ? c.out_elements : std::min<std::int64_t>(c.out_elements, 40));
}

/// Heads, or groups of weights, of which what was drawn is one core's part.
void spread(Dice& dice, InstructionClass& c) {
  const bool weights = c.compound == Compound::single && is_nest(c.work.family) && c.operand_b == Place::psram;
  const bool heads = c.work.family == Family::matmul && c.operand_b != Place::psram;
  if ((heads && dice.one_in(3)) || (weights && dice.one_in(4))) c.spread_cores = dice.between(2, 4);
  c.shares_channels = c.spread_cores > 1 && weights && dice.one_in(2);
}

}  // namespace

InstructionClass random_class(Dice& dice) {
  InstructionClass c = dice.one_in(6)   ? random_strips(dice)
                       : dice.one_in(4) ? random_attention(dice)
                       : dice.one_in(2) ? random_product(dice)
                                        : random_rowwise(dice);
  turn(dice, c);
  if (c.compound == Compound::single) c.work.element_cycles = dice.one_in(4) ? dice.between(2, 5) : 1;
  spread(dice, c);
  return c;
}

ClassWeights weights_of(const InstructionClass& c, const Machine& machine) {
  ClassWeights w;
  w.held = exec::held_psram_bytes(c, machine);
  const auto smaller = [&](std::int64_t bytes) {
    if (bytes > 0 && (w.least == 0 || bytes < w.least)) w.least = bytes;
  };
  smaller(w.held);
  w.all = w.held;
  if (c.compound != Compound::strips && (c.operand_b != Place::psram || c.compound == Compound::attention))
    return w;
  std::vector<std::int64_t> seen;
  for (const auto& o : exec::expand(c, machine)) {
    if (o.weight_tile == exec::no_tile || std::ranges::count(seen, o.weight_tile) > 0) continue;
    seen.push_back(o.weight_tile);
    const std::int64_t tile = o.weight_psram_bytes * c.spread_cores;  // each core its own
    w.tile = std::max(w.tile, tile);
    w.all += tile;
    smaller(tile);
  }
  return w;
}

void draw_pairs(Dice& dice, const Machine& machine, Program& program) {
  if (machine.operator_dsram == OperatorDsram::common) return;
  const auto draw = [&](Place place, DsramPair& pair) {
    if (place == Place::dsram && !dice.one_in(4)) pair = static_cast<Family>(dice.between(0, 6));
  };
  for (InstructionClass& c : program.classes) {
    draw(c.operand_a, c.pair_a);
    draw(c.operand_b, c.pair_b);
    for (Fetch& fetch : c.fetches) draw(fetch.place, fetch.pair);
    for (Part& part : c.parts) {
      draw(part.operand_b, part.pair_b);
      for (Fetch& fetch : part.fetches) draw(fetch.place, fetch.pair);
    }
  }
  const std::int64_t marks = dice.between(0, 4);  // none, some, or, of 4, every one after the one before
  for (std::size_t i = 1; i < program.instructions.size(); ++i)
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      if (marks == 4 ? earlier + 1 == i : dice.between(0, 11) < marks * marks)
        program.instructions[i].after.push_back(static_cast<std::int32_t>(earlier));
}

namespace {

void size_psram(Dice& dice, Machine& machine, Program& program) {
  std::int64_t least = 1, all = 0;
  const bool resident = machine.weight_storage == WeightStorage::resident, pins = resident || dice.one_in(4);
  for (InstructionClass& c : program.classes) {
    const ClassWeights w = weights_of(c, machine);
    const std::int64_t tiles = machine.weight_buffering == Buffering::double_buffer && dice.one_in(2) ? 2 : 1;
    least = std::max(least, w.held + tiles * w.tile);
    all += w.all;
    c.pinned = w.all > 0 && pins && (resident || dice.one_in(2));
    if (c.pinned) program.pinned_bytes += Bytes(w.all);
  }
  machine.psram_bytes = dice.one_in(3) ? least : dice.between(least, 2 * least + all);
  if (resident) machine.psram_bytes += all;
  if (!resident && program.pinned_bytes.value > 0) {
    machine.psram_pinned_bytes = program.pinned_bytes.value + dice.between(0, 9);
    machine.psram_bytes += machine.psram_pinned_bytes;
  }
}

/// Room for the longest instruction, often for no more, sometimes for all. Weights in ROM take fewer words.
void size_imem(Dice& dice, Machine& machine, Program& program) {
  Machine streaming = machine;
  streaming.weight_storage = WeightStorage::streamed;
  std::int64_t longest = 0, all = 0;
  for (Instruction& i : program.instructions) {
    i.words = dice.between(least_instruction_words, 9);
    const InstructionClass& c = program.classes[static_cast<std::size_t>(i.instruction_class)];
    const std::int64_t bytes = exec::words_bytes(i, exec::expand(c, streaming), machine);
    longest = std::max(longest, bytes);
    all += bytes;
  }
  machine.imem_bytes = dice.one_in(3) ? longest : dice.between(longest, all);
}

}  // namespace

Program random_attentions(Dice& dice, Machine& machine) {
  Program program;
  const std::int64_t classes = dice.between(1, 2);
  for (std::int64_t i = 0; i < classes; ++i) program.classes.push_back(random_attention(dice));
  for (InstructionClass& c : program.classes) turn(dice, c);
  for (std::int64_t i = 0; i < 2 * classes; ++i)
    program.instructions.emplace_back().instruction_class = static_cast<std::int32_t>(i % classes);
  draw_pairs(dice, machine, program);
  size_psram(dice, machine, program);
  size_imem(dice, machine, program);
  return program;
}

Program random_program(Dice& dice, Machine& machine) {
  Program program;
  const std::int64_t classes = dice.between(1, 6);
  for (std::int64_t i = 0; i < classes; ++i)
    program.classes.push_back(dice.one_in(5)   ? random_strips(dice)
                              : dice.one_in(4) ? random_attention(dice)
                              : dice.one_in(2) ? random_product(dice)
                                               : random_rowwise(dice));
  for (InstructionClass& c : program.classes) turn(dice, c);
  for (InstructionClass& c : program.classes)
    if (c.compound == Compound::single) c.work.element_cycles = dice.one_in(4) ? dice.between(2, 5) : 1;
  for (InstructionClass& c : program.classes) spread(dice, c);
  const std::int64_t more = dice.between(0, 4);
  for (std::int64_t i = 0; i < classes + more; ++i) {
    Instruction& instruction = program.instructions.emplace_back();
    instruction.instruction_class = static_cast<std::int32_t>(i < classes ? i : dice.between(0, classes - 1));
  }
  draw_pairs(dice, machine, program);
  size_psram(dice, machine, program);
  size_imem(dice, machine, program);
  return program;
}

}  // namespace sdip
