// A program that was read is checked against what its graph's operators are: nothing in it is believed.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/list_text.h"
#include "core/program/form/fields.h"
#include "core/program/form/form.h"
#include "core/program/form/marks.h"
#include "core/program/form/text_fields.h"

namespace sdip {
namespace {

/// `part` is `whole`, or fewer of its rows, columns, channels.
bool is_part_of(const Work& part, const Work& whole) {
  const LoopNest &p = part.nest, &w = whole.nest;
  LoopNest same = w;
  for (std::int64_t LoopNest::*size :
       {&LoopNest::groups, &LoopNest::batch, &LoopNest::out_channels, &LoopNest::in_channels, &LoopNest::out_h,
        &LoopNest::out_w, &LoopNest::in_h, &LoopNest::in_w}) {
    if (p.*size < 0 || p.*size > w.*size || (p.*size == 0 && w.*size != 0)) return false;
    same.*size = p.*size;
  }
  for (std::int64_t LoopNest::*pad :
       {&LoopNest::pad_top, &LoopNest::pad_left, &LoopNest::pad_bottom, &LoopNest::pad_right}) {
    if (p.*pad != 0 && p.*pad != w.*pad) return false;  // a strip in the middle has none
    same.*pad = p.*pad;
  }
  return p == same && part.family == whole.family && part.rows >= 1 && part.rows <= whole.rows &&
         part.row_length >= 1 && part.row_length <= whole.row_length && part.passes >= 1 &&
         part.passes <= whole.passes && part.element_cycles == whole.element_cycles && part.write_elements >= 0 &&
         part.write_elements <= whole.write_elements;
}

/// Sizes of a compound's works: they follow from several operators, so only bounds are known.
bool is_bounded(const Work& work) {
  const LoopNest& n = work.nest;
  const std::int64_t sizes[] = {
      n.groups,     n.batch,      n.out_channels, n.in_channels, n.out_h,         n.out_w,
      n.in_h,       n.in_w,       n.kernel_h,     n.kernel_w,    n.stride_h,      n.stride_w,
      n.dilation_h, n.dilation_w, work.rows,      work.passes,   work.row_length, work.element_cycles};
  if (std::ranges::any_of(sizes, [](std::int64_t s) { return s < 1 || s >= most_size; })) return false;
  const std::int64_t pads[] = {n.pad_top, n.pad_left, n.pad_bottom, n.pad_right};
  if (std::ranges::any_of(pads, [](std::int64_t p) { return p <= -most_size || p >= most_size; })) return false;
  const std::int64_t macs =
      bounded_product(n.groups, n.batch, n.out_channels, n.in_channels, n.out_h, n.out_w, n.kernel_h, n.kernel_w);
  return macs < most_size && bounded_product(work.rows, work.row_length, work.passes) < most_size &&
         work.write_elements >= 0 && work.write_elements < most_size;
}

bool are_sound(const std::vector<Fetch>& fetches, std::size_t most) {
  return fetches.size() <= most && std::ranges::all_of(fetches, [](const Fetch& f) {
           return f.place != Place::nowhere && f.place != Place::scalar && f.elements >= 0 && f.passes >= 1 &&
                  f.elements < most_size && f.passes < most_size &&
                  bounded_product(f.elements, f.passes) < most_size;
         });
}

void check_mapping(const InstructionClass& c, const Refusal& refuse) {
  const Mapping whole = whole_mapping(c);
  const Mapping& m = c.mapping;
  const auto size = [&](const char* name, std::int64_t tile, std::int64_t most) {
    if (tile < 1 || tile > std::max<std::int64_t>(most, 1))
      refuse(fmt::format("{}: expected 1 to {}, found {}", name, most, tile));
  };
  size("tile_rows", m.tile_rows, whole.tile_rows);
  size("tile_columns", m.tile_columns, whole.tile_columns);
  size("tile_channels", m.tile_channels, whole.tile_channels);
  size("tile_sums", m.tile_sums, whole.tile_sums);
  const LoopNest& n = c.work.nest;
  const bool grouped = is_nest(c.work.family) && c.operand_b == Place::psram && n.groups > 1;
  const std::int64_t group = std::max<std::int64_t>(1, n.out_channels);
  if (grouped && m.tile_channels > group && m.tile_channels % group != 0)
    refuse("tile_channels: expected channels of one group, at most " + std::to_string(group) +
           ", or whole groups of as many, found " + std::to_string(m.tile_channels));
  std::array<Loop, 4> sorted = m.order;
  std::ranges::sort(sorted);
  if (sorted != std::array{Loop::rows, Loop::columns, Loop::channels, Loop::sums})
    refuse("order: expected each loop once");
}

void check_counts(const InstructionClass& c, const InstructionClass& derived, const Refusal& refuse) {
  const auto least = [&](const char* name, std::int64_t found, std::int64_t expected) {
    if (found < expected || found >= most_size)
      refuse(fmt::format("{}: expected at least {}, what the operators read, found {}", name, expected, found));
  };
  const std::int64_t cores = std::max<std::int64_t>(1, c.spread_cores);  // sizes are of one core's part
  if (c.spread_cores < 1 || c.spread_cores > 1'000'000) refuse("spread_cores: expected 1 to 1,000,000");
  least("weights_per_channel", c.weight_elements_per_channel, derived.weight_elements_per_channel);
  least("bias_per_channel", c.bias_elements_per_channel, derived.bias_elements_per_channel);
  least("held_weights", c.weight_elements, derived.weight_elements / cores);
  least("fused_operators", c.fused_operators, 0);
  least("fused_passes", c.fused_passes, 0);
  least("prologue_passes", c.prologue_passes, 0);
  least("statistics_passes", c.statistics_passes, 0);
  least("elements", c.out_elements, 0);
  const LoopNest& n = c.work.nest;
  const std::int64_t channels = bounded_product(n.groups, n.out_channels);
  const std::int64_t a_channel = c.weight_elements_per_channel + c.bias_elements_per_channel;
  if (bounded_product(channels, a_channel) >= most_size ||
      bounded_product(c.out_elements, c.fused_passes + c.prologue_passes + c.statistics_passes) >= most_size)
    refuse("more than 2^50 elements");
}

void check_parts(const InstructionClass& c, const Refusal& refuse) {
  for (const Part& part : c.parts) {
    const std::int64_t counts[] = {part.out_elements,
                                   part.fused_operators,
                                   part.fused_passes,
                                   part.prologue_passes,
                                   part.statistics_passes,
                                   part.weight_elements,
                                   part.weight_elements_per_channel,
                                   part.bias_elements_per_channel,
                                   part.read_elements};
    const bool counted = std::ranges::all_of(counts, [](std::int64_t n) { return n >= 0 && n < most_size; });
    const auto few = [](std::int64_t n) { return n >= 0 && n <= 1 << 16; };
    if (!counted || !few(part.rows_beside) || !few(part.a_beside) || !is_bounded(part.work) ||
        !are_sound(part.fetches, 1 << 16))
      refuse("part: expected sizes of at least 1 and work below 2^50");
  }
  if ((c.compound == Compound::single) != c.parts.empty())
    refuse("part: expected of compound instructions, and of no others");
}

/// Sums that are cut have their partial ones in the result's tile buffer between the tiles.
void check_partial_sums(const CompiledStage& stage, const Instruction& i, const InstructionClass& c,
                        const Refusal& refuse) {
  if (!is_nest(c.work.family) || c.mapping.tile_sums >= c.work.nest.in_channels) return;
  TileRoom room = room_for(c, machine_like(stage.needs), WeightPlace::psram);
  room.buffers = 1;  // a machine may have no more
  const std::int64_t needed = tile_buffers(c, room).write_bytes;
  if (i.write_tiles.bytes.value < needed)
    refuse(
        fmt::format("tiles: expected at least {} B of result tiles for the partial sums of tile_sums={}, found {}",
                    needed, c.mapping.tile_sums, i.write_tiles.bytes.value));
}

/// Operands, weights and result of an instruction of nodes are theirs.
void check_ends(const Instruction& i, const Derivation::Ends& ends, const Refusal& refuse) {
  const auto text = [](const std::set<ValueId>& values) {
    return values.empty() ? "none" : list_text(values, value_label);
  };
  std::set<ValueId> read;
  for (const PlacedOperand& source : i.sources) read.insert(source.value);
  if (read != ends.read)
    refuse("src1, src2, more: expected " + text(ends.read) + ", what its nodes read, found " + text(read));
  if (std::set<ValueId>(i.weights.begin(), i.weights.end()) != ends.weights)
    refuse("weights: expected " + text(ends.weights) + ", what its nodes read");
  if (!ends.made.contains(i.destination)) refuse("dst: expected " + text(ends.made) + ", what its nodes make");
}

void check_single(const CompiledStage& stage, const Derivation& derivation, const Instruction& i,
                  const InstructionClass& c, const InstructionClass& derived, const Refusal& refuse) {
  const std::string own = derivation.mnemonic_of(i);
  const LoopNest& whole = derived.work.nest;
  const std::int64_t part = c.shares_channels ? c.work.nest.out_channels : c.work.nest.groups;
  const std::int64_t shared = c.shares_channels ? whole.out_channels : whole.groups;
  if (c.shares_channels && (weight_parts(c) == 1 || whole.groups > 1))
    refuse("shares_channels: expected a product of weights of one group, on several cores");
  if (weight_parts(c) > 1 && part * weight_parts(c) != shared)
    refuse(fmt::format("spread_cores: expected cores that share its {}{}", shared,
                       c.shares_channels ? " output channels" : " groups"));
  if (weight_parts(c) > 1 && weight_place(machine_like(stage.needs), stage.role) == WeightPlace::fefet)
    refuse("spread_cores: a FeFET memory has its weights in one place");
  if (!is_part_of(c.work, derived.work)) refuse("the sizes of its work are other than those of its nodes, or more");
  if (i.mnemonic != own && !i.mnemonic.ends_with("+" + own))
    refuse(fmt::format("operation: its nodes are '{}', found '{}'", own, i.mnemonic));
  const std::int64_t made = element_count(stage.graph->values[i.destination].operand.shape);
  if (c.out_elements > made) refuse("elements: its result has " + std::to_string(made));
  if (c.operand_a != derived.operand_a || c.operand_b != derived.operand_b)
    refuse("operand_a, operand_b: expected where src1 and src2 lie");
  if (!i.nodes.empty()) check_ends(i, derivation.ends_of(i), refuse);
  const Machine machine = machine_like(stage.needs);
  const std::int64_t bytes = region_bytes(c, weight_form(c, machine)).dram;
  if (i.weight_bytes.value != bytes)
    refuse(fmt::format("src2_size: its weights take {} B, found {}", bytes, i.weight_bytes.value));
  if (c.work != derived.work) return;
  for (const PlacedOperand& source : i.sources) {
    const Bytes size = value_bytes(*stage.graph, source.value, machine);
    if (source.pair && *source.pair != c.work.family) continue;  // the occupancy is that of its own pair
    const Bytes room = is_unified(machine)            ? i.dsram_read_side + i.dsram_write_side + i.stackram
                       : source.place == Place::dsram ? i.dsram_read_side
                                                      : i.stackram;
    if ((source.place == Place::dsram || source.place == Place::stackram) && room < size)
      refuse("occupancy: less than its operands take");
  }
}

}  // namespace

void check_instruction(const CompiledStage& stage, const Derivation& derivation, Instruction& i,
                       const InstructionClass& c, const Refusal& refuse) {
  const InstructionClass derived = derivation.class_of(i, c.to_dsram, c.push, c.to_dram);
  if (derivation.mnemonic_of(i).empty()) refuse("nodes: expected one that computes something");
  if (!c.to_dsram && !c.push && !c.to_dram && !i.nodes.empty()) refuse("dst: expected a place in a memory");
  for (const Bytes bytes : {i.dsram_address, i.stackram_address, i.dram_address, i.weight_offset, i.weight_bytes})
    if (bytes.value < 0 || bytes.value >= most_size) refuse("an address or size beyond 2^50");
  for (const PlacedOperand& source : i.sources)
    if (source.address.value < 0 || source.address.value >= most_size) refuse("an address beyond 2^50");
  for (const MemorySpan& tiles : {i.read_tiles, i.write_tiles})
    if (tiles.address.value < 0 || tiles.address.value >= most_size || tiles.bytes.value < 0 ||
        tiles.bytes.value >= most_size)
      refuse("tiles: beyond 2^50");
  if (i.weights.empty() && i.weight_bytes.value > 0) refuse("weights: expected the values that src2 is");
  if (!is_bounded(c.work) && !is_part_of(c.work, derived.work)) refuse("sizes beyond 2^50");
  const bool nest = is_nest(c.work.family);
  if (nest && (c.operand_a == Place::nowhere || c.operand_a == Place::psram || c.operand_b == Place::nowhere))
    refuse("src1, src2: expected both operands of a product");
  if (!are_sound(c.fetches, i.sources.size() + i.weights.size()))
    refuse("fetch: no operand for it, or beyond 2^50");
  check_parts(c, refuse);
  if (weight_place(machine_like(stage.needs), stage.role) == WeightPlace::fefet && multiplies_weights_in_floats(c))
    refuse("formats: a FeFET memory multiplies integers and fixed point alone");
  check_mapping(c, refuse);
  const bool reads_all = c.compound == Compound::single && !i.nodes.empty();  // sums read no weights
  check_counts(c, reads_all ? derived : InstructionClass(), refuse);
  if (i.dsram_read_side.value < 0) give_occupancy(stage, i, c);
  for (const Bytes bytes : {i.dsram_read_side, i.dsram_write_side, i.stackram})
    if (bytes.value < 0 || bytes.value >= most_size) refuse("occupancy: beyond 2^50");
  const std::int64_t run = c.compound == Compound::strips ? 0 : derived.turned_run;
  if (c.turned_run != run) refuse(fmt::format("turned_run: its nodes leave {}, found {}", run, c.turned_run));
  if (c.compound == Compound::single) check_partial_sums(stage, i, c, refuse);
  if (c.compound == Compound::single) check_single(stage, derivation, i, c, derived, refuse);
}

namespace {

/// Where a value is while a program runs. `pair`, with a DSRAM pair for each family, is that of the family that
/// made it, of which it was the instruction number `written`.
struct Whereabouts {
  bool made = false, dsram = false, stackram = false, dram = false;
  std::size_t pair = 0;
  std::int64_t written = -1;
};

/// How many instructions of each family have been.
using Turns = std::array<std::int64_t, pair_families>;

/// Checks the pair that a source in DSRAM names against where the value is.
void check_pair(const PlacedOperand& source, const Whereabouts& w, const Turns& turns, bool own, bool pairs,
                const Refusal& refuse) {
  if (source.pair.has_value() != (pairs && source.place == Place::dsram) || (source.older && !source.pair))
    refuse("src: expected a family's DSRAM pair where each has one, and there alone");
  if (!source.pair) return;
  const std::int64_t since = turns.at(w.pair) - 1 - w.written;
  if (at(*source.pair) != w.pair || since > 1 || (since == 1 && own))
    refuse(fmt::format("operand %{} is not in the DSRAM pair of {}", source.value, family_text(*source.pair)));
  if (source.older != (since == 1)) refuse("older: expected of what the last but one of its family wrote");
}

/// Marks name earlier instructions, each once, and are enough.
void check_marks(CompiledStage& stage, const Derivation& derivation, const List<InstructionClass>& classes,
                 const std::function<void(std::size_t, const std::string&)>& refuse) {
  List<Instruction>& instructions = stage.program.instructions;
  const Machine machine = machine_like(stage.needs);
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const std::vector<std::int32_t>& after = instructions[i].after;
    if (after.empty() || after == unsaid_marks) continue;
    if (!has_pairs(machine)) refuse(i, "after: expected where operator_dsram=per_operator alone");
    for (std::size_t m = 0; m < after.size(); ++m)
      if (after[m] < 0 || at(after[m]) >= i || (m > 0 && after[m] <= after[m - 1]))
        refuse(i, "after: expected earlier instructions, ascending, each once");
  }
  if (!has_pairs(machine)) return;
  List<ValueId> roots(stage.graph->values.size());
  for (ValueId v = 0; v < std::ssize(roots); ++v) roots[v] = derivation.root(v);
  std::vector<const InstructionClass*> each;
  for (const InstructionClass& c : classes) each.push_back(&c);
  mark({*stage.graph, machine, roots, derivation.joined(), instructions, each}, refuse);
}

void check_order(const CompiledStage& stage, const Derivation& derivation, const List<InstructionClass>& classes,
                 const std::function<void(std::size_t, const std::string&)>& refuse) {
  const Graph& graph = *stage.graph;
  List<Whereabouts> where(graph.values.size());
  for (std::size_t v = 0; v < where.size(); ++v)
    if (graph.values[v].kind != ValueKind::activation || element_count(graph.values[v].operand.shape) == 0)
      where[v] = {true, true, true, true};
  const bool pairs = has_pairs(machine_like(stage.needs));
  Turns turns{};
  for (std::size_t i = 0; i < classes.size() && pairs; ++i)
    if (at(classes[i].work.family) >= pair_families) refuse(i, "family: expected one with a circuit");
  for (Whereabouts& w : where) w.pair = pairs ? at(classes.front().work.family) : 0;
  const auto of = [&](ValueId v) -> Whereabouts& { return where[v].made ? where[v] : where[derivation.root(v)]; };
  const auto all_of = [&](const std::vector<ValueId>& parts) {  // joined in DRAM
    const auto there = [&](ValueId part) { return where[part].made && where[part].dram; };
    const bool all = std::ranges::all_of(parts, there);
    return Whereabouts{all, false, false, all};
  };
  const auto& instructions = stage.program.instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    for (const PlacedOperand& source : instructions[i].sources) {
      const auto joined = derivation.joined().find(source.value);
      const Whereabouts w = joined == derivation.joined().end() ? of(source.value) : all_of(joined->second);
      const bool there = source.place == Place::dsram      ? w.dsram
                         : source.place == Place::stackram ? w.stackram
                         : source.place == Place::dram     ? w.dram
                                                           : source.place == Place::scalar;
      if (!w.made || !there)
        refuse(i, fmt::format("operand %{} is not in {}", source.value, place_text(source.place)));
      const bool own = w.pair == at(classes[i].work.family);
      check_pair(source, w, turns, own, pairs, [&](const std::string& what) { refuse(i, what); });
    }
    for (const PlacedOperand& source : instructions[i].sources)
      if (source.pop) of(source.value).stackram = false;
    const InstructionClass& c = classes[i];
    const auto family = at(c.work.family);
    where[instructions[i].destination] = {true, c.to_dsram, c.push, c.to_dram, family, pairs ? turns[family]++ : 0};
  }
  for (const ValueId v : graph.outputs)
    if (!of(v).made) refuse(instructions.size() - 1, "no instruction makes output %" + std::to_string(v));
}

/// Values that no node makes, sums, are each made by one instruction, which computes no node and makes nothing
/// else.
void check_sums(const CompiledStage& stage, const List<InstructionClass>& classes,
                const std::function<void(std::size_t, const std::string&)>& refuse) {
  const auto& instructions = stage.program.instructions;
  const std::size_t of_nodes = values_of_nodes(*stage.graph);
  std::vector<char> made(stage.graph->values.size() - of_nodes, 0);
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const std::size_t to = at(instructions[i].destination);
    if (instructions[i].nodes.empty() != (to >= of_nodes))
      refuse(i, "dst: expected sums of an instruction of nodes=none, and of no other");
    if (to >= of_nodes && (classes[i].to_dsram || classes[i].push || classes[i].to_dram))
      refuse(i, "dst: expected register, where sums lie");
    if (to >= of_nodes && std::exchange(made[to - of_nodes], 1) != 0)
      refuse(i, "dst: another instruction makes these sums");
  }
  for (std::size_t s = 0; s < made.size(); ++s)
    if (made[s] == 0)
      refuse(instructions.size() - 1, "no instruction makes the sums %" + std::to_string(of_nodes + s));
}

}  // namespace

bool is_sound_stage(const CompiledStage& stage) {
  constexpr std::int32_t most_parts = 1'000'000;
  return stage.passes_per_step >= 1 && stage.passes_per_step < most_size && stage.part.index >= 0 &&
         stage.part.count <= most_parts && stage.part.index < stage.part.count && stage.dram_thousandths >= 1 &&
         stage.dram_thousandths <= 1000;
}

void finish_program(CompiledStage& stage, const Derivation& derivation, List<InstructionClass>&& classes,
                    const std::function<void(std::size_t, const std::string&)>& refuse) {
  Program& program = stage.program;
  check_order(stage, derivation, classes, refuse);
  std::map<std::int64_t, std::pair<const std::vector<ValueId>*, Bytes>> regions;
  check_sums(stage, classes, refuse);
  check_compounds(stage, derivation, classes, refuse);
  share_classes(program, classes);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    Instruction& instruction = program.instructions[i];
    check_instruction(stage, derivation, instruction, classes[i],
                      [&](const std::string& what) { refuse(i, what); });
    if (instruction.weight_bytes.value == 0) continue;
    const auto [region, first] = regions.try_emplace(instruction.weight_offset.value,
                                                     std::pair{&instruction.weights, instruction.weight_bytes});
    if (!first &&
        (*region->second.first != instruction.weights || region->second.second != instruction.weight_bytes))
      refuse(i, "src2: another instruction's weights start at the same offset");
  }
  std::int64_t end = 0;
  for (const auto& [offset, region] : regions) {
    if (offset != end)
      refuse(0,
             fmt::format("weights: the region at {} is expected at {}: regions stand without gaps", offset, end));
    if (end >= most_size) refuse(0, "weights: more than 2^50 bytes");
    end = offset + region.second.value;
  }
  check_marks(stage, derivation, classes, refuse);
  count_words(stage);
}

}  // namespace sdip
