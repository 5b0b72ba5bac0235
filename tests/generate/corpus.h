// ONNX's node tests and the cases of tests/cases as models to be checked like generated ones.
#pragma once

#include <string>
#include <vector>

#include "tests/generate/apart.h"

namespace sdip::generate {

/// Names of all, "node/test_add" and "case/NAME", in order. Empty where the data are not installed.
const std::vector<std::string>& corpus_names();

/// The model of a name, with its inputs; `constants`: these are written into it.
Generated corpus_model(const std::string& name, bool constants);

/// The model of that number on a preset with so many options, both drawn from its name and `round`; of round 0, and
/// of presets by number from `round` on where `preset` is -1. Where shapes follow from inputs, these are constants.
Checked check_corpus(std::uint64_t number, std::uint64_t round, int preset, const PhaseObserver& phase);

/// The machine of that.
Machine corpus_machine(const std::string& name, std::uint64_t round, int preset);

}  // namespace sdip::generate
