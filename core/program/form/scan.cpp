// Reading one line of a `.graph` text.
#include "core/program/form/scan.h"

#include <charconv>

#include "core/base/error.h"
#include "core/base/escaped.h"
#include "core/base/index.h"

namespace sdip {
namespace {

constexpr std::size_t most_shown = 40;  // of what stands there, in an error

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
         c == '.' || c == '/' || c == '+';
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6), tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | code >> 12), tail(6), tail(0);
  } else {
    text += static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0);
  }
}

}  // namespace

void Scanner::refuse(std::string_view what) const {
  const std::string found(text_.substr(at_, most_shown));
  throw Error("graph_text_invalid", "line " + std::to_string(line_),
              fmt::format("line {}, column {}: expected {}, found {}", line_, at_ + 1, what,
                          found.empty() ? "the end of the line" : "'" + found + "'"));
}

void refuse_line(std::size_t line, const std::string& message) {
  throw Error("graph_inconsistent", "line " + std::to_string(line), fmt::format("line {}: {}", line, message));
}

void Scanner::skip_spaces() {
  while (!at_end() && text_[at_] == ' ') ++at_;
}

bool Scanner::accept(std::string_view piece) {
  if (!text_.substr(at_).starts_with(piece)) return false;
  at_ += piece.size();
  return true;
}

void Scanner::expect(std::string_view piece) {
  if (!accept(piece)) refuse(fmt::format("'{}'", piece));
}

std::string_view Scanner::word(std::string_view what) {
  const std::size_t from = at_;
  while (!at_end() && is_word(text_[at_])) ++at_;
  if (at_ == from) refuse(what);
  return text_.substr(from, at_ - from);
}

std::int64_t Scanner::number(std::string_view what) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
  if (problem != std::errc()) refuse(std::string(what) + ", an integer of 64 bits");
  at_ = as_size(end - text_.data());
  return number;
}

std::int64_t Scanner::number(std::string_view what, std::int64_t least, std::int64_t most) {
  const std::size_t from = at_;
  const std::int64_t found = number(what);
  if (found >= least && found <= most) return found;
  at_ = from;
  refuse(fmt::format("{}, {} to {}", what, least, most));
}

double Scanner::real(std::string_view what) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
  if (problem != std::errc()) refuse(std::string(what) + ", a number");
  at_ = as_size(end - text_.data());
  return number;
}

std::string Scanner::quoted(std::string_view what) {
  if (!accept("\"")) refuse(std::string(what) + " in quotes");
  std::string text;
  while (!accept("\"")) {
    if (at_end()) refuse("a closing quote");
    const char c = text_[at_++];
    if (c != '\\') {
      text += c;
      continue;
    }
    const char kind = next();
    const int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0 && kind != '"' && kind != '\\') refuse("one of \\\" \\\\ \\x \\u \\U");
    ++at_;
    if (digits == 0) {
      text += kind;
      continue;
    }
    std::uint32_t code = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const int digit = hex_digit(next());
      if (digit < 0) refuse("a hexadecimal digit, 0 to 9 or a to f");
      code = code << 4 | static_cast<std::uint32_t>(digit);
    }
    if (kind != 'x' && (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))) refuse("a character of Unicode");
    if (kind == 'x')
      text += static_cast<char>(code);
    else
      append_utf8(text, code);
  }
  return text;
}

std::string_view Scanner::value(std::string_view what) {
  const std::size_t from = at_;
  int depth = 0;
  bool in_quotes = false;
  for (; !at_end(); ++at_) {
    const char c = text_[at_];
    if (in_quotes && c == '\\' && at_ + 1 < text_.size()) {
      ++at_;
      continue;
    }
    if (c == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (depth < 0 || (c == ' ' && depth == 0)) break;
  }
  if (in_quotes || depth > 0) refuse(in_quotes ? "a closing quote" : "a closing brace");
  if (at_ == from) refuse(what);
  return text_.substr(from, at_ - from);
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return printable(text) + "\"";
}

std::string real_text(double number) {
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

}  // namespace sdip
