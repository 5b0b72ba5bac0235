// A report as the JSON of POST /analyses.
#pragma once

#include "core/cost/explain/explain.h"
#include "core/cost/price/estimate.h"
#include "core/study/analysis.h"
#include "server/json/record.h"

namespace sdip {

/// Everything known of one design point.
OrderedJson analysis_json(const Analysis& analysis, bool with_instructions);

/// The schemas of an analysis and its parts.
void add_analysis_schemas(OrderedJson& schemas);

/// The shape that instruction `index` of stage `stage` makes; empty when it makes none.
Shape output_shape(const Analysis& analysis, std::size_t stage, std::size_t index);

/// The sum of all parts.
double total_of(const Breakdown& parts);
/// A value of a row of a machine, as JSON has it.
struct RowValue {
  const ParameterRow* row;
  std::int64_t value;
  RowValue(const ParameterRow* of, std::int64_t its) : row(of), value(its) {}
};

// How the types of results are written.
template <>
struct Written<RowValue> {
  static OrderedJson json(RowValue of) { return value_json(*of.row, of.value); }
  static schema::Schema schema() { return {{"type", {"number", "string", "boolean"}}}; }
};
template <>
struct Written<Machine> {
  static OrderedJson json(const Machine& machine) { return machine_json(machine); }
  static schema::Schema schema() { return schema::reference("Machine"); }
};
template <>
struct Written<Role> : WrittenText<role_text> {};
template <>
struct Written<Resource> : WrittenText<resource_text> {};
template <>
struct Written<Needed> : WrittenText<needed_text> {};
template <>
struct Written<Family> : WrittenText<family_text> {};
template <>
struct Written<MemoryName> : WrittenNames<memory_text, static_cast<MemoryName>(memory_names - 1)> {};
template <>
struct Written<DramRate> {
  static OrderedJson json(DramRate rate) { return rate.bytes_per_cycle(); }
  static schema::Schema schema() { return schema::number(); }
};
template <>
struct Written<ByResource> : WrittenByName<resource_text, static_cast<Resource>(resource_count - 1), Cycles> {};
inline constexpr auto last_energy_part = static_cast<EnergyPart>(energy_part_count - 1);
template <>
struct Written<EnergyParts> : WrittenByName<energy_part_text, last_energy_part, Figure> {};
template <>
struct Written<RangedEnergy> : WrittenByName<energy_part_text, last_energy_part, Ranged> {  // its parts
  static OrderedJson json(const RangedEnergy& energy);
};
using NeedsByName = WrittenByName<needed_text, static_cast<Needed>(needed_count - 1), std::int64_t>;
template <>
struct Written<Needs> : NeedsByName {
  static schema::Schema schema() { return schema::reference("CyclesByNeed"); }
};
inline std::string_view metric_text(Metric metric) { return metrics()[metric].name; }
template <>
struct Written<MetricValues> : WrittenByName<metric_text, static_cast<Metric>(metric_count - 1), Figure> {
  static schema::Schema schema() { return schema::reference("MetricValues"); }
};
template <>
Record<MacRoof> make_record();
template <>
Record<StageReport> make_record();
template <>
Record<InstructionCost> make_record();

}  // namespace sdip
