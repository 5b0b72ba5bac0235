// Every row of the operator list says what it computes, and since which opsets: up to 17 as ONNX's own schemas have
// it.
#include <onnx/defs/schema.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/core/ops/use_of.h"

namespace sdip {
namespace {

/// What onnxruntime has in ONNX's domain, and ONNX does not: its optimiser writes it, or ONNX took it back.
bool is_onnxruntime_s_own(const Operator& row) {
  constexpr std::string_view types[] = {"ImageScaler", "ScaledTanh", "SimplifiedLayerNormalization"};
  return row.domain.empty() && std::ranges::find(types, row.type) != std::ranges::end(types);
}

std::vector<std::int64_t> opsets_in(std::string_view since) {
  std::istringstream text{std::string(since)};
  std::vector<std::int64_t> opsets;
  for (std::int64_t opset = 0; text >> opset;) opsets.push_back(opset);
  return opsets;
}

TEST(operator_rows, compute_or_expand_unless_they_are_random) {
  for (const Operator& row : operators()) {
    const int ways = (row.compute != nullptr) + (row.expand != nullptr) + row.random;
    EXPECT_EQ(ways, 1) << row.domain << "::" << row.type;
    EXPECT_TRUE(row.expand != nullptr || (row.infer != nullptr && row.work != nullptr)) << row.type;
  }
}

TEST(operator_rows, say_since_which_opsets_in_ascending_order) {
  for (const Operator& row : operators()) {
    if (row.domain == "sdip" || is_onnxruntime_s_own(row)) continue;
    const auto opsets = opsets_in(row.since);
    ASSERT_FALSE(opsets.empty()) << row.domain << "::" << row.type;
    EXPECT_TRUE(std::is_sorted(opsets.begin(), opsets.end())) << row.type;
    EXPECT_EQ(std::set(opsets.begin(), opsets.end()).size(), opsets.size()) << row.type;
    EXPECT_GE(opsets.front(), row.domain.empty() ? 7 : 1) << row.type;
    EXPECT_LE(opsets.back(), 27) << row.type;
  }
}

TEST(operator_rows, that_are_other_operators_together_stand_in_the_docs) {
  std::ifstream page(SDIP_SOURCE_DIR "/docs/patterns.md");
  std::string line, word;
  while (std::getline(page, line) && line != "## Composites") continue;
  std::set<std::string> words;
  while (page >> word) words.insert(word.substr(0, word.find_first_of(",.;:")));
  for (const Operator& row : operators()) {
    if (row.expand == nullptr || row.domain == "sdip") continue;
    EXPECT_TRUE(words.contains(std::string(row.type))) << row.type << ": docs/patterns.md#composites lists it";
  }
}

/// A definition older than opset 7 is in force from 7 on.
TEST(operator_rows, agree_with_onnx_on_the_opsets_up_to_17) {
  std::map<std::string, std::set<std::int64_t>> expected;
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (schema.domain().empty()) expected[schema.Name()].insert(std::max(7, schema.since_version()));
  }
  for (const Operator& row : operators()) {
    if (!row.domain.empty() || is_onnxruntime_s_own(row)) continue;
    std::set<std::int64_t> found;
    for (std::int64_t opset : opsets_in(row.since)) {
      if (opset <= 17) found.insert(opset);
    }
    EXPECT_EQ(found, expected[std::string(row.type)])
        << row.type << ": if ONNX's domain has it in onnxruntime alone, is_onnxruntime_s_own lists it";
  }
}

/// What a row knows of attributes is what ONNX's schemas know, so that a valid model is not refused for one.
TEST(operator_rows, know_the_attributes_that_onnx_knows) {
  const std::set<std::string> out_of_scope = {"sparse_value", "value_string", "value_strings"};
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (!schema.domain().empty()) continue;
    const Operator* row = nullptr;
    const auto rows = operators();
    for (const Operator& candidate : rows) {
      if (candidate.domain.empty() && candidate.type == schema.Name()) row = &candidate;
    }
    if (row == nullptr ||
        (schema.since_version() < 7 && onnx::OpSchemaRegistry::Schema(schema.Name(), 7) != nullptr &&
         onnx::OpSchemaRegistry::Schema(schema.Name(), 7)->since_version() != schema.since_version())) {
      continue;
    }
    std::istringstream text{std::string(row->attributes)};
    std::set<std::string> known(std::istream_iterator<std::string>{text}, {});
    for (const auto& [name, attribute] : schema.attributes()) {
      EXPECT_TRUE(known.contains(name) || out_of_scope.contains(name))
          << row->type << " of opset " << schema.since_version() << ": " << name;
    }
  }
}

}  // namespace
}  // namespace sdip
