// One hash over what the engine says of a fixed set of workloads and machines, and one over published machines'.
#pragma once

#include <string>

namespace sdip {

/// The canonical text: a line for each count (decimal) and each real number (its bits, hexadecimal).
std::string signature_text();

/// SHA-256 of that text, hexadecimal; computed once. The same on every machine, compiler and run.
const std::string& signature();

/// The same of what published machines' models say: apart, as no sweep's point depends on it, and it takes a
/// second.
std::string devices_signature_text();
std::string devices_signature();

}  // namespace sdip
