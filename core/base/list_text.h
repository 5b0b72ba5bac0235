// Texts of a list's items, one behind the other.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sdip {

/// Example: list_text(numbers, digits) is "1, 2, 3". Without `text_of` the items are texts.
template <class List, class Text = std::identity>
std::string list_text(const List& list, const Text& text_of = {}, std::string_view between = ", ") {
  std::string text;
  std::string_view before;
  for (const auto& item : list) {
    text.append(before).append(text_of(item));
    before = between;
  }
  return text;
}

}  // namespace sdip
