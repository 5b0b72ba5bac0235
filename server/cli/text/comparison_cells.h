// The cells of a comparison's tables, alike for reading, Markdown and LaTeX: columns, marks and what they mean.
// Internal to its room.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/io/text.h"
#include "server/studies/comparison.h"

namespace sdip {

/// Which of a column's values a row shows: its own, with the factor of its software, or over ours.
enum class Shown { own, calibrated, against };

/// Where it stands in the tables for reading.
enum class Block { time, cost };

struct ComparedColumn {
  const char* title;
  const char* metric;
  Shown shown;
  Block block;
  const char* latex;  // its short title; empty: not in that table
};
std::span<const ComparedColumn> compared_columns();

/// The value of a row in a column, and its text with the unit; "-": none.
std::optional<double> shown_value(const ComparisonRow& row, const ComparedColumn& column);
std::string cell_text(const ComparisonRow& row, const ComparedColumn& column);

/// Marks of a row's prediction (m, n, u), of its format (f), and of a column's energy (e): letters that the legend
/// explains. Empty: none.
std::string row_marks(const ComparisonRow& row);
std::string format_marks(const ComparisonRow& row);
std::string value_marks(const ComparisonRow& row, const ComparedColumn& column);
struct MarkMeaning {
  char letter;
  const char* said;
};
/// The meaning of each mark that a row has.
std::vector<MarkMeaning> legend_of(std::span<const ComparisonRow> rows);

/// "predicted", "modelled, infeasible".
std::string kind_text(const ComparisonRow& row);
/// The heading above the rows of a kind.
std::string group_text(RowKind kind);
/// The factors of compiled software, and errors with them of predictions that fitted nothing.
std::string factors_text(const ComparisonRow& row);

/// Where a machine of ours loses: a line of each batch and aim, under its name.
struct LossLines {
  std::string ours;
  std::vector<std::string> lines;  // none: it loses nowhere, or cannot be built
};
/// The losses of each machine of ours, in their order. At most `most_named` devices are named in a line.
std::vector<LossLines> loss_lines(std::span<const ComparisonRow> rows, std::size_t most_named = 4);

struct TableRow {
  bool heading = false;
  TextRow cells;
};
/// Rows of the cells that `cells_of` makes, a heading where another kind begins.
std::vector<TableRow> grouped(std::span<const ComparisonRow> rows, std::size_t columns,
                              const std::function<TextRow(const ComparisonRow&)>& cells_of);

}  // namespace sdip
