// Products by weights that share scales by groups, bit for bit, beside plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "core/exec/chip/execute.h"
#include "tests/core/base/block_elements.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

using enum NumberFormat;

/// A group's weights without their scale, and it.
struct Group {
  std::vector<float> elements;
  float scale = 1;
};

/// `most`: the largest magnitude of the whole weight.
Group coded_group(NumberFormat format, const std::vector<double>& weights, double most) {
  Group group;
  double least = 0, top = 0;
  for (const double w : weights) least = std::min(least, w), top = std::max(top, w);
  if (format == int4 || format == int8) {
    const double codes = format == int4 ? 7 : 127, reach = std::max(-least, top) / codes;
    group.scale = reach == 0 ? 1.0F : static_cast<float>(reach);
    for (const double w : weights)
      group.elements.push_back(
          static_cast<float>(std::clamp(std::nearbyint(w / static_cast<double>(group.scale)), -codes - 1, codes)));
    return group;
  }
  if (format == uint4) {
    const double reach = (top - least) / 15;
    group.scale = reach == 0 ? 1.0F : static_cast<float>(reach);
    const double scale = static_cast<double>(group.scale), zero = std::nearbyint(-least / scale);
    for (const double w : weights)
      group.elements.push_back(static_cast<float>(std::clamp(std::nearbyint(w / scale) + zero, 0.0, 15.0) - zero));
    return group;
  }
  const double scale = searched_scale(format, std::max(-least, top), most);
  group.scale = static_cast<float>(scale);
  for (const double w : weights)
    group.elements.push_back(
        static_cast<float>(nearest_element(format, static_cast<double>(static_cast<float>(w)) / scale)));
  return group;
}

/// A group's products from 0, so many lanes side by side: one by fused multiply-adds, several as a tree of
/// neighbours.
float group_sum(const std::vector<float>& a, const std::vector<float>& b, std::size_t lanes) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); i += lanes) {
    if (lanes == 1) {
      sum = std::fma(a[i], b[i], sum);
      continue;
    }
    std::vector<float> level;
    for (std::size_t k = i; k < std::min(i + lanes, a.size()); ++k) level.push_back(a[k] * b[k]);
    for (; level.size() > 1;) {
      std::vector<float> next;
      for (std::size_t k = 0; k < level.size(); k += 2)
        next.push_back(k + 1 < level.size() ? level[k] + level[k + 1] : level[k]);
      level = next;
    }
    sum += level[0];
  }
  return sum;
}

std::int64_t group_length_of(const Machine& m) {
  switch (m.weight_format) {
    case nvfp4:
    case msfp12:
    case msfp16:
      return 16;
    case nf4:
      return 64;
    case int4:
    case uint4:
    case int8:
      return m.scale_granularity == ScaleGranularity::group_32   ? 32
             : m.scale_granularity == ScaleGranularity::group_64 ? 64
                                                                 : 128;
    default:
      return 32;
  }
}

/// Lanes of so many that no fold of two groups uses.
std::size_t used_lanes(std::int64_t lanes, std::int64_t group) {
  std::int64_t most = 1;
  for (std::int64_t k = 1; k <= lanes; ++k)
    if (group % k == 0 || k % group == 0) most = k;
  return static_cast<std::size_t>(most);
}

/// One result: for each tile of sums at each kernel position group after group. `a` and `w` of a position and a
/// sum; `groups` of the channel, which its first result fills.
float expected_result(const Machine& m, std::int64_t positions, std::int64_t sums, std::int64_t tile_sums,
                      std::int64_t lanes, double most, const std::function<float(std::int64_t, std::int64_t)>& a,
                      const std::function<double(std::int64_t, std::int64_t)>& w, std::vector<Group>& groups) {
  const std::int64_t length = group_length_of(m);
  const bool known = !groups.empty();
  std::size_t number = 0;
  float sum = 0;
  for (std::int64_t tile = 0; tile < sums; tile += tile_sums)
    for (std::int64_t position = 0; position < positions; ++position)
      for (std::int64_t from = tile; from < std::min(tile + tile_sums, sums); from += length) {
        const std::int64_t end = std::min({from + length, tile + tile_sums, sums});
        std::vector<float> x;
        std::vector<double> weights;
        for (std::int64_t k = from; k < end; ++k) x.push_back(a(position, k)), weights.push_back(w(position, k));
        if (!known) groups.push_back(coded_group(m.weight_format, weights, most));
        const Group& group = groups[number++];
        sum += group_sum(x, group.elements, used_lanes(lanes, length)) * group.scale;
      }
  return sum;
}

struct GroupFormat {
  NumberFormat format;
  ScaleGranularity granularity;
};
GroupFormat drawn_group_format(Draw& draw) {
  const std::vector<GroupFormat> all{{int4, ScaleGranularity::group_32},     {int8, ScaleGranularity::group_64},
                                     {uint4, ScaleGranularity::group_128},   {uint4, ScaleGranularity::group_32},
                                     {mxint8, ScaleGranularity::tensor},     {mxfp8, ScaleGranularity::tensor},
                                     {mxfp8_e5m2, ScaleGranularity::tensor}, {mxfp6, ScaleGranularity::channel},
                                     {mxfp6_e3m2, ScaleGranularity::tensor}, {mxfp4, ScaleGranularity::group_32},
                                     {nvfp4, ScaleGranularity::tensor},      {nf4, ScaleGranularity::tensor},
                                     {msfp16, ScaleGranularity::tensor},     {msfp12, ScaleGranularity::tensor}};
  return draw.of(all);
}

Machine grouped_machine(Draw& draw) {
  Machine m;
  const GroupFormat one = drawn_group_format(draw);
  m.weight_format = one.format;
  m.scale_granularity = one.granularity;
  m.activation_format = m.accumulator_format = fp32;
  m.conv_lanes_in = draw.one_in(2) ? 1 : draw.between(2, 70);
  m.linear_lanes_k = m.matmul_lanes_k = draw.one_in(2) ? 1 : draw.between(2, 70);
  m.psram_bytes = draw.between(3000, 30000);
  m.dsram_bytes = draw.between(20000, 80000);
  check_machine(m);
  return m;
}

double largest_magnitude(const Tensor& w) {
  double most = 0;
  for (const double x : w.floats) most = std::max(most, std::fabs(x));
  return most;
}

struct SeenGroups {
  std::set<NumberFormat> formats;
  std::int64_t run = 0, tiles = 0, lanes = 0;
};

TEST(groups, of_a_product_are_summed_scaled_and_added_in_order) {
  SeenGroups seen;
  for (std::uint64_t seed = 0; seed < pair_count(160); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 77000);
    Machine m = grouped_machine(draw);
    const std::int64_t rows = draw.between(1, 5), sums = draw.between(1, 300), channels = draw.between(1, 40);
    NetworkMaker make(draw);
    const ValueId x = make.input({rows, sums});
    const ValueId w = make.weight({sums, channels}, sums);
    MadeNetwork network = make.finish({make.node("MatMul", {x, w})}, false);
    const Application application = compiled_on(m, network, Role::network);
    if (!application.feasible) continue;
    const CompiledStage& stage = application.stages[0];
    const std::int64_t tile = stage.program.classes[0].mapping.tile_sums;
    const auto stored = [&](const Value& v) { return network.stored(v); };
    const sdip::Run run = execute(stage, m, network.inputs, stored);
    const Tensor weight = network.weights.begin()->second;
    const double most = largest_magnitude(weight);
    ++seen.run, seen.tiles += tile<sums, seen.lanes += m.linear_lanes_k> 1;
    seen.formats.insert(m.weight_format);
    for (std::int64_t c = 0; c < channels; ++c) {
      std::vector<Group> groups;
      for (std::int64_t r = 0; r < rows; ++r) {
        const float want = expected_result(
            m, 1, sums, tile, m.linear_lanes_k, most,
            [&](std::int64_t, std::int64_t k) {
              return static_cast<float>(network.inputs[0].floats[static_cast<std::size_t>(r * sums + k)]);
            },
            [&](std::int64_t, std::int64_t k) { return weight.floats[static_cast<std::size_t>(k * channels + c)]; },
            groups);
        ASSERT_EQ(static_cast<float>(run.outputs[0].floats[static_cast<std::size_t>(r * channels + c)]), want)
            << format_text(m.weight_format) << " " << r << " " << c;
      }
    }
  }
  EXPECT_GT(seen.run, 100);
  EXPECT_GT(seen.tiles, 10);
  EXPECT_GT(seen.lanes, 80);
  EXPECT_EQ(seen.formats.size(), 13U);
}

TEST(groups, of_a_convolution_lie_along_its_input_channels_at_each_kernel_position) {
  SeenGroups seen;
  for (std::uint64_t seed = 0; seed < pair_count(120); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 78000);
    Machine m = grouped_machine(draw);
    const std::int64_t sums = draw.between(1, 150), channels = draw.between(1, 24), side = draw.between(2, 5);
    NetworkMaker make(draw);
    const ValueId x = make.input({1, sums, side, side});
    const ValueId w = make.weight({channels, sums, 3, 2}, sums * 6);
    MadeNetwork network =
        make.finish({make.node("Conv", {x, w}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 0}}})}, false);
    const Application application = compiled_on(m, network, Role::network);
    if (!application.feasible) continue;
    const CompiledStage& stage = application.stages[0];
    const std::int64_t tile = stage.program.classes[0].mapping.tile_sums;
    const auto stored = [&](const Value& v) { return network.stored(v); };
    const sdip::Run run = execute(stage, m, network.inputs, stored);
    const Tensor weight = network.weights.begin()->second;
    const double most = largest_magnitude(weight);
    ++seen.run, seen.tiles += tile < sums;
    for (std::int64_t c = 0; c < channels; ++c) {
      std::vector<Group> groups;
      for (std::int64_t p = 0; p < side; ++p)
        for (std::int64_t q = 0; q < side; ++q) {
          const float want = expected_result(
              m, 6, sums, tile, m.conv_lanes_in, most,
              [&](std::int64_t position, std::int64_t k) {
                const std::int64_t y = p - 1 + position / 2, z = q - 1 + position % 2;
                if (y < 0 || y >= side || z < 0 || z >= side) return 0.0F;
                return static_cast<float>(
                    network.inputs[0].floats[static_cast<std::size_t>((k * side + y) * side + z)]);
              },
              [&](std::int64_t position, std::int64_t k) {
                return weight.floats[static_cast<std::size_t>((c * sums + k) * 6 + position)];
              },
              groups);
          ASSERT_EQ(static_cast<float>(run.outputs[0].floats[static_cast<std::size_t>((c * side + p) * side + q)]),
                    want)
              << format_text(m.weight_format) << " " << c << " " << p << " " << q;
        }
    }
  }
  EXPECT_GT(seen.run, 60);
  EXPECT_GT(seen.tiles, 10);
}

/// The worked example of docs/model/numbers.md, by hand: mxfp4, 34 weights of 5 and two of 0.5, activations of 1.
/// The first block has the scale 2^(2 - 2) = 1 and elements 4 (5 lies between 4 and 6, and 4 is even): 32 x 4 =
/// 128. The second, 5 5 0.5 0.5, has the same scale: 4 + 4 + 0.5 + 0.5 = 9.
TEST(groups, of_the_worked_example_sum_to_137) {
  Draw draw(1);
  NetworkMaker make(draw);
  const ValueId x = make.input({1, 36});
  MadeNetwork network = make.finish({make.node("MatMul", {x, make.weight({36, 1}, 36)})}, false);
  for (double& a : network.inputs[0].floats) a = 1;
  std::vector<double>& w = network.weights.begin()->second.floats;
  w.assign(36, 5);
  w[34] = w[35] = 0.5;
  Machine m;
  m.weight_format = mxfp4;
  const Application application = compiled_on(m, network, Role::network);
  const auto stored = [&](const Value& v) { return network.stored(v); };
  EXPECT_EQ(execute(application.stages.at(0), m, network.inputs, stored).outputs[0].floats[0], 137);
  EXPECT_EQ(application.stages[0].program.stored_weight_bytes, Bytes(18 + 2)) << "36 elements, two scales";
}

}  // namespace
}  // namespace sdip
