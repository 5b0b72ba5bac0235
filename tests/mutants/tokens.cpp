// The tokens of a C++ source as clang-format leaves it.
#include "tests/mutants/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace sdip::mutants {
namespace {

constexpr std::array<std::string_view, 26> long_marks = {"<<=", ">>=", "<=>", "...", "->", "::", "++", "--", "+=",
                                                         "-=",  "*=",  "/=",  "%=",  "|=", "&=", "^=", "<<", ">>",
                                                         "<=",  ">=",  "==",  "!=",  "&&", "||", "##", ".*"};

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The end of what begins at `at` and is no token; `at` when a token begins there.
std::size_t skipped(std::string_view s, std::size_t at, bool line_begins) {
  if (is_space(s[at])) return at + 1;
  if (s.substr(at, 2) == "//") return std::min(s.size(), s.find('\n', at));
  if (s.substr(at, 2) == "/*") return s.find("*/", at) + 2;
  if (s[at] != '#' || !line_begins) return at;
  std::size_t end = s.find('\n', at);
  while (end != s.npos && s[end - 1] == '\\') end = s.find('\n', end + 1);
  return std::min(s.size(), end);
}

std::size_t quoted_end(std::string_view s, std::size_t at) {
  const char quote = s[at++];
  while (s.at(at) != quote) at += s[at] == '\\' ? 2U : 1U;
  return at + 1;
}

Token token_at(std::string_view s, std::size_t at) {
  Token t;
  t.begin = at;
  std::size_t end = at + 1;
  if (s[at] == '"' || s[at] == '\'') {
    t.kind = Kind::text;
    end = quoted_end(s, at);
  } else if (is_word(s[at])) {
    const bool number = std::isdigit(static_cast<unsigned char>(s[at])) != 0;
    t.kind = number ? Kind::number : Kind::word;
    const auto goes_on = [&](std::size_t i) {
      if (is_word(s[i])) return true;
      if (!number) return false;
      const char before = s[i - 1];
      return s[i] == '.' || s[i] == '\'' ||
             ((s[i] == '+' || s[i] == '-') && (before == 'e' || before == 'p' || before == 'E'));
    };
    while (end < s.size() && goes_on(end)) ++end;
  } else {
    const auto mark =
        std::ranges::find_if(long_marks, [&](std::string_view m) { return s.substr(at, m.size()) == m; });
    if (mark != long_marks.end()) end = at + mark->size();
  }
  t.text = s.substr(at, end - at);
  return t;
}

/// What a closing bracket closes; '\0' when the token is none.
char opener_of(const Token& t) {
  if (t.kind != Kind::mark || t.spaced) return '\0';
  return t.text == ")"                     ? '('
         : t.text == "]"                   ? '['
         : t.text == "}"                   ? '{'
         : t.text == ">" || t.text == ">>" ? '<'
                                           : '\0';
}
bool opens(const Token& t) {
  return t.kind == Kind::mark && (t.text == "(" || t.text == "[" || t.text == "{" || (t.text == "<" && !t.spaced));
}

void pair_brackets(std::vector<Token>& tokens) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Token& t = tokens[i];
    t.mate = i;
    if (i > 0 && tokens[i - 1].text == "operator") t.spaced = true;  // operator< opens nothing
    char opener = opener_of(t);
    if (t.text == "}" || t.text == ")" || t.text == "]") opener = t.text == "}" ? '{' : t.text == ")" ? '(' : '[';
    if (opener != '\0') {
      for (std::size_t closed = t.text == ">>" ? 2 : 1; closed > 0; --closed) {
        if (open.empty() || tokens[open.back()].text[0] != opener) throw std::runtime_error("brackets do not pair");
        t.mate = open.back();
        tokens[t.mate].mate = i;
        open.pop_back();
      }
    }
    t.inside = open.empty() ? nowhere : open.back();
    if (opens(t)) open.push_back(i);
  }
  if (!open.empty()) throw std::runtime_error("a bracket stays open");
}

}  // namespace

std::vector<Token> tokens_of(std::string_view s) {
  std::vector<Token> tokens;
  bool line_begins = true;
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t next = skipped(s, at, line_begins);
    if (next != at) {
      if (s.substr(at, next - at).find('\n') != s.npos) line_begins = true;
      at = next;
      continue;
    }
    line_begins = false;
    Token t = token_at(s, at);
    const auto space = [&](std::size_t i) { return i >= s.size() || is_space(s[i]); };
    t.space_before = at == 0 || is_space(s[at - 1]);
    t.spaced = t.space_before && space(t.end());
    at = t.end();
    tokens.push_back(t);
  }
  pair_brackets(tokens);
  return tokens;
}

std::string_view line_at(std::string_view s, std::size_t at) {
  const std::size_t before = at == 0 ? s.npos : s.rfind('\n', at - 1);
  std::size_t begin = before == s.npos ? 0 : before + 1, end = std::min(s.size(), s.find('\n', at));
  while (begin < end && is_space(s[begin])) ++begin;
  while (end > begin && is_space(s[end - 1])) --end;
  return s.substr(begin, end - begin);
}

}  // namespace sdip::mutants
