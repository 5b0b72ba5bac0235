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
      .field("software", [](const Of& one) { return one.measurement->software; }, {"", "Software", "ソフトウェア"})
      .field("model", [](const Of& one) { return one.measurement->model; }, {"", "Workload", "ワークロード"})
      .field("stage", [](const Of& one) { return one.measurement->stage; })
      .field("batch", [](const Of& one) { return *one.measurement->batch; })
      .field("chips", [](const Of& one) { return one.measurement->chips; })
      .field("format", [](const Of& one) { return one.measurement->format; })
      .field("measured_s", &Of::measured_s, {"s", "Measured", "実測"})
      .field("predicted_s", &Of::predicted_s, {"s", "Predicted", "予測"})
      .field("factor", &Of::factor, {"", "Factor", "係数"})
      .field("fitted", &Of::fitted)
      .field("error", &Of::error, {"", "Error with the factor", "係数込みの誤差"})
      .field("source", [](const Of& one) { return one.measurement->source; });
}
template <>
Record<Calibration> make_record() {
  using Of = Calibration;
  return Record<Of>("Calibration")
      .field("software", &Of::software)
      .field("factor", &Of::factor)
      .field("values", &Of::values);
}
template <>
Record<ComparisonRow> make_record() {
  using Of = ComparisonRow;
#define FIELD(type, name, unit, en, ja) .field(#name, &Of::name, {unit, en, ja})
  return Record<Of>("ComparisonRow")
#include "server/studies/comparison_fields.def"
      ;
#undef FIELD
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

std::vector<FieldRecord> comparison_fields() {
  return {record<ComparisonRow>().words(),
          record<Compared>().words(),
          record<DeviceField>().words(),
          {"ComparedValues", {std::begin(compared_values), std::end(compared_values)}}};
}

void add_comparison_schemas(OrderedJson& schemas) {
  add_schemas<DeviceStage, Compared, Calibration, ComparisonRow, Loss, ComparisonOf>(schemas);
}

}  // namespace sdip
