// A weight as codes of weight_format.
#include "core/program/weights/coded_weight.h"

#include <algorithm>
#include <cmath>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

bool is_pruned(const NestWeights* nest, const Machine& machine) {
  return nest != nullptr && machine.sparsity != Sparsity::dense &&
         (machine.sparsity == Sparsity::skipping || machine.weight_density.hundredths < 100);
}

std::vector<double> numbers_of_weight(const Tensor& weight) {
  std::vector<double> numbers = weight.floats;
  for (const std::int64_t x : weight.ints) numbers.push_back(static_cast<double>(x));
  return numbers;
}

/// Infinities in a mask become as far from the other numbers as a Softmax needs to make nothing of them: of n
/// elements in a format whose largest code is c, ln(2 c n). Example: {0, -infinity} in int8 is {0, -6.2}.
void bound_infinities(const std::string& name, NumberFormat format, std::vector<double>& numbers) {
  double least = 0, most = 0;
  for (const double x : numbers) {
    if (std::isnan(x))
      throw Error("value_invalid", name, "the weight '" + name + "' holds a NaN, which weight_format cannot");
    if (std::isfinite(x)) least = std::min(least, x), most = std::max(most, x);
  }
  const auto count = static_cast<double>(numbers.size());
  const double apart = std::log(2 * static_cast<double>(largest_code(format)) * count);
  for (double& x : numbers)
    if (std::isinf(x)) x = x < 0 ? least - apart : most + apart;
}

[[noreturn]] void refuse_whole(const std::string& name, NumberFormat format, double x) {
  throw Error("not_modelled", name,
              fmt::format("the weight '{}' holds the whole number {}, which weight_format={} does not hold "
                          "exactly; expected a wider one",
                          name, static_cast<std::int64_t>(x), format_text(format)));
}

struct Range {
  double least = 0, most = 0;
};

WeightScale scale_of_range(const std::string& name, NumberFormat format, bool whole, const Range& range) {
  if (!whole || !needs_scale(format)) return weight_scale(format, range.least, range.most);
  const auto scale =
      whole_scale(format, static_cast<std::int64_t>(range.least), static_cast<std::int64_t>(range.most));
  if (!scale) refuse_whole(name, format, range.most > -range.least ? range.most : range.least);
  return *scale;
}

std::int64_t zero_of(const WeightScale& scale) { return scale.zero.value_or(0); }

}  // namespace

Tensor pruned_weight(Tensor weight, const NestWeights* nest, const Machine& machine) {
  if (!is_pruned(nest, machine)) return weight;
  const std::vector<char> kept = kept_elements(*nest, weight, machine);
  for (std::size_t i = 0; i < weight.floats.size(); ++i)
    if (kept[i] == 0) weight.floats[i] = 0;
  for (std::size_t i = 0; i < weight.ints.size(); ++i)
    if (kept[i] == 0) weight.ints[i] = 0;
  return weight;
}

namespace {

void refuse_unbounded(const std::string& name, NumberFormat format, const std::vector<double>& numbers) {
  for (const double x : numbers)
    if (!std::isfinite(x))
      throw Error("value_invalid", name,
                  fmt::format("the weight '{}' holds an infinity or a NaN, which blocks of weight_format={} cannot",
                              name, format_text(format)));
}

/// The scale of each range; of blocks, and of the tensor that they are in.
void choose_scales(const std::string& name, bool whole, const std::vector<Range>& ranges, CodedWeight& coded) {
  if (!is_block_format(coded.format)) {
    for (const Range& range : ranges) coded.scales.push_back(scale_of_range(name, coded.format, whole, range));
    return;
  }
  const auto reach = [](const Range& range) { return std::max(std::fabs(range.least), range.most); };
  double all = 0;
  for (const Range& range : ranges) all = std::max(all, reach(range));
  coded.tensor = tensor_scale(coded.format, all);
  for (const Range& range : ranges) coded.scales.push_back(block_scale(coded.format, reach(range), coded.tensor));
}

}  // namespace

CodedWeight coded_weight(const std::string& name, const Tensor& weight, const NestWeights* nest,
                         const Machine& machine) {
  const bool by_groups = nest != nullptr && nest->scale_group > 0;
  CodedWeight coded;
  const NumberFormat format = coded.format =
      by_groups ? machine.weight_format : vector_format(machine.weight_format);
  if (nest != nullptr && nest->channel_scales) coded.channels = nest->channels;
  if (nest != nullptr && machine.sparsity == Sparsity::skipping) coded.kept = kept_elements(*nest, weight, machine);
  std::vector<double> numbers = numbers_of_weight(pruned_weight(weight, nest, machine));
  if (by_groups) coded.groups = groups_of_elements(*nest, std::ssize(numbers));
  if (is_block_format(format)) refuse_unbounded(name, format, numbers);
  if (!is_floating(format)) bound_infinities(name, format, numbers);
  const std::int64_t count = by_groups ? group_count(*nest) : std::max<std::int64_t>(coded.channels.count, 1);
  std::vector<Range> ranges(as_size(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t of_channel = coded.channels.count > 0 ? coded.channels.of(static_cast<std::int64_t>(i)) : 0;
    Range& range = ranges[by_groups ? coded.groups[i] : of_channel];
    range = {std::min(range.least, numbers[i]), std::max(range.most, numbers[i])};
  }
  const bool whole = !is_floating(weight.type);
  choose_scales(name, whole, ranges, coded);
  coded.codes.reserve(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const WeightScale& scale = coded.scale_of(i);
    coded.codes.push_back(encoded(format, static_cast<float>(numbers[i]), scale.scale, zero_of(scale)));
    const float back = decoded(format, coded.codes.back(), scale.scale, zero_of(scale));
    if (whole && static_cast<double>(back) != numbers[i]) refuse_whole(name, format, numbers[i]);
  }
  return coded;
}

Tensor decoded_weight(const CodedWeight& coded, ElementType type, const Shape& shape) {
  Tensor tensor{type, shape, {}, {}};
  for (std::size_t i = 0; i < coded.codes.size(); ++i) {
    const WeightScale& scale = coded.scale_of(i);
    const bool there = coded.kept.empty() || coded.kept[i] != 0;
    const double x =
        there ? static_cast<double>(decoded(coded.format, coded.codes[i], scale.scale, zero_of(scale))) : 0.0;
    if (is_floating(type))
      tensor.floats.push_back(x);
    else
      tensor.ints.push_back(int_of(type, std::nearbyint(x)));
  }
  return tensor;
}

CircuitWeight circuit_weight_of(const CodedWeight& coded, ElementType type, const Shape& shape) {
  CircuitWeight weight{decoded_weight(coded, type, shape), {}, {}, coded.format};
  if (!is_floating(type)) return weight;
  if (needs_scale(coded.format) || !coded.groups.empty())
    weight.scales = coded.scales, weight.channels = coded.channels;
  if (coded.groups.empty()) return weight;
  weight.groups = coded.groups;
  weight.unscaled.reserve(coded.codes.size());
  for (std::size_t i = 0; i < coded.codes.size(); ++i)
    weight.unscaled.push_back(decoded(coded.format, coded.codes[i], 1, zero_of(coded.scale_of(i))));
  return weight;
}

}  // namespace sdip
