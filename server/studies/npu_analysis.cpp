// Rows of the published analysis as text and JSON.
#include "server/studies/npu_analysis.h"

#include <string>

#include "core/base/escaped.h"
#include "server/io/text.h"

namespace sdip {
namespace {

std::string ours_text(const AnalysisRow& row) {
  switch (row.figure->unit) {
    case FigureUnit::share:
      return fixed_text(100 * row.ours, 2) + " %";
    case FigureUnit::ratio:
      return fixed_text(row.ours, 3);
    case FigureUnit::bytes:
      return count_text(static_cast<std::int64_t>(row.ours)) + " B";
    case FigureUnit::count:
      break;
  }
  return count_text(static_cast<std::int64_t>(row.ours));
}

std::string ratio_text(const AnalysisRow& row) { return row.ratio ? fixed_text(*row.ratio, 4) : "-"; }

std::string said_text(const AnalysisRow& row) {
  return row.figure->said.empty() ? "-" : std::string(row.figure->said);
}

/// Counts as integers, shares and ratios with all their digits.
OrderedJson number_json(FigureUnit unit, double value) {
  if (unit == FigureUnit::count || unit == FigureUnit::bytes) return static_cast<std::int64_t>(value);
  return value;
}

}  // namespace

OrderedJson analysis_json(std::span<const AnalysisRow> rows) {
  OrderedJson figures = OrderedJson::array();
  for (const AnalysisRow& row : rows) {
    const PublishedFigure& figure = *row.figure;
    const bool published = !figure.said.empty();
    figures.push_back({{"part", figure.part},
                       {"figure", figure.figure},
                       {"unit", unit_text(figure.unit)},
                       {"published_text", published ? OrderedJson(figure.said) : OrderedJson()},
                       {"published", published ? number_json(figure.unit, figure.published) : OrderedJson()},
                       {"at_least", figure.at_least},
                       {"ours", number_json(figure.unit, row.ours)},
                       {"ratio", row.ratio ? OrderedJson(*row.ratio) : OrderedJson()},
                       {"standing", standing_text(figure.standing)},
                       {"definition", figure.definition}});
  }
  return {{"source", npu_analysis_source}, {"figures", figures}};
}

void print_analysis(std::ostream& out, std::span<const AnalysisRow> rows, bool colour) {
  std::vector<TextRow> table;
  std::string_view part;
  for (const AnalysisRow& row : rows) {
    const PublishedFigure& figure = *row.figure;
    table.push_back({figure.part == part ? "" : std::string(figure.part), std::string(figure.figure),
                     said_text(row), ours_text(row), ratio_text(row), std::string(standing_text(figure.standing)),
                     std::string(figure.definition)});
    part = figure.part;
  }
  print_table(out,
              {{""},
               {"figure"},
               {"published"},
               {"ours", Align::right},
               {"ratio", Align::right},
               {""},
               {"definition", Align::left, true}},
              table, colour);
  out << "\n  published: " << npu_analysis_source << "\n";
}

void print_analysis_csv(std::ostream& out, std::span<const AnalysisRow> rows) {
  out << "part,figure,unit,published_text,published,at_least,ours,ratio,standing,definition\n";
  const OrderedJson all = analysis_json(rows);
  for (const auto& figure : all["figures"]) {
    std::string line;
    for (const auto& [key, value] : figure.items()) {
      if (key != "part") line += ",";
      if (value.is_null()) continue;
      line += csv_cell(value.is_string() ? value.get<std::string>() : json_text(value));
    }
    out << line << "\n";
  }
}

void print_analysis_markdown(std::ostream& out, std::span<const AnalysisRow> rows) {
  out << "| part | figure | published | ours | ratio | | definition |\n"
         "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const AnalysisRow& row : rows)
    out << "| " << row.figure->part << " | " << row.figure->figure << " | " << said_text(row) << " | "
        << ours_text(row) << " | " << ratio_text(row) << " | " << standing_text(row.figure->standing) << " | "
        << row.figure->definition << " |\n";
}

}  // namespace sdip
