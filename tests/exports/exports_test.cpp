// Graphs in the manner of exporters, from bytes to counters and tensors on drawn machines. More by hand:
// build/dev/tests/exports.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/core/exec/random_machine.h"
#include "tests/exports/book.h"
#include "tests/exports/combinations.h"
#include "tests/generate/census.h"

namespace sdip::exports {
namespace {

TEST(exports, every_graph_agrees_on_drawn_machines) {
  const Graphs graphs = book_graphs();
  generate::Census census;
  std::string complaints;
  const generate::Checker check = [&](std::uint64_t seed, const generate::PhaseObserver& phase) {
    return check_combination(graphs, seed, phase);
  };
  const auto told = [&](const generate::Checked& checked) {
    census.count(checked);
    const generate::Outcome& o = checked.outcome;
    if (o.verdict != generate::Verdict::passed && !is_listed(o))
      complaints += "--combinations 1 --seed " + std::to_string(checked.seed) + ": " +
                    name_of_seed(graphs, checked.seed) + ": " + std::string(verdict_text(o.verdict)) + " " +
                    o.code + ": " + o.detail + "\n";
  };
  generate::check_apart(0, pair_count(2 * graphs.names.size()), 1, check, told);
  std::cout << census.text();
  EXPECT_EQ(complaints, "");
}

TEST(exports, names_are_told_apart_and_a_seed_gives_the_same_graph_again) {
  std::set<std::string> names;
  for (const Export& row : exports()) {
    EXPECT_TRUE(names.insert(name_of(row)).second) << name_of(row);
    EXPECT_EQ(made(row, 5).model.SerializeAsString(), made(row, 5).model.SerializeAsString()) << name_of(row);
  }
  EXPECT_GE(names.size(), 100U);
}

}  // namespace
}  // namespace sdip::exports
