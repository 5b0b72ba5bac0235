// The published analysis of an NPU maker beside our figures, as a table, CSV, JSON or Markdown.
#pragma once

#include <ostream>
#include <span>

#include "core/baseline/npu_analysis.h"
#include "server/io/json_in.h"

namespace sdip {

/// {"source", "figures": [{"part", "figure", "unit", "published_text", "published", "at_least", "ours",
/// "ratio", "standing", "definition"}]}; null where nothing is published.
OrderedJson analysis_json(std::span<const AnalysisRow> rows);

void print_analysis(std::ostream& out, std::span<const AnalysisRow> rows, bool colour);
/// A line a row under a header; counts and ratios in full.
void print_analysis_csv(std::ostream& out, std::span<const AnalysisRow> rows);
/// The table of docs/model/published.md.
void print_analysis_markdown(std::ostream& out, std::span<const AnalysisRow> rows);

}  // namespace sdip
