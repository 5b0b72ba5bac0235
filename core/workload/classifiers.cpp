// ResNet-50 and MobileNetV2.
#include "core/workload/classifiers.h"

#include "core/workload/layers.h"

namespace sdip::workload {
namespace {

constexpr std::int64_t classes = 1000;

Value relu(Draft& draft, const Value& x) {
  const Module within(draft, "relu");
  return node(draft, "Relu", {x.name}, x.shape);
}

Value pool_and_flatten(Draft& draft, const Value& x, std::string_view module) {
  const auto pooled = [&] {
    const Module within(draft, module);
    return node(draft, "GlobalAveragePool", {x.name}, {x.shape[0], x.shape[1], 1, 1});
  }();
  return node(draft, "Flatten", {pooled.name}, {x.shape[0], x.shape[1]}, {{"axis", std::int64_t{1}}});
}

/// 1x1 to `width`, 3x3 with the stride, 1x1 to four times the width, each normalised; and the shortcut.
Value bottleneck(Draft& draft, std::string_view module, const Value& x, std::int64_t width, std::int64_t stride) {
  const Module within(draft, module);
  Value y = conv(draft, "conv1", x, {.channels = width, .kernel = 1, .bias = false});
  y = relu(draft, batch_norm(draft, "bn1", y));
  y = conv(draft, "conv2", y, {.channels = width, .kernel = 3, .stride = stride, .padding = 1, .bias = false});
  y = relu(draft, batch_norm(draft, "bn2", y));
  y = batch_norm(draft, "bn3", conv(draft, "conv3", y, {.channels = 4 * width, .kernel = 1, .bias = false}));
  if (x.shape == y.shape) return relu(draft, add(draft, y, x));
  const Value shortcut =
      conv(draft, "downsample.0", x, {.channels = 4 * width, .kernel = 1, .stride = stride, .bias = false});
  return relu(draft, add(draft, y, batch_norm(draft, "downsample.1", shortcut)));
}

/// A convolution, its norm and a ReLU cut off at 6: modules 0, 1 and 2 of `module`.
Value conv_norm_relu6(Draft& draft, std::string_view module, const Value& x, ConvSizes sizes) {
  const Module within(draft, module);
  sizes.bias = false;
  const Value y = batch_norm(draft, "1", conv(draft, "0", x, sizes));
  const Module activation(draft, "2");
  return node(draft, "Clip", {y.name, float_scalar(draft, 0.0F), float_scalar(draft, 6.0F)}, y.shape);
}

/// 1x1 to `expansion` times the channels, 3x3 depthwise, 1x1 to `channels`.
Value inverted_residual(Draft& draft, std::string_view module, const Value& x, std::int64_t expansion,
                        std::int64_t channels, std::int64_t stride) {
  const Module within(draft, module);
  const std::int64_t width = x.shape[1] * expansion;
  std::int64_t number = 0;
  Value y = x;
  if (expansion != 1) {
    y = conv_norm_relu6(draft, numbered("conv", number++), y, {.channels = width, .kernel = 1});
  }
  y = conv_norm_relu6(draft, numbered("conv", number++), y,
                      {.channels = width, .kernel = 3, .stride = stride, .padding = 1, .groups = width});
  y = conv(draft, numbered("conv", number++), y, {.channels = channels, .kernel = 1, .bias = false});
  y = batch_norm(draft, numbered("conv", number), y);
  return x.shape == y.shape ? add(draft, x, y) : y;
}

}  // namespace

void write_resnet50(Draft& draft, const Sizes& sizes) {
  const Value input = float_input(draft, "input", {sizes.batch, 3, sizes.height_px, sizes.width_px});
  Value x = conv(draft, "conv1", input, {.channels = 64, .kernel = 7, .stride = 2, .padding = 3, .bias = false});
  x = relu(draft, batch_norm(draft, "bn1", x));
  {
    const Module within(draft, "maxpool");
    const Shape shape{x.shape[0], x.shape[1], (x.shape[2] - 1) / 2 + 1, (x.shape[3] - 1) / 2 + 1};
    x = node(draft, "MaxPool", {x.name}, shape,
             {{"ceil_mode", std::int64_t{0}},
              {"kernel_shape", Shape{3, 3}},
              {"pads", Shape{1, 1, 1, 1}},
              {"strides", Shape{2, 2}}});
  }
  constexpr std::int64_t blocks[] = {3, 4, 6, 3};
  std::int64_t width = 64;
  for (std::int64_t stage = 1; stage <= 4; ++stage, width *= 2) {
    const std::string name = "layer" + std::to_string(stage);
    for (std::int64_t i = 0; i < blocks[stage - 1]; ++i) {
      x = bottleneck(draft, numbered(name, i), x, width, i == 0 && stage > 1 ? 2 : 1);
    }
  }
  output(draft, "output", linear(draft, "fc", pool_and_flatten(draft, x, "avgpool"), classes));
}

void write_mobilenetv2(Draft& draft, const Sizes& sizes) {
  struct Stage {
    std::int64_t expansion, channels, blocks, stride;
  };
  // Sandler et al., MobileNetV2, arXiv:1801.04381, table 2.
  constexpr Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                              {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  const Value input = float_input(draft, "input", {sizes.batch, 3, sizes.height_px, sizes.width_px});
  Value x = conv_norm_relu6(draft, "features.0", input, {.channels = 32, .kernel = 3, .stride = 2, .padding = 1});
  std::int64_t number = 1;
  for (const Stage& stage : stages) {
    for (std::int64_t i = 0; i < stage.blocks; ++i) {
      x = inverted_residual(draft, numbered("features", number++), x, stage.expansion, stage.channels,
                            i == 0 ? stage.stride : 1);
    }
  }
  x = conv_norm_relu6(draft, numbered("features", number), x, {.channels = 1280, .kernel = 1});
  output(draft, "output", linear(draft, "classifier.1", pool_and_flatten(draft, x, "avgpool"), classes));
}

}  // namespace sdip::workload
