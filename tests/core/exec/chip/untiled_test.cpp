// What is computed without tiles, in place and by several threads has the bits of what is computed tile by tile.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "core/exec/kernels/kernels_simple.h"
#include "core/exec/numbers/plain_functions.h"
#include "core/exec/numbers/storage.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

Machine single_precision(NumberFormat accumulators) {
  Machine m;
  m.activation_format = m.weight_format = NumberFormat::fp32;
  m.accumulator_format = accumulators;
  m.scale_granularity = ScaleGranularity::tensor;
  return m;
}

/// A convolution with any strides, dilations, groups and borders, or a product of weights or of two activations.
MadeNetwork one_nest(Draw& draw) {
  NetworkMaker make(draw);
  const std::int64_t kind = draw.between(0, 3), batch = draw.between(1, 2);
  if (kind == 0) {
    const std::int64_t rows = draw.between(1, 40), depth = draw.between(1, 20);
    const ValueId x = make.input({batch, 3, rows, depth}), y = make.input({batch, 3, depth, draw.between(1, 70)});
    return make.finish({make.node("MatMul", {x, y})}, false);
  }
  if (kind == 1) {
    const std::int64_t depth = draw.between(1, 300), channels = draw.between(1, 600);
    const ValueId x = make.input({draw.between(1, 50), depth});
    return make.finish({make.node("Gemm", {x, make.weight({depth, channels}), make.weight({channels})},
                                  {{"alpha", 0.3}, {"beta", 0.7}})},
                       false);
  }
  const std::int64_t groups = draw.one_in(3) ? 2 : 1, in = groups * draw.between(1, 40),
                     out = groups * draw.between(1, 30);
  const std::int64_t kernel = draw.between(1, 3), stride = draw.between(1, 2), dilation = draw.between(1, 2);
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  const ValueId x = make.input({batch, in, draw.between(reach, 20), draw.between(reach, 40)});
  const std::vector<ValueId> operands{x, make.weight({out, in / groups, kernel, kernel}), make.weight({out})};
  const auto pad = [&] { return draw.between(0, kernel - 1); };
  return make.finish({make.node("Conv", operands,
                                {{"strides", std::vector<std::int64_t>{stride, stride}},
                                 {"dilations", std::vector<std::int64_t>{dilation, dilation}},
                                 {"pads", std::vector<std::int64_t>{pad(), pad(), pad(), pad()}},
                                 {"group", groups}})},
                     false);
}

sdip::Run run_of(const CompiledStage& stage, const Machine& m, const MadeNetwork& network, std::int64_t threads,
                 const ActivationScales& scales = {}) {
  ExecuteOptions options;
  options.threads = threads;
  options.scales = scales;
  return execute(
      stage, m, network.inputs, [&](const Value& v) { return network.stored(v); }, options);
}

TEST(untiled, nests_in_place_have_the_bits_and_the_tile_operations_of_those_in_tiles) {
  constexpr NumberFormat accumulators[] = {NumberFormat::fp32, NumberFormat::fp16};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const MadeNetwork network = one_nest(draw);
    Machine m = single_precision(accumulators[draw.between(0, 4) / 4]);
    m.conv_lanes_in = m.linear_lanes_k = m.matmul_lanes_k = draw.one_in(3) ? 4 : 1;
    CompiledStage apart = stage_of_node(network, m, 1), in_place = stage_of_node(network, m, 0);
    const LoopNest nest = apart.program.classes[0].work.nest;
    for (CompiledStage* stage : {&apart, &in_place})
      stage->program.classes[0].mapping = {std::max<std::int64_t>(1, nest.out_h / 2), nest.out_w,
                                           std::max<std::int64_t>(1, nest.out_channels / 3), nest.in_channels};
    const sdip::Run want = run_of(apart, m, network, 1);
    for (const std::int64_t threads : {1, 2, 3}) {
      const sdip::Run run = run_of(in_place, m, network, threads);
      EXPECT_EQ(run.outputs.at(0).floats, want.outputs.at(0).floats) << threads;
      EXPECT_EQ(run.counts.tile_operations, want.counts.tile_operations);
    }
  }
}

TEST(untiled, random_programs_give_the_same_bits_with_any_number_of_threads) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(9000 + seed);
    const MadeNetwork network = random_network(draw, draw.between(2, 15));
    Machine machine = random_machine(draw);
    const Application application = compiled_on(machine, network, Role::network);
    ASSERT_TRUE(application.feasible) << application.reason;
    const sdip::Run alone = run_of(application.stages[0], machine, network, 1);
    const sdip::Run shared = run_of(application.stages[0], machine, network, 3);
    for (std::size_t i = 0; i < alone.outputs.size(); ++i)
      EXPECT_EQ(shared.outputs[i].floats, alone.outputs[i].floats) << i;
    EXPECT_EQ(shared.counts.tile_operations, alone.counts.tile_operations);
  }
}

TEST(untiled, elements_of_half_a_byte_that_two_pieces_share_are_written_by_one_thread) {
  Draw draw(3);
  NetworkMaker make(draw);
  MadeNetwork network = make.finish({make.node("Relu", {make.input({3, 20001})})}, false);
  Machine m = single_precision(NumberFormat::fp32);
  m.activation_format = NumberFormat::fp16;
  const ValueId out = network.graph.outputs[0];
  network.graph.values[static_cast<std::size_t>(out)].format =
      NumberFormat::int4;  // as a rule for the layer leaves it
  CompiledStage stage = stage_of_node(network, m, 0);
  stage.program.classes[0].mapping = {1, 1, 20001, 1};  // the second tile begins within a byte
  const sdip::Run alone = run_of(stage, m, network, 1, {{out, 0.1F}});
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(run_of(stage, m, network, 3, {{out, 0.1F}}).outputs.at(0).floats, alone.outputs.at(0).floats);
}

TEST(untiled, an_operand_that_is_not_there_is_told_as_the_first_tile_finds_it) {
  Draw draw(4);
  NetworkMaker make(draw);
  const ValueId x = make.input({40, 30});
  const MadeNetwork network = make.finish({make.node("MatMul", {x, make.weight({30, 20})})}, false);
  const Machine m = single_precision(NumberFormat::fp32);
  CompiledStage stage = stage_of_node(network, m, 0);
  stage.program.classes[0].mapping = {8, 1, 20, 30};
  Instruction again = stage.program.instructions[0];
  stage.program.instructions[0].dram_address = Bytes(4000);  // of 4800 bytes that are read: elements from 1000 on
  again.dram_address = Bytes(100000);
  stage.program.instructions.push_back(again);
  try {
    run_of(stage, m, network, 2);
    ADD_FAILURE() << "what was overwritten was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("reads element 1000 of"));
    EXPECT_THAT(error.what(), testing::HasSubstr("at address 4000: it was overwritten by"));
  }
}

}  // namespace

namespace exec {
namespace {

TEST(untiled, a_storage_keeps_its_bytes_when_it_grows_and_has_zeros_behind) {
  Storage storage;
  storage.grow(10);
  storage.data()[9] = std::byte{7};
  storage.grow(5'000'000);
  EXPECT_EQ(storage.data()[9], std::byte{7});
  EXPECT_EQ(storage.data()[4'999'999], std::byte{0});
  const Storage other = std::move(storage);
  EXPECT_EQ(other.data()[9], std::byte{7});
}

TEST(quotients, of_a_row_are_those_of_a_division_rounded_twice) {
  std::mt19937_64 engine(1);
  for (int row = 0; row < 300; ++row) {
    std::vector<double> x(std::size_t{257});
    for (double& number : x) number = std::exp(-std::ldexp(static_cast<double>(engine() >> 11), -53) * (row * 3));
    const double by = 1 + std::ldexp(static_cast<double>(engine() >> 11), -53) * row * row;
    std::vector<float> y(x.size());
    divided(x, by, y.data());
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], static_cast<float>(x[i] / by)) << x[i] << " / " << by;
  }
}

TEST(quotients, by_what_is_no_usual_sum_are_divided_as_they_are) {
  const double x[] = {0, 1e-320, 1};
  for (const double by : {1e-310, 0.5, 1e300, std::numeric_limits<double>::infinity()}) {
    float y[3];
    divided(x, by, y);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(y[i], static_cast<float>(x[i] / by));
  }
}

TEST(exponentials, of_single_precision_have_the_bits_of_those_in_double_near_and_far) {
  std::mt19937_64 engine(2);
  for (const float reach : {1.0F, 100.0F, 699.0F, 720.0F, 3000.0F})
    for (const std::size_t count : {std::size_t{1}, std::size_t{8}, std::size_t{77}, std::size_t{100}}) {
      std::vector<float> x(count);
      for (float& number : x) number = 5 - std::ldexp(static_cast<float>(engine() >> 40), -24) * reach;
      const Range range = range_of(x);
      EXPECT_EQ(range.most, *std::ranges::max_element(x));
      EXPECT_EQ(range.least, *std::ranges::min_element(x));
      std::vector<double> want(x.begin(), x.end()), got(count);
      const double sum = exponentials_less(static_cast<double>(range.most), want);
      EXPECT_EQ(exponentials_less(range, x, got.data()), sum);
      EXPECT_EQ(got, want);
    }
  const std::vector<float> apart{1, NAN, 3};
  EXPECT_FALSE(range_of(apart).numbers);
  EXPECT_EQ(range_of(apart).most, 3);
}

TEST(kernels, that_begin_at_zero_have_the_bits_of_sums_that_are_zero) {
  std::mt19937_64 engine(3);
  for (const Vectors vectors : {Vectors::portable, Vectors::avx2, Vectors::avx512}) {
    if (vectors > widest_vectors()) continue;
    for (const std::int64_t lanes : {1, 4})
      for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::bf16}) {
        const ProductShape shape{13, 45, 300, 300, lanes};
        std::vector<float> left(13 * 300), right(300 * 45), want(13 * 45), got(13 * 45, 9.0F);
        for (std::vector<float>* numbers : {&left, &right})
          for (float& x : *numbers) x = std::ldexp(static_cast<float>(engine() >> 40), -24) - 0.5F;
        const Matrix<float> l{left.data(), 300, 1, {}}, r{right.data(), 45, 1, {}};
        multiply_simply(shape, format, l, r, Sums<float>{want.data(), 45});
        Workspace workspace;
        KernelOptions options{vectors, 1, {}, &workspace, true, false};
        multiply(shape, format, l, r, Sums<float>{got.data(), 45}, options);
        EXPECT_EQ(got, want);
        const ProductShape flat{13, 45, 200, 200, lanes};  // of one block: its panels serve again
        multiply(flat, format, l, r, Sums<float>{want.data(), 45}, options);
        options.packed = true;
        multiply(flat, format, l, Matrix<float>{}, Sums<float>{got.data(), 45}, options);
        EXPECT_EQ(got, want);
      }
  }
}

}  // namespace
}  // namespace exec
}  // namespace sdip
