// Works out a filled-in formula from its text alone, as a reader would.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "core/base/units.h"

namespace sdip {

/// Whole numbers, + and -, x and / (only as the last in a ceil), ceil(a/b), max(a, b, ...), parentheses.
class FilledReader {
 public:
  explicit FilledReader(std::string_view text) : text_(text) {}

  std::int64_t all() {
    const Int128 value = sum();
    if (!text_.empty()) throw std::runtime_error("left over: " + std::string(text_));
    return static_cast<std::int64_t>(value);
  }

 private:
  bool take(std::string_view word) {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void need(std::string_view word) {
    if (!take(word)) throw std::runtime_error("expected " + std::string(word) + " at " + std::string(text_));
  }
  Int128 sum() {
    Int128 value = product();
    for (;;) {
      if (take("+ "))
        value += product();
      else if (take("- "))
        value -= product();
      else
        return value;
    }
  }
  Int128 product() {
    Int128 value = factor();
    while (take("x ")) value *= factor();
    return value;
  }
  Int128 factor() {
    if (take("ceil(")) {
      const Int128 above = sum();
      need("/");
      const Int128 below = factor();
      need(")");
      return (above + below - 1) / below;
    }
    if (take("max(")) {
      Int128 most = sum();
      while (take(",")) most = std::max(most, sum());
      need(")");
      return most;
    }
    if (take("(")) {
      const Int128 value = sum();
      need(")");
      return value;
    }
    take("");
    if (text_.empty() || std::isdigit(static_cast<unsigned char>(text_.front())) == 0)
      throw std::runtime_error("expected a number at " + std::string(text_));
    Int128 value = 0;
    while (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_.front())) != 0) {
      value = 10 * value + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }

  std::string_view text_;
};

inline std::int64_t evaluate_filled(std::string_view text) { return FilledReader(text).all(); }

}  // namespace sdip
