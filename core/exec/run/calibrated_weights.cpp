// Weights kept within calibrated ranges.
#include <algorithm>

#include "core/base/encode.h"
#include "core/exec/run/calibration.h"
#include "core/program/weights/weight_region.h"

namespace sdip {
namespace {

/// A float weight of `.weight`: its format, and the channels that have scales of their own; none: count 0.
/// `groups`: each element's group, where groups have scales.
struct Ranged {
  NumberFormat format = NumberFormat::fp32;
  WeightChannels channels;
  std::vector<std::uint32_t> groups;
};

/// Weights that are made from others: computed here, so that they can be looked at.
std::map<ValueId, Tensor> made_weights(const Graph& graph, const std::map<ValueId, Ranged>& ranged,
                                       const StoredTensors& stored) {
  Graph weights = graph;
  weights.inputs.clear();
  weights.outputs.clear();
  std::erase_if(weights.nodes, [&](const Node& node) {
    return std::ranges::any_of(node.outputs,
                               [&](ValueId v) { return v != none && graph.values[v].kind != ValueKind::weight; });
  });
  for (const auto& [v, of_weight] : ranged) {
    const Value& value = graph.values[v];
    if (value.producer != none && !value.operand.value && !value.bytes) weights.outputs.push_back(v);
  }
  std::map<ValueId, Tensor> made;
  if (weights.outputs.empty()) return made;
  std::vector<Tensor> tensors = compute(weights, {}, stored);
  for (std::size_t i = 0; i < tensors.size(); ++i) made[weights.outputs[i]] = std::move(tensors[i]);
  return made;
}

/// Every float weight that has a scale; of several instructions that read one the first decides.
std::map<ValueId, Ranged> weights_of_stage(const CompiledStage& stage, const Machine& machine) {
  std::map<ValueId, Ranged> ranged;
  for (const Instruction& instruction : stage.program.instructions) {
    if (instruction.weights.empty()) continue;
    const InstructionClass& c = stage.program.classes[instruction.instruction_class];
    const Machine own = machine_for(c, machine);
    if (!needs_scale(own.weight_format)) continue;
    const WeightRegion region = weight_region(stage, weight_form(own), instruction);
    for (std::size_t i = 0; i < instruction.weights.size(); ++i) {
      const ValueId v = instruction.weights[i];
      const NestWeights* nest = nest_of_weight(region, i);
      const Operand& operand = stage.graph->values[v].operand;
      if (!is_floating(operand.type) || ranged.contains(v)) continue;
      Ranged one{
          own.weight_format, nest != nullptr && nest->channel_scales ? nest->channels : WeightChannels(), {}};
      if (nest != nullptr && nest->scale_group > 0)
        one.groups = groups_of_elements(*nest, element_count(operand.shape));
      ranged.emplace(v, std::move(one));
    }
  }
  return ranged;
}

void keep_in_range(Tensor& weight, const Ranged& ranged, const CalibrationRule& rule) {
  const WeightChannels& channels = ranged.channels;
  const auto channel_of = [&](std::size_t i) -> std::size_t {
    if (!ranged.groups.empty()) return ranged.groups[i];
    return channels.count > 0 ? channels.of(static_cast<std::int64_t>(i)) : 0;
  };
  auto count = as_size(std::max<std::int64_t>(channels.count, 1));
  for (const std::uint32_t group : ranged.groups) count = std::max(count, std::size_t{group} + 1);
  std::vector<std::vector<float>> numbers(count);
  for (std::size_t i = 0; i < weight.floats.size(); ++i)
    numbers[channel_of(i)].push_back(static_cast<float>(weight.floats[i]));
  std::vector<NumberRange> ranges;
  for (const std::vector<float>& of_channel : numbers)
    ranges.push_back(calibrated_range(ranged.format, of_channel, rule));
  for (std::size_t i = 0; i < weight.floats.size(); ++i) {
    const NumberRange& range = ranges[channel_of(i)];
    weight.floats[i] = std::clamp(weight.floats[i], range.least, range.most);
  }
}

}  // namespace

CalibratedWeights calibrated_weights(const CompiledStage& stage, const Machine& machine,
                                     const StoredTensors& stored, const CalibrationRule& rule) {
  if (rule.method == CalibrationMethod::minmax || machine.sparsity != Sparsity::dense) return {stage, stored};
  const std::map<ValueId, Ranged> ranged = weights_of_stage(stage, machine);
  auto made = std::make_shared<std::map<ValueId, Tensor>>(made_weights(*stage.graph, ranged, stored));
  CalibratedWeights calibrated{stage, {}};
  Graph graph = *stage.graph;
  const auto by_name = std::make_shared<std::map<std::string, std::pair<ValueId, Ranged>, std::less<>>>();
  for (const auto& [v, of_weight] : ranged) {
    Value& value = graph.values[v];
    if (value.operand.value) continue;
    (*by_name)[value.name] = {v, of_weight};
    if (!value.bytes) value.bytes = WeightBytes{};  // so that whoever reads it asks `stored`
  }
  calibrated.stage.graph = std::make_shared<const Graph>(std::move(graph));
  calibrated.stored = [stored, rule, made, by_name](const Value& value) {
    const auto known = by_name->find(value.name);
    if (known == by_name->end()) return stored(value);
    const auto computed = made->find(known->second.first);
    std::optional<Tensor> tensor = computed == made->end() ? stored(value) : computed->second;
    if (tensor) keep_in_range(*tensor, known->second.second, rule);
    return tensor;
  };
  return calibrated;
}

}  // namespace sdip
