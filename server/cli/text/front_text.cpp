// Differences between the points of a front, in words.
#include "server/cli/text/front_text.h"

#include <algorithm>

#include "server/cli/text/best_text.h"
#include "server/io/text.h"

namespace sdip {

std::string neighbour_text(const SweepsFront& front, const FrontRow& row) {
  if (row.percent.empty()) return "the first";
  std::string text = changes_text(row.differs);
  const std::vector<std::string> changes = percent_texts(front, row);
  for (std::size_t i = 0; i < changes.size(); ++i) text += (i == 0 ? ": " : ", ") + changes[i];
  return text;
}

void print_joint_front(std::ostream& out, const SweepsFront& front, std::string_view note, bool colour) {
  std::vector<Column> columns;
  const bool several = front.sweeps.size() > 1;
  if (several) columns.push_back({"sweep", Align::right});
  columns.push_back({"point", Align::right});
  for (const Objective& one : front.objectives) columns.push_back({std::string(one.measure.name()), Align::right});
  columns.push_back({"knee"});
  columns.push_back({"differs from the one before by", Align::left, true});
  std::vector<TextRow> rows;
  for (const FrontRow& row : front.rows) {
    TextRow cells;
    if (several) cells.push_back(std::to_string(front.sweeps[row.sweep].row.id));
    cells.push_back(std::to_string(row.point.index));
    for (std::size_t k = 0; k < row.values.size(); ++k)
      cells.push_back(quantity_text(row.values[k], front.objectives[k].measure.unit()));
    cells.push_back(knee_cell(row.knee));
    cells.push_back(neighbour_text(front, row));
    rows.push_back(std::move(cells));
  }
  print_heading(out, "The Pareto front: " + count_text(std::ssize(front.rows)) + " points", colour);
  if (!rows.empty()) print_table(out, columns, rows, colour);
  for (std::size_t s = 0; several && s < front.sweeps.size(); ++s) {
    const SweepRow& sweep = front.sweeps[s].row;
    out << "\nsweep " << sweep.id << " of " << printable(sweep.model) << ": "
        << count_text(std::ranges::count(front.rows, s, &FrontRow::sweep)) << " of the "
        << count_text(std::ssize(front.rows)) << ", " << count_text(static_cast<std::int64_t>(front.own[s]))
        << " on its own front";
  }
  if (several) out << "\n";
  if (!note.empty()) out << "note: " << printable(note) << "\n";
}

}  // namespace sdip
