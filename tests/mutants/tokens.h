// The tokens of a C++ source as clang-format leaves it: spaces around an operator tell an infix one from others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sdip::mutants {

enum class Kind { word, number, text, mark };

/// `spaced`: white space on both sides, as clang-format sets infix operators. `mate`: of a bracket, the token that
/// it pairs with; of others itself. `inside`: the innermost bracket that is open here, or none.
struct Token {
  Kind kind = Kind::mark;
  std::string_view text;
  std::size_t begin = 0;
  bool spaced = false, space_before = false;
  std::size_t mate = 0;
  std::size_t inside = 0;
  std::size_t end() const { return begin + text.size(); }
};
inline constexpr std::size_t nowhere = ~std::size_t{0};

/// All but white space, comments and preprocessor lines. `<` and `>` are brackets where they are not spaced.
/// Throws std::runtime_error where brackets do not pair. `source` must outlive the tokens.
std::vector<Token> tokens_of(std::string_view source);

/// The text of the line that holds position `at`, trimmed.
std::string_view line_at(std::string_view source, std::size_t at);

}  // namespace sdip::mutants
