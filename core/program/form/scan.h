// One line of a `.graph` text, read from its front. Internal to its library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sdip {

/// Reads pieces of a line. Every method throws Error("graph_text_invalid", "line N", what was expected and what
/// stands there).
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t line) : text_(text), line_(line) {}

  void skip_spaces();
  bool at_end() const { return at_ == text_.size(); }
  char next() const { return at_end() ? '\0' : text_[at_]; }
  /// Takes `piece` if it stands here.
  bool accept(std::string_view piece);
  void expect(std::string_view piece);
  /// Letters, digits, '_', '-', '.', '/', '+': an operation, a key, a label behind its '%'. Not empty.
  std::string_view word(std::string_view what);
  std::int64_t number(std::string_view what);
  std::int64_t number(std::string_view what, std::int64_t least, std::int64_t most);
  double real(std::string_view what);
  /// "..." with its escapes undone, see `quoted`.
  std::string quoted(std::string_view what);
  /// A field's value: up to the next space that is in no quotes or braces.
  std::string_view value(std::string_view what);

  std::size_t line() const { return line_; }
  [[noreturn]] void refuse(std::string_view what) const;

 private:
  std::string_view text_;
  std::size_t line_, at_ = 0;
};

/// A name in quotes. Quotes and backslashes get a backslash, what a terminal obeys or nobody sees is escaped.
std::string quoted(std::string_view name);

/// The shortest decimals that read back as the same number, with a '.', an 'e' or letters, so that no integer looks
/// the same.
std::string real_text(double number);

/// Throws Error("graph_inconsistent", "line N", message).
[[noreturn]] void refuse_line(std::size_t line, const std::string& message);

}  // namespace sdip
