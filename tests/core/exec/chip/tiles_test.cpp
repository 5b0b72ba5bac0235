// Softmax and norms in chunks of a row, partial sums at addresses, accumulators that wrap.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/code_runs.h"
#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "core/exec/numbers/plain_functions.h"
#include "tests/core/exec/random_graph.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

using testing::HasSubstr;

Machine in_formats(NumberFormat activations, NumberFormat weights, NumberFormat accumulators) {
  Machine m;
  m.activation_format = activations;
  m.weight_format = weights;
  m.accumulator_format = accumulators;
  m.scale_granularity = ScaleGranularity::tensor;
  return m;
}

const Machine all_fp32 = in_formats(NumberFormat::fp32, NumberFormat::fp32, NumberFormat::fp32);

sdip::Run run_tiled(const CompiledStage& stage, const Machine& m, const MadeNetwork& network,
                    const ActivationScales& scales = {}) {
  return execute(
      stage, m, network.inputs, [&](const Value& v) { return network.stored(v); }, scales);
}

/// Scales of the input and the output of one instruction.
ExecuteOptions with_scales(const MadeNetwork& network, const WeightScale& in, const WeightScale& out,
                           std::int64_t threads) {
  ExecuteOptions options;
  options.scales = {{network.graph.inputs[0], in}, {network.graph.outputs[0], out}};
  options.threads = threads;
  return options;
}

Tensor graph_result(const MadeNetwork& network) {
  return compute(network.graph, network.inputs, [&](const Value& v) { return network.stored(v); }).at(0);
}

TEST(row_passes, softmax_in_chunks_goes_through_each_row_three_times_as_the_worked_example_says) {
  Draw draw(1);
  NetworkMaker make(draw);
  const MadeNetwork network = make.finish({make.node("Softmax", {make.input({1, 5})})}, false);
  CompiledStage stage = stage_of_node(network, all_fp32);
  stage.program.classes[0].mapping = {1, 1, 2, 1};
  const sdip::Run run = run_tiled(stage, all_fp32, network);
  EXPECT_EQ(run.counts.tile_operations, 9);
  EXPECT_EQ(run.counts.whole_operators, 0);
  EXPECT_EQ(run.outputs[0].floats, graph_result(network).floats);
}

TEST(row_passes, softmax_and_norms_compute_the_same_in_any_tiles) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    NetworkMaker make(draw);
    const Shape shape{draw.between(1, 2), 2 * draw.between(1, 2), draw.between(1, 4), draw.between(2, 7)};
    const ValueId x = make.input(shape);
    const bool softmax = draw.one_in(2);
    const std::vector<ValueId> operands{x, make.weight({shape[1]}, 1), make.weight({shape[1]}, 1)};
    const ValueId y =
        softmax
            ? make.node(draw.one_in(2) ? "Softmax" : "LogSoftmax", {x}, {{"axis", draw.between(1, 3)}})
            : make.nodes("sdip", "GroupNorm", operands, {{"num_groups", std::int64_t{2}}, {"epsilon", 0.01}})[0];
    const MadeNetwork network = make.finish({y}, false);
    CompiledStage stage = stage_of_node(network, all_fp32);
    InstructionClass& c = stage.program.classes[0];
    const bool chunks = draw.one_in(2);
    c.mapping = {chunks ? 1 : draw.between(1, c.work.rows), 1,
                 chunks ? draw.between(1, c.work.row_length) : c.work.row_length, 1};
    const std::int64_t operations =
        c.mapping.tile_channels < c.work.row_length
            ? c.work.rows * c.work.passes * ceil_div(c.work.row_length, c.mapping.tile_channels)
            : ceil_div(c.work.rows, c.mapping.tile_rows);
    const sdip::Run run = run_tiled(stage, all_fp32, network);
    EXPECT_EQ(run.counts.tile_operations, operations);
    EXPECT_EQ(run.counts.whole_operators, 0);
    EXPECT_EQ(run.outputs[0].floats, graph_result(network).floats);
  }
}

/// [rows, depth] by [depth, columns], of `type`.
MadeNetwork made_product(Draw& draw, std::int64_t rows, std::int64_t depth, std::int64_t columns,
                         ElementType type) {
  NetworkMaker make(draw);
  const ValueId x = make.input({rows, depth}, type);
  return make.finish({make.node("MatMul", {x, make.weight({depth, columns}, 1, type)})}, false);
}

std::string tiled_failure(const CompiledStage& stage, const Machine& m, const MadeNetwork& network) {
  try {
    run_tiled(stage, m, network);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(partial_sums, lie_in_the_tile_buffer_which_must_hold_them_within_dsram) {
  Draw draw(2);
  const MadeNetwork network = made_product(draw, 2, 4, 3, ElementType::float32);
  Machine m = all_fp32;
  m.dsram_bytes = 24;
  CompiledStage stage = stage_of_node(network, m);
  stage.program.classes[0].mapping = {2, 1, 3, 2, rows_outermost};
  MemorySpan& tiles = stage.program.instructions[0].write_tiles;
  tiles = {Bytes(0), Bytes(24)};
  EXPECT_EQ(tiled_failure(stage, m, network), "") << "6 sums of 4 bytes";
  tiles.bytes = Bytes(23);
  EXPECT_THAT(tiled_failure(stage, m, network), HasSubstr("24 bytes of partial sums in tile buffers of 23"));
  tiles = {Bytes(1), Bytes(24)};
  EXPECT_THAT(tiled_failure(stage, m, network), HasSubstr("bytes 1 to 25 of DSRAM1, which has 24"));
}

TEST(partial_sums, that_leave_come_back_from_dram_behind_all_activations) {
  Draw draw(3);
  const MadeNetwork network = made_product(draw, 4, 6, 4, ElementType::float32);
  CompiledStage stage = stage_of_node(network, all_fp32);
  stage.program.classes[0].mapping = {2, 1, 2, 2, {Loop::sums, Loop::rows, Loop::columns, Loop::channels}};
  stage.program.instructions[0].write_tiles = {Bytes(0), Bytes(32)};
  const sdip::Run run = run_tiled(stage, all_fp32, network);
  EXPECT_EQ(run.counts.partial_tiles, 4 * 2);
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_NEAR(run.outputs[0].floats[i], graph_result(network).floats[i], 1e-5) << i;
}

TEST(sums, run_over_the_lanes_of_the_circuit_as_the_worked_example_says) {
  const double small = std::ldexp(1.0, -24);
  for (const bool one_lane : {true, false}) {
    Draw draw(4);
    MadeNetwork network = made_product(draw, 1, one_lane ? 3 : 4, 1, ElementType::float32);
    for (auto& [name, weight] : network.weights) weight.floats.assign(weight.floats.size(), 1.0);
    network.inputs[0].floats =
        one_lane ? std::vector<double>{1, small, small} : std::vector<double>{small, small, 1, 0};
    Machine m = all_fp32;
    m.linear_lanes_k = m.matmul_lanes_k = m.conv_lanes_in = one_lane ? 1 : 4;
    CompiledStage stage = stage_of_node(network, m);
    stage.program.classes[0].mapping = {1, 1, 1, 4};
    EXPECT_EQ(run_tiled(stage, m, network).outputs[0].floats[0], one_lane ? 1.0 : 1 + 2 * small);
  }
}

TEST(sums, run_over_the_lanes_of_the_one_array_that_shared_macs_and_micro_operations_have) {
  const double small = std::ldexp(1.0, -24);
  Draw draw(4);
  MadeNetwork network = made_product(draw, 1, 4, 1, ElementType::float32);
  for (auto& [name, weight] : network.weights) weight.floats.assign(weight.floats.size(), 1.0);
  network.inputs[0].floats = {1, 0, small, small};
  Machine m = all_fp32;
  m.conv_lanes_in = 4;
  m.linear_lanes_k = m.matmul_lanes_k = 1;
  const auto sum = [&] {
    CompiledStage stage = stage_of_node(network, m);
    stage.program.classes[0].mapping = {1, 1, 1, 4};
    return run_tiled(stage, m, network).outputs[0].floats[0];
  };
  EXPECT_EQ(sum(), 1.0);  // one after the other, each a tie to even
  m.mac_sharing = MacSharing::shared;
  EXPECT_EQ(sum(), 1 + 2 * small);  // 1 + 0, small + small, and the two
  m.mac_sharing = MacSharing::separate;
  m.granularity = Granularity::micro_operation;
  EXPECT_EQ(sum(), 1 + 2 * small);
}

TEST(sums, do_not_depend_on_tiles_of_rows_and_channels_or_on_threads) {
  Draw draw(5);
  const MadeNetwork network = made_product(draw, 70, 40, 90, ElementType::float32);
  CompiledStage stage = stage_of_node(network, all_fp32);
  std::vector<std::vector<double>> results;
  for (const std::int64_t tile : {90, 7, 32})
    for (const std::int64_t threads : {1, 2, 3}) {
      stage.program.classes[0].mapping = {tile, 1, tile, 40};
      ExecuteOptions options;
      options.threads = threads;
      results.push_back(
          execute(
              stage, all_fp32, network.inputs, [&](const Value& v) { return network.stored(v); }, options)
              .outputs[0]
              .floats);
      EXPECT_EQ(results.back(), results.front()) << tile << " " << threads;
    }
}

TEST(options, progress_is_told_after_each_instruction) {
  Draw draw(6);
  const MadeNetwork network = made_product(draw, 2, 3, 4, ElementType::float32);
  const CompiledStage stage = [&] {
    CompiledStage made = stage_of_node(network, all_fp32);
    made.program.classes[0].mapping = {2, 1, 4, 3};
    return made;
  }();
  const StoredTensors stored = [&](const Value& v) { return network.stored(v); };
  std::vector<std::pair<std::size_t, std::size_t>> told;
  ExecuteOptions options;
  options.progress = [&](std::size_t done, std::size_t all) { told.emplace_back(done, all); };
  execute(stage, all_fp32, network.inputs, stored, options);
  EXPECT_EQ(told, (std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}}));
}

TEST(options, mapped_weights_give_the_bits_of_stored_ones) {
  Draw draw(7);
  const MadeNetwork network = made_product(draw, 5, 6, 7, ElementType::float32);
  CompiledStage stage = stage_of_node(network, all_fp32);
  stage.program.classes[0].mapping = {2, 1, 3, 6};
  const Tensor& weight = network.weights.begin()->second;
  const std::vector<float> floats(weight.floats.begin(), weight.floats.end());
  ExecuteOptions options;
  options.mapped = [&](const Value&) { return StoredBytes{std::as_bytes(std::span(floats)), {}}; };
  const StoredTensors nothing = [](const Value&) { return std::nullopt; };
  EXPECT_EQ(execute(stage, all_fp32, network.inputs, nothing, options).outputs[0].floats,
            run_tiled(stage, all_fp32, network).outputs[0].floats);
}

TEST(options, mapped_halves_give_the_bits_of_stored_ones_infinite_ones_too) {
  Draw draw(9);
  MadeNetwork network = made_product(draw, 5, 60, 70, ElementType::float16);
  const Machine m = in_formats(NumberFormat::fp16, NumberFormat::fp16, NumberFormat::fp32);
  CompiledStage stage = stage_of_node(network, m);
  stage.program.classes[0].mapping = {2, 1, 30, 60};
  Tensor& weight = network.weights.begin()->second;
  weight.floats[0] = -0.0;
  weight.floats[1] = 0x1p-24;
  for (const double last : {65504.0, std::numeric_limits<double>::infinity()}) {
    weight.floats[2] = last;
    std::vector<std::uint16_t> codes;
    for (const double x : weight.floats)
      codes.push_back(
          static_cast<std::uint16_t>(encoded_kept(NumberFormat::fp16, static_cast<float>(x), {}, true)));
    ExecuteOptions options;
    std::int64_t asked = 0;
    options.mapped = [&](const Value&) {
      ++asked;
      return StoredBytes{std::as_bytes(std::span(codes)), {}};
    };
    const StoredTensors nothing = [](const Value&) { return std::nullopt; };
    EXPECT_EQ(execute(stage, m, network.inputs, nothing, options).outputs[0].floats,
              run_tiled(stage, m, network).outputs[0].floats);
    EXPECT_GT(asked, 0);
  }
}

TEST(options, mapped_weights_are_quantised_as_stored_ones) {
  Draw draw(8);
  const MadeNetwork network = made_product(draw, 5, 60, 70, ElementType::float32);
  const Tensor& weight = network.weights.begin()->second;
  const std::vector<float> floats(weight.floats.begin(), weight.floats.end());
  using enum NumberFormat;
  for (const NumberFormat activations : {int8, fp32})
    for (const NumberFormat accumulators : {int32, fp32})
      for (const std::int64_t sums : {60, 25}) {
        const Machine m = in_formats(activations, int8, accumulators);
        CompiledStage stage = stage_of_node(network, m);
        stage.program.classes[0].mapping = {2, 1, 30, sums};
        stage.program.instructions[0].write_tiles = {Bytes(0), Bytes(m.dsram_bytes)};
        ExecuteOptions options = with_scales(network, 0.02F, 0.1F, 1);
        const std::vector<double> stored = run_tiled(stage, m, network, options.scales).outputs[0].floats;
        options.mapped = [&](const Value&) { return StoredBytes{std::as_bytes(std::span(floats)), {}}; };
        const StoredTensors nothing = [](const Value&) { return std::nullopt; };
        EXPECT_EQ(execute(stage, m, network.inputs, nothing, options).outputs[0].floats, stored);
      }
}

TEST(options, memory_told_beforehand_is_of_the_pages_that_values_touch) {
  Draw draw(9);
  const MadeNetwork network = made_product(draw, 300, 250, 250, ElementType::float32);
  CompiledStage stage = stage_of_node(network, all_fp32);  // 300,000 bytes at 0, and as many at 300,000
  stage.program.classes[0].mapping = {100, 1, 50, 250};
  const ExecutionMemory memory = execution_memory(stage, all_fp32);
  EXPECT_EQ(memory.memories_bytes, 3 << 18);
  EXPECT_EQ(memory.tiles_bytes, 4 * (100 * 250 + 250 * 50) + 16 * 100 * 50);
  EXPECT_EQ(memory.weights_bytes, 20 * 250 * 250);
}

/// A number kept in `bits`, two's complement.
std::int64_t wrapped_to(std::int64_t x, std::int64_t bits) {
  const std::int64_t range = std::int64_t{1} << bits, rest = ((x % range) + range) % range;
  return rest >= range / 2 ? rest - range : rest;
}

TEST(accumulators, of_integers_wrap_to_their_width_in_any_tiles) {
  std::int64_t changed = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const std::int64_t rows = draw.between(1, 4), depth = draw.between(1, 9), columns = draw.between(1, 4);
    MadeNetwork network = made_product(draw, rows, depth, columns, ElementType::int32);
    for (std::int64_t& x : network.inputs[0].ints) x = draw.between(-90, 90);
    const bool narrow = draw.one_in(2);
    const Machine m =
        in_formats(NumberFormat::int32, NumberFormat::int32, narrow ? NumberFormat::int8 : NumberFormat::int16);
    if (!narrow)
      for (std::int64_t& x : network.inputs[0].ints) x *= 200;
    CompiledStage stage = stage_of_node(network, m);
    stage.program.classes[0].mapping = {draw.between(1, rows), 1, draw.between(1, columns), draw.between(1, depth),
                                        draw.one_in(2) ? rows_outermost : channels_outermost};
    stage.program.instructions[0].write_tiles = {Bytes(0), Bytes(1000)};
    const sdip::Run run = run_tiled(stage, m, network);
    const Tensor& w = network.weights.begin()->second;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) {
        std::int64_t sum = 0, exact = 0;
        for (std::int64_t k = 0; k < depth; ++k) {
          const std::int64_t one = network.inputs[0].ints[static_cast<std::size_t>(r * depth + k)] *
                                   w.ints[static_cast<std::size_t>(k * columns + c)];
          sum = wrapped_to(sum + one, narrow ? 8 : 16);
          exact += one;
        }
        changed += sum != exact;
        EXPECT_EQ(run.outputs[0].ints[static_cast<std::size_t>(r * columns + c)], sum);
      }
  }
  EXPECT_GT(changed, 100);
}

TEST(row_passes, softmax_of_codes_gives_the_codes_of_the_softmax_of_their_numbers) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    NetworkMaker make(draw);
    const std::int64_t rows = draw.between(1, 5), length = draw.between(120, 300);
    MadeNetwork network = make.finish({make.node("Softmax", {make.input({rows, length})})}, false);
    const bool is_signed = draw.one_in(2);
    const NumberFormat format = is_signed ? NumberFormat::int8 : NumberFormat::uint8;
    const Machine m = in_formats(format, NumberFormat::int8, NumberFormat::int32);
    const WeightScale in = is_signed ? WeightScale(0.03F) : WeightScale(0.03F, std::uint8_t{100});
    const WeightScale out = is_signed ? WeightScale(0.0001F) : WeightScale(0.0001F, std::uint8_t{0});
    for (double& x : network.inputs[0].floats) x = draw.unit() * 4;
    CompiledStage stage = stage_of_node(network, m);
    stage.program.classes[0].mapping = {draw.between(1, rows), 1, length, 1};
    const StoredTensors nothing = [](const Value&) { return std::nullopt; };
    const sdip::Run run =
        execute(stage, m, network.inputs, nothing, with_scales(network, in, out, draw.between(1, 2)));
    EXPECT_EQ(run.counts.tile_operations, ceil_div(rows, stage.program.classes[0].mapping.tile_rows));
    const auto held = [&](double x, const WeightScale& scale) {
      const std::int64_t zero = scale.zero.value_or(0);
      return decoded(format, encoded(format, static_cast<float>(x), scale.scale, zero), scale.scale, zero);
    };
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto first = network.inputs[0].floats.begin() + row * length;
      std::vector<double> numbers;
      for (auto x = first; x < first + length; ++x) numbers.push_back(static_cast<double>(held(*x, in)));
      const double sum = exec::exponentials_less(*std::ranges::max_element(numbers), numbers);
      for (std::int64_t i = 0; i < length; ++i)
        ASSERT_EQ(run.outputs[0].floats[static_cast<std::size_t>(row * length + i)],
                  static_cast<double>(held(numbers[static_cast<std::size_t>(i)] / sum, out)));
    }
  }
}

TEST(accumulators, of_codes_give_the_same_results_whole_and_in_tiles_of_sums) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    NetworkMaker make(draw);
    const bool conv = draw.one_in(2);
    const std::int64_t channels = draw.between(1, 70), depth = conv ? draw.between(2, 40) : draw.between(2, 600);
    const std::int64_t side = draw.between(3, 17);
    const ValueId x = conv ? make.input({1, depth, side, side}) : make.input({side * side, depth});
    const ValueId w = conv ? make.weight({channels, depth, 3, 3}, depth) : make.weight({depth, channels}, depth);
    const ValueId bias = make.weight({channels}, 1);
    const MadeNetwork network =
        make.finish({conv ? make.node("Conv", {x, w, bias}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}})
                          : make.nodes("", "Gemm", {x, w, bias})[0]},
                    false);
    const NumberFormat accumulator = draw.one_in(3) ? NumberFormat::int16 : NumberFormat::int32;
    Machine m = in_formats(NumberFormat::int8, NumberFormat::int8, accumulator);
    if (draw.one_in(2)) m.scale_granularity = ScaleGranularity::channel;
    CompiledStage stage = stage_of_node(network, m);
    InstructionClass& c = stage.program.classes[0];
    c.weight_elements_per_channel = conv ? 9 * depth : depth;
    c.bias_elements_per_channel = 1;
    stage.program.instructions[0].write_tiles = {Bytes(0), Bytes(m.dsram_bytes)};
    const LoopNest& nest = c.work.nest;
    const StoredTensors stored = [&](const Value& v) { return network.stored(v); };
    c.mapping = {nest.out_h, nest.out_w, channels, depth};
    const sdip::Run whole =
        execute(stage, m, network.inputs, stored, with_scales(network, 0.01F, 0.02F, draw.between(1, 2)));
    c.mapping = {draw.between(1, nest.out_h), nest.out_w, draw.between(1, channels), draw.between(1, depth - 1),
                 channels_outermost};
    const sdip::Run tiled = execute(stage, m, network.inputs, stored, with_scales(network, 0.01F, 0.02F, 1));
    EXPECT_EQ(whole.outputs[0].floats, tiled.outputs[0].floats);
    EXPECT_GT(tiled.counts.tile_operations, whole.counts.tile_operations);
  }
}

TEST(accumulators, of_codes_with_a_scale_wrap_in_steps_of_both_scales) {
  std::int64_t changed = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const std::int64_t depth = draw.between(1, 9);
    MadeNetwork network = made_product(draw, 1, depth, 2, ElementType::float32);
    for (auto& [name, weight] : network.weights)
      for (double& x : weight.floats) x = std::fabs(x);
    Machine m = in_formats(NumberFormat::int8, NumberFormat::int8, NumberFormat::int16);
    if (draw.one_in(2)) m.scale_granularity = ScaleGranularity::channel;
    CompiledStage stage = stage_of_node(network, m);
    stage.program.classes[0].mapping = {1, 1, 2, draw.between(1, depth), rows_outermost};
    stage.program.classes[0].weight_elements_per_channel = depth;
    stage.program.instructions[0].write_tiles = {Bytes(0), Bytes(100)};
    const float x_step = 0.02F, y_step = 0.1F;
    for (double& x : network.inputs[0].floats)
      x = static_cast<double>(x_step) * static_cast<double>(draw.between(60, 127));
    ActivationScales scales{{network.graph.inputs[0], x_step}, {network.graph.outputs[0], y_step}};
    m.activation_format = NumberFormat::int8;
    const sdip::Run run = run_tiled(stage, m, network, scales);
    const Tensor& w = network.weights.begin()->second;
    for (std::int64_t c = 0; c < 2; ++c) {
      double largest = 0;
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t other = 0; other < 2; ++other)
          if (other == c || m.scale_granularity == ScaleGranularity::tensor)
            largest = std::max(largest, std::fabs(w.floats[static_cast<std::size_t>(k * 2 + other)]));
      const double step = static_cast<double>(static_cast<float>(largest / 127));
      std::int64_t sum = 0, exact = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        const double x = network.inputs[0].floats[static_cast<std::size_t>(k)] / static_cast<double>(x_step);
        const auto one = std::llround(x) * std::llround(w.floats[static_cast<std::size_t>(k * 2 + c)] / step);
        sum = wrapped_to(sum + one, 16);
        exact += one;
      }
      changed += sum != exact;
      const double y = std::clamp(static_cast<double>(sum) * static_cast<double>(x_step) * step,
                                  -128.0 * static_cast<double>(y_step), 127.0 * static_cast<double>(y_step));
      EXPECT_NEAR(run.outputs[0].floats[static_cast<std::size_t>(c)], y, 0.6 * static_cast<double>(y_step));
    }
  }
  EXPECT_GT(changed, 20);
}

}  // namespace
}  // namespace sdip
