// Tables of points as CSV, JSON, Markdown and LaTeX.
#include "db/export_text.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/escaped.h"

namespace sdip {
namespace {

using TableColumns = std::span<const ExportColumn>;
using TableCells = std::span<const ExportCell>;
using Kind = ExportCell::Kind;

std::string json_quoted(std::string_view text) {
  return visible_json(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string titled(const ExportColumn& column) {
  return column.unit.empty() ? column.name : column.name + " [" + column.unit + "]";
}

std::string nothing_after(const std::string&) { return ""; }

std::string csv_head(TableColumns columns, const std::string&) {
  std::string line;
  for (const ExportColumn& column : columns) line += (line.empty() ? "" : ",") + csv_cell(titled(column));
  return line + "\n";
}

void csv_line(TableColumns, TableCells cells, bool, std::string& text) {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) text += ',';
    if (cells[c].kind == Kind::text)
      text += csv_cell(cells[c].text);
    else
      text += cells[c].text;
  }
  text += '\n';
}

void add_object(TableColumns columns, TableCells cells, std::string& text) {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const ExportCell& cell = cells[c];
    text += (c == 0 ? "{" : ",") + json_quoted(columns[c].name) + ":";
    if (cell.kind == Kind::nothing)
      text += "null";
    else if (cell.kind == Kind::text)
      text += json_quoted(cell.text);
    else if (cell.kind == Kind::flag)
      text += cell.text == "1" ? "true" : "false";
    else
      text += cell.text;
  }
  text += '}';
}

std::string ndjson_head(TableColumns, const std::string&) { return ""; }

void ndjson_line(TableColumns columns, TableCells cells, bool, std::string& text) {
  add_object(columns, cells, text);
  text += '\n';
}

std::string json_head(TableColumns columns, const std::string& manifest_json) {
  std::string text = "{\"manifest\":" + (manifest_json.empty() ? "null" : manifest_json) + ",\n\"columns\":[";
  for (std::size_t c = 0; c < columns.size(); ++c)
    text += fmt::format("{}{},\"unit\":{}}}", c > 0 ? ",{\"name\":" : "{\"name\":", json_quoted(columns[c].name),
                        json_quoted(columns[c].unit));
  return text + "],\n\"points\":[";
}

void json_line(TableColumns columns, TableCells cells, bool first, std::string& text) {
  text += first ? "\n" : ",\n";
  add_object(columns, cells, text);
}

std::string json_tail(const std::string&) { return "\n]}\n"; }

/// A number for people, of six significant digits; whole ones as they are.
std::string rounded(const std::string& text) {
  if (text.find_first_of(".e") == std::string::npos) return text;
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return text;
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 6).ptr};
}

std::string markdown_head(TableColumns columns, const std::string&) {
  std::string names = "|", rule = "|";
  for (const ExportColumn& column : columns) {
    names += " " + markdown_text(titled(column)) + " |";
    rule += column.number ? " ---: |" : " --- |";
  }
  return names + "\n" + rule + "\n";
}

void markdown_line(TableColumns, TableCells cells, bool, std::string& text) {
  text += '|';
  for (const ExportCell& cell : cells)
    text += " " + (cell.kind == Kind::number ? rounded(cell.text) : markdown_text(cell.text)) + " |";
  text += '\n';
}

/// JSON of several lines; none of them begins with a fence.
std::string spread(const std::string& manifest_json) {
  return visible_json(
      nlohmann::ordered_json::parse(manifest_json).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string markdown_tail(const std::string& manifest_json) {
  return manifest_json.empty() ? "" : "\n```json\n" + spread(manifest_json) + "\n```\n";
}

std::string latex_head(TableColumns columns, const std::string& manifest_json) {
  std::string text = "% \\usepackage{booktabs}\n", names;
  if (!manifest_json.empty()) {
    text += "% ";
    for (const char c : spread(manifest_json)) text += c == '\n' ? std::string("\n% ") : std::string(1, c);
    text += '\n';
  }
  text += "\\begin{tabular}{";
  for (const ExportColumn& column : columns) {
    text += column.number ? 'r' : 'l';
    names += (names.empty() ? "" : " & ") + latex_text(titled(column));
  }
  return text + "}\n\\toprule\n" + names + " \\\\\n\\midrule\n";
}

std::string latex_number(const std::string& text) {
  const std::string number = rounded(text);
  const auto exponent = number.find('e');
  if (exponent == std::string::npos) return number.starts_with('-') ? "$" + number + "$" : number;
  const std::string sign = number[exponent + 1] == '-' ? "-" : "";
  std::string power = number.substr(exponent + 2);
  power.erase(0, std::min(power.find_first_not_of('0'), power.size() - 1));
  return fmt::format("${} \\times 10^{{{}{}}}$", number.substr(0, exponent), sign, power);
}

void latex_line(TableColumns, TableCells cells, bool, std::string& text) {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) text += " & ";
    text += cells[c].kind == Kind::number ? latex_number(cells[c].text) : latex_text(cells[c].text);
  }
  text += " \\\\\n";
}

std::string latex_tail(const std::string&) { return "\\bottomrule\n\\end{tabular}\n"; }

constexpr TextFormat text_formats[] = {
    {ExportFormat::csv, csv_head, csv_line, nothing_after},
    {ExportFormat::ndjson, ndjson_head, ndjson_line, nothing_after},
    {ExportFormat::json, json_head, json_line, json_tail},
    {ExportFormat::markdown, markdown_head, markdown_line, markdown_tail},
    {ExportFormat::latex, latex_head, latex_line, latex_tail},
};

constexpr ExportFormatRow format_rows[] = {
    {ExportFormat::csv, "csv", "csv", "text/csv; charset=utf-8", true, false},
    {ExportFormat::ndjson, "ndjson", "ndjson", "application/x-ndjson", true, false},
    {ExportFormat::json, "json", "json", "application/json", true, true},
    {ExportFormat::markdown, "markdown", "md", "text/markdown; charset=utf-8", true, true},
    {ExportFormat::latex, "latex", "tex", "application/x-tex", true, true},
    {ExportFormat::sqlite, "sqlite", "sqlite", "application/vnd.sqlite3", false, true},
};

}  // namespace

const TextFormat& text_format(ExportFormat format) {
  const auto* row = std::ranges::find(text_formats, format, &TextFormat::format);
  check(row != std::end(text_formats), "text_format: a format that is text");
  return *row;
}

std::span<const ExportFormatRow> export_formats() { return format_rows; }

const ExportFormatRow& row_of(ExportFormat format) {
  const auto* row = std::ranges::find(format_rows, format, &ExportFormatRow::format);
  check(row != std::end(format_rows), "row_of: a format without a row");
  return *row;
}

}  // namespace sdip
