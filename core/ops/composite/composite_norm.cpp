// Normalisations that onnxruntime's optimiser makes (com.microsoft): with a skip added before, of looked-up
// embeddings, group norms with the channels last; and ImageScaler.
#include "core/ops/body.h"
#include "core/ops/families.h"

namespace sdip {
namespace {

/// x + skip [+ bias]: what is normalised, and the fourth output.
int skip_sum(BodyWriter& w, std::size_t bias) {
  input(w.use, 2);  // gamma must be there
  const int sum = w.node("Add", {0, 1});
  return w.given(bias) < 0 ? sum : w.node("Add", {sum, static_cast<int>(bias)});
}

Attributes last_axis(const OperatorUse& use, double epsilon) {
  return {{"axis", std::int64_t{-1}}, {"epsilon", float_attribute(use, "epsilon", epsilon)}};
}

/// input, skip, gamma, beta?, bias? -> y, mean, 1 / deviation, sum.
std::vector<int> expand_skip_layer_norm(BodyWriter& w, const OperatorUse& use) {
  const int sum = skip_sum(w, 4);
  const auto y = w.nodes("LayerNormalization", {sum, 2, w.given(3)}, last_axis(use, 1e-12), 3);
  return {y[0], y[1], y[2], sum};
}

/// input, skip, gamma, bias? -> y, -, -, sum.
std::vector<int> expand_skip_rms_norm(BodyWriter& w, const OperatorUse& use) {
  const int sum = skip_sum(w, 3);
  const int y = w.node("sdip.RMSNorm", {sum, 2}, last_axis(use, 1e-12));
  return {y, -1, -1, sum};
}

std::vector<int> expand_rms_norm(BodyWriter& w, const OperatorUse& use) {
  input(use, 1);  // gamma must be there
  return {w.node("sdip.RMSNorm", {0, 1},
                 {{"axis", int_attribute(use, "axis", -1)}, {"epsilon", float_attribute(use, "epsilon", 1e-5)}})};
}

/// ids, segments?, words, positions, segment table?, gamma, beta, mask?, position ids? -> y, mask index, sum.
std::vector<int> expand_embed_layer_norm(BodyWriter& w, const OperatorUse& use) {
  const Shape& ids = shape_of_rank(use, 0, 2);
  const std::int64_t hidden = shape_of_rank(use, 2, 2)[1];
  require(use, int_attribute(use, "mask_index_type", 0) == 0 || w.given(7) >= 0, "mask_index_type without a mask");
  for (const std::size_t affine : {std::size_t{5}, std::size_t{6}}) input(use, affine);  // both must be there
  int sum = w.node("Gather", {2, 0}, {{"axis", std::int64_t{0}}});
  int places = w.given(8);
  if (places < 0) {  // the first rows of the table, for every text of the batch
    const std::int64_t rows = shape_of_rank(use, 3, 2)[0];
    if (rows < ids[1]) refuse(use, "shape_mismatch", "fewer positions than words");
    sum = w.node("Add", {sum, w.slice(3, 0, 0, ids[1])});
  } else {
    sum = w.node("Add", {sum, w.node("Gather", {3, places}, {{"axis", std::int64_t{0}}})});
  }
  if (w.given(1) >= 0) sum = w.node("Add", {sum, w.node("Gather", {4, 1}, {{"axis", std::int64_t{0}}})});
  const auto text = static_cast<std::int64_t>(ids[0]);
  if (shape_of_rank(use, 3, 2)[1] != hidden) refuse(use, "shape_mismatch", "tables of different widths");
  const int y = w.node("LayerNormalization", {sum, 5, 6}, last_axis(use, 1e-12));
  if (use.output_count < 2) return {y};
  // How many words the mask keeps; 0 without a mask.
  const int zeros = w.node("ConstantOfShape", {w.ints({text})}, {{"value", zero_tensor(ElementType::int32, {1})}});
  const int kept = w.given(7) < 0 ? zeros : w.node("ReduceSum", {7, w.ints({1})}, {{"keepdims", std::int64_t{0}}});
  return {y, kept, sum};
}

/// Group norm of x [N,H,W,C], or [N,C,H,W] with channels_last 0, and SiLU behind it with activation 1.
int group_norm(BodyWriter& w, int x, bool channels_last) {
  const OperatorUse& use = w.use;
  const std::int64_t activation = int_attribute(use, "activation", 0);
  require(use, activation == 0 || activation == 1, "activation must be 0 (none) or 1 (SiLU)");
  require_attribute(use, "groups");
  if (channels_last) x = w.transpose(x, {0, 3, 1, 2});
  x = w.node("sdip.GroupNorm", {x, 1, 2},
             {{"num_groups", int_attribute(use, "groups", 1)}, {"epsilon", float_attribute(use, "epsilon", 1e-5)}});
  if (activation == 1) x = w.node("sdip.Silu", {x});
  return channels_last ? w.transpose(x, {0, 2, 3, 1}) : x;
}

std::vector<int> expand_group_norm(BodyWriter& w, const OperatorUse& use) {
  shape_of_rank(use, 0, 4);
  return {group_norm(w, 0, int_attribute(use, "channels_last", 1) != 0)};
}

/// x, gamma, beta, skip ([N,H,W,C], [N,1,1,C] or [N,C]), bias [C]? -> y, sum.
std::vector<int> expand_skip_group_norm(BodyWriter& w, const OperatorUse& use) {
  const Shape& x = shape_of_rank(use, 0, 4);
  require(use, int_attribute(use, "channels_last", 1) != 0, "channels_last 0 is not supported");
  int skip = 3;
  if (input(use, 3).shape.size() == 2) skip = w.reshape(3, {x[0], 1, 1, x[3]});
  int sum = w.node("Add", {0, skip});
  if (w.given(4) >= 0) sum = w.node("Add", {sum, 4});
  const int y = group_norm(w, sum, true);
  return {y, sum};
}

/// ImageScaler, which converters put into the graph; ONNX once had it as an experiment, and onnxruntime still runs
/// it up to opset 9. scale * x + bias of each channel. It is a batch normalisation whose statistics are known: one
/// pass, scale and bias in registers over a channel. [1,2,1,1] of {1, 2} with scale 2 and bias {10, 20}: {12, 24}.
std::vector<int> expand_image_scaler(BodyWriter& w, const OperatorUse& use) {
  require_type(use, 0, is_floating, "a float");
  const Operand& x = input(use, 0);
  const std::int64_t channels = shape_of_rank(use, 0, 4)[1];
  require_attribute(use, "bias");
  const std::vector<double> bias = floats_attribute(use, "bias", {});
  if (std::ssize(bias) != channels)
    refuse(use, "shape_mismatch",
           fmt::format("attribute 'bias' has {} numbers, expected one for each of the {} channels of {}",
                       bias.size(), channels, shape_text(x.shape)));
  const auto each = [&](double value) { return w.floats(x.type, std::vector(bias.size(), value)); };
  const int scale = each(float_attribute(use, "scale", 1)), none = each(0), one = each(1);
  return {w.node("BatchNormalization", {0, scale, w.floats(x.type, bias), none, one}, {{"epsilon", 0.0}})};
}

constexpr Operator composite_norm_operators[] = {
    composite<expand_image_scaler>("", "ImageScaler", "batchnorm", 1, 1, "bias scale", "7"),
    composite<expand_rms_norm>("", "SimplifiedLayerNormalization", "rmsnorm", 2, 2, "axis epsilon stash_type"),
    composite<expand_embed_layer_norm>("com.microsoft", "EmbedLayerNormalization", "layernorm", 7, 9,
                                       "epsilon mask_index_type"),
    composite<expand_group_norm>("com.microsoft", "GroupNorm", "groupnorm", 3, 3,
                                 "activation channels_last epsilon groups"),
    composite<expand_rms_norm>("com.microsoft", "SimplifiedLayerNormalization", "rmsnorm", 2, 2,
                               "axis epsilon stash_type"),
    composite<expand_skip_group_norm>("com.microsoft", "SkipGroupNorm", "groupnorm", 4, 5,
                                      "activation channels_last epsilon groups"),
    composite<expand_skip_layer_norm>("com.microsoft", "SkipLayerNormalization", "layernorm", 3, 5, "epsilon"),
    composite<expand_skip_rms_norm>("com.microsoft", "SkipSimplifiedLayerNormalization", "rmsnorm", 3, 4,
                                    "epsilon"),
};

}  // namespace

std::span<const Operator> composite_norm_rows() { return composite_norm_operators; }

}  // namespace sdip
