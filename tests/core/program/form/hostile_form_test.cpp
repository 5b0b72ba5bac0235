// Changed programs: read or refused with a code, never anything else; what is read is costed and written again.
#include "core/base/error.h"
#include "tests/core/program/compiled.h"
#include "tests/core/program/form/round_trip.h"
#include "tests/core/program/random_graph.h"

namespace sdip {
namespace {

constexpr std::string_view pieces[] = {"-1", "0",    "9223372036854775807", "%0", "dram", " ", "1e999", "{",
                                       "\"", ":pop", "tile_rows=0 "};

std::string changed(std::string bytes, GraphDice& dice) {
  for (std::int64_t left = dice.between(1, 3); left > 0; --left) {
    const auto at = static_cast<std::size_t>(dice.between(0, std::ssize(bytes) - 1));
    const auto length = static_cast<std::size_t>(dice.between(1, 12));
    switch (dice.between(0, 4)) {
      case 0:
        bytes[at] = static_cast<char>(dice.between(0, 255));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << dice.between(0, 7));
        break;
      case 2:
        bytes.insert(at, pieces[static_cast<std::size_t>(dice.between(0, std::ssize(pieces) - 1))]);
        break;
      case 3:
        bytes.erase(at, length);
        break;
      default:
        bytes.insert(static_cast<std::size_t>(dice.between(0, std::ssize(bytes))), bytes.substr(at, length));
    }
    if (bytes.empty()) bytes = " ";
  }
  return bytes;
}

/// 1 when it was read.
int run(const std::string& input, bool binary) {
  try {
    const CompiledStage stage = binary ? read_graph_binary(bytes_of(input)) : parse_graph_text(input);
    const Machine machine = machine_like(stage.needs);
    Application application;
    application.stages = {stage};
    evaluate(application, machine);
    misfit(stage, machine);
    EXPECT_EQ(graph_text(parse_graph_text(graph_text(stage))), graph_text(stage));
    return 1;
  } catch (const Error& error) {
    EXPECT_FALSE(error.code.empty());
    EXPECT_FALSE(error.where.empty());
    return 0;
  }
}

TEST(hostile_forms, changed_programs_are_read_or_refused) {
  int read = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    GraphDice dice(seed);
    const Application application = compiled(random_graph(dice), random_compile_machine(dice));
    if (!application.feasible) continue;
    const CompiledStage& stage = application.stages.at(0);
    for (const bool binary : {false, true}) {
      const std::string sound = binary ? write_graph_binary(stage) : graph_text(stage);
      for (int i = 0; i < 60; ++i) {
        SCOPED_TRACE("seed " + std::to_string(seed) + (binary ? " binary " : " text ") + std::to_string(i));
        (run(changed(sound, dice), binary) == 1 ? read : refused) += 1;
      }
    }
  }
  EXPECT_GT(read, 20);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace sdip
