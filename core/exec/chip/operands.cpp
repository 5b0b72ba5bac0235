// The operands and results of an instruction: weights, registers and memories.
#include <algorithm>
#include <cmath>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/exec/chip/chip.h"
#include "core/exec/chip/weights.h"
#include "core/exec/numbers/formats.h"
#include "core/program/kinds.h"

namespace sdip::exec {
namespace {

std::size_t side_number(std::size_t pair, std::int64_t turn) { return 4 + 2 * pair + as_size(turn % 2); }

/// The side of its own family's pair that the current instruction reads or writes: they swap when it retires.
std::size_t own_side(const Chip& chip, bool writes) {
  const auto pair = at(chip.instruction_class().work.family);
  return side_number(pair, chip.turns.at(chip.now).at(pair) + (writes ? 1 : 0));
}

}  // namespace

Numbers picked(const Tensor& tensor, const Elements& at) { return numbers_of(elements_in(tensor, at)); }

Numbers picked(const Numbers& all, const Elements& at) {
  Numbers numbers{all.type, {}, {}, {}};
  at.each([&](std::int64_t element) {
    const auto from = as_size(element);
    if (!all.floats.empty()) numbers.floats.push_back(all.floats.at(from));
    if (!all.doubles.empty()) numbers.doubles.push_back(all.doubles.at(from));
    if (!all.ints.empty()) numbers.ints.push_back(all.ints.at(from));
  });
  return numbers;
}

Memory& memory_of(Chip& chip, Place place, bool result) {
  if (place == Place::dram) return chip.memories[3];
  if (is_unified(chip.machine)) return chip.memories[0];
  if (place == Place::stackram) return chip.memories[2];
  check(place == Place::dsram, "an operand in a memory");
  if (has_pairs(chip.machine)) return chip.memories[own_side(chip, result)];
  return chip.memories[(chip.now + (result ? 1 : 0)) % 2];  // they swap when an instruction retires
}

Memory& memory_of(Chip& chip, const PlacedOperand& source) {
  if (!source.pair) return memory_of(chip, source.place, false);
  const auto pair = at(*source.pair);
  const std::int64_t before = chip.turns.at(chip.now).at(pair);
  return chip.memories[side_number(pair, before + (source.older ? 1 : 0))];
}

NumberFormat format_of(const Chip& chip, ValueId v) {
  const ValueId root = chip.views.root[v];
  return chip.value(root).format.value_or(chip.machine.activation_format);
}

NumberFormat accumulator_of(const Chip& chip) {
  const std::optional<Formats>& own = chip.instruction_class().formats;
  return own && own->accumulators ? *own->accumulators : chip.machine.accumulator_format;
}

WeightScale scale_of(const Chip& chip, ValueId v) {
  const NumberFormat format = format_of(chip, v);
  if (!needs_scale(format) || holds(format, chip.value(v).operand.type)) return 1.0F;
  const auto found = chip.scales.find(chip.views.scaled_as[v]);
  if (found == chip.scales.end() || !(found->second.scale > 0))
    throw Error("scale_absent", chip.value(v).name,
                "'" + chip.value(v).name + "' is kept in an integer format, but has no scale");
  return found->second;
}

Layout layout_of(const Chip& chip, ValueId v) {
  const Operand& operand = chip.value(v).operand;
  const NumberFormat format = format_of(chip, v);
  const WeightScale scale = scale_of(chip, v);
  return {format,
          operand.type,
          element_count(operand.shape),
          {scale.scale, scale.zero.value_or(0)},
          holds(format, operand.type),
          !is_floating(operand.type)};
}

Elements through_view(const Chip& chip, ValueId v, const Elements& at) {
  return elements_behind_view(chip.views, v, at);
}

std::optional<Placed> placed_operand(Chip& chip, ValueId root) {
  const auto& sources = chip.instruction().sources;
  const auto source = std::ranges::find(sources, root, &PlacedOperand::value);
  if (source == sources.end() || source->place == Place::scalar) return std::nullopt;
  const Slot slot = slot_of(chip.machine, root, source->place);
  return Placed{memory_of(chip, *source), {slot, source->address.value, chip.graph, chip.who}};
}

void begin_operation(Chip& chip, bool first_core) {
  end_if(chip.options.stop, chip.instruction().name);
  ++chip.counts.tile_operations;
  if (chip.log) chip.log->begin_operation(first_core);
}

void note(Chip& chip, Stream stream, Place place, std::int64_t elements, ValueId v) {
  // A register has a single number, also one that lies in a memory for the product that it is an operand of.
  if (stream == Stream::others && element_count(chip.value(v).operand.shape) <= 1) return;
  if (chip.log) chip.log->add(stream, place, elements * bits_of(format_of(chip, v)));
}

namespace {

const Tensor& register_of(const Chip& chip, ValueId root) {
  const auto held = chip.registers.find(root);
  if (held == chip.registers.end())
    throw Error("execution_failed", chip.who,
                chip.who + " reads '" + chip.value(root).name + "', which none of its sources is");
  return held->second;
}

/// Elements of a weight that single precision holds.
void pick_floats(std::span<const float> from, const Elements& at, float* to) {
  check(at.are_below(std::ssize(from)), "elements of a weight");
  for (const Line& line : at.lines())
    for (std::int64_t i = 0; i < line.count; ++i) *to++ = from[as_size(line.begin + i * line.step)];
}

Numbers read_constant(Chip& chip, ValueId v, const Elements& at) {
  const HeldWeight* weight = read_weight(chip, v);
  if (weight == nullptr) return picked(constant_of(chip, v), at);
  if (!is_single(weight->numbers.type)) return picked(weight->numbers, at);
  Numbers numbers{weight->numbers.type, Buffer<float>(as_size(at.size())), {}, {}};
  if (weight->floats.empty() && !weight->codes.empty())
    decode_weight(*weight, at, numbers.floats.data());
  else
    pick_floats(weight->floats, at, numbers.floats.data());
  return numbers;
}

}  // namespace

Numbers read_operand(Chip& chip, ValueId v, const Elements& at) {
  const Value& value = chip.value(v);
  if (value.kind == ValueKind::weight) return read_constant(chip, v, at);
  const ValueId root = chip.views.root[v];
  const auto placed = placed_operand(chip, root);
  if (!placed) return picked(register_of(chip, root), through_view(chip, v, at));
  const auto& [memory, reading] = *placed;
  note(chip, chip.stream, reading.slot.second, at.size(), v);
  if (!is_single(value.operand.type)) return numbers_of(read(memory, reading, through_view(chip, v, at)));
  Numbers numbers{value.operand.type, Buffer<float>(as_size(at.size())), {}, {}};
  read(memory, reading, through_view(chip, v, at), numbers.floats);
  return numbers;
}

void read_floats(Chip& chip, ValueId v, const Elements& at, std::span<float> to) {
  const ValueId root = chip.views.root[v];
  const auto placed = chip.value(v).kind == ValueKind::weight ? std::nullopt : placed_operand(chip, root);
  if (placed) {
    note(chip, chip.stream, placed->reading.slot.second, at.size(), v);
    return read(placed->memory, placed->reading, through_view(chip, v, at), to);
  }
  const Numbers numbers = read_operand(chip, v, at);
  std::ranges::copy(numbers.floats, to.begin());
}

std::span<const float> floats_at(Chip& chip, ValueId v, const Elements& at, Buffer<float>& room) {
  const auto count = as_size(at.size());
  const auto number = as_size(v);
  if (count > 0 && chip.value(v).kind != ValueKind::weight && chip.views.map[number].empty())
    if (const auto placed = placed_operand(chip, chip.views.root[number]))
      if (const float* first = floats_in_place(placed->memory, placed->reading, at))
        return {first + at.lines()[0].begin, count};
  room.resize(count);
  read_floats(chip, v, at, room);
  return room;
}

void read_floats_together(Chip& chip, ValueId v, const Elements& at, std::span<float> to) {
  constexpr std::int64_t piece = 1 << 17;
  if (at.size() <= 2 * piece || chip.team->threads() == 1) return read_floats(chip, v, at, to);
  const List<Elements> pieces = at.pieces(piece);
  share_tasks(*chip.team, std::ssize(pieces), [&](std::int64_t i) {
    const Elements& part = pieces[i];
    read_floats(chip, v, part, to.subspan(as_size(i * piece), as_size(part.size())));
  });
}

Tensor read_whole(Chip& chip, ValueId v) {
  const Value& value = chip.value(v);
  if (value.kind == ValueKind::weight && read_weight(chip, v) == nullptr) return constant_of(chip, v);
  Tensor tensor = tensor_of(read_operand(chip, v, Elements::first(element_count(value.operand.shape))));
  tensor.shape = value.operand.shape;
  return tensor;
}

const HeldWeight* read_weight(Chip& chip, ValueId v) {
  const Instruction& instruction = chip.instruction();
  const auto place = std::ranges::find(instruction.weights, v);
  if (place == instruction.weights.end()) return nullptr;
  return &held_weight(chip, as_size(place - instruction.weights.begin()));
}

void find_weights(Chip& chip, const Node& node) {
  for (const ValueId v : node.inputs)
    if (v != none && chip.value(v).kind == ValueKind::weight && read_weight(chip, v) == nullptr)
      constant_of(chip, v);
}

const Numbers& held_operand(Chip& chip, OperandPlace place) {
  const std::scoped_lock lock(*chip.holding);
  const ValueId v = place.first->inputs[place.second];
  const auto [held, fresh] = chip.held_operands.try_emplace(place);
  if (fresh) held->second = read_operand(chip, v, Elements::first(element_count(chip.value(v).operand.shape)));
  return held->second;
}

void share_tasks(Team& team, std::int64_t count, const std::function<void(std::int64_t)>& task) {
  bool failed = team.threads() == 1 || count == 1;
  try {
    if (!failed) team.run(count, task);
  } catch (const Error& error) {
    if (is_cancelled(error)) throw;
    failed = true;
  }
  for (std::int64_t i = 0; failed && i < count; ++i) {
    end_if(team.stop(), "");
    task(i);
  }
}

void open_result(Chip& chip) {
  const ValueId v = chip.instruction().destination;
  const InstructionClass& c = chip.instruction_class();
  const Operand& operand = chip.value(v).operand;
  const MemorySpan &reads = chip.instruction().read_tiles, &writes = chip.instruction().write_tiles;
  if (reads.bytes.value > 0)
    take_buffer(memory_of(chip, Place::dsram, false), reads.address.value, reads.bytes.value, chip.who);
  if (writes.bytes.value > 0)
    take_buffer(memory_of(chip, Place::dsram, true), writes.address.value, writes.bytes.value, chip.who);
  for (const Destination& to : destinations_of(chip.instruction(), c, chip.machine))
    open_region(memory_of(chip, to.place, true), slot_of(chip.machine, v, to.place), to.address, layout_of(chip, v),
                chip.who);
  if (has_pairs(chip.machine) && c.to_dsram) chip.written_to[v] = own_side(chip, true);
  if (is_scalar(chip.value(v))) chip.registers[v] = zero_tensor(operand.type, operand.shape);
  begin_result_sums(chip);
}

void write_result(Chip& chip, const Elements& at, const Numbers& numbers) {
  const ValueId v = chip.instruction().destination;
  const auto destinations = destinations_of(chip.instruction(), chip.instruction_class(), chip.machine);
  const auto write_to = [&](const auto& values) {
    for (const Destination& to : destinations) {
      note(chip, Stream::results, slot_of(chip.machine, v, to.place).second, at.size(), v);
      write(memory_of(chip, to.place, true), slot_of(chip.machine, v, to.place), at, values);
    }
  };
  const auto held = chip.registers.find(v);
  const bool in_bytes = is_single(numbers.type);
  if (in_bytes) write_to(std::span<const float>(numbers.floats));
  if (in_bytes && chip.summed.empty() && held == chip.registers.end()) return;
  Tensor tensor = tensor_of(numbers);
  round_to_format(tensor, format_of(chip, v), scale_of(chip, v));
  if (!in_bytes) write_to(tensor);
  add_result_sums(chip, at, tensor);
  if (held != chip.registers.end()) put_elements(held->second, at, tensor);
}

void write_results(Chip& chip, const std::vector<ResultPart>& parts) {
  const ValueId v = chip.instruction().destination;
  const bool plain = !parts.empty() && is_single(parts[0].numbers.type) && chip.summed.empty() &&
                     !chip.registers.contains(v) && bits_of(format_of(chip, v)) >= 8;  // no byte is two parts'
  if (!plain) {
    for (const ResultPart& part : parts) write_result(chip, part.at, part.numbers);
    return;
  }
  for (const Destination& to : destinations_of(chip.instruction(), chip.instruction_class(), chip.machine)) {
    Memory& memory = memory_of(chip, to.place, true);
    const Slot slot = slot_of(chip.machine, v, to.place);
    for (const ResultPart& part : parts) {
      note(chip, Stream::results, slot.second, part.at.size(), v);
      claim(memory, slot, part.at);
    }
    share_tasks(*chip.team, std::ssize(parts), [&](std::int64_t i) {
      const ResultPart& part = parts[at(i)];
      put(memory, slot, part.at, part.numbers.floats);
    });
  }
}

bool may_write_codes(const Chip& chip, ValueId v) {
  return chip.value(v).operand.type == ElementType::float32 && bits_of(format_of(chip, v)) == 8 &&
         chip.summed.empty() && !chip.registers.contains(v);
}

void write_codes(Chip& chip, const std::vector<CodePart>& parts) {
  const ValueId v = chip.instruction().destination;
  for (const Destination& to : destinations_of(chip.instruction(), chip.instruction_class(), chip.machine)) {
    Memory& memory = memory_of(chip, to.place, true);
    const Slot slot = slot_of(chip.machine, v, to.place);
    for (const CodePart& part : parts) {
      claim(memory, slot, part.at);
      put_codes(memory, slot, part.at, part.codes);
    }
  }
}

}  // namespace sdip::exec
