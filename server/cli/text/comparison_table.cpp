// Tables of a comparison for reading.
#include "server/cli/text/comparison_table.h"

#include "core/base/escaped.h"
#include "server/cli/text/comparison_cells.h"
#include "server/io/text.h"

namespace sdip {
namespace {

std::string marked(const std::string& text, const std::string& marks) {
  return marks.empty() ? text : text + " [" + marks + "]";
}

/// The table for reading of one block of columns.
void print_block(std::ostream& out, std::span<const ComparisonRow> rows, Block block, bool colour) {
  std::vector<Column> columns = {{"machine"}, {"kind"}, {"batch", Align::right}};
  if (block == Block::time) columns.insert(columns.begin() + 2, Column{"format"});
  for (const ComparedColumn& column : compared_columns())
    if (column.block == block) columns.push_back({column.title, Align::right});
  if (block == Block::time)
    columns.push_back({"measured over predicted", Align::left, true});
  else
    columns.insert(columns.end(), {{"process"}, {"energy is"}});
  std::vector<TextRow> lines;
  for (TableRow& line : grouped(rows, columns.size(), [&](const ComparisonRow& row) {
         TextRow cells = {row.name, marked(kind_text(row), row_marks(row))};
         if (block == Block::time) cells.push_back(marked(row.format, format_marks(row)));
         cells.push_back(std::to_string(row.batch));
         for (const ComparedColumn& column : compared_columns())
           if (column.block == block) cells.push_back(marked(cell_text(row, column), value_marks(row, column)));
         const char* energy = row.energy.empty() ? "" : row.energy_has_dram ? "with DRAM" : "without DRAM";
         if (block == Block::cost) cells.push_back(row.process);
         cells.push_back(block == Block::time ? factors_text(row) : energy);
         return cells;
       }))
    lines.push_back(std::move(line.cells));
  print_table(out, columns, lines, colour);
}

}  // namespace

void print_comparison(std::ostream& out, std::span<const ComparisonRow> rows,
                      const std::optional<TechnologyNode>& node, bool colour) {
  print_heading(out, "Time and traffic; over ours: throughput, calibrated where it can be", colour);
  print_block(out, rows, Block::time, colour);
  out << "\n";
  print_heading(
      out,
      node ? "Energy, area and price by one technology table, all drawn in " + std::string(node_text(*node))
           : "Energy, area and price, all by one technology table; published dies and design power",
      colour);
  print_block(out, rows, Block::cost, colour);
  out << "\n";
  if (node) out << process_text(*node) << "\n";
  for (const MarkMeaning& mark : legend_of(rows)) out << "[" << mark.letter << "] " << mark.said << "\n";
}

void print_losses(std::ostream& out, std::span<const ComparisonRow> rows, bool colour) {
  for (const LossLines& losses : loss_lines(rows)) {
    out << "\n";
    print_heading(out, "Where " + losses.ours + " loses", colour);
    for (const std::string& line : losses.lines) out << "  " << printable(line) << "\n";
  }
}

}  // namespace sdip
