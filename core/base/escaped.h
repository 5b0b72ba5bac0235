// Text that others chose, made safe to put into an output: one function for each kind of output.
#pragma once

#include <string>
#include <string_view>

namespace sdip {

/// For terminals and logs: control characters (C0, C1, DEL), line and paragraph separators, bidirectional marks,
/// overrides and isolates, other invisible characters, and bytes that are no UTF-8 become visible escapes: "\x1b",
/// "\u202e", "\xff".
std::string printable(std::string_view text);

/// A cell of a CSV file, quoted where RFC 4180 asks for it. One that a spreadsheet would run as a formula (it
/// begins with = + - @ tab or carriage return, and is no number) gets an apostrophe before it.
std::string csv_cell(std::string_view text);

/// Text of an HTML element or of a quoted attribute. Control characters become visible, as `printable` has them.
std::string html_text(std::string_view text);

/// Text of a LaTeX paragraph or table cell: every character with a meaning stands for itself.
std::string latex_text(std::string_view text);

/// Text of a Markdown paragraph or table cell: no markup, no HTML, no new line.
std::string markdown_text(std::string_view text);

/// JSON (which may hold any text) of which no terminal or viewer sees a control character or a bidirectional one:
/// they become \uXXXX, which reads back as the same text. Requires valid JSON without line breaks in strings.
std::string visible_json(std::string json);

}  // namespace sdip
