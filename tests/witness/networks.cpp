// Noise predictors of a few thousand weights, node by node.
#include "tests/witness/networks.h"

#include "core/program/program.h"
#include "tests/core/exec/random_graph.h"

namespace sdip::witness {
namespace {

using Ints = std::vector<std::int64_t>;

struct Sizes {
  std::int64_t batch, latent, channels, height, width, tokens, depth, heads;
};

struct Predictor {
  NetworkMaker make;
  Sizes s;
  ValueId context = none;

  ValueId conv(ValueId x, std::int64_t out, std::int64_t kernel, std::int64_t stride = 1, std::int64_t groups = 1) {
    const std::int64_t in = make.shape(x)[1], pad = kernel / 2;
    const std::vector<ValueId> inputs{x, make.weight({out, in / groups, kernel, kernel}), make.weight({out})};
    return make.node("Conv", inputs,
                     {{"pads", Ints{pad, pad, pad, pad}}, {"strides", Ints{stride, stride}}, {"group", groups}});
  }

  ValueId norm(ValueId x) {
    const std::int64_t channels = make.shape(x)[1];
    const std::vector<ValueId> inputs{x, make.weight({channels}), make.weight({channels})};
    const ValueId y =
        make.nodes("sdip", "GroupNorm", inputs, {{"num_groups", std::int64_t{2}}, {"epsilon", 0.01}})[0];
    return make.nodes("sdip", "Silu", {y})[0];
  }

  ValueId residual(ValueId x, std::int64_t out) {
    const bool wider = make.shape(x)[1] != out;
    const ValueId y = conv(norm(conv(norm(x), out, 3)), out, 3);
    return make.node("Add", {wider ? conv(x, out, 1) : x, y});
  }

  ValueId linear(ValueId x, std::int64_t out) {
    return make.node("MatMul", {x, make.weight({make.shape(x).back(), out})});
  }

  ValueId heads_of(ValueId rows, const Ints& perm) {
    const Shape shape = make.shape(rows);
    const ValueId split =
        make.node("Reshape", {rows, make.ints({shape[0], shape[1], s.heads, shape[2] / s.heads})});
    return make.node("Transpose", {split}, {{"perm", perm}});
  }

  /// Convolutions and activations alone. Two wide results are made before either is needed; then lives cross: of
  /// two results the first is added first, and a third is held while the second still waits.
  ValueId braid(ValueId x, std::int64_t channels) {
    const ValueId left = conv(x, 2 * channels, 3), right = make.node("Relu", {conv(x, 2 * channels, 1)});
    x = make.node("Mul", {conv(left, channels, 1), conv(right, channels, 3, 1, channels)});
    const ValueId first = x, second = x = make.nodes("sdip", "Silu", {conv(x, channels, 3, 1, 2)})[0];
    const ValueId third = x = make.node("Add", {conv(conv(x, channels, 3, 1, channels), channels, 1), first});
    x = make.node("Add", {conv(conv(x, channels, 3), channels, 1), third});
    return make.node("Add", {x, second});
  }

  /// Two products with a gate between.
  ValueId feed_forward(ValueId rows) {
    const std::int64_t width = make.shape(rows)[2], hidden = 2 * width;
    const ValueId even = make.node("LayerNormalization", {rows, make.weight({width}), make.weight({width})},
                                   {{"axis", std::int64_t{-1}}, {"epsilon", 0.01}});
    const ValueId both = make.node("Add", {linear(even, 2 * hidden), make.weight({2 * hidden})});
    const auto halves =
        make.nodes("", "Split", {both, make.ints({hidden, hidden})}, {{"axis", std::int64_t{-1}}}, 2);
    const ValueId gated = make.node("Mul", {halves[0], make.nodes("sdip", "Gelu", {halves[1]})[0]});
    return make.node("Add", {linear(gated, width), rows});
  }

  /// Cross-attention, or of the picture with itself, around which the picture goes.
  ValueId attention(ValueId x, bool crosses) {
    const Shape picture = make.shape(x);
    const std::int64_t pixels = picture[2] * picture[3], width = picture[1];
    const ValueId flat = make.node("Reshape", {x, make.ints({picture[0], width, pixels})});
    const ValueId rows = make.node("Transpose", {flat}, {{"perm", Ints{0, 2, 1}}});
    const ValueId even = make.node("LayerNormalization", {rows, make.weight({width}), make.weight({width})},
                                   {{"axis", std::int64_t{-1}}, {"epsilon", 0.01}});
    const ValueId from = crosses ? context : even;
    const ValueId q = heads_of(linear(even, width), {0, 2, 1, 3});
    const ValueId k = heads_of(linear(from, width), {0, 2, 3, 1});
    const ValueId v = heads_of(linear(from, width), {0, 2, 1, 3});
    const ValueId scores = make.node("Mul", {make.node("MatMul", {q, k}), make.number(0.5)});
    const ValueId mixed = make.node("MatMul", {make.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}}), v});
    const ValueId joined = make.node("Reshape", {make.node("Transpose", {mixed}, {{"perm", Ints{0, 2, 1, 3}}}),
                                                 make.ints({picture[0], pixels, width})});
    const ValueId sum = make.node("Add", {linear(joined, width), rows});
    const ValueId turned = make.node("Transpose", {crosses ? feed_forward(sum) : sum}, {{"perm", Ints{0, 2, 1}}});
    return make.node("Reshape", {turned, make.ints(picture)});
  }

  ValueId enlarged(ValueId x) {
    const Shape shape = make.shape(x);
    return make.node("Resize", {x, none, none, make.ints({shape[0], shape[1], 2 * shape[2], 2 * shape[3]})},
                     {{"mode", std::string("nearest")},
                      {"coordinate_transformation_mode", std::string("asymmetric")},
                      {"nearest_mode", std::string("floor")}});
  }
};

}  // namespace

namespace {

Sizes drawn_sizes(Draw& draw, Role role, const Machine& machine) {
  Sizes s{};
  s.latent = draw.between(1, 4);
  s.heads = draw.between(1, 3);
  s.channels = 2 * s.heads * (s.heads == 1 ? draw.between(2, 5) : draw.between(1, 2));
  s.height = 2 * (2 * draw.between(1, 5) + 1);  // with few divisors
  s.width = 2 * draw.between(3, 6);
  s.tokens = draw.between(2, 9);
  s.depth = draw.between(4, 20);
  const bool doubled = role == Role::core && machine.guidance == Guidance::batch;
  s.batch = machine.batch * (doubled ? 2 : 1);
  if (machine.image_height_px > 0) s.height = machine.image_height_px / 8;
  if (machine.image_width_px > 0) s.width = machine.image_width_px / 8;
  return s;
}

}  // namespace

std::int64_t picture_bytes(std::uint64_t seed, Role role, const Machine& machine) {
  Draw draw(seed);
  const Sizes s = drawn_sizes(draw, role, machine);
  return s.batch * s.channels * s.height * s.width * bits_of(machine.activation_format) / 8;
}

Workload drawn_network(std::uint64_t seed, Role role, std::int64_t blocks, const Machine& machine) {
  Draw draw(seed);
  const Sizes s = drawn_sizes(draw, role, machine);
  Predictor p{NetworkMaker(draw), s};
  const ValueId latent = p.make.input({s.batch, s.latent, s.height, s.width});
  p.context = p.make.input({s.batch, s.tokens, s.depth});
  const ValueId skip = p.braid(latent, s.channels);
  ValueId x = p.conv(skip, s.channels, 3, 2);
  for (std::int64_t block = 0; block < blocks; ++block) x = p.attention(p.residual(x, s.channels), block % 2 == 0);
  x = p.make.node("Concat", {p.enlarged(x), skip}, {{"axis", std::int64_t{1}}});
  if (draw.one_in(2)) x = p.braid(x, s.channels);
  x = p.conv(p.norm(x), s.latent, 3);
  Graph graph = p.make.finish({x}, true).graph;
  if (role == Role::core) append_step(graph, machine);
  Workload workload;
  workload.name = "drawn";
  Stage stage{role, std::string(role_text(role)), std::make_shared<const Graph>(std::move(graph)), {}};
  if (role == Role::core && machine.hoisted_context)
    if (auto before = hoist_context(stage)) workload.stages.push_back(std::move(*before));
  workload.stages.push_back(std::move(stage));
  return workload;
}

}  // namespace sdip::witness
