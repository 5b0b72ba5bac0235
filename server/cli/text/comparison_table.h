// A comparison's tables: for reading, and as CSV, Markdown and LaTeX.
#pragma once

#include <map>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "server/studies/comparison.h"

namespace sdip {

/// What was measured on devices beside their models, by their ids.
using MeasuredByDevice = std::map<std::string, std::vector<Compared>>;

/// Rows by their kind: time and traffic, then energy, area and price; and where our first machine loses.
void print_comparison(std::ostream& out, std::span<const ComparisonRow> rows, const MeasuredByDevice& measured,
                      bool colour);
void print_losses(std::ostream& out, std::span<const ComparisonRow> rows, bool colour);

/// Every column, numbers in base units.
void write_comparison_csv(std::ostream& out, std::span<const ComparisonRow> rows, const MeasuredByDevice& measured);
/// Every column, a heading before the rows of each kind.
void write_comparison_markdown(std::ostream& out, std::span<const ComparisonRow> rows,
                               const MeasuredByDevice& measured);
/// A tabular for a page across (packages booktabs), its short titles explained below.
void write_comparison_latex(std::ostream& out, std::span<const ComparisonRow> rows);

}  // namespace sdip
