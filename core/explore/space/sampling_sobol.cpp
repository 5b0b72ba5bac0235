// Points of Sobol's sequence, scrambled as Owen does.
#include <array>
#include <boost/random/sobol.hpp>

#include "core/base/error.h"
#include "core/explore/space/sampling.h"

namespace sdip {
namespace {

constexpr int sobol_bits = 32;
using Directions = std::array<std::uint32_t, sobol_bits>;

/// The direction numbers of each dimension by Joe and Kuo (new-joe-kuo-6.21201: "Constructing Sobol sequences with
/// better two-dimensional projections", SIAM J. Sci. Comput. 30, 2008), as Boost has them.
std::vector<Directions> directions_of(std::size_t dimensions) {
  boost::random::sobol_engine<std::uint32_t, sobol_bits> sequence(dimensions);
  std::vector<Directions> directions(dimensions);
  // The engine numbers points from 1, in the order of Gray's code: that of point 2^(k+1) - 1 is bit k alone.
  for (int k = 0; k + 1 < sobol_bits; ++k) {
    sequence.seed((std::uint32_t{2} << k) - 2);
    for (Directions& one : directions) one[at(k)] = sequence();
  }
  return directions;
}

/// One dimension for each parameter that there is.
const std::vector<Directions>& sobol_directions() {
  static const std::vector<Directions> all = directions_of(parameters().size() + technology_parameters().size());
  return all;
}

/// Owen's nested uniform scrambling ("Randomly permuted (t,m,s)-nets and (t,s)-sequences", 1995) in base 2: each
/// bit is flipped or not by a hash of the bits above it. No two points share their first 24 bits, so that one hash
/// serves those below.
std::uint32_t scrambled(std::uint32_t x, std::uint64_t key) {
  constexpr int nested_bits = 24, rest_bits = sobol_bits - nested_bits;
  static_assert(most_points <= std::int64_t{1} << nested_bits);
  std::uint32_t flips = 0;
  for (int bit = 0; bit < nested_bits; ++bit) {
    const std::uint64_t above = (std::uint64_t{1} << bit) | (std::uint64_t{x} >> 1 >> (sobol_bits - 1 - bit));
    flips = flips << 1 | static_cast<std::uint32_t>(mixed(key ^ above) & 1);
  }
  const std::uint64_t all = (std::uint64_t{1} << nested_bits) | (x >> rest_bits);
  const auto rest = static_cast<std::uint32_t>(mixed(key ^ all)) & ((std::uint32_t{1} << rest_bits) - 1);
  return x ^ (flips << rest_bits | rest);
}

/// The axes whose values are taken in order, slowest first, and not from the sequence: those that change the
/// program, from the first listed on while there are no more combinations than points.
struct Ordered {
  std::size_t end = 0;  // of the axes listed before it those that change the program
  std::int64_t combinations = 1;
};
Ordered ordered_axes(const Space& space, std::int64_t count) {
  Ordered ordered;
  for (std::size_t a = 0; a < space.axes.size(); ++a) {
    if (!changes_program(space.axes[a])) continue;
    const auto values = static_cast<std::int64_t>(space.axes[a].values.size());
    if (values > count / ordered.combinations) break;
    ordered.combinations *= values;
    ordered.end = a + 1;
  }
  return ordered;
}

}  // namespace

// That i / count is one more dimension beside the sequence's is Hammersley's construction: each combination of the
// ordered axes has a run of the sequence, which by itself is spread evenly. A later draw goes on in the sequence.
void sobol_digits(const Space& space, std::int64_t i, AxisRange which, std::span<std::size_t> digits) {
  const SampleDraw draw = draw_of(space, i);
  const Ordered ordered = ordered_axes(space, draw.count);
  peel_digits(space, true, ordered.end, (i - draw.first) * ordered.combinations / draw.count, digits);
  const std::vector<Directions>& known = sobol_directions();
  std::size_t dimension = 0;
  for (std::size_t a = 0; a < which.end; ++a) {
    const Axis& axis = space.axes[a];
    if (a < ordered.end && changes_program(axis)) continue;
    const Directions& its = known[dimension++];
    if (a < which.first) continue;
    std::uint32_t x = 0;
    for (std::size_t bit = 0; i >> bit != 0; ++bit)
      if (i >> bit & 1) x ^= its[bit];
    const std::uint64_t y = scrambled(x, mixed(mixed(space.seed) ^ (a + 1)));
    digits[a] = as_size(y * axis.values.size() >> sobol_bits);
  }
}

}  // namespace sdip
