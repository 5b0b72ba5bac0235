// Small graphs compiled, for tests.
#pragma once

#include <algorithm>

#include "core/program/program.h"
#include "tests/core/onnx/build.h"

namespace sdip {

/// x of `shape` as a model's only input.
inline onnx::ModelProto model_of_x(const Shape& shape) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", shape);
  return model;
}

inline Application compiled(Graph graph, const Machine& machine, Role role = Role::network) {
  Workload workload;
  workload.stages.push_back({role, "net", std::make_shared<const Graph>(std::move(graph)), {}});
  return compile(workload, machine);
}

inline Application compiled(const onnx::ModelProto& model, const Machine& machine, Role role = Role::network) {
  return compiled(import_model(model), machine, role);
}

inline std::vector<std::string> mnemonics(const Application& application) {
  std::vector<std::string> names;
  for (const Instruction& i : application.stages.at(0).program.instructions) names.push_back(i.mnemonic);
  return names;
}

/// Class of the instruction that stands at `index`.
inline const InstructionClass& class_at(const Application& application, std::size_t index) {
  const Program& program = application.stages.at(0).program;
  return program.classes.at(static_cast<std::size_t>(program.instructions.at(index).instruction_class));
}

/// Places of an instruction's sources.
inline std::vector<Place> sources_at(const Application& application, std::size_t index) {
  std::vector<Place> places;
  for (const PlacedOperand& source : application.stages.at(0).program.instructions.at(index).sources)
    places.push_back(source.place);
  return places;
}

}  // namespace sdip
