// A line of the languages in which users say mappings and formats: a pattern, then words. Internal to its library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace sdip {

inline constexpr std::size_t most_rules = 10'000;  // of a text

struct RuleReader {
  const char* code;  // of what it throws
  std::string_view line, where;
  std::int64_t number = 0, field = 0;
  std::size_t at = 0;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(code, fmt::format("{}:{}", where, number),
                fmt::format("{}:{}: field {}: {}", where, number, field, what));
  }
  void skip_blanks() {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r')) ++at;
    if (at < line.size() && line[at] == '#') at = line.size();
  }
  bool done() {
    skip_blanks();
    return at == line.size();
  }
  /// The text between quotes, escapes kept.
  std::string pattern() {
    ++field;
    if (line[at] != '"') refuse("expected a pattern in double quotes");
    std::string text;
    for (++at; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\') {
        text += line[at++];
        if (at == line.size() || std::string_view("*\"\\").find(line[at]) == std::string_view::npos)
          refuse("a backslash stands before *, \" or another backslash");
      }
      text += line[at];
    }
    if (at == line.size()) refuse("the pattern has no closing quote");
    ++at;
    if (text.empty()) refuse("the pattern is empty");
    return text;
  }
  std::string_view word() {
    ++field;
    const std::size_t begin = at;
    while (at < line.size() && line[at] != ' ' && line[at] != '\t' && line[at] != '\r') ++at;
    return line.substr(begin, at - begin);
  }
};

/// Rules of a text, which `parse` reads from a line each; blank lines and comments are none.
template <class Rule>
std::vector<Rule> parse_rules(const char* code, std::string_view text, std::string_view where,
                              Rule (*parse)(RuleReader& reader)) {
  std::vector<Rule> rules;
  std::int64_t number = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    RuleReader reader{code, text.substr(from, end - from), where, ++number};
    from = end + 1;
    if (reader.done()) continue;
    rules.push_back(parse(reader));
    if (rules.size() > most_rules) reader.refuse(fmt::format("more than {} rules", most_rules));
  }
  return rules;
}

}  // namespace sdip
