// CausalConvWithState of ai.onnx 27 and com.microsoft: a depthwise convolution that looks back only, over what came
// before as well, of which the last positions are carried on. Gated DeltaNet and Mamba begin with it.
#include "core/ops/body.h"
#include "core/ops/families.h"

namespace sdip {
namespace {

/// The last `length` positions of x and, before them, zeros.
int last_positions(BodyWriter& w, int x, std::int64_t given, std::int64_t length) {
  if (given >= length) return w.slice(x, 2, given - length, given);
  return w.node("Pad", {x, w.ints({0, 0, length - given, 0, 0, 0})});
}

/// x [batch, channels, length], weights [channels, 1, k], bias?, state? [batch, channels, (k - 1) * dilation].
std::vector<int> expand_causal_conv(BodyWriter& w, const OperatorUse& use) {
  require(use, int_attribute(use, "ndim", 1) == 1, "ndim other than 1 is not supported");
  require(use, int_attribute(use, "channels_last", 0) == 0, "channels_last is not supported");
  require(use, int_attribute(use, "state_window", 0) == 0, "a window of states is not supported");
  const std::string activation = string_attribute(use, "activation", "none");
  const bool silu = activation == "silu" || activation == "swish";
  require(use, silu || activation == "none", "activation must be silu, swish or none");
  const Shape &x = shape_of_rank(use, 0, 3), &weights = shape_of_rank(use, 1, 3);
  const std::int64_t dilation = int_attribute(use, "dilation", 1), kernel = weights[2];
  if (weights[0] != x[1] || weights[1] != 1 || kernel < 1 || dilation < 1)
    refuse(use, "shape_mismatch", "weights " + shape_text(weights) + " do not fit " + shape_text(x));
  const std::int64_t length = product({kernel - 1, dilation});
  int in = 0;
  std::int64_t before = length, given = x[2];
  if (w.given(3) >= 0) {
    if (input(use, 3).shape != Shape{x[0], x[1], length}) refuse(use, "shape_mismatch", "the state does not fit");
    in = w.concat({3, 0}, 2);
    before = 0, given += length;
  }
  int y = w.node("Conv", {in, 1, w.given(2)},
                 {{"group", x[1]},
                  {"kernel_shape", std::vector<std::int64_t>{kernel}},
                  {"dilations", std::vector<std::int64_t>{dilation}},
                  {"pads", std::vector<std::int64_t>{before, 0}}});
  if (silu) y = w.node("sdip.Silu", {y});
  return {y, use.output_count > 1 ? last_positions(w, in, given, length) : -1};
}

constexpr Operator composite_causal_conv_operators[] = {
    composite<expand_causal_conv>("", "CausalConvWithState", "conv2d", 2, 4, "activation", "27"),
    composite<expand_causal_conv>("com.microsoft", "CausalConvWithState", "conv2d", 2, 4,
                                  "activation channels_last dilation ndim state_window"),
};

}  // namespace

std::span<const Operator> composite_causal_conv_rows() { return composite_causal_conv_operators; }

}  // namespace sdip
