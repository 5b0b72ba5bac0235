// Options that take several values after one flag.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sdip {

/// The arguments with each further value of an option behind a flag of its own: "--dim B=1 H=64 MODEL" becomes
/// "--dim B=1 --dim H=64 MODEL". A further value is what looks like one and not like a model: of NAME=VALUE options
/// what has a = and does not end in .onnx, of --operators a .json file, of --layers what has a *, of several
/// programs whatever is no option, of the others what they know. Options that may be given once do not change, nor
/// does anything after "--".
std::vector<std::string> with_repeated_flags(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace sdip
