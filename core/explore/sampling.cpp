// The table of samplings; grids in mixed radix, and random draws from a counter-based generator.
#include "core/explore/sampling.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr SamplingRow sampling_rows[] = {
    {Sampling::grid, "grid", false, true, grid_digits},
    {Sampling::random, "random", true, true, random_digits},
    {Sampling::latin_hypercube, "latin_hypercube", true, false, latin_hypercube_digits},
    {Sampling::sobol, "sobol", true, false, sobol_digits},
};

constexpr auto names_of_rows() {
  std::array<std::string_view, std::size(sampling_rows)> names;
  for (std::size_t r = 0; r < names.size(); ++r) names[r] = sampling_rows[r].name;
  return names;
}
constexpr auto row_names = names_of_rows();

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
    digits[a] = static_cast<std::size_t>(number % radix);
    number /= radix;
  }
  return number;
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
      digits[a] = static_cast<std::size_t>(left % radix);
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
