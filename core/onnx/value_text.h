// A tensor as people write one: 16000, true, [1,0,1], [[1.5,nan],[2,-inf]].
#pragma once

#include <string_view>

#include "core/base/tensor.h"

namespace sdip {

/// In a declared shape: any size of this axis.
inline constexpr std::int64_t any_size = -1;

/// The tensor that `text` says: a number, or numbers in brackets that nest as the shape does. A number alone stands
/// for the one element of any shape that holds one. Floats are rounded to the type, integers must be held by it,
/// true and false are of booleans. Example: [[1,2],[3,4]] of int64[-1,2] is int64[2,2]. Throws Error with an empty
/// `where`: value_invalid for what is no such text, value_out_of_range, shape_mismatch for another shape than
/// `declared`, limit_exceeded for more elements than are folded.
Tensor tensor_of_text(ElementType type, const Shape& declared, std::string_view text);

}  // namespace sdip
