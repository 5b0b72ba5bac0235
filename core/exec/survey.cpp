// What an execution needs beforehand: scales of activations, and how much work and memory it will take.
#include <algorithm>
#include <cmath>

#include "core/base/encode.h"
#include "core/exec/execute.h"
#include "core/program/tiles.h"

namespace sdip {
namespace {

/// What both keep of an element: the reference a double, the executor a float or its code.
constexpr double element_bytes = 8 + 4;

}  // namespace

ActivationScales activation_scales(const Graph& graph, const Machine& machine, std::span<const Tensor> inputs,
                                   const StoredTensors& stored) {
  ActivationScales scales;
  const NumberFormat format = machine.activation_format;
  if (!needs_scale(format)) return scales;
  Graph all = graph;
  all.outputs.clear();
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    const Value& value = graph.values[v];
    const bool made =
        value.kind == ValueKind::input || (value.kind == ValueKind::activation && value.producer != none);
    if (made && is_floating(value.operand.type)) all.outputs.push_back(static_cast<ValueId>(v));
  }
  const std::vector<Tensor> tensors = compute(all, inputs, stored);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    double largest = 0;
    for (const double x : tensors[i].floats)
      if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
    const auto scale = static_cast<float>(largest / static_cast<double>(largest_code(format)));
    scales[all.outputs[i]] = scale > 0 ? scale : 1.0F;
  }
  return scales;
}

ExecutionWork execution_work(const CompiledStage& stage) {
  ExecutionWork work;
  for (const Instruction& instruction : stage.program.instructions) {
    for (const NodeId n : instruction.nodes) {
      const Work w = work_of(*stage.graph, stage.graph->nodes[static_cast<std::size_t>(n)]);
      const LoopNest& l = w.nest;
      double operations = is_nest(w.family) ? 1.0 : static_cast<double>(w.passes);
      if (is_nest(w.family))
        for (const std::int64_t size :
             {l.groups, l.batch, l.out_channels, l.in_channels, l.out_h, l.out_w, l.kernel_h, l.kernel_w})
          operations *= static_cast<double>(size);
      else
        operations *= static_cast<double>(w.rows) * static_cast<double>(w.row_length);
      work.operations += operations;
    }
  }
  for (const Value& value : stage.graph->values)
    work.bytes += static_cast<double>(element_count(value.operand.shape)) * element_bytes;
  return work;
}

}  // namespace sdip
