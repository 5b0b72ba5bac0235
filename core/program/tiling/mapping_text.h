// The text language of mappings: how a user says them, and how the chosen ones are shown.
//
// One line a rule; blank lines and what follows a `#` between fields are skipped:
//   "PATTERN" rows=8 columns=all channels=128 sums=all order=channels,sums,columns,rows dsram
// The pattern is a layer's name, or STAGE:NAME; `*` stands for any text, `\*`, `\"` and `\\` for themselves. Sizes
// are whole numbers or `all`; one beyond its loop is all of it, so that a rule may be for layers of several sizes.
// All four and the order, outermost loop first, are said once each, in any order. The last field, where it stands,
// says where the result lies: `dsram`, whole on chip, or `dram`. The first rule that matches a layer decides.
//
// Worked example: "/down*/conv1" rows=8 columns=all channels=128 sums=320 order=channels,sums,columns,rows
// on 64 x 64 results, 320 channels of 320: tiles of 8 rows of 64 columns, and 128 channels, for each all rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/program/traffic.h"

namespace sdip {

/// Throws Error("mapping_invalid", "WHERE:LINE", ...) that names the field; at most 10,000 rules.
std::vector<MappingRule> parse_mappings(std::string_view text, std::string_view where);

/// A rule's line without its end. parse_mappings reads it back.
std::string mapping_text(const MappingRule& rule);

/// The rule that says `mapping` for the layer `name` (or STAGE:NAME), whatever it contains.
MappingRule rule_of(std::string_view name, const Nest& nest, const Mapping& mapping);

/// The mappings of all convolutions and products of a program, a rule each for "STAGE:NAME", and where results lie.
std::string mappings_text(const Application& application);

/// Whether the rule is for this layer.
bool matches(const MappingRule& rule, std::string_view stage, std::string_view name);

/// Whether `pattern` stands for a layer of that name, or for STAGE:NAME.
bool names_layer(std::string_view pattern, std::string_view stage, std::string_view name);

/// The mapping that the rule gives a nest. Where it is not valid for it, because channels are neither within a
/// group nor whole groups, is_valid says so.
Mapping mapping_for(const MappingRule& rule, const Nest& nest);

}  // namespace sdip
