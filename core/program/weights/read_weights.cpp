// The `.weight` file read back.
#include <cmath>
#include <string>
#include <tuple>

#include "core/base/error.h"
#include "core/program/tiling/tiles.h"
#include "core/program/weights/packed.h"
#include "core/program/weights/weight_bits.h"
#include "core/program/weights/weights.h"

namespace sdip {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw Error("weight_file_invalid", where,
              (where.empty() ? std::string("the weights: ") : "the weights of '" + where + "': ") + why);
}

/// As an instruction, which may have formats of its own, finds the machine.
Machine own_machine(const WeightFile& file, const Instruction& instruction) {
  const auto& c = file.stage.program.classes[instruction.instruction_class];
  return machine_for(c, file.machine);
}

const Value& value_of(const WeightFile& file, ValueId id) { return file.stage.graph->values[id]; }

/// Throws unless `scale` is one of the format: above 0, with a zero point where the format has one.
void require_scale(const WeightScale& scale, NumberFormat format, const std::string& where) {
  if (!std::isfinite(scale.scale) || scale.scale <= 0) refuse(where, "a scale that is no number above 0");
  if (scale.zero.has_value() != needs_zero_point(format))
    refuse(where, needs_zero_point(format) ? "a scale without its zero point" : "a zero point that no format has");
  if (scale.zero && *scale.zero > largest_code(format)) refuse(where, "a zero point that is no code");
}

void require_scales(const Instruction& instruction, NumberFormat format, const WeightRegion& region) {
  if (!has_tensor_scale(format)) return;
  if (instruction.scales.empty())
    throw Error("weights_absent", instruction.name,
                "the program has no scales: it was written without its weights; expected scale= in the line of '" +
                    instruction.name + "'");
  if (instruction.scales.size() != instruction.weights.size())
    refuse(instruction.name, "expected a scale for each, in the program");
  for (std::size_t i = 0; i < instruction.scales.size(); ++i) {
    const NestWeights* nest = nest_of_weight(region, i);
    const bool by_channel =
        nest != nullptr && (nest->channel_scales || (nest->scale_group > 0 && needs_scale(format)));
    if (instruction.scales[i].has_value() == by_channel)
      refuse(instruction.name, by_channel ? "expected scale=channels" : "expected a scale, found channels");
    if (instruction.scales[i]) require_scale(*instruction.scales[i], format, instruction.name);
  }
}

std::int64_t region_size(const WeightRegion& region, const WeightForm& form) {
  if (region.one_unit) return stored_bytes(region.bytes, form);
  std::int64_t bytes = 0;
  for (const RegionPart& part : region.parts) {
    if (!part.nest) bytes += part.held.bytes;
    for (const WeightTile& tile : part.weights.tiles)
      bytes += stored_bytes(tile_bytes(part.weights, tile, form), form);
  }
  return bytes;
}

/// Units one after the other, unpacked where they are packed.
struct UnitsIn {
  std::span<const std::byte> bytes;
  const WeightForm& form;
  const std::string& where;
  std::vector<std::byte> unit{};

  CodesIn next(std::int64_t count, std::int64_t stored) {
    const auto taken = bytes.first(as_size(stored));
    bytes = bytes.subspan(as_size(stored));
    if (stored == count) return {taken};
    auto whole = unpacked(taken, as_size(count), number_bytes(form));
    if (!whole) refuse(where, fmt::format("a stream that does not unpack to {} bytes", count));
    unit = std::move(*whole);
    return {unit};
  }
};

void read_tile(CodesIn& in, const NestWeights& nest, const WeightTile& tile, const WeightForm& form,
               std::vector<CodedWeight>& weights, const std::string& where) {
  const std::size_t end = in.at + 8 * as_size(tile_bytes(nest, tile, form));
  if (!tile_bits(in, nest, tile, form, weights))
    refuse(where, "a tile keeps more elements than it has slots, or others than its groups have");
  in.at = end;
}

void read_part(CodesIn& in, const RegionPart& part, const WeightForm& form, std::vector<CodedWeight>& weights,
               const std::string& where) {
  if (part.nest) {
    for (const WeightTile& tile : part.weights.tiles) read_tile(in, part.weights, tile, form, weights, where);
    return;
  }
  const std::size_t end = in.at + 8 * as_size(part.held.bytes);
  held_bits(in, part.held, form, weights);
  in.at = end;
}

/// Room for the scales of groups. The unit of nvfp4's scales stands in the program, as a scale.
void make_groups(const NestWeights& nest, NumberFormat format, CodedWeight& weight) {
  weight.format = format;
  weight.groups = groups_of_elements(nest, std::ssize(weight.codes));
  if (is_block_format(format) && has_tensor_scale(format)) weight.tensor = weight.scales[0].scale;
  WeightScale unknown;
  if (needs_zero_point(format)) unknown.zero = 0;
  weight.scales.assign(as_size(group_count(nest)), unknown);
}

/// Room for the codes of an instruction's weights, with the scales that stand in the program.
std::vector<CodedWeight> empty_weights(const WeightFile& file, const Instruction& instruction,
                                       const WeightRegion& region, NumberFormat format, bool skipping) {
  std::vector<CodedWeight> weights(instruction.weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto elements = as_size(element_count(value_of(file, instruction.weights[i]).operand.shape));
    weights[i].codes.assign(elements, 0);
    weights[i].scales.assign(
        1, i < instruction.scales.size() ? instruction.scales[i].value_or(WeightScale()) : WeightScale());
    const NestWeights* nest = nest_of_weight(region, i);
    weights[i].format = vector_format(format);
    if (nest == nullptr) continue;
    if (skipping) weights[i].kept.assign(elements, 0);
    if (nest->scale_group > 0) make_groups(*nest, format, weights[i]);
    if (!nest->channel_scales) continue;
    weights[i].channels = nest->channels;
    WeightScale unknown;
    if (needs_zero_point(format)) unknown.zero = 0;
    weights[i].scales.assign(as_size(nest->channels.count), unknown);
  }
  return weights;
}

void read_rests(const WeightFile& file, const Instruction& instruction, const HeldWeights& held,
                const WeightForm& form, std::vector<CodedWeight>& weights) {
  for (std::size_t i = 0; i < held.elements.size(); ++i) {
    const auto rest = file.rests.find(instruction.weights[held.first + i]);
    std::vector<std::uint32_t>& codes = weights[held.first + i].codes;
    if (held.elements[i] == std::ssize(codes)) continue;
    if (rest == file.rests.end() || rest->second.elements != std::ssize(codes) - held.elements[i])
      refuse(instruction.name, "a lookup table of which a part is not there");
    CodesIn in{file.rest_bytes, as_size(rest->second.first_bit)};
    for (auto e = at(held.elements[i]); e < codes.size(); ++e) in.code(codes[e], form.vector_bits);
  }
}

/// Where what is left of lookup tables stands; how many bits that are.
std::int64_t find_rests(WeightFile& file, const Instruction& instruction, const WeightRegion& region,
                        const WeightForm& form, std::int64_t bits) {
  for (const RegionPart& part : region.parts)
    for (std::size_t i = 0; i < part.held.elements.size(); ++i) {
      const ValueId id = instruction.weights[part.held.first + i];
      const std::int64_t left = element_count(value_of(file, id).operand.shape) - part.held.elements[i];
      if (left > 0 && file.rests.try_emplace(id, WeightFile::Rest{bits, left}).second)
        bits += left * form.vector_bits;
    }
  return bits;
}

/// One region as the program says it is; how many bits of tables stand behind the regions.
std::int64_t check_region(WeightFile& file, const Instruction& instruction, std::int64_t rest_bits) {
  const Machine own = own_machine(file, instruction);
  const WeightForm form = weight_form(own);
  const WeightRegion region = weight_region(file.stage, form, instruction);
  const std::int64_t bytes = region_size(region, form), end = instruction.weight_offset.value + bytes;
  if (bytes != instruction.weight_bytes.value || instruction.weight_offset.value < 0 ||
      end > std::ssize(file.bytes))
    refuse(instruction.name,
           fmt::format("expected {} bytes at {}, the program says {} in a file of {}", bytes,
                       instruction.weight_offset.value, instruction.weight_bytes.value, file.bytes.size()));
  require_scales(instruction, own.weight_format, region);
  return find_rests(file, instruction, region, form, rest_bits);
}

}  // namespace

WeightFile read_weight_file(const CompiledStage& stage, const Machine& machine, std::span<const std::byte> bytes) {
  WeightFile file{stage, machine, bytes};
  const std::int64_t expected = stage.program.stored_weight_bytes.value;
  if (std::ssize(bytes) != expected)
    refuse("", fmt::format("expected a file of {} bytes, found {}", expected, bytes.size()));
  using Region = std::tuple<std::array<std::int64_t, 3>, NumberFormat, std::int64_t>;
  std::map<std::int64_t, Region> regions;
  std::int64_t rest_bits = 0, end = 0;
  for (const Instruction& instruction : stage.program.instructions) {
    if (instruction.weight_bytes.value == 0) continue;
    rest_bits = check_region(file, instruction, rest_bits);
    end = std::max(end, (instruction.weight_offset + instruction.weight_bytes).value);
    const auto& c = stage.program.classes[instruction.instruction_class];
    const Machine own = machine_for(c, machine);
    const Region region{region_tiles(c, weight_form(own)), own.weight_format, own.weight_density.hundredths};
    if (regions.try_emplace(instruction.weight_offset.value, region).first->second != region)
      refuse(instruction.name,
             "another instruction has them in other tiles, formats or densities, at the same offset");
  }
  const WeightForm form = weight_form(machine);
  const std::int64_t rest = ceil_div(rest_bits, 8), stored = stored_bytes(rest, form);
  if (expected - end != stored)
    refuse("",
           fmt::format("expected {} bytes of lookup tables behind the regions, found {}", stored, expected - end));
  const std::string tables = "the lookup tables";
  UnitsIn units{bytes.subspan(as_size(end)), form, tables};
  const CodesIn codes = units.next(rest, stored);
  file.rest_bytes.assign(codes.bytes.begin(), codes.bytes.end());
  return file;
}

std::vector<CircuitWeight> weights_of(const WeightFile& file, std::size_t number) {
  const Instruction& instruction = file.stage.program.instructions.at(number);
  const Machine own = own_machine(file, instruction);
  const NumberFormat format = own.weight_format;
  const WeightForm form = weight_form(own);
  const WeightRegion region = weight_region(file.stage, form, instruction);
  std::vector<CodedWeight> weights = empty_weights(file, instruction, region, format, form.skipping);
  UnitsIn units{file.bytes.subspan(as_size(instruction.weight_offset.value)), form, instruction.name};
  if (region.one_unit && region.bytes > 0) {
    CodesIn in = units.next(region.bytes, stored_bytes(region.bytes, form));
    for (const RegionPart& part : region.parts) read_part(in, part, form, weights, instruction.name);
  }
  for (const RegionPart& part : region.parts) {
    if (region.one_unit) break;
    if (!part.nest) {
      CodesIn in = units.next(part.held.bytes, part.held.bytes);
      read_part(in, part, form, weights, instruction.name);
      read_rests(file, instruction, part.held, form, weights);
    }
    for (const WeightTile& tile : part.weights.tiles) {
      const std::int64_t bytes = tile_bytes(part.weights, tile, form);
      CodesIn in = units.next(bytes, stored_bytes(bytes, form));
      read_tile(in, part.weights, tile, form, weights, instruction.name);
    }
  }
  std::vector<CircuitWeight> held;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (const WeightScale& scale : weights[i].scales)
      if (needs_scale(format) || !weights[i].groups.empty()) require_scale(scale, format, instruction.name);
    const Operand& operand = value_of(file, instruction.weights[i]).operand;
    held.push_back(circuit_weight_of(weights[i], operand.type, operand.shape));
  }
  return held;
}

}  // namespace sdip
