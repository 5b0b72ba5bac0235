// One hash over what the engine says of a fixed set of workloads, machines and devices.
#pragma once

#include <string>

namespace sdip {

/// The canonical text: a line for each count (decimal) and each real number (its bits, hexadecimal).
std::string signature_text();

/// SHA-256 of that text, hexadecimal; computed once. The same on every machine, compiler and run.
const std::string& signature();

}  // namespace sdip
