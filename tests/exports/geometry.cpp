// Motion, points, graphs and fields: RAFT, PointNet, GNN, NeRF, a Fourier operator by products, functions of
// dynamo.
#include <cmath>
#include <numbers>

#include "tests/exports/book.h"
#include "tests/exports/layers.h"

namespace sdip::exports {
namespace {

using enum ElementType;

/// Bilinear samples at pixels [N, H, W, 2], by GridSample or, before opset 16, by its parts.
Name sampled(Writer& t, const Name& image, const Name& grid) {
  return t("GridSample", {image, grid},
           {{"align_corners", 1}, {"mode", t.opset >= 20 ? "linear" : "bilinear"}, {"padding_mode", "zeros"}});
}

/// Products of all pairs of positions, pooled, looked up around the flow's ends; ConvGRU steps unrolled.
void write_raft(Writer& t) {
  const std::int64_t channels = 4, h = 4, w = 5;
  const auto features = [&](const Name& image) {
    return conv(
        t,
        t("Relu",
          {t("InstanceNormalization",
             {conv(t, image, 3, 4, {.stride = 2}), t.tensor({4}, {1, 1, 1, 1}), t.tensor({4}, {0, 0, 0, 0})},
             {{"epsilon", 1e-5}})}),
        4, channels);
  };
  const Name first = t.input("image1", {1, 3, 2 * h, 2 * w}), second = t.input("image2", {1, 3, 2 * h, 2 * w});
  const Name a = t.reshape(features(first), {1, channels, h * w}),
             b = t.reshape(features(second), {1, channels, h * w});
  const Name products = t("Div", {t("MatMul", {t.transpose(a, {0, 2, 1}), b}), t.number(2)});
  const Name volume = t.reshape(products, {h * w, 1, h, w});
  const Name coarse = t("AveragePool", {volume}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  std::vector<double> places, offsets;
  for (const std::int64_t axis : {0, 1})
    for (std::int64_t i = 0; i < h * w; ++i) places.push_back(static_cast<double>(axis == 0 ? i % w : i / w));
  for (const double dy : {-1, 0, 1})
    for (const double dx : {-1, 0, 1}) offsets.insert(offsets.end(), {dx, dy});
  const Name base = t.tensor({1, 2, h, w}, places), around = t.tensor({1, 3, 3, 2}, offsets);
  const Names context = t.split(features(first), 1, {2, 2});
  Name hidden = t("Tanh", {context[0]}), flow = t("Sub", {base, base}), at = base;
  const auto gate = [&](const Name& in) { return conv(t, in, 2 + 2 + 4, 2); };
  for (int step = 0; step < 2; ++step) {
    Names levels;
    for (const auto& [level, scale] : {std::pair{volume, 1.0}, std::pair{coarse, 2.0}}) {
      const Name centre = t.reshape(t.transpose(at, {0, 2, 3, 1}), {h * w, 1, 1, 2});
      const Name pixels = t("Add", {t("Div", {centre, t.number(scale)}), around});
      const double lw = std::floor(w / scale) - 1, lh = std::floor(h / scale) - 1;
      const Names xy = t.split(pixels, 3, {1, 1});
      const Name gx = t("Sub", {t("Div", {t("Mul", {xy[0], t.number(2)}), t.number(lw)}), t.number(1)});
      const Name gy = t("Sub", {t("Div", {t("Mul", {xy[1], t.number(2)}), t.number(lh)}), t.number(1)});
      levels.push_back(t.reshape(sampled(t, level, t.concat({gx, gy}, -1)), {1, h, w, 9}));
    }
    const Name found = t.transpose(t.concat(levels, -1), {0, 3, 1, 2});
    const Name motion =
        t("Relu", {conv(t, t.concat({conv(t, found, 18, 2, {.kernel = 1, .pad = 0}), flow}, 1), 4, 4)});
    const Name x = t.concat({context[1], motion}, 1), hx = t.concat({hidden, x}, 1);
    const Name z = t("Sigmoid", {gate(hx)}), r = t("Sigmoid", {gate(hx)});
    const Name q = t("Tanh", {gate(t.concat({t("Mul", {r, hidden}), x}, 1))});
    hidden = t("Add", {t("Mul", {t("Sub", {t.number(1), z}), hidden}), t("Mul", {z, q})});
    at = t("Add", {at, conv(t, t("Relu", {conv(t, hidden, 2, 4)}), 4, 2)});
    flow = t("Sub", {at, base});
  }
  const Name mask =
      t("Softmax", {t.reshape(conv(t, hidden, 2, 36, {.kernel = 1, .pad = 0}), {1, 1, 9, 2, 2, h, w})},
        {{"axis", 2}});
  const Name padded = t.pad(t("Mul", {flow, t.number(2)}), {0, 0, 1, 1, 0, 0, 1, 1});
  Names unfolded;
  for (const std::int64_t dy : {0, 1, 2})
    for (const std::int64_t dx : {0, 1, 2})
      unfolded.push_back(t.unsqueeze(t.slice(t.slice(padded, 2, dy, dy + h), 3, dx, dx + w), {2}));
  const Name wide = t.unsqueeze(t.concat(unfolded, 2), {3, 4});
  const Name sum = t.reduce("ReduceSum", t("Mul", {mask, wide}), {2}, false);
  t.output(t.reshape(t.transpose(sum, {0, 1, 4, 2, 5, 3}), {1, 2, 2 * h, 2 * w}));
  t.output(flow);
}

/// Points turned by a matrix that a network of its own makes, the largest over all points.
void write_pointnet(Writer& t) {
  t.dim("points", {1, 7});
  const Name points = t.input("points", {2, 3, "points"});
  const auto widest = [&](const Name& x) { return t.reduce("ReduceMax", x, {2}); };
  const auto layer = [&](const Name& x, std::int64_t in, std::int64_t out) {
    return t("Relu", {batch_norm(t, conv1d(t, x, in, out, {.kernel = 1, .pad = 0}), out)});
  };
  const Name seen = t.reshape(widest(layer(points, 3, 8)), {-1, 8});
  const Name identity =
      t.expand(t.reshape(t("EyeLike", {t("ConstantOfShape", {t.list({3, 3})})}, {{"dtype", 1}}), {1, 9}),
               {t.size(points, 0), 9});
  const Name matrix = t.reshape(t("Add", {gemm(t, seen, 8, 9), identity}), {-1, 3, 3});
  const Name turned = t.transpose(t("MatMul", {t.transpose(points, {0, 2, 1}), matrix}), {0, 2, 1});
  const Name each = layer(turned, 3, 6), all = widest(layer(each, 6, 10));
  const Name wide = t.expand(all, {1, 1, t.size(points, 2)});
  t.output(t("LogSoftmax", {conv1d(t, t.concat({each, wide}, 1), 16, 4, {.kernel = 1, .pad = 0})}, {{"axis", 1}}));
  t.output(t("Squeeze", t.opset < 13 ? Names{all} : Names{all, t.list({2})},
             t.opset < 13 ? AttributeList{{"axes", Ints{2}}} : AttributeList{}));
}

/// Messages along edges: sources gathered, summed at their targets by ScatterElements or ScatterND with reduction.
void write_gnn(Writer& t) {
  const std::int64_t nodes = 6, channels = 5;
  t.dim("edges", {1, 9});
  const Name x = t.input("x", {nodes, channels}), edges = t.ids("edge_index", {2, "edges"}, nodes);
  const Name from = t("Gather", {edges, t.whole(0)}, {{"axis", 0}}),
             to = t("Gather", {edges, t.whole(1)}, {{"axis", 0}});
  const Name messages = t(
      "Relu", {linear(t, t.concat({t("Gather", {x, from}, {{"axis", 0}}), t("Gather", {x, to}, {{"axis", 0}})}, 1),
                      2 * channels, channels)});
  const Name rows = t.expand(t.unsqueeze(to, {1}), {t.size(messages, 0), channels});
  const Name zeros = t("ConstantOfShape", {t.list({nodes, channels})});
  const Name sum = t("ScatterElements", {zeros, rows, messages}, {{"axis", 0}, {"reduction", "add"}});
  const Name ones = t("ConstantOfShape", {t("Shape", {to})},
                      {{"value", generate::proto_of(
                                     [] {
                                       Tensor one = zero_tensor(float32, {1});
                                       one.floats[0] = 1;
                                       return one;
                                     }(),
                                     "", true)}});
  const Name counts =
      t("ScatterND", {t("ConstantOfShape", {t.list({nodes})}), t.unsqueeze(to, {1}), ones}, {{"reduction", "add"}});
  const Name mean = t("Div", {sum, t.unsqueeze(t("Max", {counts, t.number(1)}), {1})});
  const Name y = t("Relu", {t("Add", {linear(t, mean, channels, 4), linear(t, x, channels, 4, false)})});
  const Name picked =
      t("GatherElements", {y, t.expand(t.unsqueeze(from, {1}), {t.size(from, 0), 4})}, {{"axis", 0}});
  t.output(t.reduce("ReduceSum", picked, {1}, false));
  t.output(y);
}

/// Sines of positions at powers of two, densities composed along rays by cumulated products.
void write_nerf(Writer& t) {
  const std::int64_t samples = 5;
  t.dim("rays", {1, 3});
  const Name origins = t.input("rays_o", {"rays", 3}), ways = t.input("rays_d", {"rays", 3}, {0.1, 1});
  std::vector<double> depths;
  for (std::int64_t i = 0; i < samples; ++i) depths.push_back(0.5 + 0.2 * static_cast<double>(i));
  const Name depth = t.tensor({1, samples, 1}, depths);
  const Name points = t("Add", {t.unsqueeze(origins, {1}), t("Mul", {t.unsqueeze(ways, {1}), depth})});
  Names encoded{points};
  for (const double power : {1.0, 2.0, 4.0})
    for (const char* wave : {"Sin", "Cos"}) encoded.push_back(t(wave, {t("Mul", {points, t.number(power)})}));
  const Name features = t.concat(encoded, -1);
  Name x = t("Relu", {linear(t, features, 21, 10)});
  x = t("Relu", {linear(t, t.concat({x, features}, -1), 31, 10)});
  const Name density = t("Relu", {t.squeeze(linear(t, x, 10, 1), {2})});
  const Name unit = t("Div", {ways, t.reduce("ReduceL2", ways, {1})});
  const Name wide = t.expand(t.unsqueeze(unit, {1}), {t.size(points, 0), t.size(points, 1), 3});
  const Name colour = t("Sigmoid", {linear(t, t.concat({x, wide}, -1), 13, 3)});
  const Name alpha = t("Sub", {t.number(1), t("Exp", {t("Mul", {t("Neg", {density}), t.number(0.2)})})});
  const Name logs = t("Log", {t("Add", {t("Sub", {t.number(1), alpha}), t.number(1e-6)})});
  const Name passed = t("Exp", {t("CumSum", {logs, t.tensor({}, {1}, int64)}, {{"exclusive", 1}})});
  const Name shares = t("Mul", {alpha, passed});
  t.output(t.reduce("ReduceSum", t("Mul", {t.unsqueeze(shares, {2}), colour}), {1}, false));
  t.output(t.reduce("ReduceSum", shares, {1}, false));
}

/// A Fourier operator whose transforms are products with cosines and sines.
void write_fno(Writer& t) {
  const std::int64_t n = 8, modes = 3, channels = 4;
  std::vector<double> cosines, sines;
  for (std::int64_t k = 0; k < modes; ++k)
    for (std::int64_t i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i * k) / static_cast<double>(n);
      cosines.push_back(std::cos(angle)), sines.push_back(-std::sin(angle));
    }
  const Name c = t.tensor({modes, n}, cosines), s = t.tensor({modes, n}, sines);
  Name x = conv1d(t, t.input("a", {2, 2, n}), 2, channels, {.kernel = 1, .pad = 0});
  for (int layer = 0; layer < 2; ++layer) {
    const Name re = t("Einsum", {x, c}, {{"equation", "bcn,kn->bck"}}),
               im = t("Einsum", {x, s}, {{"equation", "bcn,kn->bck"}});
    const Name wr = t.weight({channels, channels, modes}), wi = t.weight({channels, channels, modes});
    const auto mixed = [&](const Name& a, const Name& w) {
      return t("Einsum", {a, w}, {{"equation", "bik,iok->bok"}});
    };
    const Name yr = t("Sub", {mixed(re, wr), mixed(im, wi)}), yi = t("Add", {mixed(re, wi), mixed(im, wr)});
    const Name back = t("Add", {t("MatMul", {yr, c}), t("MatMul", {yi, s})});
    x = t("Add", {t("Mul", {back, t.number(2.0 / 8)}), conv1d(t, x, channels, channels, {.kernel = 1, .pad = 0})});
    if (layer == 0) x = gelu(t, x);
  }
  t.output(t.transpose(linear(t, t.transpose(x, {0, 2, 1}), channels, 1), {0, 2, 1}));
}

/// What dynamo exported in its first years: functions that call functions, an If on a rank.
void write_functions(Writer& t) {
  const std::string common = "pkg.onnxscript.torch_lib.common", lib = "pkg.onnxscript.torch_lib";
  t.function(common, "Rank", {"input"}, [&](const Names& in) { return Names{t("Size", {t("Shape", {in[0]})})}; });
  t.function(common, "IsScalar", {"input"}, [&](const Names& in) {
    return Names{t("Equal", {t("Size", {t("Shape", {in[0]})}), t.whole(0)})};
  });
  t.function(lib, "aten_silu", {"self"}, [&](const Names& in) { return Names{silu(t, in[0])}; });
  t.function(lib, "aten_sum", {"self"}, [&](const Names& in) {
    const Name scalar = t.fresh("scalar");
    t.node(common, "IsScalar", in, {scalar});
    const onnx::GraphProto then = t.body({}, [&](const Names&) { return Names{t("Identity", {in[0]})}; });
    const onnx::GraphProto otherwise =
        t.body({}, [&](const Names&) { return Names{t.reduce("ReduceSum", in[0], {-1})}; });
    return Names{t("If", {scalar}, {{"then_branch", then}, {"else_branch", otherwise}})};
  });
  t.function(lib, "aten_linear", {"input", "weight", "bias"}, [&](const Names& in) {
    const Name product = t("MatMul", {in[0], t.transpose(in[1], {1, 0})});
    return Names{t("Add", {product, t("CastLike", {in[2], product})})};
  });
  const Name x = t.input("l_x_", {2, 3, 6}), y = t.fresh("linear"), act = t.fresh("silu"), sum = t.fresh("sum");
  t.node(lib, "aten_linear", {x, t.weight({8, 6}), t.weight({8})}, {y});
  t.node(lib, "aten_silu", {y}, {act});
  t.node(lib, "aten_sum", {act}, {sum});
  t.output(t("Div", {act, t("Add", {t("Abs", {sum}), t.number(1)})}));
}

constexpr Export geometry_exports_table[] = {
    {"raft-op16", 16, Manner::torchscript, write_raft},
    {"raft-op20-dynamo", 20, Manner::dynamo, write_raft},
    {"pointnet-op11", 11, Manner::torchscript, write_pointnet},
    {"pointnet-op18-dynamo", 18, Manner::dynamo, write_pointnet},
    {"gnn-op16", 16, Manner::torchscript, write_gnn},
    {"gnn-op18-dynamo", 18, Manner::dynamo, write_gnn},
    {"nerf-op13", 13, Manner::torchscript, write_nerf},
    {"fno-op14", 14, Manner::torchscript, write_fno},
    {"functions-op18-dynamo", 18, Manner::dynamo, write_functions},
};

}  // namespace

std::span<const Export> geometry_exports() { return geometry_exports_table; }

}  // namespace sdip::exports
