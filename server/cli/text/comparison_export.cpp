// Tables of a comparison for programs and papers: CSV, Markdown, LaTeX.
#include <algorithm>
#include <iterator>
#include <map>

#include "core/base/escaped.h"
#include "core/base/list_text.h"
#include "server/cli/text/comparison_cells.h"
#include "server/cli/text/comparison_table.h"
#include "server/io/text.h"

namespace sdip {
namespace {

/// A calibrated column by its own name, where no other stands before it.
std::string whole_title(const ComparedColumn& column) {
  if (column.shown != Shown::calibrated) return column.title;
  const std::string_view metric = column.metric;
  return std::string(metric == "latency_s"        ? "latency"
                     : metric == "throughput_fps" ? "throughput"
                                                  : "energy") +
         ", calibrated";
}

std::string raw_title(const ComparedColumn& column) {
  const std::string metric = column.shown == Shown::against ? "throughput_over_ours" : column.metric;
  return fmt::format("{}{} [{}]", column.shown == Shown::calibrated ? "calibrated " : "", metric,
                     compared_unit(column.metric));
}

/// Without the units that the short titles say.
std::string latex_value(const ComparisonRow& row, const ComparedColumn& column) {
  constexpr std::string_view said[] = {"frame/s", "frame/s/mm2", "mm2", "USD", "x"};
  const std::string_view unit = compared_unit(column.metric);
  const std::string text = cell_text(row, column);
  if (text == "-") return "--";
  const bool strip = text.ends_with(fmt::format(" {}", unit)) && std::ranges::find(said, unit) != std::end(said);
  return strip ? text.substr(0, text.size() - unit.size() - 1) : text;
}

/// Notes below a table, numbered by machine: where each has its figures from.
struct SourceNotes {
  std::map<std::string, std::size_t> numbers;  // by the row's id
  std::vector<std::string> notes;              // from 1
};

std::string sources_text(const ComparisonRow& row) {
  return list_text(
      sources_of(row), [](const ComparisonSource& one) { return one.figures + ": " + one.source; }, "; ");
}

SourceNotes source_notes(std::span<const ComparisonRow> rows) {
  SourceNotes all;
  for (const ComparisonRow& row : rows) {
    const std::string text = sources_text(row);
    if (text.empty() || all.numbers.contains(row.id)) continue;
    all.notes.push_back(row.name + ". " + text + ".");
    all.numbers[row.id] = all.notes.size();
  }
  return all;
}

/// The number of a row's note and its marks: "12,u".
std::string raised_of(const ComparisonRow& row, const SourceNotes& notes) {
  const auto number = notes.numbers.find(row.id);
  std::string text = number == notes.numbers.end() ? "" : std::to_string(number->second);
  const std::string marks = row_marks(row);
  return text + (text.empty() || marks.empty() ? "" : ",") + marks;
}

std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : printable(text)) cell += c == '|' ? "\\|" : std::string(1, c);
  return cell;
}

std::string latex_cell(const std::string& text) {
  constexpr std::string_view special = "&%$#_{}";
  std::string cell;
  for (const char c : printable(text)) {
    if (special.find(c) != special.npos)
      cell += '\\';
    else if (c == '~' || c == '^' || c == '\\') {
      cell += c == '\\' ? "\\textbackslash{}" : fmt::format("\\{}{{}}", c);
      continue;
    }
    cell += c;
  }
  return cell;
}

/// The text of a cell, and the mark that is raised behind it.
struct Raised {
  std::string (*cell)(const std::string&);
  const char *before, *behind;
  std::string operator()(const std::string& text, const std::string& raised) const {
    return raised.empty() ? cell(text) : cell(text) + before + raised + behind;
  }
};
constexpr Raised markdown_raised{markdown_cell, "<sup>", "</sup>"}, latex_raised{latex_cell, "$^{\\mathrm{", "}}$"};

/// Cells of a row between what a format puts before, between and behind them.
void write_cells(std::ostream& out, const TextRow& cells, const char* before, const char* between,
                 const char* behind) {
  out << before;
  for (std::size_t i = 0; i < cells.size(); ++i) out << (i > 0 ? between : "") << cells[i];
  out << behind;
}

}  // namespace

void write_comparison_csv(std::ostream& out, std::span<const ComparisonRow> rows) {
  TextRow titles = {"machine", "kind", "format", "batch"};
  for (const ComparedColumn& column : compared_columns()) titles.push_back(raw_title(column));
  titles.insert(titles.end(), {"energy basis", "process", "area is", "format as ours", "checked",
                               "software of the factor", "measured over predicted", "sources"});
  const auto write = [&](TextRow cells) {
    for (std::string& cell : cells) cell = csv_cell(printable(cell));
    write_cells(out, cells, "", ",", "\n");
  };
  write(titles);
  for (const ComparisonRow& row : rows) {
    TextRow cells = {row.name, kind_text(row), row.format, std::to_string(row.batch)};
    for (const ComparedColumn& column : compared_columns()) {
      const auto value = shown_value(row, column);
      cells.push_back(value ? OrderedJson(*value).dump() : "");
    }
    cells.insert(cells.end(),
                 {row.energy, row.process, std::string(area_basis_text(row.area_basis)),
                  row.other_format ? "no" : "yes", std::string(checked_text(row.checked)),
                  row.calibration ? row.calibration->software : "", factors_text(row), sources_text(row)});
    write(std::move(cells));
  }
}

void write_comparison_markdown(std::ostream& out, std::span<const ComparisonRow> rows,
                               const std::optional<TechnologyNode>& node) {
  const SourceNotes notes = source_notes(rows);
  if (node) out << process_text(*node) << "\n\n";
  TextRow titles = {"machine", "kind", "format", "batch"};
  for (const ComparedColumn& column : compared_columns()) titles.push_back(whole_title(column));
  titles.insert(titles.end(), {"process", "energy basis", "software of the factor", "measured over predicted"});
  write_cells(out, titles, "| ", " | ", " |\n");
  write_cells(out, TextRow(titles.size(), "---"), "| ", " | ", " |\n");
  for (const TableRow& line : grouped(rows, titles.size(), [&](const ComparisonRow& row) {
         TextRow cells = {markdown_raised(row.name, raised_of(row, notes)), kind_text(row),
                          markdown_raised(row.format, format_marks(row)), std::to_string(row.batch)};
         for (const ComparedColumn& column : compared_columns())
           cells.push_back(markdown_raised(cell_text(row, column), value_marks(row, column)));
         for (const std::string& text :
              {row.process, row.energy, row.calibration ? row.calibration->software : "", factors_text(row)})
           cells.push_back(markdown_cell(text));
         return cells;
       })) {
    TextRow cells = line.cells;
    if (line.heading) cells[0] = "*" + cells[0] + "*";
    write_cells(out, cells, "| ", " | ", " |\n");
  }
  out << "\n";
  for (const MarkMeaning& mark : legend_of(rows)) out << "- <sup>" << mark.letter << "</sup> " << mark.said << "\n";
  for (const LossLines& losses : loss_lines(rows)) {
    out << "\nWhere " << markdown_cell(losses.ours) << " loses:\n\n";
    for (const std::string& line : losses.lines) out << "- " << markdown_cell(line) << "\n";
  }
  if (!notes.notes.empty()) out << "\nSources:\n\n";
  for (std::size_t i = 0; i < notes.notes.size(); ++i)
    out << i + 1 << ". " << markdown_cell(notes.notes[i]) << "\n";
}

void write_comparison_latex(std::ostream& out, std::span<const ComparisonRow> rows,
                            const std::optional<TechnologyNode>& node) {
  const SourceNotes notes = source_notes(rows);
  std::vector<const ComparedColumn*> columns;
  for (const ComparedColumn& column : compared_columns())
    if (*column.latex != '\0') columns.push_back(&column);
  out << "% \\usepackage{booktabs,longtable}, on a page across\n"
         "{\\scriptsize\\setlength{\\tabcolsep}{2pt}%\n\\begin{longtable}{p{44mm}lr"
      << std::string(columns.size(), 'r') << "}\n\\toprule\nmachine & format & $B$";
  for (const ComparedColumn* column : columns) out << " & " << column->latex;
  out << " \\\\\n\\endhead\n\\bottomrule\n\\endfoot\n";
  for (const TableRow& line : grouped(rows, 1, [&](const ComparisonRow& row) {
         TextRow cells = {latex_raised(row.name + (row.feasible ? "" : " (infeasible)"), raised_of(row, notes)),
                          latex_raised(row.format, format_marks(row)), std::to_string(row.batch)};
         for (const ComparedColumn* column : columns)
           cells.push_back(latex_raised(latex_value(row, *column), value_marks(row, *column)));
         return cells;
       })) {
    if (line.heading)
      out << "\\midrule\n\\multicolumn{" << columns.size() + 3 << "}{l}{\\emph{" << latex_cell(line.cells[0])
          << "}} \\\\\n";
    else
      write_cells(out, line.cells, "", " & ", " \\\\\n");
  }
  out << "\\end{longtable}\\par\\smallskip\n"
         "$B$: frames at once; $T$: latency of the batch; fps: frames a second; $T_c$, fps$_c$, $E_c$: with the "
         "factor that was fitted on the device's fastest software; $U$: share of the peak; DRAM: bytes a frame; "
         "$E$: modelled energy a frame, by one technology table for all; $E_d$: design power times the predicted "
         "time; USD: modelled price of dies, package and DRAM.";
  if (node) out << " " << latex_cell(process_text(*node));
  out << "\n";
  for (const MarkMeaning& mark : legend_of(rows))
    out << "$^{\\mathrm{" << mark.letter << "}}$ " << latex_cell(mark.said) << ".\n";
  out << "\\par\n";
  for (const LossLines& losses : loss_lines(rows)) {
    out << "\\smallskip\\emph{Where " << latex_cell(losses.ours) << " loses.}";
    for (const std::string& line : losses.lines) out << " " << latex_cell(line) << ".";
    out << "\\par\n";
  }
  out << "\\smallskip\\raggedright\n";
  for (std::size_t i = 0; i < notes.notes.size(); ++i)
    out << "$^{" << i + 1 << "}$ " << latex_cell(notes.notes[i]) << "\\par\n";
  out << "}\n";
}

}  // namespace sdip
