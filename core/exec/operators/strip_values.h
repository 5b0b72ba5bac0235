// Rows of values inside a strip: what is on chip of each, and which rows an operator reads for others. Internal to
// its room.
#pragma once

#include <limits>
#include <vector>

#include "core/exec/chip/chip.h"
#include "core/exec/walk/tile_loops.h"

namespace sdip::exec {

inline constexpr Extent no_rows{std::numeric_limits<std::int64_t>::max(), 0};
Extent hull(const Extent& a, const Extent& b);

/// Where rows of a value stand: of one of shape [frames, channels, rows, columns]; or of rows of features, those of
/// a row one behind the other; or of heads, of each of which a frame's rows stand one behind the other.
struct RowsOf {
  std::int64_t channels = 1, height = 1, width = 1;  // of features: those of a head
  std::int64_t heads = 1;
  bool features = false;

  std::int64_t row_of(std::int64_t element) const { return element / (features ? channels : width) % height; }
  std::int64_t frame_of(std::int64_t element) const { return element / width / height / channels / heads; }
  /// The elements of these rows; of heads all channels alone.
  Elements elements(std::int64_t frame, const Extent& of_channels, const Extent& of_rows) const;
};
RowsOf feature_maps(const Shape& shape);

/// A value that a strip has rows of, of one frame; elements outside `rows` are not on chip.
struct StripValue {
  Tensor data;
  RowsOf map{};
  Buffer<std::int8_t> codes{};  // of operand A, where it is kept so
  Extent rows{};                // on chip
  Extent needed = no_rows;      // by the strip that is made
  Extent fresh{};               // of them those that it adds

  /// The rows that are needed come; with `line_buffers` the others stay, and none comes again. Returns how many do.
  std::int64_t take_needed(bool line_buffers);
};

/// Puts numbers at elements `at` of a tensor.
void put_numbers(Tensor& tensor, const Elements& at, const Numbers& numbers);

/// Pools and resizes: by the operator's own arithmetic, on what rows there are.
bool is_by_rows(const Node& node);

/// For each row of such a node's result, the rows of its operand that it reads. A resize has to be one to the
/// nearest.
std::vector<Extent> rows_read_by(Chip& chip, const Node& node);

}  // namespace sdip::exec
