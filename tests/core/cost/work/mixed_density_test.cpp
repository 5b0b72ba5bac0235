// Layers that keep more or fewer of their weights than others, at full size.
#include <gtest/gtest.h>

#include "core/cost/price/estimate.h"
#include "core/program/form/format_text.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

struct Mixed {
  double cycles = 0, weight_bytes = 0;
  friend bool operator==(const Mixed&, const Mixed&) = default;
};

Mixed mixed(const Workload& workload, const Machine& m, const char* rules) {
  CompileOptions options;
  options.format_rules = parse_formats(rules, "rules");
  const Outcome outcome = evaluate(compile(workload, m, options), m);
  EXPECT_TRUE(outcome.feasible) << outcome.reason;
  const auto at = [&](Metric metric) { return outcome.values[static_cast<std::size_t>(metric)]; };
  return {at(Metric::step_cycles), at(Metric::weight_bytes_per_frame)};
}

Machine two_of_four(Machine m) {
  m.sparsity = Sparsity::skipping;
  m.weight_density = Decimal{50};
  m.sparsity_group = 4;
  return m;
}

/// The example of docs/model/sparsity.md.
TEST(mixed_density, of_sd15_lies_between_all_dense_and_all_sparse) {
  Machine m = find_preset("essay")->machine;
  m.weight_format = NumberFormat::int8;
  const Workload sd15 = built_in_pipeline("sd15", m);
  EXPECT_EQ(mixed(sd15, m, ""), (Mixed{713'680'128, 1'719'042'624}));
  EXPECT_EQ(mixed(sd15, two_of_four(m), "family=conv2d dense"), (Mixed{701'341'018, 1'516'505'664}));
  EXPECT_EQ(mixed(sd15, two_of_four(m), ""), (Mixed{673'981'925, 1'074'734'784}));
}

TEST(mixed_density, of_every_layer_is_a_machine_of_that_density) {
  Machine m;
  m.psram_bytes = 96 * 1024;
  m.dsram_bytes = 64 * 1024;
  const Machine half = two_of_four(m);
  Machine quarter = half;
  quarter.weight_density = Decimal{25};
  const Mixed dense = mixed(tiny_sd(m), m, ""), fewer = mixed(tiny_sd(m), quarter, "");
  EXPECT_EQ(mixed(tiny_sd(m), half, "\"*\" dense"), dense);
  EXPECT_EQ(mixed(tiny_sd(m), half, "\"*\" density=0.25"), fewer);
  EXPECT_LT(fewer.weight_bytes, mixed(tiny_sd(m), half, "").weight_bytes);
}

}  // namespace
}  // namespace sdip
