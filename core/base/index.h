// Ids as indices: nodes, values, instructions and operations are named by their place in a list.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sdip {

/// The place of what `id` names. Requires id >= 0.
inline std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

}  // namespace sdip
