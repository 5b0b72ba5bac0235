// Memory that a run of the pipeline will take, from the numbers of its tile operations and the sizes of its
// tensors.
#include <algorithm>

#include "core/exec/clock/line.h"
#include "core/exec/run/pipeline.h"

namespace sdip {

double pipeline_bytes(const Application& application, const Machine& machine, const PipelineOptions& options) {
  const exec::FrameLine line = exec::line_of(application, machine);
  double clocks = 0, tensors = 0, frame = 0;
  for (const CompiledStage& stage : application.stages) {
    for (const InstructionClass& c : stage.program.classes) {
      const auto operations = static_cast<double>(exec::operation_count(c));
      // Each stands in a list that grows by doubling, and while it is made so does where it stands in the loops.
      clocks += operations * 2 * static_cast<double>(sizeof(exec::Operation) + 6 * sizeof(std::int64_t));
    }
    clocks += static_cast<double>(stage.program.instructions.size()) *
              static_cast<double>(2 * sizeof(InstructionCounts) + sizeof(exec::Occupancy));
    if (options.tensors == nullptr || !stage.graph) continue;
    tensors = std::max(tensors, execution_work(stage).bytes);
    for (const ValueId v : stage.graph->outputs)
      frame += static_cast<double>(element_count(stage.graph->values[v].operand.shape)) *
               static_cast<double>(2 * sizeof(double));
  }
  // No more than one for each frame; with a crossbar fewer, of as many more passes.
  const double periods = options.alone ? 1.0 : static_cast<double>(options.frames + line.seats());
  const double told = static_cast<double>(sizeof(PeriodCounts)) +
                      static_cast<double>(2 * application.stages.size() * sizeof(std::int64_t));
  double passes = 0;
  for (const exec::LineStage& stage : line.stages) passes += static_cast<double>(stage.passes);
  return clocks + tensors + frame * static_cast<double>(options.alone ? 1 : options.frames) + periods * 2 * told +
         periods * (passes + static_cast<double>(line.per_prompt.size())) * 2 *
             static_cast<double>(sizeof(std::int64_t));
}

}  // namespace sdip
