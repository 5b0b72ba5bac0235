// Which machines a sweep visits: a base machine, axes of values, and how points are drawn from them.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/explore/space/formula.h"
#include "core/machine/machine.h"
#include "core/program/capacity.h"

namespace sdip {

/// Most points of a sweep, and most combinations of values that change the program.
inline constexpr std::int64_t most_points = 10'000'000;
/// The greatest seed, wherever one is asked for: every reader of JSON keeps it exactly.
inline constexpr std::int64_t most_seed = (std::int64_t{1} << 53) - 1;

enum class Sampling { grid, random, latin_hypercube, sobol };
std::string_view sampling_name(Sampling sampling);
std::optional<Sampling> sampling_named(std::string_view name);
std::span<const std::string_view> sampling_names();  // in the order of the values

/// One swept parameter and its values in the parameter's integer coding, distinct, in the order given. `when`, of
/// parameters alone: where it is 0 or none the parameter has the base's value, whatever the values are.
struct Axis {
  const ParameterRow* row = nullptr;
  std::vector<std::int64_t> values;
  std::optional<Formula> when{};
  friend bool operator==(const Axis&, const Axis&) = default;
};

/// A parameter that follows others: psram_port_bits = conv_lanes_out * 256. It has a formula of parameters alone,
/// in their units; the result is rounded down to what the row can hold. A flag is set unless that is 0.
struct Link {
  const ParameterRow* row = nullptr;
  Formula formula;
  friend bool operator==(const Link&, const Link&) = default;
};

/// A run of a grid's points in which the axes that conditions read have one place each. A digit is the place of an
/// axis's value, `no_place` where its condition does not hold, `any_place` where it takes all of them.
inline constexpr std::size_t no_place = SIZE_MAX, any_place = SIZE_MAX - 1;
struct GridBlock {
  std::int64_t first = 0, end = 0;  // points
  std::vector<std::size_t> digits;  // by axis
};

/// The blocks of a grid with conditions, as they follow from its axes; none of any other space.
struct GridBlocks {
  std::shared_ptr<const std::vector<GridBlock>> of_grid{};
  friend bool operator==(const GridBlocks&, const GridBlocks&) { return true; }
};

struct Space {
  Machine base;
  std::vector<Axis> axes;
  std::vector<Link> links = {};  // in turn, behind the axes: each may read those before it
  Sampling sampling = Sampling::grid;
  std::uint64_t seed = 1;                // of all but the grid
  std::int64_t count = 0;                // of all but the grid: points to draw
  std::vector<std::int64_t> draws = {};  // of `count`: how many at a time; none: all at once
  GridBlocks blocks = {};                // with_blocks() makes them
  friend bool operator==(const Space&, const Space&) = default;
};

/// The axes in the order of their digits in a point's index, slowest first: axes that change the program, then the
/// others, each in the order listed. So consecutive points share their program for as long as they can.
std::vector<const Axis*> digit_order(const Space& space);

/// The space, with the blocks of its grid where an axis has a condition: what is made of JSON has them. Throws
/// Error("value_invalid" | "value_conflict", "/axes/N/when", ...) as check_conditions does, and Error("too_large" |
/// "limit_exceeded", "/axes", ...), the latter above these limits.
inline constexpr std::int64_t most_combinations = 100'000;    // of places of the axes that conditions read
inline constexpr std::int64_t most_block_places = 2'000'000;  // combinations times axes
Space with_blocks(Space space);

/// Points of the space. Requires a space that check_space accepts.
std::int64_t point_count(const Space& space);

/// Point i: a pure function of (space, i), 0 <= i < point_count(space).
///   grid    i in mixed radix over digit_order: with axes psram_bytes {1M, 2M} and cores {1, 2, 4}, points 0 to 5
///           are (1M,1) (1M,2) (1M,4) (2M,1) (2M,2) (2M,4), whichever of the two is listed first. With conditions
///           the axes that these read vary slowest, and an axis whose condition does not hold has one place: no
///           machine comes twice. With weight_compression {1, 2} and decompressor_bytes_per_cycle {8, 16} when
///           weight_compression > 1 they are (1) (2,8) (2,16).
///   random  each cost axis draws its value from the hash of (seed, i, axis); the combination of compile axes is
///           stratified, (i * combinations + hash % combinations) / count, so every combination is as likely, and
///           consecutive points share programs.
///   latin_hypercube  of `count` equal strata of each axis, each has one point. Axes that change the program nest,
///           the first listed slowest, so that consecutive points share programs as far as there are more points
///           than combinations.
///   sobol   axes that change the program are taken in order, slowest first, as long as there are no more
///           combinations than points; the others are a dimension each of Sobol's sequence, scrambled by the seed.
/// Points drawn in several draws are those of the first draw, then those of the next, each draw being spread over
/// the space by itself: so a sample is extended, and the points that it had keep their number.
/// Then its links. Throws Error("value_invalid" | "value_out_of_range", name of a linked parameter, ...) where that
/// cannot have such a value: the point is infeasible.
Machine point(const Space& space, std::int64_t i);
/// The same without its links.
Machine unlinked_point(const Space& space, std::int64_t i);

/// Writes what follows, in turn, onto a machine that has all that is followed. Throws as point() does.
void follow(Machine& machine, std::span<const Link> links);

/// The value of one axis at point i, of the base where its condition does not hold; `axis` is an index into
/// space.axes.
std::int64_t axis_value(const Space& space, std::size_t axis, std::int64_t i);
/// How many points, from a multiple of it on, share the axis's value: of a grid without conditions as many as
/// faster axes have combinations, of others 1.
std::int64_t axis_run(const Space& space, std::size_t axis);
/// The values of all axes at point i, in the order of space.axes.
std::vector<std::int64_t> axis_values(const Space& space, std::int64_t i);

/// Reads the keys sampling, seed, count, draws, axes and links of POST /sweeps (docs/api.md) over `base`; other
/// keys are left alone. Throws Error("unknown_parameter" | "value_invalid" | "value_out_of_range" | "unknown_key" |
/// "too_large", JSON pointer, ...).
Space space_from_json(const nlohmann::json& spec, const Machine& base);

/// Those keys again, with every axis as a list of values: space_from_json(space_json(s), s.base) == s.
nlohmann::ordered_json space_json(const Space& space);

/// The axes alone: a list of {"parameter", "values"} or {"parameter", "min", "max", "step" | "factor"}; and back.
std::vector<Axis> axes_from_json(const nlohmann::json& list);
nlohmann::ordered_json axes_json(std::span<const Axis> axes);

/// Links alone: a list of {"parameter", "formula"}; and back. Throws at "/links".
std::vector<Link> links_from_json(const nlohmann::json& list);
nlohmann::ordered_json links_json(std::span<const Link> links);

bool has_conditions(const Space& space);
/// Whether an axis's condition holds on a machine; of one without, yes.
bool holds(const Axis& axis, const Machine& machine);
/// A condition reads parameters that are known before its axis is: the base's, and those of axes listed before it.
/// Throws Error("value_invalid" | "value_conflict", "/axes/N/when", ...).
void check_conditions(std::span<const Axis> axes, std::span<const Link> links = {});

/// A link's row is no choice, no axis, and follows once; its formula reads parameters that are known by then.
/// Throws Error("value_invalid" | "value_conflict", "/links/N/...", ...).
void check_links(std::span<const Axis> axes, std::span<const Link> links);

/// Refuses what space_from_json refuses of a space built in C++: no axis, empty or repeated values, repeated
/// parameters, too many points.
void check_space(const Space& space);

}  // namespace sdip
