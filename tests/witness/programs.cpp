// Programs drawn instruction by instruction, with a stack beside them.
#include "tests/witness/programs.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/exec/clock/operations.h"
#include "core/machine/scale_groups.h"
#include "core/machine/stage_rows.h"
#include "core/program/tiling/tiles.h"
#include "tests/witness/cases.h"

namespace sdip::witness {
namespace {

std::int64_t cut_of(Dice& dice, std::int64_t size) { return dice.one_in(3) ? size : dice.between(1, size); }

/// A product whose weights are far more than its activations.
InstructionClass weighty(Dice& dice) {
  LoopNest n;
  const bool conv = dice.one_in(2);
  n.in_channels = dice.between(8, 40);
  n.out_channels = dice.between(8, 40);
  n.out_h = n.in_h = dice.between(1, 4);
  if (conv) n.kernel_h = n.kernel_w = dice.between(1, 3);
  if (conv) n.out_w = n.in_w = dice.between(1, 3);
  n.pad_top = n.pad_left = n.kernel_h / 2;
  n.pad_bottom = n.pad_right = (n.kernel_h - 1) / 2;
  InstructionClass c = random_product(dice, conv ? Family::conv2d : Family::linear, n, true);
  c.mapping.tile_channels = dice.one_in(4) ? n.out_channels : dice.between(4, n.out_channels);
  c.mapping.tile_sums = dice.one_in(2) ? n.in_channels : dice.between(4, n.in_channels);
  return c;
}

/// A product or row-wise work on an operand of kilobytes.
InstructionClass large(Dice& dice) {
  if (dice.one_in(2)) {
    InstructionClass c;
    c.work.family =
        dice.one_of({Family::vector, Family::softmax, Family::softmax, Family::norm, Family::transpose});
    c.work.passes = c.work.family == Family::softmax ? 3 : c.work.family == Family::norm ? 2 : 1;
    c.work.rows = dice.between(4, 24);
    c.work.row_length = dice.between(100, 400);
    c.mapping = {cut_of(dice, c.work.rows), 1, c.work.row_length, 1};
    c.out_elements = c.work.rows * c.work.row_length;
    c.fetches.push_back(
        {dice.one_of({Place::dsram, Place::stackram, Place::dram}), c.out_elements, c.work.passes, true});
    c.to_dsram = true;
    return c;
  }
  LoopNest n;
  n.in_channels = dice.between(4, 16);
  n.out_channels = dice.between(2, 12);
  n.out_h = n.in_h = dice.between(10, 40);
  const bool conv = dice.one_in(2);
  if (conv) {
    n.out_w = n.in_w = dice.between(4, 12);
    n.kernel_h = n.kernel_w = dice.between(1, 3);
    n.pad_top = n.pad_left = n.kernel_h / 2;
    n.pad_bottom = n.pad_right = (n.kernel_h - 1) / 2;
  }
  InstructionClass c = random_product(dice, conv ? Family::conv2d : Family::linear, n, true);
  c.mapping.tile_rows = std::max<std::int64_t>(c.mapping.tile_rows, 3);
  return c;
}

std::int64_t bytes_of(std::int64_t elements, const Machine& m) {
  return (elements * bits_of(m.activation_format) + 7) / 8;
}

std::int64_t elements_a(const LoopNest& n) { return n.groups * n.batch * n.in_channels * n.in_h * n.in_w; }

/// Operands on chip with their elements: `tell(place, elements)`.
void for_operands(InstructionClass& c, auto&& tell) {
  const LoopNest& n = c.work.nest;
  const LoopNest& first = c.compound == Compound::strips ? c.parts[0].work.nest : n;
  if (c.operand_a != Place::nowhere) tell(c.operand_a, c.pair_a, elements_a(first));
  const bool attends = c.compound == Compound::attention;
  if (c.operand_b != Place::nowhere && c.operand_b != Place::psram)
    tell(c.operand_b, c.pair_b,
         n.groups * n.batch * n.in_channels * n.out_channels * (attends ? 1 : n.kernel_h * n.kernel_w));
  for (Fetch& f : c.fetches)
    if (f.place != Place::psram) tell(f.place, f.pair, f.elements);
  for (Part& part : c.parts) {
    if (attends && part.operand_b != Place::nowhere)
      tell(part.operand_b, part.pair_b, n.groups * n.out_channels * part.work.nest.out_channels);
    for (Fetch& f : part.fetches)
      if (f.place != Place::psram) tell(f.place, f.pair, f.elements);
  }
}

std::int64_t stack_reads(InstructionClass& c) {
  std::int64_t reads = 0;
  for_operands(c, [&](Place place, DsramPair, std::int64_t) { reads += place == Place::stackram; });
  return reads;
}

/// DSRAM and STACKRAM as large as all that should lie there, or, often, smaller: what does not fit goes through
/// DRAM. `calm`: and nothing else does.
void size_activation_memories(Dice& dice, bool calm, Machine& m, Program& program) {
  std::vector<std::int64_t> sizes;
  for (InstructionClass& c : program.classes) {
    for_operands(c, [&](Place, DsramPair, std::int64_t elements) { sizes.push_back(bytes_of(elements, m)); });
    sizes.push_back(bytes_of(c.out_elements, m));
  }
  std::ranges::sort(sizes);
  const bool small = !calm || dice.one_in(4);
  if (calm)
    for (InstructionClass& c : program.classes) {
      for_operands(c, [&](Place& place, DsramPair&, std::int64_t) {
        if (place == Place::dram) place = Place::dsram;
      });
      if (c.out_elements > 0 && !c.push) c.to_dsram = true;
      if (c.to_dsram || c.push) c.to_dram = false;
    }
  const auto last = std::ssize(sizes) - 1;
  const std::int64_t whole = sizes.back() + dice.between(0, 4000);
  m.dsram_bytes = std::max<std::int64_t>(
      1024,
      small ? sizes[static_cast<std::size_t>(dice.between(last / 4, std::max(last / 4, 3 * last / 4)))] : whole);
  m.stackram_bytes = (small && dice.one_in(2) ? m.dsram_bytes : whole) * dice.between(3, 6);
  for (InstructionClass& c : program.classes) {
    for_operands(c, [&](Place& place, DsramPair&, std::int64_t elements) {
      const bool fits = bytes_of(elements, m) <= (place == Place::stackram ? m.stackram_bytes / 3 : m.dsram_bytes);
      if (place != Place::dram && !fits) place = Place::dram;
    });
    if (c.out_elements == 0) continue;
    if (c.push && bytes_of(c.out_elements, m) > m.stackram_bytes / 3) c.push = false, c.to_dram = true;
    if (c.to_dsram && bytes_of(c.out_elements, m) > m.dsram_bytes) c.to_dsram = false, c.to_dram = true;
  }
}

/// Tiles of what goes through DRAM fit half of DSRAM: a tile is halved until they do.
void cut_tiles(const Machine& m, InstructionClass& c) {
  if (c.compound != Compound::single || !is_nest(c.work.family)) return;
  const LoopNest& n = c.work.nest;
  Mapping& map = c.mapping;
  for (int i = 0; i < 8; ++i) {
    const std::int64_t rows =
        std::min(n.in_h, (map.tile_rows - 1) * n.stride_h + (n.kernel_h - 1) * n.dilation_h + 1);
    const bool a = c.operand_a == Place::dram && bytes_of(rows * n.in_w * map.tile_sums, m) * 2 > m.dsram_bytes;
    const bool out =
        c.to_dram && bytes_of(map.tile_rows * map.tile_columns * map.tile_channels, m) * 2 > m.dsram_bytes;
    if ((!a && !out) || map.tile_rows == 1) return;
    map.tile_rows = (map.tile_rows + 1) / 2;
  }
}

struct Entry {
  std::int32_t value = 0;
  std::int64_t address = 0, bytes = 0;
};

/// Writes instructions one behind the other.
class Writer {
 public:
  Writer(Dice& dice, const Machine& machine, Program& program) : dice_(dice), m_(machine), program_(program) {}

  void write(std::int64_t count) {
    const std::int64_t deep = dice_.one_in(3) ? 1 : dice_.between(3, 4);  // entries before any is popped
    bool falls = false;
    for (std::int64_t i = 0; i < count; ++i) {
      if (std::ssize(live_) >= deep) falls = true;
      if (live_.empty()) falls = false;
      append(fitting(falls ? 2 : 1), falls);
    }
    while (!live_.empty()) append(popper(), true);
  }

 private:
  InstructionClass& class_of(std::int32_t number) { return program_.classes[static_cast<std::size_t>(number)]; }

  bool fits(std::int32_t number) {
    InstructionClass& c = class_of(number);
    if (stack_reads(c) > 0 && live_.empty()) return false;
    return !c.push || place_of(bytes_of(c.out_elements, m_)) >= 0;
  }

  /// A class that fits here; of two or more tries one that climbs or falls, when there is any.
  std::int32_t fitting(int direction) {
    std::int32_t found = 0;  // the neutral one
    for (int tries = 0; tries < 6; ++tries) {
      const auto number = static_cast<std::int32_t>(dice_.between(0, std::ssize(program_.classes) - 1));
      if (!fits(number)) continue;
      found = number;
      InstructionClass& c = class_of(number);
      if (tries == 0 && dice_.one_in(3)) break;
      if (direction == 1 ? c.push : stack_reads(c) > 0 && !c.push) break;
    }
    return found;
  }

  /// One that reads the stack and does not push: the second class.
  static std::int32_t popper() { return 1; }

  /// Where a result goes: on top, or, with an allocator, where there is room; -1: nowhere.
  std::int64_t place_of(std::int64_t bytes) const {
    std::int64_t top = 0;
    for (const Entry& e : live_) top = std::max(top, e.address + e.bytes);
    if (m_.stack_discipline == StackDiscipline::allocator) {
      const auto free_at = [&](std::int64_t at) {
        return std::ranges::none_of(
            live_, [&](const Entry& e) { return e.address < at + bytes && at < e.address + e.bytes; });
      };
      if (free_at(0) && bytes <= m_.stackram_bytes) return 0;
      for (const Entry& e : live_)
        if (free_at(e.address + e.bytes) && e.address + e.bytes + bytes <= m_.stackram_bytes)
          return e.address + e.bytes;
      return -1;
    }
    return top + bytes <= m_.stackram_bytes ? top : -1;
  }

  void append(std::int32_t number, bool pops) {
    const auto index = static_cast<std::int32_t>(program_.instructions.size());
    Instruction& i = program_.instructions.emplace_back();
    InstructionClass& c = class_of(number);
    i.name = "i" + std::to_string(index);
    i.mnemonic = std::string(family_text(c.work.family));
    i.instruction_class = number;
    i.destination = index;
    // A result is pushed above its operands: an instruction that pushes leaves them.
    const bool pops_one = pops && !c.push;
    std::ptrdiff_t popped = -1;
    for_operands(c, [&](Place place, DsramPair pair, std::int64_t elements) {
      PlacedOperand source{place, std::max(0, index - 1), false, Bytes(0), pair, false};
      if (place == Place::stackram) {
        const std::int64_t top = std::ssize(live_) - 1;
        const bool first = pops_one && popped < 0;
        const bool on_top = first && m_.stack_discipline == StackDiscipline::stack;
        const std::int64_t which = on_top ? top : dice_.between(0, top);
        const Entry& entry = live_[static_cast<std::size_t>(which)];
        source.value = entry.value;
        source.address = Bytes(entry.address);
        source.pop = first;
        if (first) popped = which;
      }
      if (place == Place::dsram) i.dsram_read_side = std::max(i.dsram_read_side, Bytes(bytes_of(elements, m_)));
      i.sources.push_back(source);
    });
    if (popped >= 0) live_.erase(live_.begin() + popped);
    const std::int64_t bytes = bytes_of(c.out_elements, m_);
    if (c.to_dsram) i.dsram_write_side = Bytes(bytes);
    if (c.push) {
      live_.push_back({i.destination, place_of(bytes), bytes});
      i.stackram_address = Bytes(live_.back().address);
    }
    for (const Entry& e : live_) i.stackram = std::max(i.stackram, Bytes(e.address + e.bytes));
  }

  Dice& dice_;
  const Machine& m_;
  Program& program_;
  std::vector<Entry> live_;  // in the order they were pushed
};

/// The first neither reads the stack nor pushes; the second reads it alone; the third pushes.
void make_pool(Dice& dice, Program& program) {
  const std::int64_t count = dice.between(5, 9);
  while (std::ssize(program.classes) < count) {
    const std::int64_t kind = dice.between(1, 8);
    program.classes.push_back(kind <= 2 ? weighty(dice) : kind == 3 ? large(dice) : random_class(dice));
  }
  InstructionClass& neutral = program.classes[0] = weighty(dice);
  for_operands(neutral, [](Place& place, DsramPair&, std::int64_t) {
    if (place == Place::stackram) place = Place::dsram;
  });
  neutral.push = false;
  neutral.to_dsram = true;
  const auto small = [&](bool push) {
    LoopNest n;
    n.out_h = n.in_h = dice.between(2, 9);
    n.in_channels = dice.between(2, 9);
    n.out_channels = dice.between(2, 9);
    InstructionClass c = random_product(dice, Family::linear, n, true);
    c.push = push;
    if (!push) c.to_dsram = true;
    return c;
  };
  program.classes[1] = small(false);
  program.classes[1].operand_a = Place::stackram;
  program.classes[2] = small(true);
}

}  // namespace

std::int64_t largest_tensor(const InstructionClass& c) {
  InstructionClass copy = c;
  std::int64_t largest = c.out_elements;
  for_operands(copy, [&](Place, DsramPair, std::int64_t elements) { largest = std::max(largest, elements); });
  return largest;
}

std::int64_t least_psram_bytes(const Program& program, const Machine& machine) {
  std::int64_t least = 0;
  for (const InstructionClass& c : program.classes) {
    const ClassWeights w = weights_of(c, machine);
    least = std::max(least, w.held + w.tile);
  }
  return least;
}

void place_weights(Program& program, const Machine& machine) {
  std::vector<ClassWeights> weights;
  for (const InstructionClass& c : program.classes) weights.push_back(weights_of(c, machine));
  program.pinned_bytes = Bytes(0);
  Bytes offset(0);
  for (Instruction& i : program.instructions) {
    const auto number = static_cast<std::size_t>(i.instruction_class);
    i.weight_offset = offset;
    i.weight_bytes = Bytes(weights[number].all);
    offset += i.weight_bytes;
    if (program.classes[number].pinned) program.pinned_bytes += i.weight_bytes;
  }
  program.stored_weight_bytes = program.weight_bytes = program.distinct_weight_bytes = offset;
}

Words words_of(const Program& program, const Machine& given, Role role) {
  const StageMachine its(given, role);
  const Machine& machine = *its;
  std::vector<std::vector<exec::Operation>> operations;
  for (const InstructionClass& c : program.classes)
    operations.push_back(machine.granularity == Granularity::per_operator ? std::vector<exec::Operation>()
                                                                          : exec::expand(c, machine, role));
  Words words;
  if (is_circuit(machine, role)) return words;
  for (const Instruction& i : program.instructions) {
    const std::int64_t bytes =
        exec::words_bytes(i, operations[static_cast<std::size_t>(i.instruction_class)], machine);
    words.longest = std::max(words.longest, bytes);
    words.all += bytes;
  }
  return words;
}

namespace {

/// Formats of a layer's own, half of them of its sums, too, and what stays of its weights; none of what it reads
/// wider than its sums.
void draw_formats(Dice& dice, const Machine& m, InstructionClass& c) {
  const bool whole = m.in_memory_weights == InMemoryWeights::fefet;
  const auto any_of = [&](std::size_t count) {
    for (;;) {
      const std::int64_t format = dice.between(0, static_cast<std::int64_t>(count) - 1);
      if (!whole || !number_formats[static_cast<std::size_t>(format)].floating)
        return static_cast<NumberFormat>(format);
    }
  };
  const auto any = [&] { return any_of(plain_format_count); };
  const auto of_weights = [&] {
    for (;;) {
      const NumberFormat format = any_of(std::size(number_formats));
      if (scale_group_of(format, m.scale_granularity) == 0 ||
          (!whole && m.sparsity != Sparsity::skipping && m.accumulator_folds == 0))
        return format;
    }
  };
  Formats f{of_weights(), any(), any()};
  if (dice.one_in(2)) f.accumulators = any();
  if (m.sparsity != Sparsity::dense && dice.one_in(2))
    f.density_hundredths = dice.one_in(4) ? 100 : dice.between(1, 99);
  const auto sums_bits = [&] { return bits_of(f.accumulators.value_or(m.accumulator_format)); };
  if (bits_of(f.activations) > sums_bits()) f.activations = m.activation_format;
  if (bits_of(f.activations) > sums_bits()) f.accumulators = m.accumulator_format;
  c.formats = f;
}

/// PSRAM from what one instruction needs to what all of them have, and what is kept there for good. Each
/// instruction has weights of its own, one behind the other in `.weight`.
void size_psram(Dice& dice, Machine& m, Program& program) {
  std::int64_t least = 1, all = 0;
  const bool resident = m.weight_storage == WeightStorage::resident, pins = resident || dice.one_in(5);
  for (InstructionClass& c : program.classes) {
    const ClassWeights w = weights_of(c, m);
    const std::int64_t tiles = m.weight_buffering == Buffering::double_buffer && dice.one_in(2) ? 2 : 1;
    least = std::max(least, w.held + tiles * w.tile);
    c.pinned = w.all > 0 && pins && (resident || dice.one_in(2));
  }
  place_weights(program, m);
  for (const Instruction& i : program.instructions) all += i.weight_bytes.value;
  m.psram_pinned_bytes = 0;
  m.psram_bytes = dice.between(1, 6) > 1 ? least : dice.between(least, least + all / 12);
  if (resident) m.psram_bytes += program.pinned_bytes.value;
  if (!resident && program.pinned_bytes.value > 0) {
    m.psram_pinned_bytes = program.pinned_bytes.value + dice.between(0, 9);
    m.psram_bytes += m.psram_pinned_bytes;
  }
  m.psram_bytes = std::max<std::int64_t>(m.psram_bytes, 1024);
}

/// Moves the size of PSRAM to the row of the stage, where it has rows of its own; the cores' is another then. Other
/// stages get one, too.
void own_psram(Dice& dice, Machine& m, Role role) {
  constexpr Role roles[own_stages.size()] = {Role::text_encoder, Role::encoder, Role::decoder};
  const std::int64_t needed = m.psram_bytes;
  for (const OwnStage stage : own_stages) {
    const bool its = roles[static_cast<std::size_t>(stage)] == role && has_own_rows(m, role);
    if (!dice.one_in(2) || (!its && !says_rows(m, stage))) continue;
    if (its) m.psram_bytes += 512 * dice.between(0, 8);  // which the stage has once it is off chip
    for (const StageRow& row : stage_rows(stage))
      if (row.cores == &Machine::psram_bytes)
        m.*row.own =
            its || roles[static_cast<std::size_t>(stage)] == role ? needed : needed + 512 * dice.between(0, 8);
  }
}

void size_imem(Dice& dice, Machine& m, const CompiledStage& stage) {
  const Words words = words_of(stage.program, m, stage.role);
  const bool held = m.program_storage == ProgramStorage::held;
  m.imem_bytes = held ? words.all : dice.one_in(3) ? words.longest : dice.between(words.longest, words.all);
  m.imem_bytes = std::max<std::int64_t>(m.imem_bytes, 1024);
}

}  // namespace

CompiledStage drawn_stage(Dice& dice, Machine& machine) {
  CompiledStage stage;
  stage.role = dice.one_of({Role::network, Role::network, Role::network, Role::network, Role::core, Role::core,
                            Role::core, Role::text_encoder, Role::text_encoder, Role::text_encoder, Role::encoder,
                            Role::encoder, Role::encoder, Role::decoder, Role::decoder, Role::decoder});
  stage.name = std::string(role_text(stage.role));
  const bool vae = stage.role == Role::encoder || stage.role == Role::decoder;
  if (vae && dice.one_in(2)) {
    machine.vae_stage = VaeStage::circuit;
    if (!dice.one_in(4)) machine.mac_sharing = MacSharing::separate;  // whose linear and matmul have lanes
  }
  Program& program = stage.program;
  make_pool(dice, program);
  for (InstructionClass& c : program.classes)
    if (dice.one_in(10)) draw_formats(dice, machine, c);
  const bool calm = !dice.one_in(4);  // little goes through DRAM beside weights, which run far ahead
  if (calm && dice.one_in(2)) machine.program_storage = ProgramStorage::held;
  if (calm) {
    machine.dram_channels = dice.between(16, 48);
    machine.dram_channel_bits = 8;
    machine.dram_rate_mtps = 20 * dice.between(200, 800);
  }
  size_activation_memories(dice, calm, machine, program);
  for (InstructionClass& c : program.classes) cut_tiles(machine, c);
  Writer(dice, machine, program).write(dice.between(least_instructions, least_instructions + 8));
  draw_pairs(dice, machine, program);
  for (Instruction& i : program.instructions) i.words = dice.between(least_instruction_words, 9);
  size_psram(dice, machine, program);
  own_psram(dice, machine, stage.role);
  size_imem(dice, machine, stage);
  program.latent_bytes = Bytes(dice.between(0, 4096));
  program.input_bytes = program.output_bytes = program.latent_bytes;
  stage.needs = needs_of(machine);
  check(is_possible(machine), "a program's machine is none");
  return stage;
}

StackUse stack_use(const Program& program, const Machine& machine) {
  StackUse use;
  std::map<std::int32_t, Entry> live;
  std::vector<std::int32_t> pushed;
  const auto expect = [&](bool holds) { use.sound = use.sound && holds; };
  for (const Instruction& i : program.instructions) {
    const InstructionClass& c = program.classes[static_cast<std::size_t>(i.instruction_class)];
    for (const PlacedOperand& source : i.sources) {
      if (source.place != Place::stackram) continue;
      const auto entry = live.find(source.value);
      expect(entry != live.end() && entry->second.address == source.address.value);
    }
    for (const PlacedOperand& source : i.sources) {
      if (source.place != Place::stackram || !source.pop) continue;
      const bool on_top = !pushed.empty() && pushed.back() == source.value;
      expect(machine.stack_discipline == StackDiscipline::allocator || on_top);
      std::erase(pushed, source.value);
      live.erase(source.value);
    }
    if (c.push) {
      const Entry made{i.destination, i.stackram_address.value, bytes_of(c.out_elements, machine)};
      expect(made.address >= 0 && made.address + made.bytes <= machine.stackram_bytes);
      for (const auto& [value, other] : live)
        expect(made.address >= other.address + other.bytes || other.address >= made.address + made.bytes);
      live[i.destination] = made;
      pushed.push_back(i.destination);
    }
    use.deepest = std::max(use.deepest, std::ssize(live));
  }
  expect(live.empty());
  return use;
}

}  // namespace sdip::witness
