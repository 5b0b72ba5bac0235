// The table of samplings; grids in mixed radix, in blocks where axes have conditions; and random draws from a
// counter-based generator.
#include "core/explore/space/sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/base/row_names.h"

namespace sdip {
namespace {

constexpr SamplingRow sampling_rows[] = {
    {Sampling::grid, "grid", false, true, grid_digits},
    {Sampling::random, "random", true, true, random_digits},
    {Sampling::latin_hypercube, "latin_hypercube", true, false, latin_hypercube_digits},
    {Sampling::sobol, "sobol", true, false, sobol_digits},
};

constexpr auto row_names = names_of(sampling_rows);

constexpr std::uint64_t combination_stream = ~std::uint64_t{0};

}  // namespace

std::span<const std::string_view> sampling_names() { return row_names; }

const SamplingRow& row_of(Sampling sampling) {
  const auto* row = std::ranges::find(sampling_rows, sampling, &SamplingRow::sampling);
  check(row != std::end(sampling_rows), "row_of: a sampling without a row");
  return *row;
}

std::optional<Sampling> sampling_named(std::string_view name) {
  const auto* row = std::ranges::find(sampling_rows, name, &SamplingRow::name);
  if (row == std::end(sampling_rows)) return std::nullopt;
  return row->sampling;
}

std::string_view sampling_name(Sampling sampling) { return row_of(sampling).name; }

SampleDraw draw_of(const Space& space, std::int64_t i) {
  SampleDraw draw{.count = space.draws.empty() ? space.count : space.draws[0]};
  while (i >= draw.first + draw.count && draw.number + 1 < space.draws.size()) {
    draw.first += draw.count;
    draw.count = space.draws[++draw.number];
  }
  return draw;
}

bool changes_program(const Axis& axis) { return changes_program(*axis.row); }

std::int64_t combinations(const Space& space, bool compile_axes) {
  std::int64_t product = 1;
  for (const Axis& axis : space.axes) {
    if (changes_program(axis) != compile_axes) continue;
    product *= static_cast<std::int64_t>(std::min<std::size_t>(axis.values.size(), most_points + 1));
    product = std::min(product, most_points + 1);
  }
  return product;
}

std::int64_t peel_digits(const Space& space, bool compile_axes, std::size_t end, std::int64_t number,
                         std::span<std::size_t> digits) {
  for (std::size_t a = end; a-- > 0;) {
    const Axis& axis = space.axes[a];
    if (changes_program(axis) != compile_axes) continue;
    const auto radix = static_cast<std::int64_t>(axis.values.size());
    digits[a] = as_size(number % radix);
    number /= radix;
  }
  return number;
}

namespace {

using Column = std::vector<double>;  // a number for each combination

/// An axis that conditions read, whose place is then one in each block.
struct ReadAxis {
  std::size_t axis = 0;
  std::size_t run = 1;  // combinations in turn that share its place
};

struct Combinations {
  std::vector<ReadAxis> read;  // the slowest first, as digit_order has them
  std::size_t count = 1;
};

std::size_t place_of(const Space& space, const ReadAxis& read, std::size_t combination) {
  return combination / read.run % space.axes[read.axis].values.size();
}

bool is_read(const Space& space, const Axis& axis) {
  return std::ranges::any_of(space.axes, [&](const Axis& other) {
    return other.when &&
           std::ranges::find(other.when->inputs, axis.row, &FormulaInput::parameter) != other.when->inputs.end();
  });
}

/// Refuses too many before any is looked at: whether a combination counts is known only when it is settled.
Combinations combinations_read(const Space& space) {
  Combinations all;
  for (const Axis* axis : digit_order(space))
    if (is_read(space, *axis)) all.read.push_back({as_size(axis - space.axes.data())});
  for (auto read = all.read.rbegin(); read != all.read.rend(); ++read) {
    read->run = all.count;
    all.count *= space.axes[read->axis].values.size();  // of at most most_points values each
    if (all.count > most_combinations)
      throw Error("limit_exceeded", "/axes",
                  fmt::format("conditions read axes of more than {} combinations", most_combinations));
  }
  if (all.count * space.axes.size() > most_block_places)
    throw Error("limit_exceeded", "/axes",
                fmt::format("conditions read axes of {} combinations: times {} axes more than {}", all.count,
                            space.axes.size(), most_block_places));
  return all;
}

/// Whether the axes' conditions hold in each combination: axis by axis, as one may read those before it. A
/// condition that several axes have is computed once.
class Settled {
 public:
  Settled(const Space& space, const Combinations& all) : space_(space), all_(all) {
    for (const Axis& axis : space.axes) {
      truths_.push_back(axis.when ? &truth_of(*axis.when) : nullptr);
      const auto index = as_size(&axis - space.axes.data());
      const auto read = std::ranges::find(all.read, index, &ReadAxis::axis);
      if (read != all.read.end()) values_[axis.row] = values_of(*read);
    }
  }

  bool holds(std::size_t axis, std::size_t combination) const {
    if (truths_[axis] == nullptr) return true;
    const double value = (*truths_[axis])[combination];
    return value != 0 && !std::isnan(value);
  }

 private:
  double base_value(const ParameterRow& row) const { return input_value(row, row.read(space_.base)); }

  const Column& truth_of(const Formula& condition) {
    const auto [known, fresh] = by_text_.try_emplace(condition.text);
    if (!fresh) return known->second;
    std::vector<Column> of_base;
    of_base.reserve(condition.inputs.size());
    std::vector<std::span<const double>> inputs;
    for (const FormulaInput& input : condition.inputs) {
      const auto read = values_.find(input.parameter);
      if (read == values_.end()) of_base.emplace_back(all_.count, base_value(*input.parameter));
      inputs.emplace_back(read == values_.end() ? of_base.back() : read->second);
    }
    known->second.resize(all_.count);
    compute(condition, inputs, known->second);
    return known->second;
  }

  Column values_of(const ReadAxis& read) const {
    const Axis& axis = space_.axes[read.axis];
    Column values(all_.count);
    for (std::size_t c = 0; c < all_.count; ++c)
      values[c] = holds(read.axis, c) ? input_value(*axis.row, axis.values[place_of(space_, read, c)])
                                      : base_value(*axis.row);
    return values;
  }

  const Space& space_;
  const Combinations& all_;
  std::map<std::string, Column> by_text_;
  std::map<const ParameterRow*, Column> values_;  // of the axes that are read
  std::vector<const Column*> truths_;             // by axis
};

/// The block's digits; none of a combination whose machines another has: an axis whose condition does not hold has
/// one place, which its first stands for.
std::vector<std::size_t> block_digits(const Space& space, const Combinations& all, const Settled& settled,
                                      std::size_t combination) {
  std::vector<std::size_t> digits(space.axes.size(), any_place);
  for (const ReadAxis& read : all.read) {
    digits[read.axis] = place_of(space, read, combination);
    if (digits[read.axis] > 0 && !settled.holds(read.axis, combination)) return {};
  }
  for (std::size_t a = 0; a < digits.size(); ++a)
    if (!settled.holds(a, combination)) digits[a] = no_place;
  return digits;
}

std::vector<GridBlock> blocks_of(const Space& space) {
  const Combinations all = combinations_read(space);
  const Settled settled(space, all);
  std::vector<GridBlock> blocks;
  for (std::size_t c = 0; c < all.count; ++c) {
    std::vector<std::size_t> digits = block_digits(space, all, settled, c);
    if (digits.empty()) continue;
    std::int64_t points = 1;
    for (std::size_t a = 0; a < digits.size(); ++a)
      if (digits[a] == any_place) points = std::min(points * std::ssize(space.axes[a].values), most_points + 1);
    const std::int64_t first = blocks.empty() ? 0 : blocks.back().end;
    if (first + points > most_points)
      throw Error("too_large", "/axes", fmt::format("the grid has more than {} points", most_points));
    blocks.push_back({first, first + points, std::move(digits)});
  }
  return blocks;
}

}  // namespace

Space with_blocks(Space space) {
  check_conditions(space.axes, space.links);
  space.blocks = {};
  if (has_conditions(space) && !row_of(space.sampling).draws)
    space.blocks.of_grid = std::make_shared<const std::vector<GridBlock>>(blocks_of(space));
  return space;
}

namespace {

/// The block's, and mixed radix over the others.
void digits_in_blocks(const Space& space, std::int64_t i, std::span<std::size_t> digits) {
  const std::vector<GridBlock>& blocks = *space.blocks.of_grid;
  const GridBlock& block = *std::ranges::upper_bound(blocks, i, {}, &GridBlock::end);
  std::ranges::copy(block.digits, digits.begin());
  std::int64_t left = i - block.first;
  for (const bool of_programs : {false, true})
    for (std::size_t a = digits.size(); a-- > 0;) {
      if (digits[a] != any_place || changes_program(space.axes[a]) != of_programs) continue;
      const std::int64_t radix = std::ssize(space.axes[a].values);
      digits[a] = as_size(left % radix);
      left /= radix;
    }
}

}  // namespace

void grid_digits(const Space& space, std::int64_t i, AxisRange, std::span<std::size_t> digits) {
  if (space.blocks.of_grid) return digits_in_blocks(space, i, digits);
  const std::int64_t rest = peel_digits(space, false, space.axes.size(), i, digits);
  peel_digits(space, true, space.axes.size(), rest, digits);
}

void random_digits(const Space& space, std::int64_t i, AxisRange, std::span<std::size_t> digits) {
  for (std::size_t a = 0; a < space.axes.size(); ++a)
    if (!changes_program(space.axes[a])) digits[a] = drawn(space.seed, i, a) % space.axes[a].values.size();
  const std::int64_t strata = combinations(space, true);
  const std::uint64_t within = drawn(space.seed, i, combination_stream) % static_cast<std::uint64_t>(strata);
  const SampleDraw draw = draw_of(space, i);
  const std::int64_t stratum = ((i - draw.first) * strata + static_cast<std::int64_t>(within)) / draw.count;
  peel_digits(space, true, space.axes.size(), stratum, digits);
}

std::int64_t shuffled(std::int64_t i, std::int64_t count, std::uint64_t key) {
  if (count <= 1) return 0;
  const auto end = static_cast<std::uint64_t>(count);
  const int bits = static_cast<int>(std::bit_width(end - 1)), low_bits = bits / 2;
  const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1;
  const std::uint64_t high_mask = (std::uint64_t{1} << (bits - low_bits)) - 1;
  constexpr std::uint64_t rounds = 4;
  auto x = static_cast<std::uint64_t>(i);
  do {
    std::uint64_t low = x & low_mask, high = x >> low_bits;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      high ^= mixed(key ^ (low << 3) ^ (2 * round)) & high_mask;
      low ^= mixed(key ^ (high << 3) ^ (2 * round + 1)) & low_mask;
    }
    x = high << low_bits | low;
  } while (x >= end);
  return static_cast<std::int64_t>(x);
}

}  // namespace sdip
