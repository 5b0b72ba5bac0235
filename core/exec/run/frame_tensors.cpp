// A frame's tensors, pass by pass.
#include "core/exec/run/frame_tensors.h"

#include <algorithm>

namespace sdip::exec {

Tensor FrameTensors::input_of(std::size_t stage, std::int64_t step, ValueId v) const {
  const Graph& graph = *application_.stages[stage].graph;
  const Value& value = graph.values[v];
  const bool latent = application_.stages[stage].role == Role::core && v == latent_input(graph);
  if (latent && step > 0) return outputs_.at(0);
  const auto named = std::ranges::find(made_, value.name, &Made::name);
  if (named != made_.end()) return named->tensor;
  const auto alike = std::find_if(made_.rbegin(), made_.rend(), [&](const Made& made) {
    return made.tensor.type == value.operand.type && made.tensor.shape == value.operand.shape;
  });
  if (alike != made_.rend() && value.operand.shape.size() > 1) return alike->tensor;
  return given_.input(stage, frame_, step, value);
}

void FrameTensors::compute(std::size_t stage, std::int64_t step) {
  const CompiledStage& compiled = application_.stages[stage];
  std::vector<Tensor> inputs;
  for (const ValueId v : compiled.graph->inputs) inputs.push_back(input_of(stage, step, v));
  const ActivationScales none_needed;
  const ActivationScales& scales = given_.scales.empty() ? none_needed : given_.scales.at(stage);
  outputs_ = execute(compiled, machine_, inputs, given_.stored.at(stage), scales).outputs;
  const bool again = compiled.role == Role::core && step > 0;  // in place of what the step before made
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::string& name = compiled.graph->values[compiled.graph->outputs[i]].name;
    if (again) std::erase_if(made_, [&](const Made& made) { return made.name == name; });
    made_.push_back({name, outputs_[i]});
  }
}

}  // namespace sdip::exec
