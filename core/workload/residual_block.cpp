// The residual block and upsampling of the U-Nets and the VAEs.
#include "core/workload/residual_block.h"

#include <array>

namespace sdip::workload {

Value residual_block(Draft& draft, std::string_view module, const Value& x, std::int64_t channels,
                     std::int64_t groups, float epsilon, const Value* time) {
  const Module within(draft, module);
  const ConvSizes three{.channels = channels, .kernel = 3, .padding = 1};
  Value y = silu(draft, "nonlinearity", group_norm(draft, "norm1", x, groups, epsilon));
  y = conv(draft, "conv1", y, three);
  if (time != nullptr) {
    const Value shift = linear(draft, "time_emb_proj", *time, channels);
    y = add(draft, y, unsqueeze(draft, unsqueeze(draft, shift, 2), 3));
  }
  y = silu(draft, "nonlinearity", group_norm(draft, "norm2", y, groups, epsilon));
  y = conv(draft, "conv2", y, three);
  if (x.shape[1] == channels) return add(draft, x, y);
  return add(draft, conv(draft, "conv_shortcut", x, {.channels = channels, .kernel = 1}), y);
}

Value upsample(Draft& draft, std::string_view module, const Value& x) {
  const Module within(draft, module);
  constexpr std::array<float, 4> scales{1.0F, 1.0F, 2.0F, 2.0F};
  const Shape shape{x.shape[0], x.shape[1], 2 * x.shape[2], 2 * x.shape[3]};
  const Value large = node(draft, "Resize", {x.name, "", float_constant(draft, {4}, scales)}, shape,
                           {{"coordinate_transformation_mode", std::string_view("asymmetric")},
                            {"cubic_coeff_a", -0.75F},
                            {"mode", std::string_view("nearest")},
                            {"nearest_mode", std::string_view("floor")}});
  return conv(draft, "conv", large, {.channels = x.shape[1], .kernel = 3, .padding = 1});
}

}  // namespace sdip::workload
