// Formatting for terminals.
#include "server/io/text.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "core/base/index.h"

namespace sdip {
namespace {

constexpr std::array<std::string_view, 9> prefixes = {"n", "u", "m", "", "k", "M", "G", "T", "P"};
constexpr int no_prefix = 3;
constexpr std::array<std::string_view, 6> byte_units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

/// Three that count; what is far below a millionth with its power of ten.
std::string digits(double value) {
  const double size = std::fabs(value);
  if (size != 0 && size < 1e-6) return fmt::format("{:.2e}", value);
  int decimals = size == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  for (double least = 0.09995; decimals >= 3 && size < least; least /= 10) ++decimals;
  return fixed_text(value, decimals);
}

/// Terminal columns of UTF-8 text: its code points.
std::size_t width_of(std::string_view text) {
  return as_size(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void print_cell(std::ostream& out, std::string_view cell, std::size_t width, Align align, bool last) {
  const std::string padding(width - std::min(width, width_of(cell)), ' ');
  if (align == Align::right)
    out << padding << cell;
  else
    out << cell << (last ? "" : padding);
}

/// Width of the terminal on standard output; 0 when it is none.
std::size_t terminal_columns() {
  winsize size{};
  return ::isatty(1) && ::ioctl(1, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// Takes what a table has too much from its elastic columns.
void fit(const std::vector<Column>& columns, std::size_t terminal, std::vector<std::size_t>& widths) {
  constexpr std::size_t least = 12;
  std::size_t total = 0;
  for (const std::size_t width : widths) total += width + 2;
  for (std::size_t i = 0; i < columns.size() && terminal > 0; ++i) {
    if (!columns[i].elastic || total <= terminal || widths[i] <= least) continue;
    const std::size_t taken = std::min(total - terminal, widths[i] - least);
    widths[i] -= taken;
    total -= taken;
  }
}

/// The text, or its last `width` - 2 code points behind two dots: of a node's path the end tells most.
std::string ending_of(const std::string& text, std::size_t width) {
  std::size_t drop = width_of(text) > width ? width_of(text) - width + 2 : 0;
  if (drop == 0) return text;
  std::size_t at = 0;
  while (drop > 0 && at < text.size()) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    --drop;
  }
  return ".." + text.substr(at);
}

}  // namespace

std::string quantity_text(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "-";
  const bool whole = value == std::floor(value) && std::fabs(value) < 1000;
  const std::string suffix = unit.empty() ? "" : " " + std::string(unit);
  if (whole) return digits(value + 0.0).substr(0, digits(value).find('.')) + suffix;
  if (unit == "B") {  // powers of two, as capacities are given and as the dashboard shows them
    std::size_t step = 0;
    for (; std::fabs(value) >= 1023.5 && step + 1 < byte_units.size(); ++step) value /= 1024;
    return digits(value) + " " + std::string(byte_units[step]);
  }
  const bool scales = unit == "s" || unit == "J" || unit == "W" || unit == "cycles" || unit == "MAC" ||
                      unit == "Hz" || unit == "J*s";
  if (!scales) return (std::fabs(value) < 1e6 ? digits(value) : count_text(std::llround(value))) + suffix;
  int prefix = no_prefix;
  for (; std::fabs(value) >= 999.5 && prefix + 1 < static_cast<int>(prefixes.size()); ++prefix) value /= 1000;
  for (; std::fabs(value) < 0.9995 && prefix > 0; --prefix) value *= 1000;
  const bool word = unit.size() > 1 && unit != "Hz" && unit != "J*s";  // "412 k cycles", but "412 ks"
  return fmt::format("{} {}{}{}", digits(value), prefixes[at(prefix)], word && prefix != no_prefix ? " " : "",
                     unit);
}

std::string share_text(double share) {
  if (!std::isfinite(share)) return "-";
  return fmt::format("{:.1f} %", share * 100);
}

std::string fixed_text(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

std::string significant_text(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

std::string count_text(std::int64_t value) {
  std::string text = std::to_string(value < 0 ? -value : value);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return (value < 0 ? "-" : "") + text;
}

std::string middle_cut(std::string_view text, std::size_t width) {
  std::string whole = printable(text);
  const std::size_t wide = width_of(whole);
  if (wide <= width) return whole;
  const std::size_t kept = width - 2, front = kept - kept / 2;
  const auto byte_of = [&](std::size_t point) {  // where the code point of this number begins
    std::size_t at = 0;
    for (; at < whole.size(); ++at)
      if ((static_cast<unsigned char>(whole[at]) & 0xc0) != 0x80 && point-- == 0) break;
    return at;
  };
  return whole.substr(0, byte_of(front)) + ".." + whole.substr(byte_of(wide - kept / 2));
}

void print_table(std::ostream& out, const std::vector<Column>& columns_given,
                 const std::vector<TextRow>& rows_given, bool colour) {
  // Whatever stands in a cell may be a name from a model.
  std::vector<Column> columns = columns_given;
  std::vector<TextRow> rows = rows_given;
  for (auto& column : columns) column.title = printable(column.title);
  for (auto& row : rows)
    for (auto& cell : row) cell = printable(cell);
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = width_of(columns[i].title);
    for (const auto& row : rows) width = std::max(width, width_of(row[i]));
    widths.push_back(width);
  }
  fit(columns, terminal_columns(), widths);
  const auto print = [&](const auto& cell_of) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      out << "  ";
      print_cell(out, ending_of(cell_of(i), widths[i]), widths[i], columns[i].align, i + 1 == columns.size());
    }
    out << "\n";
  };
  const bool titled = std::ranges::any_of(columns, [](const Column& column) { return !column.title.empty(); });
  if (titled) {
    if (colour) out << "\x1b[2m";
    print([&](std::size_t i) -> const std::string& { return columns[i].title; });
    if (colour) out << "\x1b[0m";
  }
  for (const auto& row : rows) print([&](std::size_t i) -> const std::string& { return row[i]; });
}

void print_heading(std::ostream& out, std::string_view text, bool colour) {
  out << (colour ? "\x1b[1m" : "") << printable(text) << (colour ? "\x1b[0m" : "") << "\n";
}

void print_section(std::ostream& out, std::string_view heading, const std::vector<Column>& columns,
                   const std::vector<TextRow>& rows, bool colour) {
  out << "\n";
  print_heading(out, heading, colour);
  print_table(out, columns, rows, colour);
}

bool wants_colour(int file) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(file) == 1 && !(no_colour && *no_colour) && !(terminal && std::string_view(terminal) == "dumb");
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=:+@%";
  const bool is_plain = !text.empty() && text.find_first_not_of(plain) == std::string_view::npos;
  return is_plain ? std::string(text) : shell_quoted(text);
}

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace sdip
