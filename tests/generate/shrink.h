// The smallest model and machine that still show a finding.
#pragma once

#include <string>

#include "core/machine/machine.h"
#include "tests/generate/making.h"

namespace sdip::generate {

/// A model and a machine on which something is found.
struct Shown {
  Generated given;
  Machine machine;
  std::uint64_t seed = 0;
};

/// What is left when outputs, nodes, attributes and settings are taken away one by one, as long as the class of the
/// finding stays.
Shown shrunk(Shown shown, const std::string& code);

/// The command that repeats it: `sdip validate FILE --dim ... --preset ... --set ...`, or `sdip run`.
std::string command_of(const Generated& given, const Machine& machine, const std::string& path,
                       const std::string& code = "");

/// Shrinks what shows a finding and writes folder/CLASS.onnx; what it is, and the command.
std::string shrink_into(const std::string& folder, Shown shown, const std::string& code);

/// Shrinks the finding of a seed and writes folder/CLASS.onnx; what it is, and the command.
std::string shrink_into(const std::string& folder, std::uint64_t seed, const std::string& code);

}  // namespace sdip::generate
