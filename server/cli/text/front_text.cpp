// What tells the points of a front apart, in words.
#include "server/cli/text/front_text.h"

#include "server/cli/text/best_text.h"

namespace sdip {

std::string knee_cell(Knee knee) {
  return knee == Knee::greatest ? "knee" : knee == Knee::local ? "local knee" : "";
}

std::string neighbour_text(const SweepsFront& front, const FrontRow& row) {
  if (row.percent.empty()) return "the first";
  std::string text = changes_text(row.differs);
  const std::vector<std::string> changes = percent_texts(front, row);
  for (std::size_t i = 0; i < changes.size(); ++i) text += (i == 0 ? ": " : ", ") + changes[i];
  return text;
}

}  // namespace sdip
