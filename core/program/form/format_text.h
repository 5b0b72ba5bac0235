// The text language of formats: how a user says them by layer or by operator family.
//
// One line a rule; blank lines and what follows a `#` between fields are skipped:
//   "PATTERN" weights=int4 activations=int8
//   family=linear weights=int8 accumulators=int32
// The pattern is that of mappings (core/program/tiling/mapping_text.h): a layer's name, or STAGE:NAME. A layer is a
// node of the graph as it is compiled. `activations` are what the layer reads and what it makes, `accumulators` the
// sums that a product keeps. `density`, from 0.01 to 1, or `dense`, 1: what stays of a product's weights, where the
// machine spares zeros; of 1 they stand as on one that does not; of a family that is no product's it is refused.
// The next rule that matches decides what a rule does not say, and at last the machine. Scales of integer formats
// are per tensor.
//
// Worked example: "*conv_in" activations=fp16, then family=conv2d weights=int8 activations=int8: all convolutions
// are int8 but conv_in, whose weights alone are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/program.h"

namespace sdip {

/// The most bytes of rules in a request, as each rule is matched with every layer.
inline constexpr std::size_t most_formats_bytes = 4096;

/// Throws Error("formats_invalid", "WHERE:LINE", ...) that names the field; at most 10,000 rules.
std::vector<FormatRule> parse_formats(std::string_view text, std::string_view where);

/// A rule's line without its end. parse_formats reads it back.
std::string format_rule_text(const FormatRule& rule);

/// A density as text, "0.5", and back: hundredths from 1 to 100; nothing for any other text.
std::string density_text(std::int64_t hundredths);
std::optional<std::int64_t> density_of(std::string_view text);

/// Whether the rule is for this layer.
bool matches(const FormatRule& rule, std::string_view stage, std::string_view name, Family family);

}  // namespace sdip
