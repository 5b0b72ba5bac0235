// Where expressions, statements and what must stay constant begin and end in a source.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/mutants/tokens.h"

namespace sdip::mutants {

/// Tokens first .. last - 1.
struct Range {
  std::size_t first = 0, last = 0;
  bool empty() const { return first >= last; }
};

/// Code that is left as it is.
struct LeftAlone {
  std::string line, reason;
};

class Reading {
 public:
  /// `source` must outlive it.
  explicit Reading(std::string_view source);

  std::string_view source() const { return source_; }
  const std::vector<Token>& tokens() const { return tokens_; }
  const Token& operator[](std::size_t i) const { return tokens_[i]; }
  std::size_t size() const { return tokens_.size(); }
  bool is(std::size_t i, std::string_view text) const { return i < size() && tokens_[i].text == text; }
  bool any_of(std::size_t i, std::initializer_list<std::string_view> texts) const;
  bool word(std::size_t i) const { return i < size() && tokens_[i].kind == Kind::word; }
  bool infix(std::size_t i) const { return tokens_[i].spaced && i > 0 && !is(i - 1, "operator"); }
  /// True for what stands in a constant expression, a template's arguments, a check or a hint of size.
  bool left_alone(std::size_t i) const { return alone_[i]; }
  const std::vector<LeftAlone>& all_left_alone() const { return reasons_; }
  std::string text_of(Range range) const;
  std::string_view line_of(std::size_t i) const { return line_at(source_, tokens_[i].begin); }

  /// The left operand of a logical or conditional operator at `i`, the right one of a logical operator.
  Range left_operand(std::size_t i) const;
  Range right_operand(std::size_t i) const;
  /// What a prefix operator at `i` applies to.
  Range prefix_operand(std::size_t i) const;
  /// From `first` to the `,`, `;` or closing bracket that ends the expression.
  Range expression(std::size_t first) const;
  /// The parts between the commas of a bracket.
  std::vector<Range> parts(std::size_t open) const;
  /// The statement that begins at `i`, its `;` included; empty when none that could be left out does.
  Range statement(std::size_t i) const;

  /// True where it holds declarations, not values.
  bool declares(Range range) const;
  /// True where it holds an operator whose mutants would be those of the whole.
  bool decides(Range range) const;
  /// A number, text, true, false, nullptr or this alone; or what begins as a braced list or a lambda does.
  bool plain(Range range) const;
  /// True for the bracket of a call's arguments, of those that may be changed.
  bool is_call(std::size_t open) const;
  /// True where the innermost function around `i` returns a reference.
  bool returns_reference(std::size_t i) const;
  /// True for a braced list of values.
  bool is_list(std::size_t open) const;

 private:
  void leave(Range range, std::string_view reason);
  void find_constants();
  bool operand_stops(std::size_t i) const;

  std::string_view source_;
  std::vector<Token> tokens_;
  std::vector<bool> alone_;
  std::vector<LeftAlone> reasons_;
};

}  // namespace sdip::mutants
