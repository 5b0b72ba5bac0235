// The accumulators of a nest.
#include "core/exec/chip/accumulators.h"

#include <algorithm>
#include <cmath>

#include "core/base/encode.h"
#include "core/exec/numbers/formats.h"

namespace sdip::exec {
namespace {

/// Step of an activation's codes as the instruction reads them; 0 when they are none, or were made inside.
double activation_step(const Chip& chip, ValueId v) {
  const NumberFormat format = format_of(chip, v);
  const ValueId root = chip.views.root[v];
  const auto& sources = chip.instruction().sources;
  const bool read = std::ranges::find(sources, root, &PlacedOperand::value) != sources.end();
  const bool codes = needs_scale(format) && !holds(format, chip.value(root).operand.type);
  return read && codes ? static_cast<double>(scale_of(chip, root).scale) : 0;
}

}  // namespace

Accumulators::Accumulators(Chip& chip, const Node& node, const NestMap& map, bool weighted)
    : format_(accumulator_of(chip)), map_(map) {
  if (!needs_scale(format_)) return;
  step_ = activation_step(chip, node.inputs[0]);
  weight_steps_ = {weighted ? 0.0 : activation_step(chip, node.inputs[1])};
  if (!weighted) return;
  const HeldWeight* codes = read_weight(chip, node.inputs[1]);
  if (codes == nullptr || codes->scales.empty()) return;
  weight_steps_.clear();
  for (const WeightScale& scale : codes->scales) weight_steps_.push_back(static_cast<double>(scale.scale));
  channels_ = codes->channels;
}

double Accumulators::kept(double sum, std::int64_t group, std::int64_t channel) const {
  if (!needs_scale(format_)) return accumulated(format_, sum);
  if (step_ == 0) return sum;
  const double one = step(group, channel);
  if (one == 0) return sum;
  const double range = std::ldexp(one, static_cast<int>(bits_of(format_)));
  const double least = needs_zero_point(format_) ? 0 : -range / 2;
  const double half = one / 2;  // sums are codes but for rounding
  return sum - range * std::floor((sum - least + half) / range);
}

double Accumulators::step(std::int64_t group, std::int64_t channel) const {
  std::size_t of = 0;
  if (channels_.count > 0) of = channels_.of(map_.b_group[group] + channel * map_.b_n);
  return weight_steps_.empty() ? 0 : step_ * weight_steps_[of];
}

std::uint64_t Accumulators::kept(std::uint64_t sum, std::int64_t, std::int64_t) const {
  if (!needs_scale(format_)) return sum;
  const auto spare = static_cast<int>(64 - bits_of(format_));
  const std::uint64_t high = sum << spare;
  return needs_zero_point(format_) ? high >> spare
                                   : static_cast<std::uint64_t>(static_cast<std::int64_t>(high) >> spare);
}

}  // namespace sdip::exec
