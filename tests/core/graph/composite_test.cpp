// Composite operators compute what a formula written out here says.
#include <cmath>
#include <functional>

#include "tests/core/graph/text_model.h"

namespace sdip {
namespace {

struct Computed {
  std::vector<Tensor> inputs;
  Tensor y;
};

/// The output of a model of one composite, which must be gone from the graph.
Computed computed(const std::string& values, const std::string& body, std::int64_t opset = 17) {
  const Graph graph = import_model(model_of(values, body, opset));
  for (const Node& node : graph.nodes) EXPECT_EQ(node.op->expand, nullptr) << node.name;
  Computed result{random_inputs(graph), {}};
  result.y = values_of(graph, result.inputs).at(0);
  return result;
}

void expect_each(const Computed& got, const Shape& shape, const std::function<double(std::size_t)>& want) {
  ASSERT_EQ(got.y.shape, shape);
  for (std::size_t i = 0; i < got.y.floats.size(); ++i) ASSERT_NEAR(got.y.floats[i], want(i), 2e-5) << i;
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(composite, gelu_and_its_kin) {
  Computed c = computed("x 2,8", "y = com.microsoft.Gelu(x)");
  expect_each(c, {2, 8}, [&](std::size_t i) { return gelu(c.inputs[0].floats[i]); });
  c = computed("x 2,8; b 8", "y = com.microsoft.BiasGelu(x, b)");
  expect_each(c, {2, 8}, [&](std::size_t i) { return gelu(c.inputs[0].floats[i] + c.inputs[1].floats[i % 8]); });
  c = computed("x 2,8; b 8", "y = com.microsoft.FastGelu(x, b)");
  expect_each(c, {2, 8},
              [&](std::size_t i) { return gelu_tanh(c.inputs[0].floats[i] + c.inputs[1].floats[i % 8]); });
  c = computed("x 2,8", "y = com.microsoft.FastGelu(x)");
  expect_each(c, {2, 8}, [&](std::size_t i) { return gelu_tanh(c.inputs[0].floats[i]); });
  c = computed("x 2,8", "y = com.microsoft.QuickGelu{alpha=1.5}(x)");
  expect_each(c, {2, 8}, [&](std::size_t i) {
    const double x = c.inputs[0].floats[i];
    return x * sigmoid(1.5 * x);
  });
}

TEST(composite, bias_split_gelu_and_bias_add) {
  Computed c = computed("x 1,2,8; b 8", "y = com.microsoft.BiasSplitGelu(x, b)");
  expect_each(c, {1, 2, 4}, [&](std::size_t i) {
    const std::size_t row = i / 4, at = i % 4;
    const auto sum = [&](std::size_t j) { return c.inputs[0].floats[row * 8 + j] + c.inputs[1].floats[j]; };
    return sum(at) * gelu(sum(at + 4));
  });
  c = computed("x 1,2,8; b 8; s 1,2,8", "y = com.microsoft.BiasAdd(x, b, s)");
  expect_each(c, {1, 2, 8}, [&](std::size_t i) {
    return c.inputs[0].floats[i] + c.inputs[1].floats[i % 8] + c.inputs[2].floats[i];
  });
}

/// Row `i / width` normalised, element `i % width`; without mean for RMS norm.
double normal(const std::vector<double>& x, std::size_t i, std::size_t width, double epsilon, bool centred) {
  const std::size_t row = i / width * width;
  double mean = 0, square = 0;
  for (std::size_t j = 0; j < width; ++j) mean += x[row + j] / static_cast<double>(width);
  if (!centred) mean = 0;
  for (std::size_t j = 0; j < width; ++j) square += (x[row + j] - mean) * (x[row + j] - mean);
  return (x[i] - mean) / std::sqrt(square / static_cast<double>(width) + epsilon);
}

TEST(composite, skip_layer_norm_adds_what_it_skips_and_a_bias) {
  const std::string values = "x 2,3,8; s 2,3,8; g 8; b 8; c 8";
  const auto sum = [](const Computed& c, bool bias) {
    std::vector<double> all = c.inputs[0].floats;
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] += c.inputs[1].floats[i] + (bias ? c.inputs[4].floats[i % 8] : 0);
    return all;
  };
  Computed c = computed(values, "y = com.microsoft.SkipLayerNormalization{epsilon=0.01}(x, s, g, b, c)");
  expect_each(c, {2, 3, 8}, [&](std::size_t i) {
    return normal(sum(c, true), i, 8, 0.01, true) * c.inputs[2].floats[i % 8] + c.inputs[3].floats[i % 8];
  });
  c = computed(values, "a, m, d, y = com.microsoft.SkipLayerNormalization(x, s, g, b)");
  expect_each(c, {2, 3, 8}, [&](std::size_t i) { return sum(c, false)[i]; });
  c = computed(values, "y = com.microsoft.SkipSimplifiedLayerNormalization{epsilon=0.01}(x, s, g)");
  expect_each(c, {2, 3, 8},
              [&](std::size_t i) { return normal(sum(c, false), i, 8, 0.01, false) * c.inputs[2].floats[i % 8]; });
  for (const char* type : {"SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization"}) {
    c = computed("x 2,3,8; g 8", std::string("y = ") + type + "{epsilon=0.01}(x, g)");
    expect_each(c, {2, 3, 8}, [&](std::size_t i) {
      return normal(c.inputs[0].floats, i, 8, 0.01, false) * c.inputs[1].floats[i % 8];
    });
  }
}

TEST(composite, embed_layer_norm_sums_rows_of_three_tables) {
  const std::string values = "i 2,3 int32; s 2,3 int32; w 4,8; p 5,8; t 4,8; g 8; b 8; m 2,3 int32";
  const auto sums = [](const Computed& c) {
    std::vector<double> all;
    for (std::size_t i = 0; i < 48; ++i) {
      const auto word = static_cast<std::size_t>(c.inputs[0].ints[i / 8]);
      const auto segment = static_cast<std::size_t>(c.inputs[1].ints[i / 8]);
      all.push_back(c.inputs[2].floats[word * 8 + i % 8] + c.inputs[3].floats[i / 8 % 3 * 8 + i % 8] +
                    c.inputs[4].floats[segment * 8 + i % 8]);
    }
    return all;
  };
  const Computed c =
      computed(values, "y, n = com.microsoft.EmbedLayerNormalization{epsilon=0.01}(i, s, w, p, t, g, b, m)");
  expect_each(c, {2, 3, 8}, [&](std::size_t i) {
    return normal(sums(c), i, 8, 0.01, true) * c.inputs[5].floats[i % 8] + c.inputs[6].floats[i % 8];
  });
}

TEST(composite, group_norm_with_channels_last) {
  // One pixel of 4 channels in 2 groups: each group is 2 numbers.
  const Computed c =
      computed("x 1,1,1,4; g 4; b 4; s 1,4; a 4",
               "y = com.microsoft.SkipGroupNorm{groups=2, activation=1, epsilon=0.01}(x, g, b, s, a)");
  std::vector<double> sum = c.inputs[0].floats;
  for (std::size_t i = 0; i < 4; ++i) sum[i] += c.inputs[3].floats[i] + c.inputs[4].floats[i];
  expect_each(c, {1, 1, 1, 4}, [&](std::size_t i) {
    const double z = normal(sum, i, 2, 0.01, true) * c.inputs[1].floats[i] + c.inputs[2].floats[i];
    return z * sigmoid(z);
  });
  const Computed d =
      computed("x 1,1,1,4; g 4; b 4", "y = com.microsoft.GroupNorm{groups=2, epsilon=0.01}(x, g, b)");
  expect_each(d, {1, 1, 1, 4}, [&](std::size_t i) {
    return normal(d.inputs[0].floats, i, 2, 0.01, true) * d.inputs[1].floats[i] + d.inputs[2].floats[i];
  });
}

TEST(composite, products_with_scale_transposition_and_activation) {
  Computed c = computed("a 2,3; b 2,4", "y = com.microsoft.FusedMatMul{alpha=0.5, transA=1}(a, b)");
  expect_each(c, {3, 4}, [&](std::size_t i) {
    double sum = 0;
    for (std::size_t k = 0; k < 2; ++k)
      sum += c.inputs[0].floats[k * 3 + i / 4] * c.inputs[1].floats[k * 4 + i % 4];
    return 0.5 * sum;
  });
  c = computed("a 3,2,2; b 2,2,4", "y = com.microsoft.FusedMatMul{transBatchA=1}(a, b)");
  expect_each(c, {2, 3, 4}, [&](std::size_t i) {
    const std::size_t n = i % 4, m = i / 4 % 3, batch = i / 12;
    double sum = 0;
    for (std::size_t k = 0; k < 2; ++k)
      sum += c.inputs[0].floats[(m * 2 + batch) * 2 + k] * c.inputs[1].floats[(batch * 2 + k) * 4 + n];
    return sum;
  });
  c = computed("a 3,2; b 4,2; c 4",
               "y = com.microsoft.FusedGemm{alpha=0.5, transB=1, activation='LeakyRelu', "
               "activation_alpha=0.2}(a, b, c)");
  expect_each(c, {3, 4}, [&](std::size_t i) {
    double sum = c.inputs[2].floats[i % 4];
    for (std::size_t k = 0; k < 2; ++k)
      sum += 0.5 * c.inputs[0].floats[i / 4 * 2 + k] * c.inputs[1].floats[i % 4 * 2 + k];
    return sum > 0 ? sum : 0.2 * sum;
  });
}

TEST(composite, convolutions_with_activation_or_channels_last) {
  Computed c = computed("x 1,2,2,2; w 3,2,1,1; b 3; z 1,3,2,2",
                        "y = com.microsoft.FusedConv{activation='Relu'}(x, w, b, z)");
  expect_each(c, {1, 3, 2, 2}, [&](std::size_t i) {
    const std::size_t out = i / 4, pixel = i % 4;
    double sum = c.inputs[2].floats[out] + c.inputs[3].floats[i];
    for (std::size_t k = 0; k < 2; ++k) sum += c.inputs[0].floats[k * 4 + pixel] * c.inputs[1].floats[out * 2 + k];
    return std::max(sum, 0.0);
  });
  c = computed("x 1,2,2,2; w 3,2,2,2; b 3", "y = com.microsoft.NhwcConv(x, w, b)");
  expect_each(c, {1, 1, 1, 3}, [&](std::size_t i) {
    double sum = c.inputs[2].floats[i];
    for (std::size_t k = 0; k < 8; ++k) sum += c.inputs[0].floats[k] * c.inputs[1].floats[i * 8 + k];
    return sum;
  });
}

TEST(composite, image_scaler_scales_all_and_adds_to_each_channel) {
  Computed c = computed("x 2,3,1,2", "y = ImageScaler{scale=0.5, bias=[1.5, -2.0, 3.0]}(x)", 9);
  const std::vector<double> bias{1.5, -2, 3};
  expect_each(c, {2, 3, 1, 2}, [&](std::size_t i) { return 0.5 * c.inputs[0].floats[i] + bias[i / 2 % 3]; });
  c = computed("x 1,1,2,2", "y = ImageScaler{bias=[4.0]}(x)", 9);
  expect_each(c, {1, 1, 2, 2}, [&](std::size_t i) { return c.inputs[0].floats[i] + 4; });
  const auto in_the_graph = rewritten_equal("x 1,2,2,2", "y = ImageScaler{bias=[4.0, 1.0]}(x)", 9);
  EXPECT_EQ(in_the_graph.types(), "BatchNormalization");
}

std::string refused(const std::string& values, const std::string& body, std::int64_t opset = 17) {
  return error_of(model_of(values, body, opset).SerializeAsString()).code;
}

TEST(composite, what_it_cannot_express_is_refused) {
  EXPECT_EQ(refused("x 1,2,7; b 7", "y = com.microsoft.BiasSplitGelu(x, b)"), "shape_mismatch");
  EXPECT_EQ(refused("x 1,2,2,2; w 3,2,1,1", "y = com.microsoft.FusedConv{activation='Cube'}(x, w)"),
            "unsupported_attribute");
  EXPECT_EQ(refused("x 1,1,1,4; g 4; b 4", "y = com.microsoft.GroupNorm{groups=3}(x, g, b)"),
            "unsupported_attribute");
  EXPECT_EQ(refused("x 2,8; g 8", "y = com.microsoft.GroupNorm{groups=2}(x, g, g)"), "shape_mismatch");
  EXPECT_EQ(refused("x 1,3,2,2", "y = ImageScaler{bias=[1.0, 2.0]}(x)"), "shape_mismatch");
  EXPECT_EQ(refused("x 3,2,2", "y = ImageScaler{bias=[1.0, 2.0]}(x)"), "shape_mismatch");
  EXPECT_EQ(refused("x 1,1,2,2 int64", "y = ImageScaler{bias=[1.0]}(x)"), "shape_mismatch");
  EXPECT_EQ(refused("x 1,3,2,2", "y = ImageScaler{scale=2.0}(x)"), "unsupported_attribute");
}

}  // namespace
}  // namespace sdip
