// What exporters write of a few nodes again and again, and rows of them: "idiom" is their domain in the table.
#pragma once

#include <limits>

#include "tests/generate/rows/rows.h"

namespace sdip::generate {

using Ints = std::vector<std::int64_t>;

// Operators whose axes are attributes up to some opset, then inputs.
int unsqueeze(Making& m, int x, const Ints& axes);
int squeeze(Making& m, int x, const Ints& axes);
int slice(Making& m, int x, std::int64_t axis, std::int64_t from, std::int64_t to, std::int64_t step = 1);
std::vector<int> split(Making& m, int x, const Ints& sizes, std::int64_t axis);
/// ReduceMean, ReduceSum, ReduceL2 over these axes, which stay as 1.
int reduced(Making& m, const char* type, int x, const Ints& axes);
int transposed(Making& m, int x, const Ints& order);
int joined(Making& m, const std::vector<int>& values, std::int64_t axis);
/// x and a number of its type.
int with_number(Making& m, const char* type, int x, double number);

/// Size of an axis as a scalar: Gather of Shape.
int size_of(Making& m, int x, std::int64_t axis);
/// A list of scalars: each Unsqueeze, then Concat.
int listed(Making& m, const std::vector<int>& scalars);
/// A scalar that is known.
int whole(Making& m, std::int64_t value);

/// The rows, one file each: arithmetic on shapes; attention; what networks are made of besides.
std::span<const Row> shape_idioms();
std::span<const Row> attention_idioms();
std::span<const Row> network_idioms();

inline constexpr std::int64_t idioms_from = 11;  // opset
inline constexpr std::int64_t furthest = std::numeric_limits<std::int64_t>::max();

}  // namespace sdip::generate
