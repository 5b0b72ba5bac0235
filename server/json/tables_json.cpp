// Tables to JSON, row by row.
#include "server/json/tables_json.h"

#include "core/base/error.h"
#include "core/baseline/device_run.h"
#include "core/machine/gives.h"
#include "core/machine/shown.h"
#include "server/json/report_json.h"

namespace sdip {
namespace {

OrderedJson doc_json(std::string_view en, std::string_view ja) { return {{"en", en}, {"ja", ja}}; }

OrderedJson shown_json(const ParameterRow& row) {
  OrderedJson all = OrderedJson::array();
  for (const ShownWith& with : shown_with(row)) {
    OrderedJson values = OrderedJson::array();
    for (const std::string_view value : with.values)
      if (!value.empty()) values.push_back(value);
    all.push_back({{"parameter", with.parameter}, {"values", std::move(values)}});
  }
  return all;
}

OrderedJson parameter_json(const ParameterRow& row) {
  const bool ranged = row.type == ParameterType::count || row.type == ParameterType::decimal;
  OrderedJson choices = OrderedJson::array();
  for (const std::string_view choice : row.choices) choices.push_back(choice);
  return {{"name", row.name},
          {"type", type_text(row.type)},
          {"effect", changes_program(row) ? "compile" : "cost"},
          {"group", row.group},
          {"unit", row.unit},
          {"default", value_json(row, row.standard)},
          {"min", ranged ? OrderedJson(value_json(row, row.least)) : OrderedJson()},
          {"max", ranged ? OrderedJson(value_json(row, row.most)) : OrderedJson()},
          {"choices", choices},
          {"shown_with", shown_json(row)},
          {"more_gives", gives_text(row.gives)},
          {"doc", doc_json(row.en, row.ja)}};
}

}  // namespace

std::string_view type_text(ParameterType type) {
  switch (type) {
    case ParameterType::count:
      return "count";
    case ParameterType::decimal:
      return "decimal";
    case ParameterType::real:
      return "real";
    case ParameterType::choice:
      return "choice";
    case ParameterType::flag:
      break;
  }
  return "flag";
}

std::string_view better_text(Better better) {
  return better == Better::higher ? "higher" : better == Better::lower ? "lower" : "neither";
}

OrderedJson parameters_json() {
  OrderedJson rows = OrderedJson::array();
  for (const auto& row : parameters()) rows.push_back(parameter_json(row));
  return {{"parameters", rows}};
}

std::vector<const TechnologyRow*> rows_of_node(const std::string& node, const std::string& where) {
  std::optional<TechnologyNode> wanted;
  if (!node.empty())
    wanted = static_cast<TechnologyNode>(parse_value(*find_parameter("technology_node"), node, where));
  std::vector<const TechnologyRow*> rows;
  for (const auto& row : technology_rows())
    if (!wanted || concerns(row, *wanted)) rows.push_back(&row);
  return rows;
}

OrderedJson technology_json(const std::vector<const TechnologyRow*>& rows) {
  OrderedJson list = OrderedJson::array();
  for (const TechnologyRow* row : rows)
    list.push_back({{"name", row->name},
                    {"value", row->value},
                    {"least", row->least},
                    {"most", row->most},
                    {"unit", row->unit},
                    {"confidence", confidence_text(row->confidence)},
                    {"source", row->source}});
  return {{"technology", list}};
}

OrderedJson metrics_json() {
  OrderedJson rows = OrderedJson::array();
  for (const auto& row : metrics())
    rows.push_back({{"name", row.name},
                    {"unit", row.unit},
                    {"better", better_text(row.better)},
                    {"doc", doc_json(row.en, row.ja)}});
  return {{"metrics", rows}};
}

namespace {

template <class T>
OrderedJson record_json(const Record<T>& of) {
  OrderedJson rows = OrderedJson::array();
  for (const auto& field : of.fields())
    if (!field.words.en.empty())
      rows.push_back(
          {{"name", field.key}, {"unit", field.words.unit}, {"doc", doc_json(field.words.en, field.words.ja)}});
  return {{"name", of.name()}, {"fields", std::move(rows)}};
}

}  // namespace

OrderedJson fields_json() {
  return {{"records", {record_json(record<StageReport>()), record_json(record<InstructionCost>())}}};
}

OrderedJson presets_json() {
  OrderedJson rows = OrderedJson::array();
  for (const auto& preset : presets())
    rows.push_back({{"name", preset.name},
                    {"doc", doc_json(preset.en, preset.ja)},
                    {"machine", machine_json(preset.machine)}});
  return {{"presets", rows}};
}

OrderedJson field_json(const DeviceField& field) {
  return {{"name", field.name},
          {"value", field.value},
          {"unit", field.unit},
          {"source", field.source},
          {"confidence", field.confidence}};
}

namespace {

OrderedJson baseline_json(const Device& device) {
  OrderedJson fields = OrderedJson::array(), figures = OrderedJson::array();
  for (const DeviceField& field : device.fields) fields.push_back(field_json(field));
  for (const DeviceFigure& figure : device.figures)
    figures.push_back({{"key", figure.key},
                       {"value", figure.value},
                       {"unit", figure.unit},
                       {"source", figure.source},
                       {"confidence", figure.confidence}});
  return {{"id", device.id},
          {"name", device.name},
          {"archetype", archetype_text(device.archetype)},
          {"kind", !can_run(device)    ? "unpublished"
                   : has_model(device) ? "device"
                                       : "roofline"},
          {"lacking", lacking_figure(device)},
          {"fields", fields},
          {"figures", figures},
          {"notes", device.notes}};
}

}  // namespace

OrderedJson baselines_json() {
  OrderedJson rows = OrderedJson::array();
  for (const Device& device : devices()) rows.push_back(baseline_json(device));
  return {{"baselines", rows}};
}

namespace {

OrderedJson predicted_json(const Predicted& predicted) {
  OrderedJson json = {{"value", predicted.value}, {"least", predicted.least}, {"most", predicted.most}};
  if (!predicted.published) return json;
  json["published"] = *predicted.published;
  json["published_as"] = predicted.kind;
  json["bound"] = predicted.bound;
  json["predicted_over_published"] = *predicted.error();
  return json;
}

OrderedJson parts_json(const std::vector<ChipPart>& parts) {
  OrderedJson json = OrderedJson::object();
  for (const ChipPart& part : parts) json[std::string(part.name)] = part.value;
  return json;
}

}  // namespace

OrderedJson chips_json(const std::vector<ChipPrediction>& predictions) {
  OrderedJson rows = OrderedJson::array();
  for (const ChipPrediction& one : predictions) {
    const Chip& chip = *one.chip;
    OrderedJson figures = OrderedJson::array();
    for (const ChipFigure& figure : chip.described.empty() ? chip_figures() : chip.described)
      if (figure.chip == chip.id || figure.chip == chip.figures)
        figures.push_back(
            {{"name", figure.name}, {"value", figure.value}, {"tag", figure.tag}, {"source", figure.source}});
    OrderedJson clock = {{"limit", one.clock_limit_mhz}};
    if (one.clock_mhz) clock["published"] = *one.clock_mhz;
    rows.push_back({{"id", chip.id},
                    {"name", chip.name},
                    {"use", chip_use_text(chip.use)},
                    {"node_nm", chip.node_nm},
                    {"area_mm2", predicted_json(one.area_mm2)},
                    {"power_w", predicted_json(one.power_w)},
                    {"clock_mhz", clock},
                    {"area_parts_mm2", parts_json(one.area_parts)},
                    {"power_parts_w", parts_json(one.power_parts)},
                    {"figures", figures}});
  }
  return {{"chips", rows}};
}

}  // namespace sdip
