// The rows of `sdip traffic`.
#include "core/study/traffic.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "core/base/error.h"
#include "core/study/analysis.h"

namespace sdip {
namespace {

struct StackedOption {
  std::string_view parameter, value;
};

/// The options that are put on top of each other: lossless fusions, in the order in which each needs the ones
/// before it.
constexpr StackedOption stack[] = {
    {"transposition", "dynamic"},
    {"fusion", "pointwise"},
    {"fusion", "norm"},
    {"norm_statistics", "producer"},
    {"fused_attention", "on"},
    {"split_products", "on"},
    {"part_views", "on"},
    {"fused_chains", "on"},
    {"strips", "halo_recompute"},
    {"strips", "line_buffers"},
    {"norm_statistics", "recompute"},
};

bool is_option(const ParameterRow& row) {
  const bool named = row.type == ParameterType::choice || row.type == ParameterType::flag;
  return row.group == "options" && changes_program(row) && named;
}

/// "fusion=norm strips=line_buffers": the options that are not at their defaults.
std::string options_text(const Machine& machine) {
  std::string text;
  for (const ParameterRow& row : parameters())
    if (is_option(row) && row.read(machine) != row.standard)
      text += (text.empty() ? "" : " ") + std::string(row.name) + "=" + value_text(row, row.read(machine));
  return text.empty() ? "none" : text;
}

bool allowed(const Machine& machine) {
  try {
    check_machine(machine);
  } catch (const Error&) {  // a rule between parameters: the value means nothing without another
    return false;
  }
  return true;
}

TrafficRow row_of(const Workloads& workloads, const std::string& model, const Machine& machine, bool stacked) {
  TrafficRow row;
  row.options = options_text(machine);
  row.stacked = stacked;
  const Analysis analysis = analyze(workloads, model, machine);
  if (!analysis.report.outcome.feasible) {
    row.infeasible = analysis.report.outcome.reason;
    return row;
  }
  for (const StageReport& stage : analysis.report.stages) {
    row.dram_weights_bytes += stage.dram_weights.value;
    row.macs += stage.macs.value;
    row.cycles += stage.steady_cycles.value;
    row.instructions += std::ssize(stage.instructions);
    for (const InstructionCost& instruction : stage.instructions) {
      row.dram_activations_in_bytes += instruction.dram_activations_in.value;
      row.dram_activations_out_bytes += instruction.dram_activations_out.value;
    }
  }
  return row;
}

std::optional<std::int64_t> value_named(const ParameterRow& row, std::string_view name) {
  const auto found = std::ranges::find(row.choices, name);
  return found == row.choices.end() ? std::nullopt : std::optional(found - row.choices.begin());
}

}  // namespace

bool TrafficRow::changes_nothing_of(const TrafficRow& other) const {
  const auto figures = [](const TrafficRow& row) {
    return std::tuple(row.infeasible, row.instructions, row.dram_weights_bytes, row.dram_activations_in_bytes,
                      row.dram_activations_out_bytes, row.macs, row.cycles);
  };
  return figures(*this) == figures(other);
}

ShortTraffic shortened(const std::vector<TrafficRow>& rows) {
  ShortTraffic kept;
  for (const TrafficRow& row : rows) {
    if (!kept.rows.empty() && !row.stacked && row.changes_nothing_of(rows.front()))
      kept.no_change.push_back(row.options);
    else
      kept.rows.push_back(row);
  }
  return kept;
}

std::vector<TrafficRow> traffic_rows(const Workloads& workloads, const std::string& model, const Machine& machine) {
  Machine plain = machine;
  for (const ParameterRow& row : parameters())
    if (is_option(row)) row.write(plain, row.standard);
  std::vector<TrafficRow> rows;
  const auto add = [&](const Machine& m, bool stacked) {
    if (allowed(m)) rows.push_back(row_of(workloads, model, m, stacked));
  };
  add(plain, false);
  for (const ParameterRow& row : parameters()) {
    if (!is_option(row)) continue;
    for (std::int64_t value = row.least; value <= row.most; ++value) {
      if (value == row.standard) continue;
      Machine alone = plain;
      row.write(alone, value);
      add(alone, false);
    }
  }
  Machine on = plain;
  for (const StackedOption& option : stack) {
    const ParameterRow* row = find_parameter(option.parameter);
    check(row != nullptr, "an option of the stack is a parameter");
    const auto value = value_named(*row, option.value);
    if (!value) continue;
    row->write(on, *value);
    add(on, true);
  }
  return rows;
}

}  // namespace sdip
