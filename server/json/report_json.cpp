// Reports to JSON.
#include "server/json/report_json.h"

#include "core/baseline/chips.h"

namespace sdip {
namespace {

/// A part of a total, and the ends of its range.
struct RangedPart {
  std::string part;
  Ranged range;
};

/// A stage of an analysis, one of its instructions, the analysis.
struct StageOf {
  const Analysis& analysis;
  std::size_t stage;
  bool with_instructions;
  const StageReport& report() const { return analysis.report.stages[stage]; }
};
struct InstructionOf {
  const Analysis& analysis;
  std::size_t stage, index;
  const InstructionCost& cost() const { return analysis.report.stages[stage].instructions[index]; }
  const Instruction& instruction() const { return analysis.application.stages[stage].program.instructions[index]; }
};
struct AnalysisOf {
  const Analysis& analysis;
  bool with_instructions;
  const Report& report() const { return analysis.report; }
};

/// The parts with the ends of their ranges, which are in the same order.
std::vector<RangedPart> ranged(const Breakdown& breakdown, const Ranges& ranges) {
  std::vector<RangedPart> parts;
  for (std::size_t i = 0; i < breakdown.size(); ++i)
    parts.push_back({breakdown[i].first, {breakdown[i].second, ranges.least[i].second, ranges.most[i].second}});
  return parts;
}

std::vector<StageOf> stages_of(const AnalysisOf& of) {
  std::vector<StageOf> stages;
  for (std::size_t i = 0; i < of.report().stages.size(); ++i)
    stages.push_back({of.analysis, i, of.with_instructions});
  return stages;
}

std::optional<std::vector<InstructionOf>> instructions_of(const StageOf& of) {
  if (!of.with_instructions) return std::nullopt;
  std::vector<InstructionOf> instructions;
  for (std::size_t i = 0; i < of.report().instructions.size(); ++i)
    instructions.push_back({of.analysis, of.stage, i});
  return instructions;
}

Ranged total_range(const RangedEnergy& energy) {
  return {total_of(energy.value), total_of(energy.least), total_of(energy.most)};
}

constexpr FieldWords frame_energy = {"J", "Energy of a frame", "1フレームのエネルギー"};
constexpr FieldWords frame_energy_parts = {"J", "Its parts", "その内訳"};

}  // namespace

template <>
Record<std::pair<std::string, double>> make_record() {
  using Named = std::pair<std::string, double>;
  return Record<Named>("Part").field("part", &Named::first).field("value", [](const Named& part) {
    return Figure{part.second};
  });
}
template <>
Record<Ranged> make_record() {
  return Record<Ranged>("Range")
      .field("value", [](const Ranged& range) { return Figure{range.value}; })
      .field("least", [](const Ranged& range) { return Figure{range.least}; })
      .field("most", [](const Ranged& range) { return Figure{range.most}; });
}
template <>
Record<RangedPart> make_record() {
  return Record<RangedPart>("RangedPart").field("part", &RangedPart::part).with(&RangedPart::range);
}
template <>
Record<ClockLimit> make_record() {
  return Record<ClockLimit>("ClockLimit")
      .field("least", &ClockLimit::least_mhz)
      .field("value", &ClockLimit::mhz)
      .field("most", &ClockLimit::most_mhz)
      .field("circuit", &ClockLimit::circuit)
      .field("supply_mv", &ClockLimit::supply_mv);
}
template <>
Record<Heat> make_record() {
  return Record<Heat>("Heat")
      .field("w_per_mm2", &Heat::watts_per_mm2)
      .field("most_w_per_mm2", &Heat::most_watts_per_mm2)
      .field("die_celsius", &Heat::celsius)
      .field("most_celsius", &Heat::most_celsius);
}
template <>
Record<AssumedShares> make_record() {
  return Record<AssumedShares>("AssumedShares")
      .field("energy", &AssumedShares::energy)
      .field("area", &AssumedShares::area);
}
template <>
Record<ChipErrors> make_record() {
  return Record<ChipErrors>("ChipErrors")
      .field("chips", &ChipErrors::chips)
      .field("least", &ChipErrors::least)
      .field("most", &ChipErrors::most);
}
template <>
Record<KnownChipErrors> make_record() {
  return Record<KnownChipErrors>("KnownChips")
      .field("area", &KnownChipErrors::area)
      .field("power", &KnownChipErrors::power);
}
template <>
Record<DieReport> make_record() {
  return Record<DieReport>("Die")
      .field("count", &DieReport::count)
      .field("area_mm2", &DieReport::area_mm2)
      .field("edge_mm", &DieReport::edge_mm)
      .field("yield", &DieReport::yield);
}
template <>
Record<FpgaUse::Resource> make_record() {
  return Record<FpgaUse::Resource>("FpgaResource")
      .field("resource", &FpgaUse::Resource::name)
      .field("needed", &FpgaUse::Resource::needed)
      .field("available", &FpgaUse::Resource::available);
}
template <>
Record<FpgaUse> make_record() {
  return Record<FpgaUse>("FpgaUse")
      .field("fits", &FpgaUse::fits)
      .field("limit", &FpgaUse::limit)
      .field("resources",
             [](const FpgaUse& use) { return std::vector(use.resources.begin(), use.resources.end()); });
}
template <>
Record<LoadPart> make_record() {
  return Record<LoadPart>("LoadPart")
      .field("memory", schema::one_of({"imem", "dram", "fefet"}), &LoadPart::memory)
      .field("bytes", &LoadPart::bytes)
      .field("cycles", &LoadPart::cycles)
      .field("seconds", &LoadPart::seconds);
}
template <>
Record<Configuration> make_record() {
  return Record<Configuration>("Configuration")
      .field("bytes", &Configuration::bytes)
      .field("seconds", &Configuration::seconds);
}
template <>
Record<Load> make_record() {
  return Record<Load>("Load")
      .field("cycles", &Load::cycles)
      .field("seconds", &Load::seconds)
      .field("parts", &Load::parts)
      .field("kept_bytes", &Load::kept)
      .field("configuration?", &Load::configuration);
}
template <>
Record<MemoryCapacity> make_record() {
  return Record<MemoryCapacity>("MemoryCapacity")
      .field("memory", &MemoryCapacity::memory)
      .field("bytes", &MemoryCapacity::bytes);
}
template <>
Record<MacRoof> make_record() {
  return Record<MacRoof>("MacRoof")
      .field("families", &MacRoof::families)
      .field("lanes", &MacRoof::lanes)
      .field("products_in_mac", &MacRoof::products_in_mac)
      .field("macs_per_cycle", &MacRoof::macs_per_cycle);
}
#define FIELD(type, member, key, unit, en, ja) .field(#key, &Of::member, {unit, en, ja})
template <>
Record<InstructionCost> make_record() {
  using Of = InstructionCost;
  return Record<Of>("InstructionCost", SchemaOrder::counts_first)
#include "core/cost/price/instruction_fields.def"
      ;
}
template <>
Record<StageReport> make_record() {
  using Of = StageReport;
  return Record<Of>("StageReport", SchemaOrder::counts_first)
#include "core/cost/price/stage_fields.def"
      ;
}
#undef FIELD
template <>
Record<InstructionOf> make_record() {
  using Of = InstructionOf;
  return Record<Of>("Instruction", SchemaOrder::counts_first)
      .field("index", &Of::index)
      .field("name", [](const Of& of) { return of.instruction().name; })
      .field("op", [](const Of& of) { return of.instruction().mnemonic; })
      .with(&Of::cost)
      .field("output_shape", [](const Of& of) { return output_shape(of.analysis, of.stage, of.index); })
      .field(
          "frame_energy_j", [](const Of& of) { return total_range(of.cost().frame_energy); }, frame_energy)
      .field(
          "frame_energy_parts_j", [](const Of& of) { return of.cost().frame_energy; }, frame_energy_parts);
}
template <>
Record<StageOf> make_record() {
  using Of = StageOf;
  return Record<Of>("StageAnalysis", SchemaOrder::counts_first)
      .with(&Of::report)
      .field(
          "frame_energy_j", [](const Of& of) { return total_range(of.report().frame_energy); }, frame_energy)
      .field(
          "frame_energy_parts_j", [](const Of& of) { return of.report().frame_energy; }, frame_energy_parts)
      .field("instructions?", instructions_of);
}
template <>
Record<AnalysisOf> make_record() {
  using Of = AnalysisOf;
  return Record<Of>("Analysis")
      .field("model", [](const Of& of) { return of.analysis.model; })
      .field("machine", [](const Of& of) { return of.analysis.machine; })
      .field("feasible", [](const Of& of) { return of.report().outcome.feasible; })
      .field("reason", [](const Of& of) { return of.report().outcome.reason; })
      .field("metrics", [](const Of& of) { return of.report().outcome.values; })
      .field("energy_j", [](const Of& of) { return ranged(of.report().energy_j, of.report().energy_ranges_j); })
      .field("waiting_energy_j",
             [](const Of& of) { return ranged(of.report().waiting_energy_j, of.report().waiting_energy_ranges_j); })
      .field("area_mm2", [](const Of& of) { return ranged(of.report().area_mm2, of.report().area_ranges_mm2); })
      .field("assumed_shares", [](const Of& of) { return of.report().assumed; })
      .field("known_chips", [](const Of&) { return known_chip_errors(); })
      .field("leakage_w", [](const Of& of) { return of.report().leakage_w; })
      .field("clock_limit_mhz", [](const Of& of) { return of.report().clock_limit; })
      .field("latency_s", [](const Of& of) { return of.report().latency_s; })
      .field("load", [](const Of& of) { return of.report().load; })
      .field("notes", [](const Of& of) { return of.report().notes; })
      .field("stages", stages_of)
      .field("heat?", [](const Of& of) { return of.report().heat; })
      .field("dram_edge_mm", [](const Of& of) { return of.report().dram_edge_mm; })
      .field("dies", [](const Of& of) { return of.report().dies; })
      .field("price_usd", [](const Of& of) { return ranged(of.report().price_usd, of.report().price_ranges_usd); })
      .field("million_images_usd", [](const Of& of) { return of.report().million_images_usd; })
      .field("fpga?", [](const Of& of) { return of.report().fpga; });
}

OrderedJson Written<RangedEnergy>::json(const RangedEnergy& energy) {
  std::vector<Ranged> parts;
  for (std::size_t i = 0; i < energy_part_count; ++i)
    parts.push_back({energy.value[i], energy.least[i], energy.most[i]});
  return WrittenByName<energy_part_text, last_energy_part, Ranged>::json(parts);
}

OrderedJson number_or_null(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(); }

double total_of(const Breakdown& parts) {
  double total = 0;
  for (const auto& [part, value] : parts) total += value;
  return total;
}

Shape output_shape(const Analysis& analysis, std::size_t stage, std::size_t index) {
  const auto value = analysis.application.stages[stage].program.instructions[index].destination;
  if (value == none) return {};
  return analysis.application.stages[stage].graph->values.at(as_size(value)).operand.shape;
}

OrderedJson analysis_json(const Analysis& analysis, bool with_instructions) {
  return record<AnalysisOf>().json({analysis, with_instructions});
}

void add_analysis_schemas(OrderedJson& schemas) {
  add_schemas<std::pair<std::string, double>, RangedPart, Ranged, ClockLimit, Heat, AssumedShares, ChipErrors,
              KnownChipErrors, DieReport, FpgaUse::Resource, FpgaUse, LoadPart, Configuration, Load, InstructionOf,
              StageOf, MacRoof, MemoryCapacity, AnalysisOf>(schemas);
}

}  // namespace sdip
