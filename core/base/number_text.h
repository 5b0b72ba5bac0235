// Numbers as text.
#pragma once

#include <charconv>
#include <string>

namespace sdip {

/// The fewest digits that read back as the same number: "0.1", "1e+30".
inline std::string shortest_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace sdip
