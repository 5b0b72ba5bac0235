// A comparison as the JSON of POST /comparisons.
#include "server/json/tables_json.h"
#include "server/studies/comparison.h"

namespace sdip {
namespace {

/// All rows, and what they lose.
struct ComparisonOf {
  std::optional<std::string_view> node;
  std::vector<ComparisonRow> rows;
  std::vector<Loss> losses() const { return losses_of(rows); }
};

/// Seconds of rows that are a prediction for a device, or a bound of it; nothing for others.
std::optional<double> timed(const ComparisonRow& row, double seconds) {
  if (row.kind != RowKind::device && row.kind != RowKind::roofline) return std::nullopt;
  return seconds;
}

}  // namespace

template <>
struct Written<RowKind> : WrittenNames<row_kind_text, RowKind::unpublished> {};
template <>
struct Written<Checked> : WrittenNames<checked_text, Checked::unvalidated> {};
template <>
struct Written<AreaBasis> : WrittenNames<area_basis_text, AreaBasis::lanes> {};

template <>
Record<DeviceStage> make_record() {
  using Of = DeviceStage;
  return Record<Of>("DeviceStage")
      .field("name", &Of::name)
      .field("passes", &Of::passes)
      .field("pass_s", [](const Of& stage) { return stage.pass.seconds; })
      .field("compute_s", [](const Of& stage) { return stage.pass.compute_s; })
      .field("vector_s", [](const Of& stage) { return stage.pass.vector_s; })
      .field("memory_s", [](const Of& stage) { return stage.pass.memory_s; })
      .field("on_chip_s", [](const Of& stage) { return stage.pass.on_chip_s; })
      .field("overhead_s", [](const Of& stage) { return stage.pass.overhead_s; });
}
template <>
Record<Compared> make_record() {
  using Of = Compared;
  return Record<Of>("MeasuredBeside")
      .field("id", [](const Of& one) { return one.measurement->id; })
      .field("software", [](const Of& one) { return one.measurement->software; })
      .field("model", [](const Of& one) { return one.measurement->model; })
      .field("stage", [](const Of& one) { return one.measurement->stage; })
      .field("batch", [](const Of& one) { return *one.measurement->batch; })
      .field("chips", [](const Of& one) { return one.measurement->chips; })
      .field("format", [](const Of& one) { return one.measurement->format; })
      .field("measured_s", &Of::measured_s)
      .field("predicted_s", &Of::predicted_s)
      .field("factor", &Of::factor)
      .field("fitted", &Of::fitted)
      .field("error", &Of::error)
      .field("source", [](const Of& one) { return one.measurement->source; });
}
template <>
Record<Calibration> make_record() {
  using Of = Calibration;
  return Record<Of>("Calibration")
      .field("software", &Of::software)
      .field("factor", &Of::factor)
      .field("values", [](const Of& of) { return NamedFigures{of.values}; });
}
template <>
Record<ComparisonRow> make_record() {
  using Of = ComparisonRow;
  return Record<Of>("ComparisonRow")
      .field("id", &Of::id)
      .field("name", &Of::name)
      .field("kind", &Of::kind)
      .field("batch", &Of::batch)
      .field("feasible", &Of::feasible)
      .field("format", &Of::format)
      .field("other_format", &Of::other_format)
      .field("checked", &Of::checked)
      .field("area_basis", &Of::area_basis)
      .field("process", &Of::process)
      .field("energy", &Of::energy)
      .field("energy_has_dram", &Of::energy_has_dram)
      .field("values", [](const Of& row) { return NamedFigures{row.values}; })
      .field("energy_parts_j", [](const Of& row) { return NamedFigures{row.energy_parts_j}; })
      .field("calibration", &Of::calibration)
      .field("against", &Of::against)
      .field("compute_s", [](const Of& row) { return timed(row, row.compute_s); })
      .field("memory_s", [](const Of& row) { return timed(row, row.memory_s); })
      .field("stages", &Of::stages)
      .field("measured", &Of::measured)
      .field("fields", &Of::fields)
      .field("notes", &Of::notes);
}
template <>
Record<Loss> make_record() {
  using Of = Loss;
  return Record<Of>("Loss")
      .field("ours", &Of::ours)
      .field("ours_name", &Of::ours_name)
      .field("batch", &Of::batch)
      .field("metric", &Of::metric)
      .field("id", &Of::id)
      .field("name", &Of::name)
      .field("kind", &Of::kind)
      .field("calibrated", &Of::calibrated)
      .field("estimated", &Of::estimated)
      .field("checked", &Of::checked)
      .field("format", &Of::format)
      .field("our_format", &Of::our_format)
      .field("times", &Of::times);
}
template <>
Record<ComparisonOf> make_record() {
  using Of = ComparisonOf;
  return Record<Of>("Comparison").field("node", &Of::node).field("rows", &Of::rows).field("losses", &Of::losses);
}

OrderedJson comparison_json(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop) {
  ComparisonOf of{std::nullopt, comparison_rows(catalog, asked, stop)};
  if (asked.node) of.node = node_text(*asked.node);
  return record<ComparisonOf>().json(of);
}

void add_comparison_schemas(OrderedJson& schemas) {
  add_schemas<DeviceStage, Compared, Calibration, ComparisonRow, Loss, ComparisonOf>(schemas);
}

}  // namespace sdip
