// What becomes of a nest's sums when they are done.
#include "core/exec/finish.h"

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
  const Tensor bias = read_whole(chip, node.inputs[2]);
  bias_ = numbers_in(bias);
  integer_bias_ = bias.ints;
  Shape shape = bias.shape;
  if (node.op->type.ends_with("Conv"))  // one a channel: the axes behind it are broadcast
    shape.insert(shape.end(), out.shape.size() - 2, 1);
  bias_at_ = broadcast_elements(shape, out.shape);
}

Tensor Finish::operator()(std::span<const std::int64_t> at, const std::vector<double>& sums) const {
  Tensor numbers = zero_tensor(out_.type, {static_cast<std::int64_t>(at.size())});
  for (std::size_t i = 0; i < at.size(); ++i) {
    double x = alpha_ == 1.0 ? sums[i] : alpha_ * sums[i];
    if (!bias_at_.empty()) x += beta_ * bias_[bias_at_[static_cast<std::size_t>(at[i])]];
    if (rescale_) x = (*rescale_)(out_.type, at[i], x);
    if (is_floating(out_.type))
      numbers.floats[i] = held_number(out_.type, x);
    else
      numbers.ints[i] = static_cast<std::int64_t>(held_number(out_.type, x));
  }
  return numbers;
}

Tensor Finish::operator()(std::span<const std::int64_t> at, const std::vector<std::uint64_t>& sums) const {
  const bool plain = !rescale_ && alpha_ == 1.0 && beta_ == 1.0 && !is_floating(out_.type);
  if (!plain) {
    std::vector<double> numbers;
    for (const std::uint64_t x : sums) numbers.push_back(static_cast<double>(static_cast<std::int64_t>(x)));
    return (*this)(at, numbers);
  }
  Tensor numbers = zero_tensor(out_.type, {static_cast<std::int64_t>(at.size())});
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::uint64_t x = sums[i];
    if (!bias_at_.empty())
      x += static_cast<std::uint64_t>(integer_bias_[bias_at_[static_cast<std::size_t>(at[i])]]);
    numbers.ints[i] = wrapped(out_.type, static_cast<std::int64_t>(x));
  }
  return numbers;
}

}  // namespace sdip::exec
