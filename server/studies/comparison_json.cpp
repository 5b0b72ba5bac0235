// A comparison as the JSON of POST /comparisons.
#include "server/json/tables_json.h"
#include "server/studies/comparison.h"

namespace sdip {
namespace {

OrderedJson measured_json(const std::vector<Compared>& compared) {
  OrderedJson rows = OrderedJson::array();
  for (const Compared& one : compared)
    rows.push_back({{"id", one.measurement->id},
                    {"software", one.measurement->software},
                    {"model", one.measurement->model},
                    {"stage", one.measurement->stage},
                    {"batch", *one.measurement->batch},
                    {"chips", one.measurement->chips},
                    {"format", one.measurement->format},
                    {"measured_s", one.measured_s},
                    {"predicted_s", one.predicted_s},
                    {"factor", one.factor},
                    {"fitted", one.fitted},
                    {"error", one.error()},
                    {"source", one.measurement->source}});
  return rows;
}

OrderedJson stages_json(const std::vector<DeviceStage>& stages) {
  OrderedJson rows = OrderedJson::array();
  for (const DeviceStage& stage : stages)
    rows.push_back({{"name", stage.name},
                    {"passes", stage.passes},
                    {"pass_s", stage.pass.seconds},
                    {"compute_s", stage.pass.compute_s},
                    {"vector_s", stage.pass.vector_s},
                    {"memory_s", stage.pass.memory_s},
                    {"on_chip_s", stage.pass.on_chip_s},
                    {"overhead_s", stage.pass.overhead_s}});
  return rows;
}

OrderedJson values_json(const ComparedValues& values) {
  OrderedJson object = OrderedJson::object();
  for (const auto& [name, value] : values) object[name] = number_or_null(value);
  return object;
}

OrderedJson calibration_json(const ComparisonRow& row) {
  if (!row.calibration) return nullptr;
  return {{"software", row.calibration->software},
          {"factor", row.calibration->factor},
          {"values", values_json(row.calibration->values)}};
}

OrderedJson losses_json(const std::vector<Loss>& losses) {
  OrderedJson all = OrderedJson::array();
  for (const Loss& loss : losses)
    all.push_back({{"ours", loss.ours},
                   {"ours_name", loss.ours_name},
                   {"batch", loss.batch},
                   {"metric", loss.metric},
                   {"id", loss.id},
                   {"name", loss.name},
                   {"kind", row_kind_text(loss.kind)},
                   {"calibrated", loss.calibrated},
                   {"estimated", loss.estimated},
                   {"checked", checked_text(loss.checked)},
                   {"format", loss.format},
                   {"our_format", loss.our_format},
                   {"times", loss.times}});
  return all;
}

OrderedJson row_json(const ComparisonRow& row) {
  OrderedJson fields = OrderedJson::array();
  for (const DeviceField& field : row.fields) fields.push_back(field_json(field));
  const bool timed = row.kind == RowKind::device || row.kind == RowKind::roofline;
  return {{"id", row.id},
          {"name", row.name},
          {"kind", row_kind_text(row.kind)},
          {"batch", row.batch},
          {"feasible", row.feasible},
          {"format", row.format},
          {"other_format", row.other_format},
          {"checked", checked_text(row.checked)},
          {"area_basis", area_basis_text(row.area_basis)},
          {"process", row.process},
          {"energy", row.energy},
          {"energy_has_dram", row.energy_has_dram},
          {"values", values_json(row.values)},
          {"energy_parts_j", values_json(row.energy_parts_j)},
          {"calibration", calibration_json(row)},
          {"against", row.against ? OrderedJson(*row.against) : OrderedJson()},
          {"compute_s", timed ? OrderedJson(row.compute_s) : OrderedJson()},
          {"memory_s", timed ? OrderedJson(row.memory_s) : OrderedJson()},
          {"stages", stages_json(row.stages)},
          {"measured", measured_json(row.measured)},
          {"fields", fields},
          {"notes", row.notes}};
}

}  // namespace

OrderedJson comparison_json(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop) {
  const std::vector<ComparisonRow> found = comparison_rows(catalog, asked, stop);
  OrderedJson rows = OrderedJson::array();
  for (const ComparisonRow& row : found) rows.push_back(row_json(row));
  OrderedJson node;
  if (asked.node) node = node_text(*asked.node);
  return {{"node", node}, {"rows", rows}, {"losses", losses_json(losses_of(found))}};
}

}  // namespace sdip
