// A comparison's tables: for reading, and as CSV, Markdown and LaTeX.
#pragma once

#include <optional>
#include <ostream>
#include <span>

#include "server/studies/comparison.h"

namespace sdip {

/// Rows by their kind: time and traffic, then energy, area and price, with the legend of their marks; and where
/// machines of ours lose. `node`: that all are drawn in.
void print_comparison(std::ostream& out, std::span<const ComparisonRow> rows,
                      const std::optional<TechnologyNode>& node, bool colour);
void print_losses(std::ostream& out, std::span<const ComparisonRow> rows, bool colour);

/// Every column, numbers in base units, marks as columns of words, sources as the last.
void write_comparison_csv(std::ostream& out, std::span<const ComparisonRow> rows);
/// Every column, a heading before the rows of each kind; marks explained, losses and numbered sources below.
void write_comparison_markdown(std::ostream& out, std::span<const ComparisonRow> rows,
                               const std::optional<TechnologyNode>& node);
/// A table over as many pages across as it takes (packages booktabs and longtable), its short titles and marks
/// explained, losses and sources below.
void write_comparison_latex(std::ostream& out, std::span<const ComparisonRow> rows,
                            const std::optional<TechnologyNode>& node);

}  // namespace sdip
