// Narrow products in a wide MAC (composable_macs=on): how many of them it makes a cycle. Internal to its room.
//
// Worked example. An int8 MAC makes one product of int8 by int8, 8/4 x 8/8 = 2 of int4 by int8, 8/4 x 8/4 = 4 of
// int4 by int4. A MAC of fp32 makes 32/16 = 2 products of fp16, and none of int8 beside each other.
#pragma once

#include <cstdint>

#include "core/cost/work/resolve.h"

namespace sdip {

/// Formats of the two operands of a product, or of what a MAC is built for.
struct OperandFormats {
  NumberFormat a, b;
};

/// Products of `operands` that one MAC built for `mac` makes a cycle: at least 1, at most 64.
std::int64_t products_in_mac(OperandFormats mac, OperandFormats operands);

/// The same of a class's products on a machine: 1 where its MACs do not split, and of work that is no product.
std::int64_t products_in_mac(const InstructionClass& c, const Machine& machine);

/// The lanes along the sums that work where `group` weights share a scale. No fold may have parts of two groups, so
/// these are the most that divide a group, or that are whole groups. Example: groups of 32: 24 are 16, 80 are 64.
std::int64_t lanes_of_groups(std::int64_t lanes, std::int64_t group);

/// Partial sums of groups that a tile of so many results, each of so many sums at so many kernel positions, scales:
/// 0 without groups.
std::int64_t scalings_of(const InstructionClass& c, const Resolved& r, std::int64_t results, std::int64_t sums);

}  // namespace sdip
