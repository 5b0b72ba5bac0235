// The weights of a program as its circuits get them.
#include "core/exec/chip/weights.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include "core/base/code_runs.h"
#include "core/base/code_vectors.h"
#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/exec/numbers/arithmetic.h"
#include "core/onnx/raw.h"
#include "core/program/weights/coded_weight.h"

namespace sdip::exec {

namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A weight whose values are at hand; nothing of one that is computed.
std::optional<Tensor> given_tensor(Chip& chip, const Value& value) {
  if (value.operand.value || !value.bytes) return value.operand.value;
  const auto mapped = chip.options.mapped ? chip.options.mapped(value) : std::nullopt;
  return mapped ? tensor_of_raw(value.operand.type, value.operand.shape, text_of(mapped->bytes))
                : chip.stored(value);
}

}  // namespace

const Tensor& constant_of(Chip& chip, ValueId v) {
  if (const auto found = chip.constants.find(v); found != chip.constants.end()) return found->second;
  const Value& value = chip.value(v);
  std::optional<Tensor> tensor = given_tensor(chip, value);
  if (!tensor && value.producer != none) {
    const Node& node = chip.graph.nodes[value.producer];
    std::vector<std::optional<Tensor>> inputs;
    for (const ValueId in : node.inputs)
      inputs.push_back(in == none ? std::nullopt : std::optional(constant_of(chip, in)));
    std::vector<Tensor> made = outputs_of(chip.graph, node, inputs);
    for (std::size_t i = 0; i < made.size(); ++i)
      if (node.outputs[i] != none) chip.constants[node.outputs[i]] = std::move(made[i]);
    return chip.constants.at(v);
  }
  if (!tensor)
    throw Error("not_computable", value.name, "the values of the weight '" + value.name + "' are not there");
  return chip.constants[v] = std::move(*tensor);
}

namespace {

/// As the current instruction, which may have formats of its own, finds it.
Machine own_machine(const Chip& chip) { return machine_for(chip.instruction_class(), chip.machine); }

const WeightRegion& region_of(Chip& chip) {
  const auto [region, fresh] = chip.regions.try_emplace(chip.now);
  if (fresh) region->second = weight_region(chip.stage, weight_form(own_machine(chip)), chip.instruction());
  return region->second;
}

/// Codes of a weight in a signed format of at most 8 bits.
Buffer<std::int8_t> small_codes(const HeldWeight& weight, NumberFormat format) {
  Buffer<std::int8_t> codes;
  if (weight.scales.empty() || !weight.groups.empty() || bits_of(format) > 8 || needs_zero_point(format) ||
      !needs_scale(format))
    return codes;
  codes.reserve(weight.floats.size());
  for (std::size_t i = 0; i < weight.floats.size(); ++i) {
    const std::size_t channel =
        weight.channels.count > 0 ? weight.channels.of(static_cast<std::int64_t>(i)) : std::size_t{0};
    const double steps = static_cast<double>(weight.floats[i]) / static_cast<double>(weight.scales[channel].scale);
    codes.push_back(static_cast<std::int8_t>(std::lround(steps)));
  }
  return codes;
}

HeldWeight held_of(CircuitWeight weight) {
  HeldWeight held;
  held.unscaled = std::move(weight.unscaled);
  held.groups = std::move(weight.groups);
  held.shape = weight.numbers.shape;
  held.numbers = numbers_of(std::move(weight.numbers));
  held.floats = held.numbers.floats;
  held.scales = std::move(weight.scales);
  held.channels = weight.channels;
  held.codes = small_codes(held, weight.format);
  return held;
}

/// The bytes of a dense weight of that type, of so many bytes each, where they are at hand.
std::optional<StoredBytes> mapped_bytes(const Chip& chip, const Value& value, ElementType type,
                                        std::int64_t element_bytes) {
  const bool same = chip.machine.sparsity == Sparsity::dense && value.operand.type == type && !value.operand.value;
  if (!same || !value.bytes || !chip.options.mapped) return std::nullopt;
  auto mapped = chip.options.mapped(value);
  const bool whole = mapped && std::ssize(mapped->bytes) == element_bytes * element_count(value.operand.shape);
  return whole ? mapped : std::nullopt;
}

/// A dense weight of float32 whose bytes are at hand, not copied.
std::optional<HeldWeight> mapped_weight(Chip& chip, const Value& value) {
  auto mapped = mapped_bytes(chip, value, ElementType::float32, 4);
  if (!mapped || reinterpret_cast<std::uintptr_t>(mapped->bytes.data()) % alignof(float) != 0) return std::nullopt;
  HeldWeight held;
  held.shape = value.operand.shape;
  held.floats = {reinterpret_cast<const float*>(mapped->bytes.data()), mapped->bytes.size() / sizeof(float)};
  held.mapped = std::move(mapped->kept);
  return held;
}

/// Calls `part` with pieces of `numbers`, the team's threads side by side.
template <class Part>
void for_parts(Chip& chip, std::span<const float> numbers, Part part) {
  constexpr std::size_t size = 1 << 18;
  share_tasks(*chip.team, static_cast<std::int64_t>((numbers.size() + size - 1) / size), [&](std::int64_t i) {
    const std::size_t first = as_size(i) * size;
    part(first, numbers.subspan(first, std::min(size, numbers.size() - first)));
  });
}

FloatRange range_together(Chip& chip, std::span<const float> numbers) {
  FloatRange all;
  std::mutex one;
  for_parts(chip, numbers, [&](std::size_t, std::span<const float> part) {
    const FloatRange range = sdip::range_of(part);
    const std::scoped_lock lock(one);
    all = {std::min(all.least, range.least), std::max(all.most, range.most), all.finite && range.finite};
  });
  return all;
}

/// As coded_weight and circuit_weight_of, for a mapped weight in one scale, straight from its bytes. Its floats are
/// decoded when they are asked for.
std::optional<HeldWeight> coded_at_once(Chip& chip, const Machine& machine, const Value& value,
                                        const HeldWeight& mapped) {
  const NumberFormat format = machine.weight_format;
  if (format != NumberFormat::int8 || machine.scale_granularity != ScaleGranularity::tensor) return std::nullopt;
  const FloatRange range = range_together(chip, mapped.floats);
  if (!range.finite) return std::nullopt;  // refused there
  HeldWeight held;
  held.shape = mapped.shape;
  held.scales.push_back(weight_scale(format, static_cast<double>(range.least), static_cast<double>(range.most)));
  held.numbers.type = value.operand.type;
  const std::size_t count = mapped.floats.size(), spare = chip.spare_codes.capacity();
  if (spare >= count && spare / 4 <= count) held.codes = std::move(chip.spare_codes);
  held.codes.resize(count);
  std::byte* codes = reinterpret_cast<std::byte*>(held.codes.data());
  for_parts(chip, mapped.floats, [&](std::size_t first, std::span<const float> part) {
    encode_run(format, held.scales[0].scale, false, part, codes + first);
  });
  return held;
}

/// As coded_weight and circuit_weight_of, for a mapped weight of halves where weights are halves: its numbers.
std::optional<HeldWeight> halves_at_once(Chip& chip, const Machine& machine, const Value& value) {
  const NumberFormat format = machine.weight_format;
  if (format != NumberFormat::fp16 || weight_form(machine).scale_bits_per_channel > 0) return std::nullopt;
  const auto mapped = mapped_bytes(chip, value, ElementType::float16, 2);
  if (!mapped) return std::nullopt;
  HeldWeight held;
  held.shape = value.operand.shape;
  held.numbers.type = value.operand.type;
  Buffer<float>& floats = held.numbers.floats;
  floats.resize(mapped->bytes.size() / 2);
  for_parts(chip, floats, [&](std::size_t first, std::span<const float> part) {
    decode_run(format, {}, mapped->bytes.data() + 2 * first, {floats.data() + first, part.size()});
  });
  const FloatRange range = range_together(chip, floats);
  if (!range.finite) return std::nullopt;  // kept within the format there
  held.floats = floats;
  held.scales.push_back(weight_scale(format, static_cast<double>(range.least), static_cast<double>(range.most)));
  return held;
}

HeldWeight as_written(Chip& chip, std::size_t index) {
  const ValueId v = chip.instruction().weights[index];
  const Value& value = chip.value(v);
  const Machine machine = own_machine(chip);
  if (auto mapped = mapped_weight(chip, value)) {
    if (machine.weight_format == NumberFormat::fp32) return std::move(*mapped);
    if (auto coded = coded_at_once(chip, machine, value, *mapped)) return std::move(*coded);
  }
  if (auto halves = halves_at_once(chip, machine, value)) return std::move(*halves);
  std::optional<Tensor> given = chip.constants.contains(v) ? std::nullopt : given_tensor(chip, value);
  const Tensor& tensor = given ? *given : constant_of(chip, v);
  const WeightForm form = weight_form(machine);
  const bool by_place =
      machine.sparsity != Sparsity::dense || form.scale_bits_per_channel > 0 || form.scale_group > 0;
  const NestWeights* nest = by_place ? nest_of_weight(region_of(chip), index) : nullptr;
  if (!is_floating(tensor.type)) return held_of({pruned_weight(tensor, nest, machine), {}, {}});
  const CodedWeight coded = coded_weight(value.name, tensor, nest, machine);
  return held_of(circuit_weight_of(coded, tensor.type, tensor.shape));
}

/// Tiles of an instruction decide what is pruned, and which weights are a group; else instructions that share a
/// region share its weights.
std::int64_t region_key(const Chip& chip) {
  const auto& formats = chip.instruction_class().formats;
  const NumberFormat format = formats ? formats->weights : chip.machine.weight_format;
  const bool by_tile =
      chip.machine.sparsity == Sparsity::skipping || scale_group_of(format, chip.machine.scale_granularity) > 0;
  const bool own = chip.file == nullptr && by_tile;
  return own ? static_cast<std::int64_t>(chip.now) : chip.instruction().weight_offset.value;
}

}  // namespace

const HeldWeight& held_weight(Chip& chip, std::size_t index) {
  const std::pair key{region_key(chip), index};
  if (const auto found = chip.held_weights.find(key); found != chip.held_weights.end()) return found->second;
  if (chip.file == nullptr) return chip.held_weights[key] = as_written(chip, index);
  std::vector<CircuitWeight> weights = weights_of(*chip.file, chip.now);
  for (std::size_t i = 0; i < weights.size(); ++i)
    chip.held_weights[{key.first, i}] = held_of(std::move(weights[i]));
  return chip.held_weights.at(key);
}

void decode_weight(const HeldWeight& weight, const Elements& at, float* to) {
  const std::span<const std::byte> codes = std::as_bytes(std::span(weight.codes));
  const auto one = [&](std::int64_t i) {
    return decoded(NumberFormat::int8, std::to_integer<std::uint32_t>(codes[as_size(i)]), weight.scales[0].scale);
  };
  check(at.are_below(std::ssize(codes)), "elements of a weight");
  for (const Line& line : at.lines()) {
    if (line.step == 1)
      decode_run(NumberFormat::int8, weight.scales[0].scale, codes.data() + line.begin, {to, as_size(line.count)});
    else if (line.step == 0)
      std::fill_n(to, line.count, one(line.begin));
    else
      for (std::int64_t i = 0; i < line.count; ++i) to[i] = one(line.begin + i * line.step);
    to += line.count;
  }
}

std::span<const float> whole_floats(Chip& chip, ValueId v) {
  const auto index = std::ranges::find(chip.instruction().weights, v) - chip.instruction().weights.begin();
  held_weight(chip, as_size(index));
  HeldWeight& weight = chip.held_weights.at({region_key(chip), as_size(index)});
  if (weight.floats.empty() && !weight.codes.empty()) {
    weight.numbers.floats.resize(weight.codes.size());
    decode_weight(weight, Elements::first(std::ssize(weight.codes)), weight.numbers.floats.data());
    weight.floats = weight.numbers.floats;
  }
  return weight.floats;
}

void drop_weights(Chip& chip) {
  const std::int64_t region = region_key(chip);
  const auto last = chip.last_use.find(chip.instruction().weight_offset.value);
  if (last == chip.last_use.end() || last->second != chip.now) return;
  const auto first = chip.held_weights.lower_bound({region, 0});
  const auto behind = chip.held_weights.lower_bound({region + 1, 0});
  for (auto weight = first; weight != behind; ++weight)
    if (weight->second.codes.capacity() > chip.spare_codes.capacity())
      std::swap(weight->second.codes, chip.spare_codes);
  chip.held_weights.erase(first, behind);
}

}  // namespace sdip::exec
