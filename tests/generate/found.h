// What tests of mended findings share: machines, and what is found of a model on one.
#pragma once

#include <string>

#include "tests/core/onnx/build.h"
#include "tests/generate/check.h"

namespace sdip::generate {

inline Machine exact() {
  Machine machine;
  machine.weight_format = machine.activation_format = NumberFormat::fp32;
  machine.accumulator_format = NumberFormat::int32;
  return machine;
}

inline Machine in_one_memory() {
  Machine machine = exact();
  machine.activation_memory = ActivationMemory::unified;
  return machine;
}

inline Outcome outcome_on(Machine machine, const onnx::ModelProto& model) {
  Generated given;
  given.model = model;
  return check_model(given, machine, 1, [](const char*) {});
}

inline std::string found_on(const Machine& machine, const onnx::ModelProto& model) {
  const Outcome outcome = outcome_on(machine, model);
  return outcome.verdict == Verdict::passed ? ""
                                            : std::string(verdict_text(outcome.verdict)) + " " + outcome.detail;
}

}  // namespace sdip::generate
