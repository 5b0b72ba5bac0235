// Escaping, by kind of output.
#include "core/base/escaped.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace sdip {
namespace {

/// One character of UTF-8, or one byte that is none.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i]));
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + bytes > text.size()) return {first, 1, false};
  std::uint32_t code = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {first, 1, false};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = code >= least[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return valid ? Character{code, bytes, true} : Character{first, 1, false};
}

struct Range {
  std::uint32_t first, last;
};
/// Unicode 15: general categories Cc, Zl, Zp, and those of Cf that change order or cannot be seen
/// (https://www.unicode.org/reports/tr9/, https://www.unicode.org/reports/tr36/).
constexpr Range unseen[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                            {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                            {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

bool is_unseen(std::uint32_t code) {
  return std::ranges::any_of(unseen, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

std::string hex_text(std::uint32_t code, int digits) { return fmt::format("{:0{}x}", code, digits); }

std::string escape_of(const Character& c) {
  if (!c.valid || c.code < 0x80) return "\\x" + hex_text(c.code, 2);
  return c.code > 0xffff ? "\\U" + hex_text(c.code, 8) : "\\u" + hex_text(c.code, 4);
}

struct Instead {
  char of;
  std::string_view text;
};
/// ASCII characters that stand for others as the table has them, others as printable has them.
std::string escaped(std::string_view text, std::span<const Instead> instead) {
  std::string result;
  for (const char c : printable(text)) {
    const auto found = std::ranges::find(instead, c, &Instead::of);
    result += found == instead.end() ? std::string_view(&c, 1) : found->text;
  }
  return result;
}

bool is_number(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t at = text[0] == '+' || text[0] == '-' ? 1 : 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && digit(text[at])) ++at;
    return at > from;
  };
  bool found = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    found = digits() || found;
  }
  if (found && at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    found = digits();
  }
  return found && at == text.size();
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (!c.valid || is_unseen(c.code))
      result += escape_of(c);
    else
      result += text.substr(at, c.bytes);
    at += c.bytes;
  }
  return result;
}

std::string csv_cell(std::string_view text) {
  std::string safe(text);
  constexpr std::string_view starts = "=+-@\t\r";
  if (!safe.empty() && starts.find(safe[0]) != std::string_view::npos && !is_number(safe)) safe.insert(0, 1, '\'');
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string html_text(std::string_view text) {
  constexpr Instead instead[] = {{'&', "&amp;"},  {'<', "&lt;"},   {'>', "&gt;"},
                                 {'"', "&quot;"}, {'\'', "&#39;"}, {'`', "&#96;"}};
  return escaped(text, instead);
}

std::string latex_text(std::string_view text) {
  constexpr Instead instead[] = {{'\\', "\\textbackslash{}"},
                                 {'{', "\\{"},
                                 {'}', "\\}"},
                                 {'$', "\\$"},
                                 {'&', "\\&"},
                                 {'#', "\\#"},
                                 {'%', "\\%"},
                                 {'_', "\\_"},
                                 {'^', "\\textasciicircum{}"},
                                 {'~', "\\textasciitilde{}"},
                                 {'<', "\\textless{}"},
                                 {'>', "\\textgreater{}"},
                                 {'"', "\\textquotedbl{}"},
                                 {'`', "\\textasciigrave{}"},
                                 {'\'', "\\textquotesingle{}"},
                                 {'-', "{-}"}};
  return escaped(text, instead);
}

std::string markdown_text(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    constexpr std::string_view marks = "\\`*_{}[]()#+-.!|~:@=$^";
    if (c == '&' || c == '<' || c == '>')
      result += html_text(std::string_view(&c, 1));
    else if (marks.find(c) != std::string_view::npos)
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result;
}

std::string visible_json(std::string json) {
  const auto suspect = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || byte >= 0xc2;
  };
  if (std::ranges::none_of(json, suspect)) return json;
  std::string result;
  result.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const Character c = character_at(json, at);
    if (c.code < 0x7f || !c.valid || !is_unseen(c.code)) {
      result.append(json, at, c.bytes);
    } else if (c.code > 0xffff) {
      const std::uint32_t rest = c.code - 0x10000;
      result += "\\u" + hex_text(0xd800 + (rest >> 10), 4) + "\\u" + hex_text(0xdc00 + (rest & 0x3ff), 4);
    } else {
      result += "\\u" + hex_text(c.code, 4);
    }
    at += c.bytes;
  }
  return result;
}

}  // namespace sdip
