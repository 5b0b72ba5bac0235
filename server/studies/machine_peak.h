// The most instructions that this processor retires, and those that a command takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sdip {

/// Additions of 64-bit integers that do not wait for each other, a second, on one thread: the most instructions
/// that this processor retires, measured in about 0.1 s.
double peak_instructions_per_second();

/// Instructions that a command of this program takes, counted by callgrind; nothing where valgrind is not
/// installed. Valgrind 3.19 knows no AVX-512: what would use it takes AVX2. Requires words of letters, digits and
/// hyphens.
std::optional<std::int64_t> counted_instructions(const std::string& command);

}  // namespace sdip
