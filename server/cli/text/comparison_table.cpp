// Tables of a comparison.
#include "server/cli/text/comparison_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "core/base/escaped.h"
#include "server/io/text.h"

namespace sdip {
namespace {

/// Which of a column's values a row shows: its own, with the factor of its software, or over ours.
enum class Shown { own, calibrated, against };

/// Where it stands in the tables for reading.
enum class Block { time, cost };

struct ComparedColumn {
  const char* title;
  const char* metric;
  const char* unit;
  Shown shown;
  Block block;
  const char* latex;  // its short title; empty: not in that table
};
constexpr ComparedColumn compared_columns[] = {
    {"latency", "latency_s", "s", Shown::own, Block::time, "$T$"},
    {"calibrated", "latency_s", "s", Shown::calibrated, Block::time, "$T_c$"},
    {"throughput", "throughput_fps", "frame/s", Shown::own, Block::time, "fps"},
    {"calibrated", "throughput_fps", "frame/s", Shown::calibrated, Block::time, "fps$_c$"},
    {"over ours", "", "x", Shown::against, Block::time, ""},
    {"utilization", "utilization", "x", Shown::own, Block::time, "$U$"},
    {"DRAM a frame", "dram_bytes_per_frame", "B", Shown::own, Block::time, "DRAM"},
    {"weights of DRAM", "dram_filled", "x", Shown::own, Block::time, ""},
    {"energy a frame", "energy_j_per_frame", "J", Shown::own, Block::cost, "$E$"},
    {"design power x time", "design_energy_j_per_frame", "J", Shown::own, Block::cost, "$E_d$"},
    {"frames a joule", "frames_per_j", "frame/J", Shown::own, Block::cost, ""},
    {"area", "area_mm2", "mm2", Shown::own, Block::cost, "mm$^2$"},
    {"throughput a mm2", "fps_per_mm2", "frame/s/mm2", Shown::own, Block::cost, "fps/mm$^2$"},
    {"on-chip memory", "sram_bytes", "B", Shown::own, Block::cost, "SRAM"},
    {"price, modelled", "price_usd", "USD", Shown::own, Block::cost, "USD"}};

std::optional<double> shown_value(const ComparisonRow& row, const ComparedColumn& column) {
  if (column.shown == Shown::against) return row.against;
  if (column.shown == Shown::own) return row.value(column.metric);
  return row.calibration ? compared_value(row.calibration->values, column.metric) : std::nullopt;
}

std::string cell_text(const ComparisonRow& row, const ComparedColumn& column) {
  const auto value = shown_value(row, column);
  if (!value) return "-";
  if (std::string_view(column.metric) == "dram_filled")
    return *value > 1 ? quantity_text(*value, "x") + ", exceeded" : share_text(*value);
  return quantity_text(*value, column.unit);
}

/// Without the units that the short titles say.
std::string latex_value(const ComparisonRow& row, const ComparedColumn& column) {
  constexpr std::string_view said[] = {"frame/s", "frame/s/mm2", "mm2", "USD", "x"};
  const std::string text = cell_text(row, column), unit = " " + std::string(column.unit);
  if (text == "-") return "--";
  const bool strip = text.ends_with(unit) && std::ranges::find(said, column.unit) != std::end(said);
  return strip ? text.substr(0, text.size() - unit.size()) : text;
}

/// The factors of compiled software, and errors with them of predictions that fitted nothing.
std::string checked_text(const std::vector<Compared>& measured) {
  std::int64_t checked = 0;
  std::vector<double> factors, errors;
  for (const Compared& one : measured) {
    if (is_eager(*one.measurement)) continue;
    (one.fitted ? factors : errors).push_back(one.fitted ? one.factor : one.error());
    checked += !one.fitted;
  }
  const auto percent = [](double share) {
    return (share < 0 ? "-" : "+") + std::to_string(std::llround(std::abs(share) * 100)) + " %";
  };
  if (factors.empty()) return "unvalidated";
  const auto [low, high] = std::ranges::minmax(factors);
  std::string text = "measured " + quantity_text(low, "x");
  if (high > low) text += " to " + quantity_text(high, "x");
  if (checked == 0) return text + ", else unvalidated";
  const auto [least, most] = std::ranges::minmax(errors);
  return text + ", with it " + percent(least) + (most > least ? " to " + percent(most) : "") + " off";
}

std::string checked_of(const ComparisonRow& row, const MeasuredByDevice& measured) {
  const auto known = measured.find(row.id);
  return known == measured.end() || row.kind != RowKind::device ? "" : checked_text(known->second);
}

std::string kind_text(const ComparisonRow& row) {
  constexpr const char* kinds[] = {"modelled", "predicted", "measured", "bound", "unpublished"};
  return std::string(kinds[static_cast<std::size_t>(row.kind)]) + (row.feasible ? "" : ", infeasible");
}

/// What stands above the rows of a kind.
std::string group_text(RowKind kind) {
  constexpr const char* groups[] = {"Model beside model", "Model beside model", "Measured beside measured",
                                    "Bound beside bound", "Peak or memory rate not published"};
  return groups[static_cast<std::size_t>(kind)];
}

struct TableRow {
  bool heading = false;
  TextRow cells;
};
struct Table {
  std::vector<std::string> titles;
  std::vector<TableRow> rows;
};

/// Rows of the cells that `cells_of` makes, a heading where another kind begins.
std::vector<TableRow> grouped(std::span<const ComparisonRow> rows, std::size_t columns,
                              const std::function<TextRow(const ComparisonRow&)>& cells_of) {
  std::vector<TableRow> all;
  std::string group;
  for (const ComparisonRow& row : rows) {
    if (group != group_text(row.kind)) {
      group = group_text(row.kind);
      TextRow heading(columns);
      heading[0] = group;
      all.push_back({true, std::move(heading)});
    }
    all.push_back({false, cells_of(row)});
  }
  return all;
}

/// `raw`: numbers as they are, in base units, for programs; else quantities for people.
Table whole_table(std::span<const ComparisonRow> rows, const MeasuredByDevice& measured, bool raw) {
  Table table{{"machine", "kind", "format", "batch"}, {}};
  for (const ComparedColumn& column : compared_columns) {
    const std::string metric = column.shown == Shown::against ? "throughput_over_ours" : column.metric;
    const std::string calibrated = column.shown == Shown::calibrated ? "calibrated " : "";
    table.titles.push_back(raw ? calibrated + metric + " [" + column.unit + "]"
                           : column.shown == Shown::calibrated
                               ? std::string(column.unit == std::string_view("s") ? "latency" : "throughput") +
                                     ", calibrated"
                               : column.title);
  }
  table.titles.insert(table.titles.end(), {"energy basis", "measured over predicted"});
  table.rows = grouped(rows, table.titles.size(), [&](const ComparisonRow& row) {
    TextRow cells = {row.name, kind_text(row), row.format, std::to_string(row.batch)};
    for (const ComparedColumn& column : compared_columns) {
      const auto value = shown_value(row, column);
      cells.push_back(!raw ? cell_text(row, column) : value ? OrderedJson(*value).dump() : "");
    }
    cells.push_back(row.energy);
    cells.push_back(checked_of(row, measured));
    return cells;
  });
  return table;
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
      cell += c == '\\' ? "\\textbackslash{}" : std::string("\\") + c + "{}";
      continue;
    }
    cell += c;
  }
  return cell;
}

/// Cells of a row between what a format puts before, between and behind them.
void write_cells(std::ostream& out, const TextRow& cells, std::string (*cell)(const std::string&),
                 const char* before, const char* between, const char* behind) {
  out << before;
  for (std::size_t i = 0; i < cells.size(); ++i) out << (i > 0 ? between : "") << cell(cells[i]);
  out << behind;
}

/// The table for reading of one block of columns.
void print_block(std::ostream& out, std::span<const ComparisonRow> rows, const MeasuredByDevice& measured,
                 Block block, bool colour) {
  std::vector<Column> columns = {{"machine"}, {"kind"}, {"batch", Align::right}};
  if (block == Block::time) columns.insert(columns.begin() + 2, Column{"format"});
  for (const ComparedColumn& column : compared_columns)
    if (column.block == block) columns.push_back({column.title, Align::right});
  if (block == Block::time)
    columns.push_back({"measured over predicted", Align::left, true});
  else
    columns.push_back({"energy is"});
  std::vector<TextRow> lines;
  for (TableRow& line : grouped(rows, columns.size(), [&](const ComparisonRow& row) {
         TextRow cells = {row.name, kind_text(row)};
         if (block == Block::time) cells.push_back(row.format);
         cells.push_back(std::to_string(row.batch));
         for (const ComparedColumn& column : compared_columns)
           if (column.block == block) cells.push_back(cell_text(row, column));
         const char* energy = row.energy.empty() ? "" : row.energy_has_dram ? "with DRAM" : "without DRAM";
         cells.push_back(block == Block::time ? checked_of(row, measured) : energy);
         return cells;
       }))
    lines.push_back(std::move(line.cells));
  print_table(out, columns, lines, colour);
}

std::string loss_text(const Loss& loss) {
  const char* basis = loss.kind == RowKind::roofline ? "bound over bound"
                      : loss.calibrated              ? "calibrated"
                                                     : "not calibrated";
  return loss.name + " by " + quantity_text(loss.times, "x") + " (" + basis + ")";
}

}  // namespace

void print_comparison(std::ostream& out, std::span<const ComparisonRow> rows, const MeasuredByDevice& measured,
                      bool colour) {
  print_heading(out, "Time and traffic; over ours: throughput, calibrated where it can be", colour);
  print_block(out, rows, measured, Block::time, colour);
  out << "\n";
  print_heading(out, "Energy, area and price, all by one technology table; published dies and design power",
                colour);
  print_block(out, rows, measured, Block::cost, colour);
}

void print_losses(std::ostream& out, std::span<const ComparisonRow> rows, bool colour) {
  constexpr std::size_t most_named = 4;
  const std::vector<Loss> losses = losses_of(rows);
  out << "\n";
  print_heading(out, "Where " + rows.front().name + " loses", colour);
  if (losses.empty())
    out << (rows.front().feasible ? "  nowhere: no device that has values does better\n"
                                  : "  nothing is compared: it cannot be built as it is\n");
  for (auto first = losses.begin(); first != losses.end();) {
    const auto last = std::find_if(first, losses.end(), [&](const Loss& one) {
      return one.batch != first->batch || one.metric != first->metric;
    });
    std::string line = "batch " + std::to_string(first->batch) + ", " + first->metric + ": behind ";
    const auto count = static_cast<std::size_t>(last - first);
    for (std::size_t i = 0; i < std::min(count, most_named); ++i)
      line += (i > 0 ? ", " : "") + loss_text(first[static_cast<std::ptrdiff_t>(i)]);
    if (count > most_named) line += " and " + std::to_string(count - most_named) + " more";
    out << "  " << printable(line) << "\n";
    first = last;
  }
}

void write_comparison_csv(std::ostream& out, std::span<const ComparisonRow> rows,
                          const MeasuredByDevice& measured) {
  const auto cell = [](const std::string& text) { return csv_cell(printable(text)); };
  const Table table = whole_table(rows, measured, true);
  write_cells(out, table.titles, cell, "", ",", "\n");
  for (const TableRow& row : table.rows)
    if (!row.heading) write_cells(out, row.cells, cell, "", ",", "\n");
}

void write_comparison_markdown(std::ostream& out, std::span<const ComparisonRow> rows,
                               const MeasuredByDevice& measured) {
  const Table table = whole_table(rows, measured, false);
  write_cells(out, table.titles, markdown_cell, "| ", " | ", " |\n");
  write_cells(out, TextRow(table.titles.size(), "---"), markdown_cell, "| ", " | ", " |\n");
  for (TableRow row : table.rows) {
    if (row.heading) row.cells[0] = "*" + row.cells[0] + "*";
    write_cells(out, row.cells, markdown_cell, "| ", " | ", " |\n");
  }
}

void write_comparison_latex(std::ostream& out, std::span<const ComparisonRow> rows) {
  std::vector<const ComparedColumn*> columns;
  for (const ComparedColumn& column : compared_columns)
    if (*column.latex != '\0') columns.push_back(&column);
  out << "{\\footnotesize\\setlength{\\tabcolsep}{3pt}%\n\\begin{tabular}{llr" << std::string(columns.size(), 'r')
      << "}\n\\toprule\nmachine & format & $B$";
  for (const ComparedColumn* column : columns) out << " & " << column->latex;
  out << " \\\\\n";
  for (const TableRow& row : grouped(rows, 1, [&](const ComparisonRow& one) {
         TextRow cells = {one.name + (one.feasible ? "" : " (infeasible)"), one.format, std::to_string(one.batch)};
         for (const ComparedColumn* column : columns) cells.push_back(latex_value(one, *column));
         return cells;
       })) {
    if (row.heading)
      out << "\\midrule\n\\multicolumn{" << columns.size() + 3 << "}{l}{\\emph{" << latex_cell(row.cells[0])
          << "}} \\\\\n";
    else
      write_cells(out, row.cells, latex_cell, "", " & ", " \\\\\n");
  }
  out << "\\bottomrule\n\\end{tabular}\\par\\smallskip\n"
         "$B$: frames at once; $T$: latency of the batch; fps: frames a second; $T_c$, fps$_c$: with the factor "
         "that was "
         "fitted on the device's fastest software; $U$: share of the peak; DRAM: bytes a frame; $E$: modelled "
         "energy a "
         "frame, by one technology table for all; $E_d$: design power times the predicted time; USD: modelled "
         "price of "
         "dies, package and DRAM.\\par}\n";
}

}  // namespace sdip
