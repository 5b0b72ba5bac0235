// The parts that writing and reading a graph's bytes share. Internal to its room.
#pragma once

#include <string_view>

#include "core/base/bytes.h"
#include "core/base/tensor.h"

namespace sdip {

/// The first bytes of a graph: a name and the version of the form. 2: numbers of nodes that are read in place
/// follow at the end.
inline constexpr std::string_view serial_magic = "SDIPgraph\x01", serial_magic_in_place = "SDIPgraph\x02";

/// Type, shape, integers and floats.
void write_tensor(ByteWriter& out, const Tensor& tensor);

/// A tensor of at most `most_elements`, each a number that its type holds, as many as the shape says. Throws
/// Error("bytes_invalid", ...).
Tensor read_tensor(ByteReader& in, std::int64_t most_elements);

}  // namespace sdip
