// Is everything that touches the same bytes in an order that the marks keep, with no mark too many?
#include "core/program/form/marks.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "core/base/error.h"
#include "core/program/compile/passes.h"
#include "core/program/form/parse.h"
#include "tests/core/program/compiled.h"
#include "tests/core/program/form/round_trip.h"
#include "tests/core/program/random_graph.h"

namespace sdip {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Machine with_pairs() {
  Machine machine;
  machine.fusion = Fusion::no_fusion;
  machine.operator_dsram = OperatorDsram::per_operator;
  return machine;
}

void add_conv(onnx::ModelProto& model, const std::string& from, const std::string& to) {
  const std::string w = "w_" + to;
  add_weight(model, w, {8, 8, 1, 1});
  set_ints(add_node(model, "Conv", {from, w}, to), "kernel_shape", {1, 1});
}

/// The example of core/program/form/marks.cpp, and what reads b and d.
onnx::ModelProto marks_example() {
  onnx::ModelProto model = model_of_x({1, 8, 4, 4});
  add_conv(model, "x", "a");
  set_int(add_node(model, "Softmax", {"a"}, "b"), "axis", -1);
  add_conv(model, "x", "c");
  add_conv(model, "c", "d");
  add_node(model, "Add", {"b", "d"}, "y");
  add_output(model, "y");
  return model;
}

/// Placed and marked in the model's order: packing would put the second convolution before the softmax.
Placement placed(const onnx::ModelProto& model, const Machine& machine) {
  const auto graph = std::make_shared<const Graph>(import_model(model));
  Compilation c{machine, Role::network, {}, graph, {}, {}, {}, {}, {}, {}};
  lower(c);
  live(c);
  place(c);
  depend(c);
  EXPECT_FALSE(c.infeasible) << *c.infeasible;
  return c.placement;
}

TEST(marks, name_the_makers_of_operands_and_the_readers_of_what_is_overwritten) {
  const Placement placement = placed(marks_example(), with_pairs());
  std::vector<std::vector<std::int32_t>> after;
  for (const Instruction& i : placement.instructions) after.push_back(i.after);
  EXPECT_THAT(after, ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), ElementsAre(1, 2), ElementsAre(3)));
  const PlacedOperand& a = placement.instructions[1].sources.at(0);
  EXPECT_EQ(a.place, Place::dsram);
  EXPECT_EQ(a.pair, Family::conv2d);
  EXPECT_FALSE(a.older);
  EXPECT_EQ(placement.classes_of_drafts[1].fetches.at(0).pair, Family::conv2d);
  EXPECT_EQ(placement.classes_of_drafts[3].pair_a, Family::conv2d);
}

TEST(marks, with_one_pair_for_all_there_are_none_and_results_wait_on_stackram) {
  Machine common = with_pairs();
  common.operator_dsram = OperatorDsram::common;
  const Placement placement = placed(marks_example(), common);
  for (const Instruction& i : placement.instructions) EXPECT_THAT(i.after, IsEmpty());
  EXPECT_EQ(placement.instructions[4].sources.at(0).place, Place::stackram);  // b, made three before
  EXPECT_EQ(placed(marks_example(), with_pairs()).instructions[4].sources.at(0).place, Place::dsram);
}

TEST(marks, what_is_read_behind_the_next_of_its_family_is_on_the_older_side_and_then_gone) {
  onnx::ModelProto model = model_of_x({1, 8, 4, 4});
  add_conv(model, "x", "a");
  add_conv(model, "a", "c");
  set_int(add_node(model, "Softmax", {"a"}, "b"), "axis", -1);
  add_conv(model, "c", "d");
  set_int(add_node(model, "Softmax", {"a"}, "e"), "axis", -1);
  for (const char* name : {"b", "d", "e"}) add_output(model, name);
  const Placement placement = placed(model, with_pairs());
  const PlacedOperand &second = placement.instructions[2].sources.at(0),
                      &last = placement.instructions[4].sources.at(0);
  EXPECT_EQ(second.place, Place::dsram);
  EXPECT_TRUE(second.older);
  EXPECT_EQ(last.place, Place::stackram);  // d is written over it
}

/// Bytes that an instruction touches, found anew: sides by counting the instructions of each family before.
struct Access {
  std::string memory;
  std::int64_t begin = 0, end = 0;
  bool writes = false;
};

std::vector<std::vector<Access>> accesses_of(const CompiledStage& stage, const Machine& machine) {
  std::map<Family, std::int64_t> before;
  std::vector<std::vector<Access>> all;
  for (const Instruction& i : stage.program.instructions) {
    const InstructionClass& c = stage.program.classes[static_cast<std::size_t>(i.instruction_class)];
    std::vector<Access> here;
    const auto add = [&](const std::string& memory, Bytes address, std::int64_t bytes, bool writes) {
      if (bytes > 0) here.push_back({memory, address.value, address.value + bytes, writes});
    };
    const auto side = [&](Family family, std::int64_t more) {
      return std::string(family_text(family)) + std::to_string((before[family] + more) % 2);
    };
    const auto bytes = [&](ValueId v) {
      return ceil_div(element_count(stage.graph->values[static_cast<std::size_t>(v)].operand.shape) *
                          bits_of(machine.activation_format),
                      8);
    };
    for (const PlacedOperand& s : i.sources) {
      if (s.place == Place::scalar) continue;
      const std::string memory =
          s.place == Place::dsram ? side(*s.pair, s.older ? 1 : 0) : std::string(place_text(s.place));
      add(memory, s.address, bytes(s.value), false);
    }
    const Family own = c.work.family;
    add(side(own, 0), i.read_tiles.address, i.read_tiles.bytes.value, true);
    add(side(own, 1), i.write_tiles.address, i.write_tiles.bytes.value, true);
    if (c.to_dsram) add(side(own, 1), i.dsram_address, bytes(i.destination), true);
    if (c.push) add("stackram", i.stackram_address, bytes(i.destination), true);
    if (c.to_dram) add("dram", i.dram_address, bytes(i.destination), true);
    ++before[own];
    all.push_back(std::move(here));
  }
  return all;
}

bool conflict(const std::vector<Access>& one, const std::vector<Access>& other) {
  for (const Access& a : one)
    for (const Access& b : other)
      if ((a.writes || b.writes) && a.memory == b.memory && a.begin < b.end && b.begin < a.end) return true;
  return false;
}

/// What each instruction has waited for when it starts.
std::vector<std::vector<char>> waited_for(const Program& program) {
  std::vector<std::vector<char>> waited;
  for (const Instruction& i : program.instructions) {
    std::vector<char> here(program.instructions.size(), 0);
    for (const std::int32_t j : i.after) {
      here[static_cast<std::size_t>(j)] = 1;
      for (std::size_t k = 0; k < here.size(); ++k)
        here[k] = here[k] != 0 || waited[static_cast<std::size_t>(j)][k] != 0;
    }
    waited.push_back(std::move(here));
  }
  return waited;
}

/// A random feasible stage with pairs; nothing for some seeds.
std::optional<CompiledStage> random_stage(std::uint64_t seed, Machine& machine) {
  GraphDice dice(seed);
  const Graph graph = random_graph(dice);
  machine = random_compile_machine(dice);
  machine.activation_memory = ActivationMemory::separate;
  machine.operator_dsram = OperatorDsram::per_operator;
  const Role role = dice.one_in(2) ? Role::network : dice.one_in(2) ? Role::decoder : Role::core;
  const Application application = compiled(graph, machine, role);
  if (!application.feasible) return std::nullopt;
  return application.stages.at(0);
}

TEST(marks, order_all_that_touch_the_same_bytes_and_none_is_implied_by_others) {
  std::int64_t conflicts = 0, marks = 0, side_by_side = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Machine machine;
    const auto stage = random_stage(seed, machine);
    if (!stage) continue;
    const auto accesses = accesses_of(*stage, machine);
    const auto waited = waited_for(stage->program);
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        side_by_side += waited[i][j] == 0;
        if (!conflict(accesses[i], accesses[j])) continue;
        ++conflicts;
        ASSERT_NE(waited[i][j], 0) << i << " does not wait for " << j << "\n" << graph_text(*stage);
      }
      const auto& after = stage->program.instructions[i].after;
      EXPECT_TRUE(std::ranges::is_sorted(after, std::ranges::less_equal()) || after.size() < 2);
      for (const std::int32_t one : after)
        for (const std::int32_t other : after)
          EXPECT_EQ(waited[static_cast<std::size_t>(other)][static_cast<std::size_t>(one)], 0);
      marks += std::ssize(after);
    }
  }
  std::printf("%ld conflicts ordered by %ld marks, %ld pairs of instructions may overlap\n",
              static_cast<long>(conflicts), static_cast<long>(marks), static_cast<long>(side_by_side));
  EXPECT_GT(conflicts, 3 * marks / 2);
  EXPECT_GT(side_by_side, 100);
}

TEST(marks, a_text_without_them_gets_them_and_one_with_fewer_is_refused) {
  std::int64_t refused = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Machine machine;
    const auto stage = random_stage(seed, machine);
    if (!stage || std::ranges::any_of(stage->program.classes, [](const auto& c) { return c.work.nest.groups > 1; }))
      continue;
    const std::string text = graph_text(*stage);
    std::string without, line;
    for (std::istringstream in(text); std::getline(in, line); without += line + "\n")
      if (const auto at = line.find(" after="); line.starts_with("instruction") && at != std::string::npos)
        line.erase(at, line.find(' ', at + 1) - at);
    ASSERT_NE(without, text);
    EXPECT_EQ(graph_text(parse_graph_text(without)), text);
    for (std::size_t i = 0; i < stage->program.instructions.size(); ++i) {
      CompiledStage fewer = *stage;
      auto& after = fewer.program.instructions[i].after;
      if (after.empty()) continue;
      after.pop_back();
      ++refused;
      for (const bool as_text : {true, false}) try {
          as_text ? parse_graph_text(graph_text(fewer)) : read_graph_binary(bytes_of(write_graph_binary(fewer)));
          ADD_FAILURE() << "a mark left out was not found";
        } catch (const Error& error) {
          EXPECT_EQ(error.code, "graph_inconsistent");
          EXPECT_THAT(error.what(), HasSubstr("after: expected "));
        }
    }
  }
  EXPECT_GT(refused, 50);
}

TEST(marks, programs_with_pairs_come_back_from_text_and_bytes) {
  int feasible = 0;
  for (std::uint64_t seed = 500; seed < 700; ++seed) {
    SCOPED_TRACE(seed);
    Machine machine;
    const auto stage = random_stage(seed, machine);
    if (!stage) continue;
    // Groups cut in two are refused when they are read.
    if (std::ranges::any_of(stage->program.classes,
                            [](const auto& c) { return c.operand_b == Place::psram && c.work.nest.groups > 1; }))
      continue;
    ++feasible;
    expect_round_trip(*stage, machine);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(feasible, 70);
}

TEST(marks, hostile_ones_and_pairs_are_refused) {
  const Application application = compiled(marks_example(), with_pairs());
  const std::string text = graph_text(application.stages.at(0));
  const auto failure = [&](const std::string& from, const std::string& to) -> std::string {
    std::string changed = text;
    const auto at = changed.rfind(from);
    EXPECT_NE(at, std::string::npos) << from << "\n" << text;
    changed.replace(at, from.size(), to);
    try {
      parse_graph_text(changed);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(failure("after=3", "after=0,3"), "");  // more than are needed
  EXPECT_THAT(failure("after=3", "after=3,0"), HasSubstr("ascending, each once"));
  EXPECT_THAT(failure("after=3", "after=3,3"), HasSubstr("ascending, each once"));
  EXPECT_THAT(failure("after=3", "after=4"), HasSubstr("0 to 3"));
  EXPECT_THAT(failure("dsram.softmax", "dsram.norm"), HasSubstr("not in the DSRAM pair of norm"));
  EXPECT_THAT(failure("dsram.softmax", "dsram.view"), HasSubstr("expected a family that has a DSRAM pair"));
  EXPECT_THAT(failure("dsram.softmax", "dsram"), HasSubstr("expected a family's DSRAM pair"));
  EXPECT_THAT(failure("dsram.softmax", "dsram.softmax.older"), HasSubstr("older: expected of"));
  EXPECT_THAT(failure("operator_dsram=per_operator", "operator_dsram=common"), HasSubstr("there alone"));
  Machine common = with_pairs();
  common.operator_dsram = OperatorDsram::common;
  std::string marked = graph_text(compiled(marks_example(), common).stages.at(0));
  marked.replace(marked.rfind(" occupancy="), 1, " after=0 ");
  try {
    parse_graph_text(marked);
    ADD_FAILURE() << "marks where nothing runs side by side";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("after: expected where operator_dsram=per_operator alone"));
  }
}

}  // namespace
}  // namespace sdip
