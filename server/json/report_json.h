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

// How the types of results are written.
template <>
struct Written<Role> : WrittenText<role_text> {};
template <>
struct Written<Resource> : WrittenText<resource_text> {};
template <>
struct Written<Needed> : WrittenText<needed_text> {};
template <>
struct Written<Family> : WrittenText<family_text> {};
template <>
struct Written<MemoryName> {
  static OrderedJson json(MemoryName memory) { return memory_text(memory); }
  static schema::Schema schema();
};
template <>
struct Written<DramRate> {
  static OrderedJson json(DramRate rate) { return rate.bytes_per_cycle(); }
  static schema::Schema schema() { return schema::number(); }
};
template <>
struct Written<ByResource> {
  static OrderedJson json(const ByResource& cycles);
  static schema::Schema schema();
};
template <>
struct Written<EnergyParts> {
  static OrderedJson json(const EnergyParts& joules);
  static schema::Schema schema();
};
template <>
struct Written<RangedEnergy> {  // its parts
  static OrderedJson json(const RangedEnergy& energy);
  static schema::Schema schema();
};
template <>
struct Written<Needs> {
  static OrderedJson json(const Needs& cycles);
  static schema::Schema schema() { return schema::reference("CyclesByNeed"); }
};
template <>
struct Written<MetricValues> {  // by name, in the order of the table
  static OrderedJson json(const MetricValues& values);
  static schema::Schema schema() { return schema::reference("MetricValues"); }
};
template <>
const Record<MacRoof>& record();
template <>
const Record<StageReport>& record();
template <>
const Record<InstructionCost>& record();

}  // namespace sdip
