// Texts taken apart into words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdip {

/// The parts before, between and behind each `between`: of "a,,b" "a", "" and "b"; of "" one that is empty.
std::vector<std::string_view> split(std::string_view text, char between);

/// Without the spaces and tabs around it.
std::string_view trimmed(std::string_view text);

/// The letters A to Z made small.
std::string lower(std::string_view text);

/// The whole number that all of a text is; nothing of any other text, or where it is too large.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace sdip
