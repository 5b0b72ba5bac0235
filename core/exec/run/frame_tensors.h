// The tensors of one frame on its way through the line. Internal to its room.
#pragma once

#include <string>
#include <vector>

#include "core/exec/run/pipeline.h"

namespace sdip::exec {

class FrameTensors {
 public:
  FrameTensors(const Application& application, const Machine& machine, const PipelineTensors& given,
               std::int64_t frame)
      : application_(application), machine_(machine), given_(given), frame_(frame) {}

  /// Runs a pass of a stage on what the frame has. `step`: of the core's program, else 0.
  void compute(std::size_t stage, std::int64_t step);

  const std::vector<Tensor>& outputs() const { return outputs_; }

 private:
  Tensor input_of(std::size_t stage, std::int64_t step, ValueId v) const;

  struct Made {
    std::string name;
    Tensor tensor;
  };
  const Application& application_;
  const Machine& machine_;
  const PipelineTensors& given_;
  std::int64_t frame_ = 0;
  std::vector<Made> made_;       // the last is the newest
  std::vector<Tensor> outputs_;  // of the last pass
};

}  // namespace sdip::exec
