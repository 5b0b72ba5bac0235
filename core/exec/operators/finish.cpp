// Finishes a nest's sums when they are done.
#include "core/exec/operators/finish.h"

#include <algorithm>

#include "core/exec/kernels/wide.h"
#include "core/exec/walk/broadcast.h"
#include "core/graph/attributes.h"
#include "core/ops/values.h"

namespace sdip::exec {
Finish::Finish(Chip& chip, const Node& node) {
  const Operand& out = chip.value(node.outputs[0]).operand;
  out_.type = out.type;
  out_.shape = out.shape;
  alpha_ = attribute_or(node, "alpha", 1.0) * attribute_or(node, "scale", 1.0);
  beta_ = attribute_or(node, "beta", 1.0);
  if (is_quantised(node)) rescale_ = rescale_of(chip, node);
  if (node.inputs.size() < 3 || node.inputs[2] == none) return;
  bias_ = read_whole(chip, node.inputs[2]);
  if (chip.log && chip.value(node.inputs[2]).kind != ValueKind::weight) chip.log->reads_more();
  bias_shape_ = bias_.shape;
  if (node.op->type.ends_with("Conv"))  // one a channel: the axes behind it are broadcast
    bias_shape_.insert(bias_shape_.end(), out.shape.size() - 2, 1);
}

bool Finish::biased() const { return !bias_.floats.empty() || !bias_.ints.empty(); }

bool Finish::is_plain() const { return out_.type == ElementType::float32 && !rescale_ && bias_.ints.empty(); }

/// A line of results: of each sum its part of the result, and the bias, at steps of 0 or 1.
template <class T>
void Finish::end_line(const T* sums, std::int64_t count, const double* bias, std::int64_t step, float* to) const {
  const double alpha = alpha_, beta = beta_;
  if (bias == nullptr)
    return widely([=]() SDIP_WIDE {
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(static_cast<double>(sums[i]) * alpha);
    });
  if (step == 0) {
    const double one = beta * *bias;
    return widely([=]() SDIP_WIDE {
      for (std::int64_t i = 0; i < count; ++i)
        to[i] = static_cast<float>(static_cast<double>(sums[i]) * alpha + one);
    });
  }
  widely([=]() SDIP_WIDE {
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = static_cast<float>(static_cast<double>(sums[i]) * alpha + beta * bias[i]);
  });
}

template <class T>
void Finish::end_floats(const Elements& at, std::span<const T> sums, const Placing& place) const {
  const Elements beside = biased() ? elements_beside(bias_shape_, out_.shape, at) : Elements();
  auto bias = beside.lines().begin();
  std::int64_t in_bias = 0, done = 0;
  for (const Line& line : at.lines())
    for (std::int64_t first = 0; first < line.count;) {
      std::int64_t count = line.count - first;
      float* to = place(line.begin + first * line.step, done);
      if (!biased()) {
        end_line<T>(sums.data() + done, count, nullptr, 0, to);
      } else {
        count = std::min(count, bias->count - in_bias);
        if (bias->step != 0 && bias->step != 1) count = 1;
        end_line(sums.data() + done, count, bias_.floats.data() + bias->begin + in_bias * bias->step,
                 bias->step == 0 ? 0 : 1, to);
        if ((in_bias += count) == bias->count) ++bias, in_bias = 0;
      }
      first += count, done += count;
    }
}

void Finish::into(const Elements& at, std::span<const float> sums, float* first) const {
  end_floats(at, sums, [first](std::int64_t element, std::int64_t) { return first + element; });
}

template <class T>
Numbers Finish::all(const Elements& at, std::span<const T> sums) const {
  Numbers results{out_.type, {}, {}, {}};
  if (is_single(out_.type)) results.floats.resize(sums.size());
  if (is_plain()) {
    end_floats(at, sums, [&](std::int64_t, std::int64_t done) { return results.floats.data() + done; });
    return results;
  }
  std::vector<double> bias;
  if (biased()) bias = doubles_of(picked(bias_, elements_beside(bias_shape_, out_.shape, at)));
  std::size_t i = 0;
  at.each([&](std::int64_t element) {
    double x = alpha_ == 1.0 ? static_cast<double>(sums[i]) : alpha_ * static_cast<double>(sums[i]);
    if (!bias.empty()) x += beta_ * bias[i];
    if (rescale_) x = (*rescale_)(out_.type, element, x);
    x = held_double(out_.type, x);
    if (is_single(out_.type))
      results.floats[i] = static_cast<float>(x);
    else if (is_floating(out_.type))
      results.doubles.push_back(x);
    else
      results.ints.push_back(int_of(out_.type, x));
    ++i;
  });
  return results;
}

template Numbers Finish::all(const Elements&, std::span<const float>) const;
template Numbers Finish::all(const Elements&, std::span<const double>) const;

Numbers Finish::operator()(const Elements& at, std::span<const std::uint64_t> sums) const {
  const bool plain = !rescale_ && alpha_ == 1.0 && (beta_ == 1.0 || !biased()) && !is_floating(out_.type);
  if (!plain) {
    const bool wraps = !rescale_ && !is_floating(out_.type);
    std::vector<double> numbers;
    for (const std::uint64_t sum : sums) {
      const auto x = static_cast<std::int64_t>(sum);
      numbers.push_back(wraps ? double_of(out_.type, wrapped(out_.type, x)) : static_cast<double>(x));
    }
    return all(at, std::span<const double>(numbers));
  }
  Numbers results = numbers_of(zero_tensor(out_.type, {at.size()}));
  std::vector<std::int64_t> bias;
  if (biased()) bias = picked(bias_, elements_beside(bias_shape_, out_.shape, at)).ints;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::uint64_t x = sums[i];
    if (!bias.empty()) x += static_cast<std::uint64_t>(bias[i]);
    results.ints[i] = wrapped(out_.type, static_cast<std::int64_t>(x));
  }
  return results;
}

}  // namespace sdip::exec
