// Where expressions, statements and what must stay constant begin and end in a source.
#include "tests/mutants/reading.h"

#include <algorithm>

namespace sdip::mutants {
namespace {

const std::initializer_list<std::string_view> assignments = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^="};
const std::initializer_list<std::string_view> words_before_values = {"return", "else", "throw", "case"};
const std::initializer_list<std::string_view> words_of_statements = {
    "return",   "if",      "for",    "while",    "do",        "switch",    "case",
    "default",  "const",   "static", "auto",     "else",      "constexpr", "using",
    "try",      "catch",   "throw",  "class",    "struct",    "enum",      "public",
    "template", "private", "friend", "explicit", "namespace", "inline",    "static_assert"};

/// Its arguments may be anything, names of members, too.
bool is_macro(std::string_view name) {
  return name.size() > 1 && std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool opens(std::string_view text) { return text == "(" || text == "[" || text == "{" || text == "<"; }

}  // namespace

Reading::Reading(std::string_view source)
    : source_(source), tokens_(tokens_of(source)), alone_(tokens_.size(), false) {
  find_constants();
}

bool Reading::any_of(std::size_t i, std::initializer_list<std::string_view> texts) const {
  return i < size() && std::ranges::find(texts, tokens_[i].text) != texts.end();
}

std::string Reading::text_of(Range range) const {
  if (range.empty()) return {};
  const std::size_t begin = tokens_[range.first].begin;
  std::string text;
  for (const char c : source_.substr(begin, tokens_[range.last - 1].end() - begin)) {
    const bool space = c == ' ' || c == '\n';
    if (!space || text.empty() || text.back() != ' ') text += space ? ' ' : c;
  }
  return text;
}

void Reading::leave(Range range, std::string_view reason) {
  bool said = false;
  for (std::size_t i = range.first; i < range.last && i < size(); ++i) {
    const bool mutable_token =
        tokens_[i].kind == Kind::number ||
        (tokens_[i].kind == Kind::mark && tokens_[i].spaced && !any_of(i, {"=", "{", ";", ":", "?"}));
    if (!alone_[i] && mutable_token && !said) {
      reasons_.push_back({std::string(line_of(i)), std::string(reason)});
      said = true;
    }
    alone_[i] = true;
  }
}

/// Declarations of constants, template arguments, enumerations, cases; and checks and hints of size, whose change
/// no result can show.
void Reading::find_constants() {
  for (std::size_t i = 0; i < size(); ++i) {
    const auto to = [&](std::string_view end) {
      std::size_t j = i;
      while (j < size() && !is(j, end))
        j = opens(tokens_[j].text) && tokens_[j].mate > j ? tokens_[j].mate + 1 : j + 1;
      return Range{i, j};
    };
    if (is(i, "<") && tokens_[i].mate != i) leave({i, tokens_[i].mate + 1}, "a template's argument is a constant");
    if (any_of(i, {"static_assert", "using", "typedef", "enum", "friend"}))
      leave(to(";"), "a declaration, no arithmetic at run time");
    if (is(i, "case")) leave(to(":"), "a case is a constant");
    if (is(i, "check") && is(i + 1, "("))
      leave({i, tokens_[i + 1].mate + 1}, "a check against our own bugs decides nothing");
    if (is(i, "reserve") && is(i + 1, "(")) leave({i, tokens_[i + 1].mate + 1}, "a hint of size changes no result");
    if (!is(i, "constexpr")) continue;
    std::size_t j = i + 1;
    while (j < size() && !any_of(j, {"(", "=", "{", ";", "["})) j = is(j, "<") ? tokens_[j].mate + 1 : j + 1;
    if (!is(j, "(")) leave(to(";"), "the compiler needs the constant");
  }
}

bool Reading::operand_stops(std::size_t i) const {
  return any_of(i, {";", ",", "?", ":"}) || any_of(i, assignments) || any_of(i, words_before_values);
}

Range Reading::left_operand(std::size_t i) const {
  std::size_t j = i;
  while (j > 0) {
    const std::size_t before = tokens_[j - 1].mate < j - 1 ? tokens_[j - 1].mate : j - 1;
    if (before == j - 1 && (opens(tokens_[before].text) && tokens_[before].mate != before)) break;
    if (operand_stops(before) || (is(i, "&&") && is(before, "||"))) break;
    j = before;
  }
  return {j, i};
}

Range Reading::right_operand(std::size_t i) const {
  std::size_t j = i + 1;
  while (j < size()) {
    if (tokens_[j].mate < j || operand_stops(j)) break;
    if (tokens_[j].spaced && (is(j, "||") || (is(i, "&&") && is(j, "&&")))) break;
    j = std::max(j, tokens_[j].mate) + 1;
  }
  return {i + 1, j};
}

Range Reading::prefix_operand(std::size_t i) const {
  std::size_t j = i + 1;
  if (is(j, "(")) j = tokens_[j].mate + 1;
  while (j < size()) {
    const bool bracket = any_of(j, {"(", "["}) || (is(j, "<") && tokens_[j].mate > j);
    if (bracket)
      j = tokens_[j].mate + 1;
    else if (any_of(j, {"::", ".", "->"}) || (word(j) && !tokens_[j].space_before) || j == i + 1)
      ++j;
    else
      break;
  }
  return {i + 1, j};
}

Range Reading::expression(std::size_t first) const {
  std::size_t j = first;
  while (j < size() && tokens_[j].mate >= j && !any_of(j, {",", ";"})) j = tokens_[j].mate + 1;
  return {first, j};
}

std::vector<Range> Reading::parts(std::size_t open) const {
  std::vector<Range> found;
  const std::size_t close = tokens_[open].mate;
  std::size_t first = open + 1;
  for (std::size_t j = open + 1; j <= close; ++j) {
    if (j == close || is(j, ",")) {
      if (first < j) found.push_back({first, j});
      first = j + 1;
    } else if (tokens_[j].mate > j) {
      j = tokens_[j].mate;
    }
  }
  return found;
}

Range Reading::statement(std::size_t i) const {
  const std::size_t block = tokens_[i].inside;
  if (i == 0 || block == nowhere || !is(block, "{") || alone_[i]) return {};
  if (block >= 2 && any_of(block - 2, {"struct", "class"})) return {};
  bool begins = any_of(i - 1, {";", "{", "}", "else"});
  if (is(i - 1, ")")) begins = any_of(tokens_[i - 1].mate - 1, {"if", "for", "while"});
  if (!begins || any_of(i, words_of_statements)) return {};
  if (!word(i) && !any_of(i, {"++", "--", "*", "("})) return {};
  std::size_t j = i;
  while (j < size() && !is(j, ";")) {
    if (tokens_[j].mate < j) return {};
    if (is(j, ":") && tokens_[j].mate == j) return {};
    if (is(j, "=") && any_of(j + 1, {"default", "delete"})) return {};
    if (word(j) && word(j + 1)) return {};
    const bool declarator = any_of(j, {"&", "*", "&&"}) && !tokens_[j].spaced && j > i;
    if ((declarator || (is(j, "<") && tokens_[j].mate > j)) && word((declarator ? j : tokens_[j].mate) + 1))
      return {};
    j = tokens_[j].mate + 1;
  }
  return {i, j + 1};
}

bool Reading::declares(Range range) const {
  for (std::size_t j = range.first; j < range.last; ++j) {
    if (is(j, "const")) return true;
    const bool star = any_of(j, {"&", "*", "&&"}) && !tokens_[j].space_before && j > range.first;
    if (star && (word(j - 1) || is(j - 1, ">"))) return true;
    const bool next = j + 1 < range.last && word(j + 1);
    if (next && (word(j) || (is(j, ">") && tokens_[j].mate != j))) return true;
    if (tokens_[j].mate > j && !is(j, "<")) j = tokens_[j].mate;
  }
  return false;
}

bool Reading::decides(Range range) const {
  for (std::size_t j = range.first; j < range.last; ++j)
    if (is(j, "!") || is(j, "=") ||
        (tokens_[j].spaced && any_of(j, {"<", "<=", ">", ">=", "==", "!=", "&&", "||"})))
      return true;
  return false;
}

bool Reading::plain(Range range) const {
  const Token& t = tokens_[range.first];
  if (t.text == "{" || t.text == "[" || t.text == ".") return true;
  if (range.last != range.first + 1) return false;
  return t.kind == Kind::number || t.kind == Kind::text ||
         any_of(range.first, {"true", "false", "nullptr", "this"});
}

bool Reading::is_call(std::size_t open) const {
  if (open == 0 || !is(open, "(")) return false;
  if (is(open + 1, "*") && is(tokens_[open].mate + 1, "(")) return false;  // declares a pointer to a function
  std::size_t name = open - 1;
  if (is(name, ">") && tokens_[name].mate != name) name = tokens_[name].mate - 1;
  if (!word(name) || is_macro(tokens_[name].text)) return false;
  if (any_of(name, {"if", "for", "while", "switch", "return", "catch", "sizeof", "decltype", "static_cast", "move",
                    "exchange", "swap", "operator", "explicit", "constexpr", "__builtin_convertvector"}))
    return false;
  std::size_t begin = name;
  while (begin >= 2 && any_of(begin - 1, {"::", ".", "->"})) {
    begin -= 2;
    while (begin > 0 && (tokens_[begin].mate < begin)) begin = tokens_[begin].mate - 1;
  }
  if (begin == 0) return true;
  if (word(begin - 1) && !any_of(begin - 1, words_before_values)) return false;
  if (any_of(begin - 1, {"&", "*"}) && !tokens_[begin - 1].spaced) return false;
  return !(is(begin - 1, ">") && tokens_[begin - 1].mate != begin - 1);
}

bool Reading::returns_reference(std::size_t i) const {
  for (std::size_t open = tokens_[i].inside; open != nowhere && open > 0; open = tokens_[open].inside) {
    std::size_t close = open - 1;
    while (close > 0 && any_of(close, {"const", "noexcept", "override"})) --close;
    if (!is(open, "{") || !is(close, ")") || tokens_[close].mate == 0) continue;
    std::size_t name = tokens_[close].mate - 1;
    if (any_of(name, {"if", "for", "while", "switch", "catch", "constexpr"})) continue;
    if (is(name, "]") && !is(tokens_[name].mate - 1, "operator")) return false;  // a lambda
    while (name > 0 && !word(name)) --name;                                      // operator[] and its like
    while (name >= 2 && is(name - 1, "::")) name -= 2;
    return name > 0 && any_of(name - 1, {"&", "&&"}) && !tokens_[name - 1].spaced;
  }
  return false;
}

bool Reading::is_list(std::size_t open) const {
  if (open == 0 || !is(open, "{") || any_of(open - 1, {"else", "do", "try", "const", ")", "]", ";", "}", ":"}))
    return false;
  for (std::size_t j = open + 1; j < tokens_[open].mate; ++j) {
    if (is(j, ";")) return false;
    if (tokens_[j].mate > j) j = tokens_[j].mate;
  }
  return true;
}

}  // namespace sdip::mutants
