// What strips move, row for row, beside what the clock charges: random chains on random machines.
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/exec/clock/charges.h"
#include "core/exec/clock/step.h"
#include "core/exec/walk/strip_walk.h"
#include "core/program/kinds.h"
#include "tests/core/exec/clock/moved.h"

namespace sdip {
namespace {

using testing::HasSubstr;

ValueId drawn_convolution(Draw& draw, NetworkMaker& make, ValueId x) {
  const Shape shape = make.shape(x);
  const std::int64_t channels = shape[1], kernel = shape[2] >= 6 && shape[3] >= 3 && !draw.one_in(3) ? 3 : 1;
  const std::int64_t group = channels % 2 == 0 && draw.one_in(4) ? 2 : 1,
                     out = draw.one_in(2) ? channels : group * draw.between(1, 8 / group);
  const std::vector<std::int64_t> pads{draw.between(0, kernel / 2), kernel / 2, draw.between(0, kernel / 2),
                                       kernel / 2};
  const Attributes attributes{{"pads", pads},
                              {"group", group},
                              {"dilations", std::vector<std::int64_t>{draw.one_in(4) ? 2 : 1, 1}},
                              {"strides", std::vector<std::int64_t>{draw.one_in(4) ? 2 : 1, 1}}};
  return make.node("Conv", {x, make.weight({out, channels / group, kernel, kernel}, channels * kernel * kernel)},
                   attributes);
}

/// Feature maps one behind the other: convolutions, pools, enlargements, activations, residuals of the input,
/// norms.
MadeNetwork chain_of_maps(Draw& draw) {
  NetworkMaker make(draw);
  const ValueId input =
      make.input({draw.between(1, 2), 2 * draw.between(1, 3), draw.between(8, 20), draw.between(4, 7)});
  const bool norms = draw.one_in(2);
  ValueId x = input;
  for (std::int64_t i = draw.between(2, 6); i > 0; --i) {
    const Shape shape = make.shape(x);
    const std::int64_t kind = draw.between(0, 9);
    if (kind == 0 && shape[2] > 4) {
      const std::int64_t pad = draw.between(0, 1);
      x = make.node(draw.one_in(2) ? "MaxPool" : "AveragePool", {x},
                    {{"kernel_shape", std::vector<std::int64_t>{draw.between(2, 3), 1}},
                     {"strides", std::vector<std::int64_t>{draw.between(1, 2), 1}},
                     {"pads", std::vector<std::int64_t>{pad, 0, pad, 0}}});
    } else if (kind == 1 && element_count(shape) < 2000) {
      x = make.node("Resize", {x, none, none, make.ints({shape[0], shape[1], 2 * shape[2], 2 * shape[3]})},
                    {{"mode", std::string("nearest")},
                     {"coordinate_transformation_mode", std::string(draw.one_in(2) ? "asymmetric" : "half_pixel")},
                     {"nearest_mode", std::string("floor")}});
    } else if (kind == 2) {
      x = make.node("Relu", {x});
    } else if (kind <= 4 && shape == make.shape(input)) {
      x = make.node("Add", {x, input});
    } else if (kind >= 5 && kind <= 6 && shape[1] > 1) {
      x = make.node("Mul", {x, make.input({1, shape[1], 1, 1})});
    } else {
      const std::vector<ValueId> operands{x, make.weight({shape[1]}, 1), make.weight({shape[1]}, 1)};
      if (norms && draw.one_in(2))
        x = make.nodes("sdip", "GroupNorm", operands, {{"num_groups", std::int64_t{1}}, {"epsilon", 0.01}})[0];
      x = drawn_convolution(draw, make, x);
    }
  }
  return make.finish({x}, false);
}

struct DrawnChain {
  MadeNetwork network;
  Machine machine;
  Application application;
};
std::optional<DrawnChain> drawn_chain(std::uint64_t seed, MadeNetwork (*chain)(Draw&) = chain_of_maps) {
  Draw draw(seed);
  DrawnChain d{chain(draw), random_machine(draw), {}};
  d.machine.strips = draw.one_in(2) ? Strips::halo_recompute : Strips::line_buffers;
  d.machine.fused_chains = FusedChains::on;
  if (!draw.one_in(3)) d.machine.fusion = Fusion::norm, d.machine.norm_statistics = NormStatistics::recompute;
  d.machine.weight_storage = WeightStorage::streamed;
  d.machine.psram_bytes = draw.between(300, 3000);
  d.machine.dsram_bytes = 2 * draw.between(150, 800);
  if (!draw.one_in(4)) d.machine.transposition = Transposition::dynamic_transposition;
  d.application = compiled_on(d.machine, d.network, Role::network);
  if (!d.application.feasible) return std::nullopt;
  return d;
}

/// What strips of random chains had.
struct SeenStrips {
  std::int64_t instructions = 0, edges = 0, inner = 0, streamed = 0, others = 0, frames = 0, odd = 0, sums = 0;
  std::int64_t branches = 0, norms = 0, attentions = 0, second = 0, residuals = 0;
  void count(const InstructionClass& c, const Machine& m, const InstructionTransfers& moved) {
    ++instructions;
    odd += moved.other_windows;
    sums += c.out_elements == 0;
    frames += c.parts[0].work.nest.batch > 1;
    branches += std::ranges::count_if(c.parts, is_branch);
    norms += std::ranges::count_if(c.parts, [](const Part& part) { return part.work.family == Family::norm; });
    for (const Part& part : c.parts) {
      attentions += part.work.family == Family::softmax;
      second += part.work.family == Family::matmul && part.operand_b == Place::dram;
      residuals += part.rows_beside + part.a_beside;
    }
    const std::vector<exec::Operation> operations = exec::expand(c, m);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const std::int64_t a = moved.operations[i](Stream::a, Through::dram);
      edges += a > 0 && a < 8 * operations[i].a_bytes;
      inner += a > 0 && a == 8 * operations[i].a_bytes;
      streamed += operations[i].weight_tile >= 0 && moved.operations[i].weight_elements > 0;
      others += moved.operations[i](Stream::others, Through::dram) > 0;
    }
  }
};

/// Expects that each instruction moves what it is charged, and that the clock counts the same with what moved.
void compare_with_charges(const DrawnChain& d, SeenStrips& seen) {
  const CompiledStage& stage = d.application.stages[0];
  const std::vector<InstructionTransfers> moved = transfers_of(stage, d.machine, d.network);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    EXPECT_EQ(difference_of(stage, d.machine, i, moved[i]), "") << graph_text(stage);
    const InstructionClass& c = class_of_instruction(stage, i);
    if (c.compound == Compound::strips) seen.count(c, d.machine, moved[i]);
  }
  if (moved.empty()) return;
  const StepCounts charged = step(stage, d.machine, Decimal{100}, 1, 2);
  EXPECT_EQ(step(stage, d.machine, Decimal{100}, 1, 2, moved).passes, charged.passes);
}

TEST(moved, strips_move_the_rows_that_they_read_and_no_more_than_they_are_charged) {
  SeenStrips seen;
  for (std::uint64_t seed = 0; seed < pair_count(250); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::optional<DrawnChain> d = drawn_chain(seed + 70000);
    if (!d) continue;
    compare_with_charges(*d, seen);
  }
  EXPECT_GT(seen.instructions, 100);
  EXPECT_GT(seen.edges, 50);
  EXPECT_GT(seen.inner, 50);
  EXPECT_GT(seen.streamed, 15);
  EXPECT_GT(seen.others, 20);
  EXPECT_GT(seen.frames, 20);
  EXPECT_GT(seen.odd, 10);
  EXPECT_GT(seen.sums, 5);
}

TEST(moved, chains_of_products_move_the_rows_that_they_read_and_just_what_they_are_charged) {
  SeenStrips seen;
  for (std::uint64_t seed = 0; seed < pair_count(250); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::optional<DrawnChain> d = drawn_chain(seed + 170000, random_feed_forwards);
    if (!d) continue;
    compare_with_charges(*d, seen);
  }
  EXPECT_GT(seen.instructions, 60);
  EXPECT_EQ(seen.edges, 0) << "no window reaches over an edge";
  EXPECT_GT(seen.inner, 50);
  EXPECT_GT(seen.streamed, 5);
  EXPECT_GT(seen.others, 10);
  EXPECT_GT(seen.branches, 10);
  EXPECT_GT(seen.norms, 5);
  EXPECT_GT(seen.attentions, 10);
  EXPECT_GT(seen.second, 5);
  EXPECT_GT(seen.frames, 5);
  EXPECT_GT(seen.residuals, 10);
}

/// Expects that one more, or less, of what an operation moved is found.
void expect_found(const DrawnChain& d, std::size_t i, InstructionTransfers& moved, std::int64_t& amount, int by) {
  const CompiledStage& stage = d.application.stages[0];
  for (const int more : {by, -by}) {
    amount += more;
    EXPECT_THAT(difference_of(stage, d.machine, i, moved), HasSubstr("execution_failed")) << graph_text(stage);
    amount -= more;
  }
}

TEST(moved, an_element_more_or_less_in_any_strip_is_a_failure) {
  std::map<Stream, int> tampered;
  int weights = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const std::optional<DrawnChain> d = drawn_chain(seed + 70000);
    if (!d) continue;
    const CompiledStage& stage = d->application.stages[0];
    std::vector<InstructionTransfers> moved = transfers_of(stage, d->machine, d->network);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      if (class_of_instruction(stage, i).compound != Compound::strips || moved[i].other_windows) continue;
      const auto tamper = [&](auto amount, int by) {  // from the last operation on
        for (auto t = moved[i].operations.rbegin(); t != moved[i].operations.rend(); ++t)
          if (std::int64_t& of = amount(*t); of > 0) return expect_found(*d, i, moved[i], of, by), 1;
        return 0;
      };
      for (const Stream stream : {Stream::a, Stream::others, Stream::results}) {
        if (stream == Stream::others && moved[i].reads_less) continue;
        tampered[stream] += tamper(
            [&](TileTransfers& t) -> std::int64_t& {
              return t.bits[static_cast<std::size_t>(stream)][static_cast<std::size_t>(Through::dram)];
            },
            32);
      }
      tamper([](TileTransfers& t) -> std::int64_t& { return t.made_elements; }, 1);
      weights += tamper([](TileTransfers& t) -> std::int64_t& { return t.weight_elements; }, 1);
    }
  }
  for (const auto& [stream, times] : tampered) EXPECT_GT(times, 3) << static_cast<int>(stream);
  EXPECT_EQ(tampered.size(), 3U);
  EXPECT_GT(weights, 10);
}

/// Two 3 x 3 convolutions, pad 1, of 9 rows of one element, in strips of 3, from DRAM to DRAM.
InstructionClass two_convolutions() {
  InstructionClass c;
  c.compound = Compound::strips;
  c.operand_a = Place::dram;
  c.to_dsram = false;
  c.to_dram = true;
  c.work.family = Family::conv2d;
  LoopNest& n = c.work.nest;
  n.in_h = n.out_h = 9;
  n.kernel_h = n.kernel_w = 3;
  n.pad_top = n.pad_bottom = n.pad_left = n.pad_right = 1;
  Part part;
  part.work = c.work;
  part.operand_b = Place::psram;
  part.out_elements = c.out_elements = 9;
  part.weight_elements_per_channel = 9;
  c.parts = {part, part};
  c.mapping = {3, 1, 1, 1, rows_outermost};
  return c;
}

/// What strips of it are charged beyond what they moved; nothing: nothing.
std::string said_against(const InstructionClass& c, std::vector<exec::Operation> operations,
                         const InstructionTransfers& moved) {
  Machine m;
  m.activation_format = NumberFormat::fp32;
  try {
    exec::require_charged(operations, c, m, moved, "strips");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(moved, a_strip_at_an_edge_moves_less_than_one_inside_as_the_worked_example_says) {
  const InstructionClass c = two_convolutions();
  Machine m;
  m.activation_format = NumberFormat::fp32;
  const std::vector<exec::Operation> operations = exec::expand(c, m);
  ASSERT_EQ(operations.size(), 3U);
  InstructionTransfers moved;
  for (const std::int64_t rows_of_a : {5, 7, 5}) {
    EXPECT_EQ(operations[moved.operations.size()].a_bytes, 4 * 7);
    TileTransfers& t = moved.operations.emplace_back();
    t.bits[static_cast<std::size_t>(Stream::a)][static_cast<std::size_t>(Through::dram)] = 32 * rows_of_a;
    t.bits[static_cast<std::size_t>(Stream::results)][static_cast<std::size_t>(Through::dram)] = 32 * 3;
    t.made_elements = (rows_of_a == 7 ? 5 : 4) + 3;
  }
  moved.operations[0].weight_elements = 18;  // held to the last strip
  EXPECT_EQ(said_against(c, operations, moved), "");
  // A charge that is wrong by a row: the strip inside has just what it is charged, those at the edges no more.
  for (const std::int64_t row : {-4, 4}) {
    std::vector<exec::Operation> wrong = operations;
    wrong[1].a_bytes += row;
    EXPECT_THAT(said_against(c, wrong, moved), HasSubstr("operand A, bytes in tile operation 1"));
  }
  std::vector<exec::Operation> wrong = operations;
  wrong[2].a_bytes = 4 * 4;
  EXPECT_THAT(said_against(c, wrong, moved), HasSubstr("operand A, bits in tile operation 2"));
  wrong = operations;
  wrong[0].out_bytes = 8;
  EXPECT_THAT(said_against(c, wrong, moved), HasSubstr("results"));
}

TEST(strip_walk, goes_through_held_channels_and_tiles_of_streamed_ones_as_the_worked_example_says) {
  InstructionClass c = two_convolutions();
  c.mapping.tile_rows = 4;
  for (Part& part : c.parts) part.work.nest.in_h = part.work.nest.out_h = 6;
  c.parts[0].work.nest.out_channels = 4;
  c.parts[1].work.nest.out_channels = 8;
  c.parts[1].streamed_channels = 5;
  c.parts[1].tile_channels = 2;
  const auto held = [](std::size_t part, exec::Extent channels, std::int64_t of) {
    return exec::StripPiece{part, channels, -1, of};
  };
  EXPECT_THAT(exec::strip_pieces(c),
              testing::ElementsAre(held(0, {0, 4}, 1), held(1, {0, 3}, 4), exec::StripPiece{1, {3, 5}, 0, 4},
                                   exec::StripPiece{1, {5, 7}, 1, 4}, exec::StripPiece{1, {7, 8}, 2, 4}));
  std::map<std::int64_t, int> operations;  // by first row
  exec::for_each_strip_step(c, [&](const exec::StripStep& step) {
    EXPECT_EQ(step.pieces.size(), 1U);
    ++operations[step.rows.begin];
  });
  EXPECT_EQ(operations, (std::map<std::int64_t, int>{{0, 5}, {4, 5}}));
  c.parts[1].streamed_channels = 0;
  exec::for_each_strip_step(c, [&](const exec::StripStep& step) { EXPECT_EQ(step.pieces.size(), 2U); });
}

}  // namespace
}  // namespace sdip
