// What operators that are computed whole move, beside what the clock charges: one case of each kind.
#include <gmock/gmock.h>

#include <functional>

#include "tests/core/exec/clock/moved.h"

namespace sdip {
namespace {

using Ints = std::vector<std::int64_t>;

/// One operator on [1,2,6,6] from DRAM.
struct WholeCase {
  std::function<ValueId(NetworkMaker&, ValueId)> add;  // its first result; all leave
  std::int64_t read = 0, charged = 0;                  // elements
  bool less = false, more = false;
  int results = 1;
};

ValueId pool(NetworkMaker& make, ValueId x, const char* type, std::int64_t kernel, std::int64_t pad) {
  return make.node(type, {x}, {{"kernel_shape", Ints{kernel, kernel}}, {"pads", Ints(4, pad)}});
}

/// The greatest of 2 x 2, and where they are.
ValueId places(NetworkMaker& make, ValueId x) {
  return make.nodes("", "MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}}, 2)[0];
}

ValueId pad(NetworkMaker& make, ValueId x, const Ints& by) {
  return make.node("Pad", {x, make.ints(by)}, {{"mode", std::string("reflect")}});
}

ValueId centre(NetworkMaker& make, ValueId x, const Ints& shape) {
  return make.node("CenterCropPad", {x, make.ints(shape)});
}

ValueId resize(NetworkMaker& make, ValueId x, const char* mode, std::int64_t size) {
  return make.node("Resize", {x, none, none, make.ints({1, 2, size, size})}, {{"mode", std::string(mode)}});
}

const std::map<std::string, WholeCase>& whole_cases() {
  static const std::map<std::string, WholeCase> cases{
      // Their operand once.
      {"mean",
       {[](auto& m, ValueId x) {
          return m.node("ReduceMean", {x}, {{"axes", Ints{-1}}});
        },
        72, 72}},
      {"larger", {[](auto& m, ValueId x) { return resize(m, x, "nearest", 12); }, 72, 72}},
      {"codes",
       {[](auto& m, ValueId x) {
          return m.node("QuantizeLinear", {x, m.number(0.1)});
        },
        72, 72}},
      // As much of it as they make.
      {"slice",
       {[](auto& m, ValueId x) {
          return m.node("Slice", {x, m.ints({0}), m.ints({3}), m.ints({3})});
        },
        36, 36}},
      {"gather",
       {[](auto& m, ValueId x) {
          return m.node("Gather", {x, m.ints({5, 0, 5})}, {{"axis", std::int64_t{3}}});
        },
        36, 36}},
      // What stays: 2 x 5 x 5 with a row and a column fewer, all with something around.
      {"cropped",
       {[](auto& m, ValueId x) {
          return pad(m, x, {0, 0, 0, 0, 0, 0, -1, -1});
        },
        50, 50}},
      {"half of it",
       {[](auto& m, ValueId x) {
          return pad(m, x, {0, 0, -3, 0, 0, 0, 0, 0});
        },
        36, 36}},
      {"around",
       {[](auto& m, ValueId x) {
          return pad(m, x, {0, 0, 1, 1, 0, 0, 1, 1});
        },
        72, 72}},
      {"centre",
       {[](auto& m, ValueId x) {
          return centre(m, x, {1, 2, 3, 8});
        },
        36, 36}},
      {"smaller", {[](auto& m, ValueId x) { return resize(m, x, "nearest", 3); }, 18, 18}},
      // Windows, again for each result: 2 x 5 x 5 of 4; with padding less than 2 x 6 x 6 of 9.
      {"pool", {[](auto& m, ValueId x) { return pool(m, x, "AveragePool", 2, 0); }, 200, 200}},
      {"padded pool", {[](auto& m, ValueId x) { return pool(m, x, "MaxPool", 3, 1); }, 512, 648, true}},
      // What all results look at is charged, or what one result has, where the operand is read once.
      {"mixed", {[](auto& m, ValueId x) { return resize(m, x, "linear", 12); }, 72, 1152, true, true}},
      // By tiles: a plane that is repeated is charged for each result, and held.
      {"repeated",
       {[](auto& m, ValueId x) {
          return m.node("Add", {x, m.input({1, 1, 6, 6})});
        },
        72 + 36, 144, true}},
      {"greatest",
       {[](auto& m, ValueId x) {
          return m.nodes("", "TopK", {x, m.ints({2})}, {}, 2)[0];
        },
        72, 72, false, false, 2}},
      {"places", {[](auto& m, ValueId x) { return places(m, x); }, 200, 200, false, false, 2}},
  };
  return cases;
}

MadeNetwork network_of(Draw& draw, const WholeCase& of) {
  NetworkMaker make(draw);
  const ValueId made = of.add(make, make.input({1, 2, 6, 6}));
  if (of.results == 1) return make.finish({made}, false);
  return make.finish({made, made + 1}, false);
}

TEST(moved, operators_computed_whole_read_what_they_are_charged_or_are_known_not_to) {
  int tiled = 0;
  for (const auto& [name, of] : whole_cases()) {
    for (const std::int64_t dsram_bytes : {100, 100000}) {
      SCOPED_TRACE(name);
      Draw draw(1);
      const MadeNetwork network = network_of(draw, of);
      Machine m;
      m.weight_format = m.activation_format = m.accumulator_format = NumberFormat::fp32;
      m.dsram_bytes = dsram_bytes;
      m.stackram_bytes = 0;
      const Application application = compiled_on(m, network, Role::network);
      ASSERT_TRUE(application.feasible) << application.reason;
      const CompiledStage& stage = application.stages[0];
      const InstructionTransfers moved = transfers_of(stage, m, network).at(0);
      EXPECT_EQ(difference_of(stage, m, 0, moved), "");
      std::int64_t read = 0, charged = 0;
      for (const TileTransfers& t : moved.operations) read += t(Stream::others, Through::dram) / 32;
      for (const Fetch& f : class_of_instruction(stage, 0).fetches)
        charged += f.place == Place::dram ? f.elements : 0;
      EXPECT_EQ(read, of.read);
      EXPECT_EQ(charged, of.charged);
      EXPECT_EQ(moved.reads_less, of.less);
      EXPECT_EQ(moved.reads_more, of.more);
      EXPECT_EQ(moved.by_tiles, name == "repeated");
      tiled += moved.operations.size() > 1;
    }
  }
  EXPECT_GE(tiled, 4);
}

}  // namespace
}  // namespace sdip
