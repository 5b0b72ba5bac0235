// Do mappings that the user says override the search, and does one that does not fit say what is missing?
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/program/tiling/draft.h"
#include "core/program/tiling/mapping_text.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::HasSubstr;

/// y = x W, z = y V: 40 rows of 100 by 100 x 64, then by 64 x 32.
Application compiled_with(const std::string& rules, const Machine& machine) {
  onnx::ModelProto model = model_of_x({40, 100});
  add_weight(model, "w", {100, 64});
  add_weight(model, "v", {64, 32});
  add_node(model, "MatMul", {"x", "w"}, "y", "/first");
  add_node(model, "MatMul", {"y", "v"}, "z", "/second");
  add_output(model, "z");
  Workload workload;
  workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(import_model(model)), {}});
  CompileOptions options;
  options.mapping_rules = parse_mappings(rules, "rules");
  return compile(workload, machine, options);
}

const std::string tail = " columns=all channels=16 sums=all order=rows,columns,channels,sums";

TEST(said_mapping, overrides_the_search) {
  const Application said = compiled_with("\"/first\" rows=7" + tail + "\n", Machine());
  ASSERT_TRUE(said.feasible) << said.reason;
  EXPECT_EQ(class_at(said, 0).mapping, (Mapping{7, 1, 16, 100, rows_outermost}));
  const Application free = compiled_with("", Machine());
  EXPECT_EQ(class_at(said, 1).mapping, class_at(free, 1).mapping);
  EXPECT_NE(class_at(free, 0).mapping, class_at(said, 0).mapping);
}

TEST(said_mapping, of_the_first_rule_that_matches_decides) {
  const Application said =
      compiled_with("\"net:*first\" rows=7" + tail + "\n\"*\" rows=9" + tail + "\n", Machine());
  EXPECT_EQ(class_at(said, 0).mapping.tile_rows, 7);
  EXPECT_EQ(class_at(said, 1).mapping.tile_rows, 9);
}

TEST(said_mapping, that_was_shown_compiles_to_the_same_program) {
  Machine m;
  m.dsram_bytes = 4096, m.psram_bytes = 4096;
  const Application chosen = compiled_with("", m);
  ASSERT_TRUE(chosen.feasible) << chosen.reason;
  const std::string shown = mappings_text(chosen);
  EXPECT_THAT(shown, HasSubstr("\"net:/first\" rows="));
  const Application again = compiled_with(shown, m);
  ASSERT_TRUE(again.feasible) << again.reason;
  EXPECT_EQ(again.stages[0].program.classes, chosen.stages[0].program.classes) << shown;
}

TEST(said_mapping, that_does_not_fit_is_infeasible_with_the_bytes_missing) {
  Machine m;
  m.psram_bytes = 100 * 16 * 2;
  EXPECT_TRUE(compiled_with("\"/first\" rows=all" + tail + "\n", m).feasible);
  m.psram_bytes -= 10;
  const Application over = compiled_with("\n\"/first\" rows=all" + tail + "\n", m);
  EXPECT_FALSE(over.feasible);
  EXPECT_EQ(over.reason, "net: /first: the mapping rule of line 2 misses 10 B of PSRAM");
}

TEST(said_result, goes_to_dram_or_stays_on_chip) {
  EXPECT_TRUE(class_at(compiled_with("", Machine()), 0).to_dsram);
  const Application out = compiled_with("\"/first\" rows=all" + tail + " dram\n", Machine());
  EXPECT_TRUE(class_at(out, 0).to_dram);
  EXPECT_FALSE(class_at(out, 0).to_dsram);
  EXPECT_EQ(sources_at(out, 1)[0], Place::dram);
  const Application kept = compiled_with("\"/first\" rows=all" + tail + " dsram\n", Machine());
  EXPECT_TRUE(kept.feasible) << kept.reason;
  Machine small;
  small.dsram_bytes = 40 * 64 * 2 - 1;
  const Application over = compiled_with("\"/first\" rows=1" + tail + " dsram\n", small);
  EXPECT_FALSE(over.feasible);
  EXPECT_THAT(over.reason, HasSubstr("line 1 keeps its result on chip, where its 5120 bytes have no place"));
}

TEST(said_mapping, for_no_layer_or_of_what_is_not_split_is_refused) {
  const auto code_of = [](const std::string& rules) -> std::string {
    try {
      compiled_with(rules, Machine());
    } catch (const Error& error) {
      return error.code + " " + error.where;
    }
    return "";
  };
  EXPECT_EQ(code_of("\"/third\" rows=1" + tail), "mapping_unmatched line 1");
  const std::string split = "\"*\" rows=1 columns=all channels=1 sums=10 order=rows,columns,channels,sums";
  EXPECT_EQ(code_of(split), "");
}

}  // namespace
}  // namespace sdip
