// Tables to JSON, row by row.
#include "server/json/tables_json.h"

#include "core/base/error.h"
#include "server/json/report_json.h"

namespace sdip {
namespace {

OrderedJson doc_json(std::string_view en, std::string_view ja) { return {{"en", en}, {"ja", ja}}; }

OrderedJson parameter_json(const ParameterRow& row) {
  const bool ranged = row.type == ParameterType::count || row.type == ParameterType::decimal;
  OrderedJson choices = OrderedJson::array();
  for (const std::string_view choice : row.choices) choices.push_back(choice);
  return {{"name", row.name},
          {"type", type_text(row.type)},
          {"effect", row.effect == ParameterEffect::compile ? "compile" : "cost"},
          {"group", row.group},
          {"unit", row.unit},
          {"default", value_json(row, row.standard)},
          {"min", ranged ? OrderedJson(value_json(row, row.least)) : OrderedJson()},
          {"max", ranged ? OrderedJson(value_json(row, row.most)) : OrderedJson()},
          {"choices", choices},
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

OrderedJson device_fields_json(const Device& device) {
  OrderedJson fields = OrderedJson::array();
  for (const auto& field : device.fields)
    fields.push_back({{"name", field.name},
                      {"value", field.value},
                      {"unit", field.unit},
                      {"source", field.source},
                      {"confidence", field.confidence}});
  return fields;
}

OrderedJson baselines_json() {
  OrderedJson rows = OrderedJson::array();
  for (const auto& device : devices())
    rows.push_back(
        {{"id", device.id}, {"name", device.name}, {"kind", "roofline"}, {"fields", device_fields_json(device)}});
  return {{"baselines", rows}};
}

}  // namespace sdip
