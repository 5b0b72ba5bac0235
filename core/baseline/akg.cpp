// AKG's operators and subgraphs.
#include "core/baseline/akg.h"

#include <initializer_list>
#include <utility>

namespace sdip {
namespace {

/// Batch, channels in and out, pixels a side of the result, kernel, stride, groups; padded as networks do.
struct AkgWindow {
  std::int64_t batch = 32, in = 0, out = 0, side = 0, kernel = 1, stride = 1, groups = 1;
};

Layer akg_convolution(const AkgWindow& w) {
  const std::int64_t from = w.side * w.stride;
  Layer layer;
  layer.work.family = Family::conv2d;
  layer.work.nest = {.groups = w.groups,
                     .batch = w.batch,
                     .out_channels = w.out / w.groups,
                     .in_channels = w.in / w.groups,
                     .out_h = w.side,
                     .out_w = w.side,
                     .in_h = from,
                     .in_w = from,
                     .kernel_h = w.kernel,
                     .kernel_w = w.kernel,
                     .stride_h = w.stride,
                     .stride_w = w.stride,
                     .pad_top = w.kernel / 2,
                     .pad_left = w.kernel / 2};
  layer.a_elements = w.batch * w.in * from * from;
  layer.weight_elements = w.in / w.groups * w.out * w.kernel * w.kernel;
  layer.output_elements = w.batch * w.out * w.side * w.side;
  layer.weighted = true;
  return layer;
}

Layer akg_product(const MatrixProduct& p, bool weighted) {
  Layer layer;
  layer.work.family = weighted ? Family::linear : Family::matmul;
  layer.work.nest = {
      .groups = p.count, .out_channels = p.columns, .in_channels = p.terms, .out_h = p.rows, .in_h = p.rows};
  layer.a_elements = p.count * p.rows * p.terms;
  (weighted ? layer.weight_elements : layer.b_elements) = p.count * p.terms * p.columns;
  layer.output_elements = p.count * p.rows * p.columns;
  layer.weighted = weighted;
  return layer;
}

/// An operator without a product: lane operations an element, and tensors of as many elements that it reads beside
/// its first operand: made by operators before it, or not.
struct AkgStep {
  std::int64_t operations = 1, inside = 0, outside = 0;
};
using CountedSteps = std::initializer_list<std::pair<std::int64_t, AkgStep>>;

Layer akg_elementwise(std::int64_t elements, std::int64_t operations, std::int64_t beside, Joint joint) {
  Layer layer;
  layer.work.rows = elements;
  layer.work.passes = operations;
  layer.a_elements = layer.output_elements = elements;
  layer.other_elements = beside;
  layer.joint = joint;
  return layer;
}
Layer alone(std::int64_t elements, std::int64_t operations, std::int64_t beside = 0) {
  return akg_elementwise(elements, operations, beside, Joint::alone);
}

/// The layers of one kernel, and the same work as kernels of their own.
struct AkgWork {
  std::vector<Layer> layers, apart = {};
};

AkgCase akg_case(std::string_view part, std::string_view name, std::string_view shape, std::string_view source,
                 std::string_view ours, AkgWork work, bool single = false) {
  return {part, name, shape, source, ours, single, std::move(work.layers), std::move(work.apart)};
}

/// Both forms of a product and what follows it.
AkgWork follow(Layer product, CountedSteps steps) {
  const std::int64_t elements = product.output_elements;
  AkgWork work{{product}, {std::move(product)}};
  for (const auto& [count, step] : steps)
    for (std::int64_t n = 0; n < count; ++n) {
      work.layers.push_back(akg_elementwise(elements, step.operations, step.outside * elements, Joint::fused));
      work.apart.push_back(alone(elements, step.operations, (step.inside + step.outside) * elements));
    }
  return work;
}

/// Both forms of elementwise work alone, of which one kernel writes `results` tensors; `beside` are kernels of
/// their own in the second.
AkgWork chain(std::int64_t elements, CountedSteps steps, std::int64_t results = 1, std::vector<Layer> beside = {}) {
  Layer kernel = alone(elements, 0);
  AkgWork work;
  for (const auto& [count, step] : steps)
    for (std::int64_t n = 0; n < count; ++n) {
      kernel.work.passes += step.operations;
      kernel.other_elements += step.outside * elements;
      work.apart.push_back(alone(elements, step.operations, (step.inside + step.outside) * elements));
    }
  work.apart.insert(work.apart.end(), beside.begin(), beside.end());
  kernel.output_elements = results * elements;
  work.layers = {kernel};
  return work;
}

Layer with_elements(Layer layer, std::int64_t read, std::int64_t written) {
  layer.a_elements = read;
  layer.output_elements = written;
  return layer;
}

constexpr std::int64_t stage_elements = 32LL * 16 * 56 * 56 * 16;  // of ResNet-50's first stage, batch 32

std::vector<AkgCase> akg_operators() {
  const auto of = [](std::string_view name, std::string_view shape, std::string_view source, std::string_view ours,
                     Layer layer) { return akg_case("operator", name, shape, source, ours, {{std::move(layer)}}); };
  return {
      of("op1 convolution", "(32, 64, 56, 56) * (64, 64, 3, 3)", "test_resnet50_conv_012", "",
         akg_convolution({.in = 64, .out = 64, .side = 56, .kernel = 3})),
      of("op2 matrix product", "(8192, 768) x (768, 3072)", "test_bert_all_001.py: matmul_0035", "",
         akg_product({1, 8192, 3072, 768}, true)),
      of("op3 ReLU", "(32, 16, 56, 56, 16)", "test_resnet50_relu_002", "", alone(stage_elements, 1)),
      of("op4 batched products", "(64, 12) of 128 x 64 x 128", "test_bert_all_001.py: batch_matmul_4D_008", "",
         akg_product({64LL * 12, 128, 128, 64}, false)),
      of("op5 cast", "(32, 16, 56, 56, 16)", "dynamic_shape/test_cast.py: test_resnet50_cast_007", "",
         alone(stage_elements, 1)),
      of("op6 transpose", "(64, 12, 128, 64), (0, 2, 1, 3)", "test_bert_all_001.py: transpose_005", "",
         alone(64LL * 12 * 128 * 64, 1)),
      of("op7 one-hot", "(1280), 30522", "test_bert_all_001.py: test_one_hot_004", "a comparison and a choice",
         with_elements(alone(1280LL * 30522, 2), 1280, 1280LL * 30522)),
      of("op8 addition", "twice (32, 16, 56, 56, 16)", "test_resnet50_add_005", "",
         alone(stage_elements, 1, stage_elements)),
      of("op9 batch norm, reduction", "(32, 16, 56, 56, 16)", "test_resnet50_bn_split_002",
         "a product and two sums an element", with_elements(alone(stage_elements, 3), stage_elements, 512)),
      of("op10 batch norm, update", "(32, 16, 56, 56, 16)", "test_resnet50_bn_split_002",
         "a product and a sum an element", alone(stage_elements, 2, 512)),
  };
}

/// The paper's subgraphs. AKG's repository of tuned subgraphs has one each of the shape, precision and number of
/// operators of 2, 3 and 4, whose key tells the operators and which values they read.
std::vector<AkgCase> akg_table() {
  const AkgStep inner{.inside = 1}, outer{.outside = 1};
  return {
      akg_case("table 1", "1: mask of BERT's scores, 6 operators", "(16, 16, 512, 512) FP16", "table 1",
               "one operator is on the mask, five on the scores",
               chain(16LL * 16 * 512 * 512, {{5, {}}}, 1, {alone(16LL * 512, 1)})),
      akg_case("table 1", "2: GELU backward, 21 operators", "(256, 512, 16, 16) FP16",
               "table 1; repository.json: 3.Mul33.Mul14. ... .Mul121.23", "",
               // 12 operators of one tensor; of two, nine: two of which read one of the three inputs first.
               chain(256LL * 512 * 16 * 16, {{12, {}}, {7, inner}, {2, outer}})),
      akg_case("table 1", "3: LAMB, moments, 15 operators", "(30522, 1024) FP32",
               "table 1; repository.json: 7.Mul7.Mul7.TensorAdd12. ... .1721", "",
               // Nine of one tensor, four of two (three of them read another input first), two copies; two moments
               // and an update.
               chain(30522LL * 1024, {{11, {}}, {1, inner}, {3, outer}}, 3), true),
      akg_case("table 1", "4: LAMB, update, 11 operators", "(1024, 1024) FP32",
               "table 1; repository.json: 6.RealDiv45.Greater7. ... .16", "seven operators are on single numbers",
               // On tensors: two products by numbers, a difference with the weights, a copy.
               chain(1024LL * 1024, {{3, {}}, {1, outer}}, 1, std::vector(7, alone(1, 1))), true),
      akg_case("table 1", "5, 9 operators", "(64, 1, 16, 16) FP16", "table 1", "each reads and writes one tensor",
               chain(64LL * 16 * 16, {{9, {}}}))};
}

std::vector<AkgCase> akg_networks() {
  const AkgStep inner{.inside = 1}, outer{.outside = 1};
  AkgWork sums = follow(akg_convolution({.in = 64, .out = 64, .side = 56, .kernel = 3}), {{1, {.operations = 3}}});
  for (std::vector<Layer>* layers : {&sums.layers, &sums.apart}) layers->back().output_elements = 2LL * 64;
  const AkgWindow v2{.batch = 1, .in = 96, .out = 96, .side = 56, .kernel = 3, .stride = 2, .groups = 96};
  const AkgWindow v1{.batch = 1, .in = 128, .out = 128, .side = 56, .kernel = 3, .groups = 128};
  return {akg_case("ResNet-50", "convolution, batch norm's sums", "(32, 64, 56, 56) * (64, 64, 3, 3)",
                   "test_resnet50_conv_bn1_012", "a product and two sums an element", std::move(sums)),
          akg_case("ResNet-50", "convolution, batch norm, sum, ReLU", "(32, 64, 56, 56) * (256, 64, 1, 1)",
                   "test_resnet50_conv_013", "what follows it",
                   follow(akg_convolution({.in = 64, .out = 256, .side = 56}), {{2, {}}, {1, outer}, {1, {}}})),
          akg_case("BERT", "product, GELU", "(4096, 768) x (12288, 768)",
                   "cube/test_matmul_gelu_001.py: matmul_gelu_1", "eight operators, two of two tensors",
                   follow(akg_product({1, 4096, 12288, 768}, true), {{6, {}}, {2, inner}})),
          akg_case("MobileNet", "depthwise, batch norm, ReLU6 (v2)", "(1, 112, 112, 96), 3 x 3, stride 2",
                   "cube/test_depthwise_001.py: depthwise_run_102", "what follows it",
                   follow(akg_convolution(v2), {{4, {}}})),
          akg_case("MobileNet", "depthwise, batch norm, ReLU6 (v1)", "(1, 56, 56, 128), 3 x 3",
                   "cube/test_depthwise_001.py: depthwise_run_003", "what follows it",
                   follow(akg_convolution(v1), {{4, {}}})),
          akg_case("MobileNet", "pointwise, batch norm (v2)", "(1, 96, 56, 56) * (24, 96, 1, 1)", "", "all of it",
                   follow(akg_convolution({.batch = 1, .in = 96, .out = 24, .side = 56}), {{2, {}}}))};
}

double seconds_of_all(std::span<const Layer> layers, const CubeMachine& machine) {
  double sum = 0;
  for (const CubeLayerTime& time : cube_times(layers, machine)) sum += time.time.seconds;
  return sum;
}

AkgRow akg_row(const AkgCase& one, CubeMachine machine) {
  if (one.single) {
    machine.bytes_per_element *= 2;
    machine.vector_lanes /= 2;
  }
  AkgRow row{.of = &one,
             .fused_s = seconds_of_all(one.layers, machine),
             .bound = cube_times(one.layers, machine).front().bound};
  if (!one.apart.empty()) row.apart_s = seconds_of_all(one.apart, machine);
  machine.im2col_by_engine = false;
  if (const double apart = seconds_of_all(one.layers, machine); apart != row.fused_s) row.im2col_apart_s = apart;
  return row;
}

}  // namespace

std::span<const AkgCase> akg_cases() {
  static const std::vector<AkgCase> all = [] {
    std::vector<AkgCase> cases = akg_operators();
    for (const auto& more : {akg_table(), akg_networks()}) cases.insert(cases.end(), more.begin(), more.end());
    return cases;
  }();
  return all;
}

std::vector<AkgRow> akg_rows(const CubeMachine& machine) {
  std::vector<AkgRow> rows;
  for (const AkgCase& one : akg_cases()) rows.push_back(akg_row(one, machine));
  return rows;
}

}  // namespace sdip
