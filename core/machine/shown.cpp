// The options that parameters are shown with.
#include "core/machine/shown.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"

namespace sdip {
namespace {

/// A parameter, or all of a group; in several rows where it is shown with either.
struct ShownRow {
  std::string_view name;
  ShownWith with;
};

constexpr ShownRow rows_of_parameters[] = {
    {"conv2d_dsram_bytes", {"operator_dsram", {"per_operator"}}},
    {"linear_dsram_bytes", {"operator_dsram", {"per_operator"}}},
    {"matmul_dsram_bytes", {"operator_dsram", {"per_operator"}}},
    {"vector_dsram_bytes", {"operator_dsram", {"per_operator"}}},
    {"softmax_dsram_bytes", {"operator_dsram", {"per_operator"}}},
    {"norm_dsram_bytes", {"operator_dsram", {"per_operator"}}},
    {"transpose_dsram_bytes", {"operator_dsram", {"per_operator"}}},
    {"die_link_bits", {"dies"}},
    {"die_link_cycles", {"dies"}},
    {"encoder_dram_share", {"mode", {"image_to_image"}}},
    {"decoder_dram_share", {"vae_stage", {"core", "circuit"}}},
    {"hard_coded_part", {"weight_storage", {"hard_coded"}}},
    {"norm_statistics", {"fusion", {"norm"}}},
    {"decompressor_bytes_per_cycle", {"weight_compression"}},
    {"weight_density", {"sparsity"}},
    {"sparsity_group", {"sparsity"}},
    {"activation_density", {"sparsity"}},
    {"dispatch_cycles", {"sequencer", {"central", "distributed"}}},
    {"host_command_cycles", {"sequencer", {"host"}}},
    {"host_command_cycles", {"host_operators"}},
    {"host_bus_bits", {"host_operators"}},
    {"host_bus_bits", {"host_memory"}},
    {"host_access_cycles", {"host_operators"}},
    {"host_access_cycles", {"host_memory"}},
    {"host_cycles_per_element", {"host_operators"}},
    {"host_result_bits", {"host_operators"}},
    {"low_rank_share", {"low_rank", {"on"}}},
    {"fefet_input_bits", {"in_memory_weights", {"fefet"}}},
    {"fefet_columns_per_converter", {"in_memory_weights", {"fefet"}}},
};
constexpr ShownRow rows_of_groups[] = {
    {"vae_encoder", {"mode", {"image_to_image"}}},
    {"vae_decoder", {"vae_stage", {"core", "circuit"}}},
};

struct ShownRows {
  std::vector<std::vector<ShownWith>> of;  // by row
};

ShownRows made() {
  ShownRows rows;
  for (const ParameterRow& row : parameters()) {
    std::vector<ShownWith>& its = rows.of.emplace_back();
    for (const ShownRow& one : rows_of_parameters)
      if (one.name == row.name) its.push_back(one.with);
    for (const ShownRow& one : rows_of_groups)
      if (one.name == row.group) its.push_back(one.with);
  }
  return rows;
}

const ParameterRow& row_of(const ShownWith& with) {
  const ParameterRow* row = find_parameter(with.parameter);
  check(row != nullptr, "a parameter is shown with another");
  return *row;
}

}  // namespace

std::span<const ShownWith> shown_with(const ParameterRow& row) {
  static const ShownRows rows = made();
  const auto all = parameters();
  const std::less<const ParameterRow*> before;  // a figure of the technology table stands elsewhere
  if (before(&row, all.data()) || !before(&row, all.data() + all.size())) return {};
  return rows.of[at(&row - all.data())];
}

bool is_shown(const ParameterRow& row, const Machine& machine) {
  const auto all = shown_with(row);
  return all.empty() || std::ranges::any_of(all, [&](const ShownWith& with) {
           const ParameterRow& other = row_of(with);
           const std::int64_t value = other.read(machine);
           if (with.values[0].empty()) return value != other.standard;
           return std::ranges::find(with.values, value_text(other, value)) != with.values.end();
         });
}

std::string shown_text(const ParameterRow& row) {
  std::string text;
  for (const ShownWith& with : shown_with(row)) {
    const ParameterRow& other = row_of(with);
    text += (text.empty() ? "" : " or ") + std::string(with.parameter);
    if (with.values[0].empty()) {
      text += other.type == ParameterType::flag ? "=true" : " other than " + value_text(other, other.standard);
      continue;
    }
    text += "=" + std::string(with.values[0]);
    if (!with.values[1].empty()) text += " or " + std::string(with.values[1]);
  }
  return text;
}

}  // namespace sdip
