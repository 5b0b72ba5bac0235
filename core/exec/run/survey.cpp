// How much work and memory an execution will take.
#include "core/exec/chip/execute.h"
#include "core/program/kinds.h"

namespace sdip {
namespace {

/// Bytes that both keep of an element: the reference a double, the executor a float or its code.
constexpr double element_bytes = 8 + 4;

}  // namespace

ExecutionWork execution_work(const CompiledStage& stage) {
  ExecutionWork work;
  for (const Instruction& instruction : stage.program.instructions) {
    for (const NodeId n : instruction.nodes) {
      const Work w = work_of(*stage.graph, stage.graph->nodes[n]);
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
