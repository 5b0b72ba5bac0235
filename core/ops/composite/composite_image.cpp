// Image preprocessing that converters put into the graph, which ONNX once had as an experiment and onnxruntime
// still runs up to opset 9: ImageScaler.
#include "core/ops/arithmetic.h"
#include "core/ops/body.h"
#include "core/ops/families.h"

namespace sdip {
namespace {

/// scale * x + bias of each channel. It is a batch normalisation whose statistics are known: one pass, scale and
/// bias in registers over a channel. [1,2,1,1] of {1, 2} with scale 2 and bias {10, 20}: {12, 24}.
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

constexpr Operator composite_image_operators[] = {
    composite<expand_image_scaler>("", "ImageScaler", "batchnorm", 1, 1, "bias scale", "7"),
};

}  // namespace

std::span<const Operator> composite_image_rows() { return composite_image_operators; }

}  // namespace sdip
