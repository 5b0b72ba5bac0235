// What becomes of a nest's sums when they are done.
#include "core/exec/finish.h"

#include "core/exec/broadcast.h"
#include "core/ops/arithmetic.h"

namespace sdip::exec {
namespace {

double number(const Node& node, const char* attribute, double otherwise) {
  const auto found = node.attributes.find(attribute);
  const auto* value = found == node.attributes.end() ? nullptr : std::get_if<double>(&found->second);
  return value == nullptr ? otherwise : *value;
}

}  // namespace

Finish::Finish(Chip& chip, const Node& node) {
  const Operand& out = chip.value(node.outputs[0]).operand;
  out_.type = out.type;
  out_.shape = out.shape;
  alpha_ = number(node, "alpha", 1.0) * number(node, "scale", 1.0);
  beta_ = number(node, "beta", 1.0);
  if (is_quantised(node)) rescale_ = rescale_of(chip, node);
  if (node.inputs.size() < 3 || node.inputs[2] == none) return;
  bias_ = read_whole(chip, node.inputs[2]);
  bias_shape_ = bias_.shape;
  if (node.op->type.ends_with("Conv"))  // one a channel: the axes behind it are broadcast
    bias_shape_.insert(bias_shape_.end(), out.shape.size() - 2, 1);
}

namespace {

bool has_elements(const Tensor& tensor) { return !tensor.floats.empty() || !tensor.ints.empty(); }

}  // namespace

template <class T>
Numbers Finish::all(const Elements& at, std::span<const T> sums) const {
  std::vector<double> bias;
  if (has_elements(bias_)) bias = doubles_in(picked(bias_, elements_beside(bias_shape_, out_.shape, at)));
  Numbers results{out_.type, {}, {}, {}};
  if (is_single(out_.type)) results.floats.resize(sums.size());
  if (out_.type == ElementType::float32 && !rescale_) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      double x = static_cast<double>(sums[i]);
      if (alpha_ != 1.0) x *= alpha_;
      if (!bias.empty()) x += beta_ * bias[i];
      results.floats[i] = static_cast<float>(x);
    }
    return results;
  }
  std::size_t i = 0;
  at.each([&](std::int64_t element) {
    double x = alpha_ == 1.0 ? static_cast<double>(sums[i]) : alpha_ * static_cast<double>(sums[i]);
    if (!bias.empty()) x += beta_ * bias[i];
    if (rescale_) x = (*rescale_)(out_.type, element, x);
    x = held_number(out_.type, x);
    if (is_single(out_.type))
      results.floats[i] = static_cast<float>(x);
    else if (is_floating(out_.type))
      results.doubles.push_back(x);
    else
      results.ints.push_back(static_cast<std::int64_t>(x));
    ++i;
  });
  return results;
}

template Numbers Finish::all(const Elements&, std::span<const float>) const;
template Numbers Finish::all(const Elements&, std::span<const double>) const;

Numbers Finish::operator()(const Elements& at, std::span<const std::uint64_t> sums) const {
  const bool plain = !rescale_ && alpha_ == 1.0 && beta_ == 1.0 && !is_floating(out_.type);
  if (!plain) {
    std::vector<double> numbers;
    for (const std::uint64_t x : sums) numbers.push_back(static_cast<double>(static_cast<std::int64_t>(x)));
    return all(at, std::span<const double>(numbers));
  }
  Numbers results = numbers_of(zero_tensor(out_.type, {at.size()}));
  std::vector<std::int64_t> bias;
  if (has_elements(bias_)) bias = picked(bias_, elements_beside(bias_shape_, out_.shape, at)).ints;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::uint64_t x = sums[i];
    if (!bias.empty()) x += static_cast<std::uint64_t>(bias[i]);
    results.ints[i] = wrapped(out_.type, static_cast<std::int64_t>(x));
  }
  return results;
}

}  // namespace sdip::exec
