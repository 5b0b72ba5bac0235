// Statements left out: assignments, calls, steps, jumps.
#include "tests/mutants/sites.h"

namespace sdip::mutants {

void add_statements(const Reading& r, Sites& sites) {
  for (std::size_t i = 1; i < r.size(); ++i) {
    const Range statement = r.statement(i);
    if (statement.empty()) continue;
    bool hint = false;
    for (std::size_t j = statement.first; j < statement.last; ++j)
      hint |= r.any_of(j, {"reserve", "check"}) && r.left_alone(j);
    if (hint) continue;
    const int number = sites.add(i, r.text_of(statement) + " -> left out", false);
    sites.wrap(statement, "{ if (!mutant::on(" + std::to_string(number) + ")) ", " }");
  }
}

}  // namespace sdip::mutants
