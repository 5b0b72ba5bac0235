// Does a program that comes without its weights get those of its model?
#include "server/models/program_weights.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "server/models/catalog.h"
#include "server/models/weight_values.h"

namespace sdip {
namespace {

/// Weights compared of all stages of a built-in model, each of which must be as the model has it. A constant of
/// more than 1,024 elements, the causal mask, is not among them: a program's text does not hold it
/// (docs/formats.md).
std::int64_t same_weights(const std::string& model, const Machine& machine) {
  const Catalog catalog{FileModels{}};
  const Application application = compile(*catalog.workload(model, machine), machine);
  EXPECT_TRUE(application.feasible) << application.reason;
  const std::vector<Member> members = catalog.members(model, "/model");
  std::int64_t compared = 0;
  for (const CompiledStage& stage : application.stages) {
    const CompiledStage asking = asking_for_weights(stage);
    const StoredTensors random = random_weights(*asking.graph, 3);
    const MemberWeights own =
        member_weights(member_of(members, stage.name), machine, 3, std::filesystem::temp_directory_path());
    for (const Value& value : asking.graph->values) {
      const bool asked = value.kind == ValueKind::weight && value.bytes && !value.operand.value;
      if (!asked || !is_floating(value.operand.type) || value.name.starts_with("onnx::Constant_")) continue;
      const std::vector<float> expected = own.numbers(value);
      const Tensor found = random(value).value();
      EXPECT_TRUE(
          std::ranges::equal(found.floats, expected, {}, {}, [](float x) { return static_cast<double>(x); }))
          << stage.name << " " << value.name;
      ++compared;
    }
  }
  return compared;
}

TEST(program_weights, are_those_of_the_model_whatever_rewriting_made_of_their_readers) {
  const Machine machine = find_preset("edge")->machine;
  Machine low_rank = machine;
  low_rank.low_rank = LowRank::on;
  EXPECT_GT(same_weights("mobilenetv2", machine), 250) << "its norms are folded into its convolutions";
  EXPECT_GT(same_weights("tiny-sd", machine), 200);
  EXPECT_GT(same_weights("tiny-sd", low_rank), 200);
}

}  // namespace
}  // namespace sdip
