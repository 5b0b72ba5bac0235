// Compound instructions, made by hand: attention with online softmax, strips with halos and line buffers.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "tests/core/exec/random_graph.h"

namespace sdip {
namespace {

/// A stage of one instruction that computes the whole graph from inputs in DRAM, its result there, too.
CompiledStage one_instruction(const MadeNetwork& network, Compound compound) {
  CompiledStage stage;
  stage.graph = std::make_shared<const Graph>(network.graph);
  Instruction& instruction = stage.program.instructions.emplace_back();
  InstructionClass& c = stage.program.classes.emplace_back();
  c.compound = compound;
  c.work = work_of(network.graph, network.graph.nodes[0]);
  c.to_dsram = false;
  c.to_dram = true;
  instruction.name = network.graph.nodes.back().name;
  for (std::size_t n = 0; n < network.graph.nodes.size(); ++n) instruction.nodes.push_back(static_cast<NodeId>(n));
  std::int64_t address = 0;  // in DRAM, one behind the other, the result last
  for (const ValueId v : network.graph.inputs) {
    instruction.sources.push_back({Place::dram, v, false, Bytes(address)});
    address += 4 * element_count(network.graph.values[static_cast<std::size_t>(v)].operand.shape);
  }
  instruction.dram_address = Bytes(address);
  for (std::size_t v = 0; v < network.graph.values.size(); ++v)
    if (network.graph.values[v].bytes) instruction.weights.push_back(static_cast<ValueId>(v));
  instruction.destination = network.graph.outputs[0];
  return stage;
}

/// A part of one node on feature maps: how its rows follow from those of its operand.
Part part_of_node(const Graph& graph, const Node& node) {
  const auto shape = [&](ValueId v) { return graph.values[static_cast<std::size_t>(v)].operand.shape; };
  const auto at = [&](const char* name, std::int64_t otherwise) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? otherwise : std::get<std::vector<std::int64_t>>(found->second)[0];
  };
  const Shape in = shape(node.inputs[0]), out = shape(node.outputs[0]);
  Part part;
  part.work = work_of(graph, node);
  part.out_elements = element_count(out);
  if (part.work.family == Family::conv2d) {
    const Shape weight = shape(node.inputs[1]);
    part.operand_b = Place::psram;
    part.weight_elements_per_channel = element_count(weight) / weight[0];
    return part;
  }
  part.read_elements = part.work.read_elements[0];
  LoopNest& n = part.work.nest;
  n.batch = in[0];
  n.in_channels = n.out_channels = in[1];
  n.in_h = in[2], n.in_w = in[3], n.out_h = out[2], n.out_w = out[3];
  if (node.op->type.ends_with("Pool")) n.kernel_h = at("kernel_shape", 1), n.stride_h = at("strides", 1);
  for (std::size_t i = 1; i < part.work.read_elements.size(); ++i)  // a residual from DRAM
    if (part.work.read_elements[i] == part.out_elements)
      part.fetches.push_back({Place::dram, part.out_elements, 1, true});
  return part;
}

/// A stage of one instruction that carries strips through the whole graph, each node a part.
CompiledStage strips_of(const MadeNetwork& network) {
  CompiledStage stage = one_instruction(network, Compound::strips);
  InstructionClass& c = stage.program.classes[0];
  c.operand_a = Place::dram;
  for (const Node& node : network.graph.nodes) c.parts.push_back(part_of_node(network.graph, node));
  c.work.nest = c.parts.back().work.nest;
  c.out_elements = c.parts.back().out_elements;
  return stage;
}

Machine single_precision() {
  Machine m;
  m.weight_format = m.activation_format = m.accumulator_format = NumberFormat::fp32;
  return m;
}

sdip::Run run_of(const CompiledStage& stage, const MadeNetwork& network) {
  return execute(stage, single_precision(), network.inputs, [&](const Value& v) { return network.stored(v); });
}

Tensor wanted(const MadeNetwork& network) {
  return compute(network.graph, network.inputs, [&](const Value& v) { return network.stored(v); }).at(0);
}

void expect_near(const Tensor& got, const Tensor& want, double ulps) {
  double largest = 0;
  for (const double x : want.floats) largest = std::max(largest, std::fabs(x));
  ASSERT_EQ(got.shape, want.shape);
  for (std::size_t i = 0; i < want.floats.size(); ++i)
    ASSERT_NEAR(got.floats[i], want.floats[i], ulps * std::ldexp(largest, -23)) << i;
}

MadeNetwork attention(Draw& draw, Shape q, std::int64_t keys, std::int64_t values, bool masked) {
  NetworkMaker make(draw);
  const ValueId queries = make.input(q), k = make.input({q[0], q[1], keys, q[3]}),
                v = make.input({q[0], q[1], keys, values});
  ValueId scores = make.nodes("sdip", "Scores", {queries, k}, {{"scale", 0.7}, {"trans_b", std::int64_t{1}}})[0];
  if (masked) scores = make.node("Add", {scores, make.input({q[0], 1, q[2], keys})});
  return make.finish({make.node("MatMul", {make.node("Softmax", {scores}), v})}, false);
}

TEST(attention, two_keys_one_by_one_are_as_the_worked_example_says) {
  Draw draw(1);
  MadeNetwork network = attention(draw, {1, 1, 1, 1}, 2, 1, false);
  network.inputs[0].floats = {1};
  network.inputs[1].floats = {1 / 0.7, 3 / 0.7};
  network.inputs[2].floats = {10, 20};
  CompiledStage stage = one_instruction(network, Compound::attention);
  stage.program.classes[0].mapping = {1, 1, 1, 1};
  const sdip::Run run = run_of(stage, network);
  EXPECT_NEAR(run.outputs[0].floats[0], 18.808, 0.001);
  EXPECT_EQ(run.counts.tile_operations, 2);
  EXPECT_EQ(run.counts.rescaled_tiles, 1);
}

TEST(attention, is_softmax_of_scores_times_values_for_any_tiles) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const Shape q{draw.between(1, 2), draw.between(1, 3), draw.between(1, 9), draw.between(1, 6)};
    const std::int64_t keys = draw.between(1, 11);
    const MadeNetwork network = attention(draw, q, keys, draw.between(1, 5), draw.one_in(2));
    CompiledStage stage = one_instruction(network, Compound::attention);
    stage.program.classes[0].mapping = {draw.between(1, q[2]), 1, draw.between(1, keys), q[3]};
    expect_near(run_of(stage, network).outputs[0], wanted(network), 4);
  }
}

TEST(attention, masked_keys_have_no_part_whichever_tile_they_are_in) {
  Draw draw(3);
  MadeNetwork network = attention(draw, {1, 2, 3, 4}, 6, 2, true);
  for (std::size_t i = 0; i < network.inputs[3].floats.size(); ++i)
    network.inputs[3].floats[i] = i % 6 < 3 ? -INFINITY : 0;
  CompiledStage stage = one_instruction(network, Compound::attention);
  for (const std::int64_t keys : {1, 2, 3, 6}) {
    stage.program.classes[0].mapping = {2, 1, keys, 4};
    expect_near(run_of(stage, network).outputs[0], wanted(network), 4);
  }
}

/// Convolutions with activations, residuals, pools and resizes between.
MadeNetwork chain(Draw& draw, std::int64_t convolutions) {
  NetworkMaker make(draw);
  const std::int64_t channels = draw.between(1, 4);
  ValueId x = make.input({draw.between(1, 2), channels, draw.between(4, 14), draw.between(3, 6)});
  for (std::int64_t i = 0; i < convolutions; ++i) {
    const std::int64_t kernel = make.shape(x)[2] >= 3 && make.shape(x)[3] >= 3 ? 3 : 1;
    const bool same = draw.one_in(2);
    const std::vector<std::int64_t> pads(4, kernel / 2), strides(2, !same && draw.one_in(3) ? 2 : 1);
    const ValueId before = x;
    x = make.node("Conv", {x, make.weight({channels, channels, kernel, kernel}, channels * kernel * kernel)},
                  {{"pads", pads}, {"strides", strides}});
    if (draw.one_in(2)) x = make.node("Tanh", {x});
    if (same && draw.one_in(2)) x = make.node("Add", {x, before});
    const Shape shape = make.shape(x);
    if (draw.one_in(4) && shape[2] > 3)
      x = make.node(draw.one_in(2) ? "MaxPool" : "AveragePool", {x},
                    {{"kernel_shape", std::vector<std::int64_t>{draw.between(1, 3), 1}},
                     {"strides", std::vector<std::int64_t>{draw.between(1, 2), 1}},
                     {"pads", std::vector<std::int64_t>(4, 0)}});
    else if (draw.one_in(4))
      x = make.node("Resize", {x, none, none, make.ints({shape[0], shape[1], 2 * shape[2], 2 * shape[3]})},
                    {{"mode", std::string("nearest")},
                     {"coordinate_transformation_mode", std::string("asymmetric")},
                     {"nearest_mode", std::string("floor")}});
  }
  return make.finish({x}, false);
}

TEST(strips, of_any_height_compute_the_chain_with_halos_or_line_buffers) {
  std::int64_t recomputed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const MadeNetwork network = chain(draw, draw.between(1, 4));
    CompiledStage stage = strips_of(network);
    InstructionClass& c = stage.program.classes[0];
    c.mapping.tile_rows = draw.between(1, 5);
    const Tensor want = wanted(network);
    for (const bool line_buffers : {false, true}) {
      c.line_buffers = line_buffers;
      const sdip::Run run = run_of(stage, network);
      expect_near(run.outputs[0], want, 16);
      if (line_buffers) {
        EXPECT_EQ(run.counts.recomputed_rows, 0);
      }
      recomputed += run.counts.recomputed_rows;
    }
  }
  EXPECT_GT(recomputed, 100);
}

TEST(strips, two_convolutions_make_two_rows_again_as_the_worked_example_says) {
  Draw draw(5);
  NetworkMaker make(draw);
  ValueId x = make.input({1, 1, 6, 4});
  const Attributes padded{{"pads", std::vector<std::int64_t>(4, 1)}};
  for (int i = 0; i < 2; ++i) x = make.node("Conv", {x, make.weight({1, 1, 3, 3}, 9)}, padded);
  const MadeNetwork network = make.finish({x}, false);
  CompiledStage stage = strips_of(network);
  stage.program.classes[0].mapping.tile_rows = 3;
  EXPECT_EQ(run_of(stage, network).counts.recomputed_rows, 2);
}

}  // namespace
}  // namespace sdip
