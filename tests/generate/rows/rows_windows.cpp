// Rows of pools and of what works on images: resizing, sampling, regions.
#include <algorithm>

#include "tests/generate/rows/rows.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;

Made pool(Making& m, const Row& row, ElementType type) {
  const std::string name = row.type;
  const int x = m.any(type, 3, 5);
  const Shape s = m.shape(x);
  std::vector<std::int64_t> kernel, strides, dilations, pads;
  for (std::size_t i = 2; i < s.size(); ++i) {
    kernel.push_back(m.draw.between(1, std::max<std::int64_t>(1, std::min<std::int64_t>(3, s[i]))));
    strides.push_back(m.draw.between(1, 2));
    dilations.push_back(2 * (kernel.back() - 1) < s[i] && m.draw.one_in(4) ? 2 : 1);
  }
  for (std::size_t i = 0; i < 2 * kernel.size(); ++i)
    pads.push_back(m.draw.one_in(3) ? m.draw.between(0, kernel[i % kernel.size()] - 1) : 0);
  AttributeList attributes{{"kernel_shape", kernel}};
  if (maybe(m)) attributes.emplace_back("strides", strides);
  const bool dilated = m.opset >= (name == "AveragePool" ? 19 : name == "LpPool" ? 18 : 10) && m.draw.one_in(3);
  if (dilated) attributes.emplace_back("dilations", dilations);
  const bool ceils = m.opset >= (name == "LpPool" ? 18 : 10);
  if (ceils && m.draw.one_in(4)) attributes.emplace_back("ceil_mode", m.draw.between(0, 1));
  if (!dilated && m.draw.one_in(5))
    attributes.emplace_back("auto_pad", m.draw.of(std::vector{"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"}));
  else if (maybe(m))
    attributes.emplace_back("pads", pads);
  if (name == "AveragePool" && maybe(m)) attributes.emplace_back("count_include_pad", m.draw.between(0, 1));
  if (name == "LpPool" && maybe(m)) attributes.emplace_back("p", m.draw.between(1, 3));
  const bool indices = name == "MaxPool" && m.opset >= 8 && m.draw.one_in(4);
  if (indices && maybe(m)) attributes.emplace_back("storage_order", m.draw.between(0, 1));
  return put(m, row, {x}, attributes, indices ? 2 : 1, {indices && m.draw.one_in(4), false});
}

Made global_pool(Making& m, const Row& row, ElementType type) {
  AttributeList attributes;
  if (std::string_view(row.type) == "GlobalLpPool" && maybe(m)) attributes.emplace_back("p", m.draw.between(1, 3));
  return put(m, row, {m.any(type, 3, 5)}, attributes);
}

Made unpool(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 4, 4);
  const Shape s = m.shape(x);
  const std::vector<std::int64_t> kernel{2, 2}, strides{2, 2};
  if (std::ranges::any_of(s, [](std::int64_t d) { return d < 1; })) return {m.op("Identity", {x})};
  const int indices = m.constant(ElementType::int64, s, {0, static_cast<double>(s[2] * s[3] * 4 - 1)});
  return put(m, row, {x, indices}, {{"kernel_shape", kernel}, {"strides", strides}});
}

/// Scales or sizes, in the place that each opset has for them.
Made resize(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 2, 4);
  const Shape s = m.shape(x);
  const auto rank = std::ssize(s);
  Tensor scales{ElementType::float32, {rank}, {}, {}};
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool changed = i >= rank - 2 && s[static_cast<std::size_t>(i)] > 0;
    scales.floats.push_back(!changed ? 1 : m.draw.of(std::vector<double>{1, 2, 2, 3, 1.5, 0.5}));
    if (s[static_cast<std::size_t>(i)] < 2) scales.floats.back() = std::max(1.0, scales.floats.back());
    sizes.push_back(changed ? m.draw.between(1, 8) : s[static_cast<std::size_t>(i)]);
  }
  const int scale = m.constant(ElementType::float32, {rank}, {1, 1});
  int said = m.draw.one_in(4) ? scale : absent;
  if (said == absent) {
    onnx::TensorProto proto = proto_of(scales, "", maybe(m));
    said = m.node("", "Constant", {}, {{"value", proto}})[0];
  }
  AttributeList attributes;
  const std::string mode = m.opset < 11 ? (maybe(m) ? "nearest" : "linear")
                                        : m.draw.of(std::vector<std::string>{"nearest", "linear", "cubic"});
  attributes.emplace_back("mode", mode);
  if (m.opset < 11) return put(m, row, {x, said}, attributes);
  if (maybe(m))
    attributes.emplace_back(
        "coordinate_transformation_mode",
        m.draw.of(std::vector{"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"}));
  if (mode == "nearest" && maybe(m))
    attributes.emplace_back("nearest_mode",
                            m.draw.of(std::vector{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  if (mode == "cubic" && maybe(m)) attributes.emplace_back("cubic_coeff_a", -0.5);
  if (mode != "nearest" && m.draw.one_in(4))
    attributes.emplace_back("exclude_outside", m.draw.between(0, mode == "cubic" ? 1 : 0));
  if (m.opset >= 18 && mode != "nearest" && m.draw.one_in(4)) attributes.emplace_back("antialias", 1);
  const int empty = m.opset < 13 ? m.constant(ElementType::float32, {0}) : absent;
  if (maybe(m)) return put(m, row, {x, empty, said}, attributes);
  return put(m, row, {x, empty, empty, m.ints(sizes)}, attributes);
}

Made upsample(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 4, 4);
  const std::vector<double> factors{1, 1, static_cast<double>(m.draw.between(1, 3)),
                                    static_cast<double>(m.draw.between(1, 2))};
  const char* mode = maybe(m) ? "nearest" : "linear";
  if (m.opset < 9) return put(m, row, {x}, {{"mode", mode}, {"scales", factors}});
  const Tensor scales{ElementType::float32, {4}, {}, factors};
  const int said = m.node("", "Constant", {}, {{"value", proto_of(scales, "", maybe(m))}})[0];
  return put(m, row, {x, said}, {{"mode", mode}});
}

Made grid_sample(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 4, 4);
  const int grid = m.like(m.opset < 20 || maybe(m) ? type : ElementType::float32,
                          {m.shape(x)[0], m.size(), m.size(), 2}, {-1.25, 1.25});
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("align_corners", m.draw.between(0, 1));
  if (maybe(m))
    attributes.emplace_back("mode", m.opset >= 20 ? m.draw.of(std::vector{"linear", "nearest", "cubic"})
                                                  : m.draw.of(std::vector{"bilinear", "nearest", "bicubic"}));
  if (maybe(m)) attributes.emplace_back("padding_mode", m.draw.of(std::vector{"zeros", "border", "reflection"}));
  return put(m, row, {x, grid}, attributes);
}

Made affine_grid(Making& m, const Row& row, ElementType type) {
  const bool solid = m.draw.one_in(3);
  const int theta = m.any(type, 3, 3);
  const std::int64_t batch = std::max<std::int64_t>(1, m.shape(theta)[0]);
  const int fits = m.shape(theta) == Shape{batch, solid ? 3 : 2, solid ? 4 : 3}
                       ? theta
                       : m.like(type, {batch, solid ? 3 : 2, solid ? 4 : 3});
  std::vector<std::int64_t> size{batch, m.draw.between(1, 3), m.draw.between(1, 4), m.draw.between(1, 4)};
  if (solid) size.push_back(m.draw.between(1, 3));
  return put(m, row, {fits, m.ints(size)}, {{"align_corners", m.draw.between(0, 1)}});
}

Made roi_align(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 4, 4);
  const std::int64_t count = m.draw.between(1, 3);
  if (m.shape(x)[0] < 1 || m.shape(x)[2] < 1 || m.shape(x)[3] < 1) return {m.op("Identity", {x})};
  const int regions = m.like(type, {count, 4}, {0, 3});
  const int which = m.constant(ElementType::int64, {count}, {0, static_cast<double>(m.shape(x)[0] - 1)});
  AttributeList attributes{{"output_height", m.draw.between(1, 3)}, {"output_width", m.draw.between(1, 3)}};
  if (maybe(m)) attributes.emplace_back("mode", maybe(m) ? "avg" : "max");
  if (maybe(m)) attributes.emplace_back("sampling_ratio", m.draw.between(0, 2));
  if (m.opset >= 16 && maybe(m))
    attributes.emplace_back("coordinate_transformation_mode", maybe(m) ? "half_pixel" : "output_half_pixel");
  return put(m, row, {x, regions, which}, attributes);
}

Made max_roi_pool(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 4, 4);
  if (m.shape(x)[0] < 1 || m.shape(x)[2] < 1 || m.shape(x)[3] < 1) return {m.op("Identity", {x})};
  Tensor regions{type, {2, 5}, {}, {0, 0, 0, 1, 1, 0, 0, 0, 2, 2}};
  const int said = m.node("", "Constant", {}, {{"value", proto_of(regions, "", true)}})[0];
  return put(m, row, {x, said},
             {{"pooled_shape", std::vector<std::int64_t>{m.draw.between(1, 3), m.draw.between(1, 2)}}});
}

Made depth_to_space(Making& m, const Row& row, ElementType type) {
  const std::int64_t block = m.draw.between(1, 2);
  const int x = m.like(type, {m.size(), block * block * m.draw.between(1, 2), m.size(), m.size()});
  AttributeList attributes{{"blocksize", block}};
  if (m.opset >= 11 && maybe(m)) attributes.emplace_back("mode", maybe(m) ? "DCR" : "CRD");
  return put(m, row, {x}, attributes);
}

Made space_to_depth(Making& m, const Row& row, ElementType type) {
  const std::int64_t block = m.draw.between(1, 2);
  const int x = m.like(type, {m.size(), m.size(), block * m.draw.between(1, 3), block * m.draw.between(1, 3)});
  return put(m, row, {x}, {{"blocksize", block}});
}

Made col2im(Making& m, const Row& row, ElementType type) {
  const std::int64_t height = m.draw.between(2, 4), width = m.draw.between(2, 4), channels = m.draw.between(1, 2);
  const std::vector<std::int64_t> block{2, m.draw.between(1, 2)};
  const std::int64_t places = (height - block[0] + 1) * (width - block[1] + 1);
  const int x = m.like(type, {m.draw.between(1, 2), channels * block[0] * block[1], places});
  return put(m, row, {x, m.ints({height, width}), m.ints(block)});
}

Made lrn(Making& m, const Row& row, ElementType type) {
  AttributeList attributes{{"size", m.draw.between(1, 3)}};
  if (maybe(m)) attributes.emplace_back("alpha", 0.25);
  if (maybe(m)) attributes.emplace_back("bias", 2.0);
  return put(m, row, {m.any(type, 3, 4)}, attributes);
}

Made image_scaler(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 4, 4);
  std::vector<double> bias;
  for (std::int64_t c = 0; c < m.shape(x)[1]; ++c) bias.push_back(static_cast<double>(m.draw.between(-8, 8)) / 4);
  AttributeList attributes{{"bias", bias}};
  if (maybe(m)) attributes.emplace_back("scale", 0.5);
  return put(m, row, {x}, attributes);
}

constexpr Row window_table[] = {
    {"", "AffineGrid", common_floats, affine_grid},
    {"", "AveragePool", common_floats, pool},
    {"", "Col2Im", all_types, col2im},
    {"", "DepthToSpace", all_types, depth_to_space},
    {"", "GlobalAveragePool", common_floats, global_pool},
    {"", "GlobalLpPool", common_floats, global_pool},
    {"", "GlobalMaxPool", common_floats, global_pool},
    {"", "GridSample", common_floats, grid_sample},
    {"", "ImageScaler", common_floats, image_scaler, -1, 9},
    {"", "LRN", floats, lrn},
    {"", "LpPool", common_floats, pool},
    {"", "MaxPool", signed_numbers, pool},
    {"", "MaxRoiPool", common_floats, max_roi_pool},
    {"", "MaxUnpool", common_floats, unpool},
    {"", "Resize", numbers, resize},
    {"", "RoiAlign", common_floats, roi_align},
    {"", "SpaceToDepth", all_types, space_to_depth},
    {"", "Upsample", numbers, upsample, 0, 9},
};

}  // namespace

std::span<const Row> window_rows() { return window_table; }

}  // namespace sdip::generate
