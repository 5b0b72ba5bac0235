// When a parameter is worth showing: the option in use that it belongs to.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "core/machine/machine.h"

namespace sdip {

/// Another parameter with one of these values, each as value_text says it ("host"); of no values: with any but its
/// default.
struct ShownWith {
  std::string_view parameter;
  std::array<std::string_view, 2> values{};
};

/// The options that a parameter is shown with, any of them; none of one that always is.
std::span<const ShownWith> shown_with(const ParameterRow& row);

/// Whether the machine has what a parameter is shown with.
bool is_shown(const ParameterRow& row, const Machine& machine);

/// "sequencer=host or host_operators other than none"; empty of one that always is shown.
std::string shown_text(const ParameterRow& row);

}  // namespace sdip
