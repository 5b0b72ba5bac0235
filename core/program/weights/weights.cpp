// The `.weight` file of a program.
#include "core/program/weights/weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/graph/node_arithmetic.h"
#include "core/program/tiling/tiles.h"
#include "core/program/weights/packed.h"
#include "core/program/weights/weight_bits.h"

namespace sdip {
namespace {

struct WeightWriting {
  const CompiledStage& stage;
  const Machine& machine;
  const WeightSource& source;
  BitPacker packer;
  ReachedRatio ratio{};
  bool too_large = false;      // a unit is larger than the program says
  std::set<ValueId> tables{};  // what a Gather looks up
  struct Rest {
    ValueId value;
    std::int64_t from;
    Machine own;  // as the instruction that reads it finds it
  };
  std::vector<Rest> rests{};

  const Value& value(ValueId id) const { return stage.graph->values[id]; }
};

std::optional<Tensor> known_or_stored(const WeightWriting& writing, const Value& value) {
  if (value.operand.value) return value.operand.value;
  if (!value.bytes) return std::nullopt;
  const std::vector<float> stored = writing.source(value);
  Tensor tensor{value.operand.type, value.operand.shape, {}, {}};
  for (const float x : stored)
    if (is_floating(tensor.type))
      tensor.floats.push_back(static_cast<double>(x));
    else
      tensor.ints.push_back(static_cast<std::int64_t>(x));
  if (std::ssize(stored) != element_count(tensor.shape))
    throw Error("weights_absent", value.name,
                fmt::format("the weight '{}' has {} values, expected those of its shape {}", value.name,
                            stored.size(), shape_text(tensor.shape)));
  return tensor;
}

constexpr int most_made_in_a_row = 1000;  // nodes between a weight and the model's own

using Made = std::map<ValueId, Tensor>;  // of one weight: what several of its nodes read is computed once

/// The values of a weight: the model's, or computed from the model's by the nodes that make it (batch norms folded
/// into a convolution, transposed or low-rank weights, ...), rounded to its type at each.
Tensor tensor_of(const WeightWriting& writing, ValueId id, Made& made, int depth = 0) {
  if (const auto found = made.find(id); found != made.end()) return found->second;
  const Value& value = writing.value(id);
  if (auto tensor = known_or_stored(writing, value)) return *std::move(tensor);
  const Node* node = value.producer == none ? nullptr : &writing.stage.graph->nodes[value.producer];
  const bool follows = node != nullptr && value.kind == ValueKind::weight && node->op->compute != nullptr;
  if (!follows || node->op->random || depth == most_made_in_a_row)
    throw Error("not_modelled", value.name,
                "the weight '" + value.name + "' has no values" +
                    (node == nullptr ? std::string() : ": it is made by a " + std::string(node->op->type)) +
                    "; expected weights that stand in the model, or follow from them");
  std::vector<std::optional<Tensor>> inputs;
  for (const ValueId in : node->inputs)
    inputs.push_back(in == none ? std::nullopt : std::optional(tensor_of(writing, in, made, depth + 1)));
  std::vector<Tensor> outputs = outputs_of(*writing.stage.graph, *node, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (node->outputs[i] != none) made[node->outputs[i]] = std::move(outputs[i]);
  return made.at(id);
}

CodedWeight coded_of(const WeightWriting& writing, ValueId id, const NestWeights* nest, const Machine& own) {
  Made made;
  return coded_weight(writing.value(id).name, tensor_of(writing, id, made), nest, own);
}

void note_ratio(WeightWriting& writing, const std::string& name, std::int64_t bytes, std::int64_t packed_bytes) {
  ReachedRatio& ratio = writing.ratio;
  ratio.bytes += bytes;
  ratio.packed_bytes += packed_bytes;
  const double reached = static_cast<double>(bytes) / static_cast<double>(packed_bytes);
  if (ratio.least > 0 && ratio.least <= reached) return;
  ratio.least = reached;
  ratio.least_name = name;
}

/// One unit of `bytes`: as it is, or compressed.
void put_unit(WeightWriting& writing, const std::string& name, const WeightForm& form, std::int64_t bytes,
              const std::function<void(BitPacker&)>& fill) {
  const std::int64_t stored = stored_bytes(bytes, form);
  const std::int64_t end = writing.packer.bytes() + stored;
  if (stored == bytes) {
    fill(writing.packer);
    return writing.packer.pad_to(end);
  }
  std::vector<std::byte> unit;
  const ByteSink keep = [&](std::span<const std::byte> piece) {
    unit.insert(unit.end(), piece.begin(), piece.end());
  };
  BitPacker packer(keep);
  fill(packer);
  packer.pad_to(bytes);
  packer.finish();
  const std::vector<std::byte> small = packed(unit, number_bytes(form));
  note_ratio(writing, name, bytes, std::ssize(small));
  if (std::ssize(small) > stored)
    writing.too_large = true;
  else
    for (const std::byte b : small) writing.packer.put(std::to_integer<std::uint32_t>(b), 8);
  writing.packer.pad_to(end);
}

void put_tile(BitPacker& packer, const NestWeights& nest, const WeightTile& tile, const WeightForm& form,
              std::span<CodedWeight> weights) {
  const std::int64_t end = packer.bytes() + tile_bytes(nest, tile, form);
  CodesOut bits{packer};
  check(tile_bits(bits, nest, tile, form, weights), "pruning keeps as many as there are slots");
  packer.pad_to(end);
}

void put_held(BitPacker& packer, const HeldWeights& held, const WeightForm& form, std::span<CodedWeight> weights) {
  const std::int64_t end = packer.bytes() + held.bytes;
  CodesOut bits{packer};
  held_bits(bits, held, form, weights);
  packer.pad_to(end);
}

void put_part(BitPacker& packer, const RegionPart& part, const WeightForm& form, std::span<CodedWeight> weights) {
  if (!part.nest) return put_held(packer, part.held, form, weights);
  for (const WeightTile& tile : part.weights.tiles) put_tile(packer, part.weights, tile, form, weights);
}

void note_rests(WeightWriting& writing, const Instruction& instruction, const HeldWeights& held,
                const Machine& own) {
  for (std::size_t i = 0; i < held.elements.size(); ++i) {
    const ValueId id = instruction.weights[held.first + i];
    const Value& value = writing.value(id);
    if (held.elements[i] == element_count(value.operand.shape)) continue;
    if (!writing.tables.contains(id))
      throw Error("not_modelled", value.name,
                  "of the weight '" + value.name + "' only a part is read; expected that of lookup tables alone");
    if (std::ranges::find(writing.rests, id, &WeightWriting::Rest::value) == writing.rests.end())
      writing.rests.push_back({id, held.elements[i], own});
  }
}

void put_region(WeightWriting& writing, const Instruction& instruction, const WeightRegion& region,
                const Machine& own, std::span<CodedWeight> weights) {
  const WeightForm form = weight_form(own);
  const bool strips = writing.stage.program.classes[instruction.instruction_class].compound == Compound::strips;
  if (strips && !region.one_unit && form.compression_hundredths > 100)
    throw Error("not_modelled", instruction.name,
                "weights of strips of which some come again for each strip are not compressed; expected "
                "weight_compression=1 or a larger psram_bytes");
  if (region.one_unit)
    return put_unit(writing, instruction.name, form, region.bytes, [&](BitPacker& to) {
      for (const RegionPart& part : region.parts) put_part(to, part, form, weights);
    });
  for (const RegionPart& part : region.parts) {
    if (!part.nest) {
      put_held(writing.packer, part.held, form, weights);
      note_rests(writing, instruction, part.held, own);
      continue;
    }
    const std::string& name = writing.value(instruction.weights[part.weights.first]).name;
    for (const WeightTile& tile : part.weights.tiles)
      put_unit(writing, name, form, tile_bytes(part.weights, tile, form),
               [&](BitPacker& to) { put_tile(to, part.weights, tile, form, weights); });
  }
}

/// The region of an instruction; its scales.
InstructionScales write_region(WeightWriting& writing, const Instruction& instruction) {
  const auto& c = writing.stage.program.classes[instruction.instruction_class];
  const Machine own = machine_for(c, writing.machine);
  const WeightRegion region = weight_region(writing.stage, weight_form(own), instruction);
  std::vector<CodedWeight> weights;
  InstructionScales scales;
  for (std::size_t i = 0; i < instruction.weights.size(); ++i) {
    const NestWeights* nest = nest_of_weight(region, i);
    const CodedWeight& coded = weights.emplace_back(coded_of(writing, instruction.weights[i], nest, own));
    const bool elsewhere = coded.channels.count > 0 || (!coded.groups.empty() && needs_scale(coded.format));
    const WeightScale one = is_block_format(coded.format) ? WeightScale(coded.tensor) : coded.scales[0];
    scales.push_back(elsewhere ? std::nullopt : std::optional(one));
  }
  put_region(writing, instruction, region, own, weights);
  writing.packer.pad_to((instruction.weight_offset + instruction.weight_bytes).value);
  return has_tensor_scale(own.weight_format) ? scales : InstructionScales();
}

/// Writes what is left of lookup tables, one behind the other, each in its own format.
void write_rests(WeightWriting& writing) {
  std::int64_t bits = 0;
  for (const auto& rest : writing.rests)
    bits += (element_count(writing.value(rest.value).operand.shape) - rest.from) *
            bits_of(vector_format(rest.own.weight_format));
  if (bits == 0) return;
  put_unit(writing, writing.value(writing.rests[0].value).name, weight_form(writing.machine), ceil_div(bits, 8),
           [&](BitPacker& to) {
             for (const auto& rest : writing.rests) {
               const CodedWeight coded = coded_of(writing, rest.value, nullptr, rest.own);
               for (std::size_t i = as_size(rest.from); i < coded.codes.size(); ++i)
                 to.put(coded.codes[i], bits_of(coded.format));
             }
           });
}

std::string hundredths_text(double x) {
  const auto hundredths = static_cast<std::int64_t>(std::floor(x * 100));
  return std::to_string(hundredths / 100) + (hundredths % 100 < 10 ? ".0" : ".") + std::to_string(hundredths % 100);
}

void require_small(const WeightWriting& writing) {
  if (!writing.too_large) return;
  const std::string& name = writing.ratio.least_name;
  throw Error("not_compressible", name,
              fmt::format("the weight '{}' shrinks {} times at best, expected weight_compression={}; all weights "
                          "together shrink {} times, but each tile must",
                          name, hundredths_text(writing.ratio.least),
                          hundredths_text(writing.machine.weight_compression.value()),
                          hundredths_text(static_cast<double>(writing.ratio.bytes) /
                                          static_cast<double>(writing.ratio.packed_bytes))));
}

}  // namespace

WrittenWeights write_weight_file(const CompiledStage& stage, const Machine& machine, const WeightSource& source,
                                 const ByteSink& sink) {
  WeightWriting writing{stage, machine, source, BitPacker(sink)};
  for (const Node& node : stage.graph->nodes)
    if (node.op->type == "Gather" && !node.inputs.empty()) writing.tables.insert(node.inputs[0]);
  std::map<std::int64_t, InstructionScales> by_offset;
  WrittenWeights written;
  for (const Instruction& instruction : stage.program.instructions) {
    written.scales.emplace_back();
    if (instruction.weight_bytes.value == 0) continue;
    const std::int64_t offset = instruction.weight_offset.value;
    if (offset == writing.packer.bytes()) by_offset[offset] = write_region(writing, instruction);
    written.scales.back() = by_offset.at(offset);
  }
  write_rests(writing);
  writing.packer.finish();
  require_small(writing);
  written.ratio = writing.ratio;
  return written;
}

}  // namespace sdip
