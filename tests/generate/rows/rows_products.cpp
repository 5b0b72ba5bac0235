// Rows of products: matrices, convolutions, recurrent layers.
#include <algorithm>

#include "tests/generate/rows/rows.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;

/// A second operand that multiplies x of rank 1 or more from the right, or from the left.
Shape factor_shape(Making& m, const Shape& x, bool left) {
  const std::size_t rank = x.size();
  if (rank == 1) return left ? Shape{m.size(), x[0]} : maybe(m) ? Shape{x[0]} : Shape{x[0], m.size()};
  Shape shape(x.begin(), x.end() - 2);
  for (std::int64_t& d : shape) {
    if (m.draw.one_in(3))
      d = 1;
    else if (d == 1 && m.draw.one_in(4))
      d = 2;
  }
  const std::int64_t keep = m.draw.between(0, 2);
  if (keep < 2)
    shape.erase(shape.begin(), keep == 0 ? shape.end() : shape.begin() + m.draw.between(0, std::ssize(shape)));
  if (left) {
    shape.insert(shape.end(), {m.size(), x[rank - 2]});
  } else {
    shape.push_back(x[rank - 1]);
    if (shape.size() > 1 || !m.draw.one_in(6)) shape.push_back(m.size());
  }
  return shape;
}

Made matmul(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  const bool left = m.draw.one_in(4);
  const Shape other = factor_shape(m, m.shape(x), left);
  const int y = m.draw.one_in(3) ? m.like(type, other) : m.weight(type, other);
  return put(m, row, left ? Made{y, x} : Made{x, y});
}

Made gemm(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 2, 2);
  const bool left = m.draw.one_in(4), trans_x = m.draw.one_in(4), trans_y = maybe(m);
  const Shape& s = m.shape(x);
  const std::int64_t rows = s[trans_x ? 1 : 0], columns = s[trans_x ? 0 : 1], other = m.size();
  Shape shape = left ? Shape{other, rows} : Shape{columns, other};  // y of y x, or of x y
  if (trans_y) std::swap(shape[0], shape[1]);
  const int y = m.weight(type, shape);
  const Shape result = left ? Shape{other, columns} : Shape{rows, other};
  int bias = absent;
  if (m.opset < 11 || !m.draw.one_in(3)) {
    const std::int64_t kind = m.draw.between(0, 4);
    bias = kind == 0   ? m.weight(type, result)
           : kind == 1 ? m.weight(type, {result[1]})
           : kind == 2 ? m.weight(type, {result[0], 1})
           : kind == 3 ? m.weight(type, {1, result[1]})
                       : m.weight(type, {});
  }
  AttributeList attributes;
  const bool trans_a = left ? trans_y : trans_x, trans_b = left ? trans_x : trans_y;
  if (trans_a || m.draw.one_in(4)) attributes.emplace_back("transA", trans_a ? 1 : 0);
  if (trans_b || m.draw.one_in(4)) attributes.emplace_back("transB", trans_b ? 1 : 0);
  if (m.draw.one_in(3)) attributes.emplace_back("alpha", is_floating(type) ? 0.5 : 2.0);
  if (m.draw.one_in(3)) attributes.emplace_back("beta", is_floating(type) ? 1.5 : 2.0);
  return put(m, row, left ? Made{y, x, bias} : Made{x, y, bias}, attributes);
}

/// Equations by the first operand's rank; the sizes of the others' letters come from it, or are new.
struct Form {
  std::size_t rank;
  const char* equation;
};
constexpr Form forms[] = {
    {1, "i->i"},
    {1, "i,i->"},
    {1, "i,j->ij"},
    {2, "ij->ji"},
    {2, "ij->i"},
    {2, "ij,jk->ik"},
    {2, "ij,kj->ik"},
    {2, "ij,ij->ij"},
    {2, "ij,jk,kl->il"},
    {2, "ij,jk"},
    {3, "bij,bjk->bik"},
    {3, "bij,kj->bik"},
    {3, "bij,bkj->bik"},
    {3, "bij->b"},
    {3, "bij,bij->bi"},
    {3, "...ij,jk->...ik"},
    {4, "bhid,bhjd->bhij"},
    {4, "bhij,bhjd->bhid"},
    {4, "bchw->bhwc"},
    {4, "bihd,bjhd->bhij"},
    {4, "bchw,oc->bohw"},
    {3, "bij,bjk->ki"},
    {2, "ij,kl->ijkl"},
};

Made einsum(Making& m, const Row& row, ElementType type) {
  const Form& form = forms[m.draw.between(0, std::ssize(forms) - 1)];
  const auto rank = static_cast<std::int64_t>(form.rank);
  const int x = m.any(type, rank, rank);
  const std::string equation = form.equation;
  std::map<char, std::int64_t> sizes;
  std::vector<std::string> terms(1);
  for (const char c : equation.substr(0, equation.find("->"))) {
    if (c == ',')
      terms.emplace_back();
    else if (c != ' ')
      terms.back() += c;
  }
  std::size_t at = 0;
  for (const char c : terms[0]) {
    if (c == '.')
      at = 1;  // one axis stands for the dots
    else
      sizes[c] = m.shape(x)[at++];
  }
  Made operands{x};
  for (std::size_t t = 1; t < terms.size(); ++t) {
    Shape shape;
    for (const char c : terms[t]) {
      if (!sizes.contains(c)) sizes[c] = m.draw.between(1, 5);
      shape.push_back(sizes[c]);
    }
    operands.push_back(maybe(m) ? m.weight(type, shape) : m.like(type, shape));
  }
  return put(m, row, operands, {{"equation", equation}});
}

constexpr const char* pads_of[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};

/// What windows share: kernel, strides, dilations, pads, for an input of these sizes.
struct Windows {
  std::vector<std::int64_t> kernel;
  AttributeList attributes;
};

Windows drawn_windows(Making& m, const Shape& x, std::size_t first, bool dilated, bool kernel_said,
                      bool automatic) {
  Windows w;
  std::vector<std::int64_t> strides, dilations, pads;
  const std::size_t axes = x.size() - first;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t size = x[first + i];
    w.kernel.push_back(m.draw.between(1, std::max<std::int64_t>(1, std::min<std::int64_t>(3, size))));
    strides.push_back(m.draw.one_in(3) ? m.draw.between(1, 3) : 1);
    const bool fits = 2 * (w.kernel.back() - 1) + 1 <= size;
    dilations.push_back(dilated && fits && m.draw.one_in(4) ? 2 : 1);
  }
  for (std::size_t i = 0; i < 2 * axes; ++i)
    pads.push_back(m.draw.one_in(2) ? m.draw.between(0, w.kernel[i % axes] - 1) : 0);
  if (kernel_said) w.attributes.emplace_back("kernel_shape", w.kernel);
  if (maybe(m)) w.attributes.emplace_back("strides", strides);
  const bool plain = std::ranges::all_of(dilations, [](std::int64_t d) { return d == 1; });
  if (!plain) w.attributes.emplace_back("dilations", dilations);
  if (automatic && plain && m.draw.one_in(5))
    w.attributes.emplace_back("auto_pad", pads_of[m.draw.between(0, 3)]);
  else if (maybe(m))
    w.attributes.emplace_back("pads", pads);
  return w;
}

std::int64_t divisor(Making& m, std::int64_t n) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d <= n; ++d)
    if (n % d == 0) divisors.push_back(d);
  return divisors.empty() ? 1 : m.draw.of(divisors);
}

Shape with_kernel(std::int64_t first, std::int64_t second, const std::vector<std::int64_t>& kernel) {
  Shape shape{first, second};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  return shape;
}

Made conv(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 3, 5);
  const std::int64_t channels = m.shape(x)[1];
  Windows w = drawn_windows(m, m.shape(x), 2, true, maybe(m), true);
  const std::int64_t group = m.draw.one_in(3) ? divisor(m, channels) : 1;
  if (group > 1 || m.draw.one_in(4)) w.attributes.emplace_back("group", group);
  const std::int64_t out = group * m.draw.between(1, group > 2 ? 2 : 6);
  const int weights = m.weight(type, with_kernel(out, channels / group, w.kernel));
  Made operands{x, weights};
  if (maybe(m)) operands.push_back(m.weight(type, {out}));
  if (std::string_view(row.type) == "FusedConv") {
    if (operands.size() == 2) operands.push_back(absent);
    const char* activation = m.draw.of(std::vector{"Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid"});
    w.attributes.emplace_back("activation", activation);
    if (activation == std::string("LeakyRelu")) w.attributes.emplace_back("activation_params", std::vector{0.25});
    if (activation == std::string("HardSigmoid"))
      w.attributes.emplace_back("activation_params", std::vector{0.25, 0.5});
  }
  return put(m, row, operands, w.attributes);
}

Made conv_transpose(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 3, 5);
  const std::int64_t channels = m.shape(x)[1];
  const std::size_t axes = m.shape(x).size() - 2;
  std::vector<std::int64_t> kernel, strides, dilations, pads(2 * axes, 0), extra;
  for (std::size_t i = 0; i < axes; ++i) {
    kernel.push_back(m.draw.between(1, 3));
    strides.push_back(m.draw.between(1, 2));
    dilations.push_back(m.draw.one_in(5) ? 2 : 1);
    extra.push_back(m.draw.between(0, strides.back() - 1));
    for (const std::size_t side : {i, i + axes}) pads[side] = m.draw.one_in(2) ? 0 : (kernel.back() - 1) / 2;
  }
  const std::int64_t group = m.draw.one_in(3) ? divisor(m, channels) : 1, out = m.draw.between(1, 4);
  AttributeList attributes{{"strides", strides}, {"pads", pads}};
  if (maybe(m)) attributes.emplace_back("kernel_shape", kernel);
  if (m.draw.one_in(3)) attributes.emplace_back("dilations", dilations);
  if (m.draw.one_in(3)) attributes.emplace_back("output_padding", extra);
  if (group > 1 || m.draw.one_in(4)) attributes.emplace_back("group", group);
  Made operands{x, m.weight(type, with_kernel(channels, out, kernel))};
  if (maybe(m)) operands.push_back(m.weight(type, {out * group}));
  return put(m, row, operands, attributes);
}

Made deform_conv(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 4, 4);
  const Shape s = m.shape(x);
  const std::vector<std::int64_t> kernel{
      m.draw.between(1, std::max<std::int64_t>(1, std::min<std::int64_t>(2, s[2]))), 1};
  const std::int64_t out = m.draw.between(1, 3), height = s[2] - kernel[0] + 1, width = s[3];
  const std::int64_t groups = m.draw.one_in(3) ? divisor(m, s[1]) : 1, places = kernel[0] * kernel[1];
  Made operands{x, m.weight(type, with_kernel(out, s[1], kernel)),
                m.like(type, {s[0], 2 * groups * places, height, width}, {-1, 1})};
  const bool masked = m.draw.one_in(3);
  operands.push_back(maybe(m) ? m.weight(type, {out}) : absent);
  operands.push_back(masked ? m.like(type, {s[0], groups * places, height, width}, {0, 1}) : absent);
  return put(m, row, operands,
             {{"kernel_shape", kernel}, {"offset_group", groups}, {"pads", std::vector<std::int64_t>{0, 0, 0, 0}}});
}

/// RNN, GRU, LSTM: directions, layouts, what is optional, each output used or not.
Made recurrent(Making& m, const Row& row, ElementType type) {
  const std::string name = row.type;
  const std::int64_t gates = name == "RNN" ? 1 : name == "GRU" ? 3 : 4;
  const int x = m.any(type, 3, 3);
  const bool batch_first = m.opset >= 14 && m.draw.one_in(4);
  const std::int64_t batch = m.shape(x)[batch_first ? 0 : 1], inputs = m.shape(x)[2],
                     steps = m.shape(x)[batch_first ? 1 : 0];
  const std::int64_t hidden = m.draw.between(1, 6);
  const char* direction = m.draw.of(std::vector{"forward", "forward", "reverse", "bidirectional"});
  const std::int64_t directions = direction == std::string("bidirectional") ? 2 : 1;
  AttributeList attributes{{"hidden_size", hidden}};
  if (directions == 2 || maybe(m)) attributes.emplace_back("direction", direction);
  if (batch_first) attributes.emplace_back("layout", 1);
  if (name == "GRU" && maybe(m)) attributes.emplace_back("linear_before_reset", m.draw.between(0, 1));
  if (name == "LSTM" && m.draw.one_in(4)) attributes.emplace_back("input_forget", m.draw.between(0, 1));
  if (m.draw.one_in(5)) attributes.emplace_back("clip", 1.5);
  if (m.draw.one_in(5)) {
    std::vector<std::string> activations;
    const std::int64_t each = name == "RNN" ? 1 : name == "GRU" ? 2 : 3;
    for (std::int64_t i = 0; i < directions * each; ++i)
      activations.emplace_back(m.draw.of(std::vector{"Sigmoid", "Tanh", "Relu", "HardSigmoid", "Softsign"}));
    attributes.emplace_back("activations", activations);
  }
  const Shape state = batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  Made operands{x,
                m.weight(type, {directions, gates * hidden, inputs}, {-1, 1}),
                m.weight(type, {directions, gates * hidden, hidden}, {-1, 1}),
                maybe(m) ? m.weight(type, {directions, 2 * gates * hidden}, {-1, 1}) : absent,
                m.draw.one_in(4) ? m.constant(ElementType::int32, {batch},
                                              {1, static_cast<double>(std::max<std::int64_t>(1, steps))})
                                 : absent,
                m.draw.one_in(3) ? m.like(type, state) : absent};
  if (name == "LSTM") {
    operands.push_back(m.draw.one_in(3) ? m.like(type, state) : absent);
    operands.push_back(m.draw.one_in(4) ? m.weight(type, {directions, 3 * hidden}, {-1, 1}) : absent);
  }
  const int most = name == "LSTM" ? 3 : 2;
  const int outputs = static_cast<int>(m.draw.between(1, most));
  std::vector<bool> unused(index(outputs), false);
  if (outputs > 1 && m.draw.one_in(3)) unused[0] = true;
  return put(m, row, operands, attributes, outputs, unused);
}

constexpr Row product_table[] = {
    {"", "Conv", common_floats, conv},
    {"", "ConvTranspose", common_floats, conv_transpose},
    {"", "DeformConv", common_floats, deform_conv},
    {"", "Einsum", numbers, einsum},
    {"", "GRU", common_floats, recurrent},
    {"", "Gemm", numbers, gemm},
    {"", "LSTM", common_floats, recurrent},
    {"", "MatMul", numbers, matmul},
    {"", "RNN", common_floats, recurrent},
    {"com.microsoft", "FusedConv", single, conv},
};

}  // namespace

std::span<const Row> product_rows() { return product_table; }

}  // namespace sdip::generate
