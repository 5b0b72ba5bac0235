// Text for people: quantities with their unit, tables with aligned columns, colour where it is wanted.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/escaped.h"

namespace sdip {

/// "8.00 MiB", "1.20 ms", "412 k cycles": three significant digits and an SI prefix for units that take one ("mm2"
/// does not), for bytes a power of 1024; "-" when not a number. A count below 1000 stands as it is.
std::string quantity_text(double value, std::string_view unit);

/// "12.3 %"
std::string share_text(double share);

/// "12.30" with two digits behind the point.
std::string fixed_text(double value, int digits);

/// "12.3" with three digits that count, "1.23e+06" where they are not enough for a number's size.
std::string significant_text(double value, int digits);

/// "1,234,567"
std::string count_text(std::int64_t value);

/// The text made printable or, when it is wider than `width` code points, its beginning and end with two dots
/// between. Requires a width of 4 at least. Example: "/down_blocks.0/conv1/Conv" in 15 is "/down_b..1/Conv".
std::string middle_cut(std::string_view text, std::size_t width);

enum class Align { left, right };
struct Column {
  std::string title;
  Align align = Align::left;
  bool elastic = false;  // gives way, from its front, when the table is wider than the terminal
};
using TextRow = std::vector<std::string>;

/// Columns two spaces apart, as wide as their widest cell, every cell made printable; on a terminal elastic columns
/// shrink to 12 at least.
void print_table(std::ostream& out, const std::vector<Column>& columns, const std::vector<TextRow>& rows,
                 bool colour);

/// A heading line, made printable.
void print_heading(std::ostream& out, std::string_view text, bool colour);

/// After an empty line, a table under its heading.
void print_section(std::ostream& out, std::string_view heading, const std::vector<Column>& columns,
                   const std::vector<TextRow>& rows, bool colour);

/// Whether the file descriptor is a terminal and NO_COLOR is not set.
bool wants_colour(int file);

/// The text between single quotes, as a shell reads it back.
std::string shell_quoted(std::string_view text);
/// The same where a shell would read it otherwise without.
std::string shell_word(std::string_view text);

/// The time now, RFC 3339 in UTC.
std::string time_text();

}  // namespace sdip
