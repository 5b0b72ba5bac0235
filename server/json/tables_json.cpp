// Tables to JSON, row by row.
#include "server/json/tables_json.h"

#include "core/base/error.h"
#include "core/baseline/device_run.h"
#include "core/machine/gives.h"
#include "core/machine/shown.h"
#include "server/json/report_json.h"

namespace sdip {
namespace {

/// A text in both languages, and a row that has one.
struct Doc {
  std::string_view en, ja;
};
template <class Row>
Doc doc_of(const Row& row) {
  return {row.en, row.ja};
}

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

/// The ends of the range of what has one.
OrderedJson end_json(const ParameterRow& row, std::int64_t end) {
  const bool ranged = row.type == ParameterType::count || row.type == ParameterType::decimal;
  return ranged ? OrderedJson(value_json(row, end)) : OrderedJson();
}

template <class Rows>
OrderedJson rows_json(const char* name, const Rows& rows) {
  return {{name, json_list(rows, [](const auto& row) {
             return record<std::remove_cvref_t<decltype(row)>>().json(row);
           })}};
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

template <>
struct Written<Confidence> : WrittenNames<confidence_text, Confidence::assumption> {};
template <>
struct Written<Gives> : WrittenNames<gives_text, Gives::nothing> {};
template <>
struct Written<Better> : WrittenNames<better_text, Better::neither> {};
template <>
struct Written<Archetype> : WrittenNames<archetype_text, Archetype::roofline> {};

template <>
Record<Doc> make_record() {
  return Record<Doc>("Doc").field("en", &Doc::en).field("ja", &Doc::ja);
}
template <>
Record<ParameterRow> make_record() {
  using Of = ParameterRow;
  using namespace schema;
  return Record<Of>("Parameter")
      .field("name", &Of::name)
      .field("type", one_of({"count", "decimal", "choice", "flag"}),
             [](const Of& row) { return type_text(row.type); })
      .field("effect", one_of({"compile", "cost"}),
             [](const Of& row) { return changes_program(row) ? "compile" : "cost"; })
      .field("group", &Of::group)
      .field("unit", &Of::unit)
      .field("default", [](const Of& row) { return RowValue(&row, row.standard); })
      .field("min", nullable(number()), [](const Of& row) { return end_json(row, row.least); })
      .field("max", nullable(number()), [](const Of& row) { return end_json(row, row.most); })
      .field("choices", [](const Of& row) { return std::vector(row.choices.begin(), row.choices.end()); })
      .field("shown_with", array(object({{"parameter", text()}, {"values", array(text())}})), shown_json)
      .field("more_gives", &Of::gives)
      .field("doc", doc_of<Of>);
}
template <>
Record<TechnologyRow> make_record() {
  using Of = TechnologyRow;
  return Record<Of>("TechnologyRow")
      .field("name", &Of::name)
      .field("value", &Of::value)
      .field("least", &Of::least)
      .field("most", &Of::most)
      .field("unit", &Of::unit)
      .field("confidence", &Of::confidence)
      .field("source", &Of::source);
}
template <>
Record<MetricRow> make_record() {
  using Of = MetricRow;
  return Record<Of>("MetricInfo")
      .field("name", &Of::name)
      .field("unit", &Of::unit)
      .field("better", &Of::better)
      .field("doc", doc_of<Of>);
}
template <>
Record<FieldInfo> make_record() {
  using Of = FieldInfo;
  return Record<Of>("FieldInfo")
      .field("name", &Of::name)
      .field("unit", [](const Of& of) { return of.words.unit; })
      .field("doc", [](const Of& of) { return doc_of(of.words); });
}
template <>
Record<FieldRecord> make_record() {
  using Of = FieldRecord;
  return Record<Of>("FieldRecord").field("name", &Of::name).field("fields", &Of::fields);
}
template <>
Record<Preset> make_record() {
  using Of = Preset;
  return Record<Of>("Preset").field("name", &Of::name).field("doc", doc_of<Of>).field("machine", &Of::machine);
}
template <>
Record<DeviceField> make_record() {
  using Of = DeviceField;
  return Record<Of>("Field")
      .field("name", &Of::name, {"", "Figure", "数値"})
      .field("value", &Of::value, {"", "Value", "値"})
      .field("unit", &Of::unit, {"", "Unit", "単位"})
      .field("source", &Of::source, {"", "Source", "出典"})
      .field("confidence", &Of::confidence, {"", "Confidence", "信頼度"});
}
template <>
Record<DeviceFigure> make_record() {
  using Of = DeviceFigure;
  return Record<Of>("DeviceFigure")
      .field("key", &Of::key)
      .field("value", &Of::value)
      .field("unit", &Of::unit)
      .field("source", &Of::source)
      .field("confidence", &Of::confidence);
}
template <>
Record<Device> make_record() {
  using Of = Device;
  return Record<Of>("Baseline")
      .field("id", &Of::id)
      .field("name", &Of::name)
      .field("archetype", &Of::archetype)
      .field("kind", schema::one_of({"device", "roofline", "unpublished"}),
             [](const Of& device) {
               return !can_run(device) ? "unpublished" : has_model(device) ? "device" : "roofline";
             })
      .field("lacking", lacking_figure)
      .field("fields", &Of::fields)
      .field("figures", &Of::figures)
      .field("notes", &Of::notes);
}

OrderedJson parameters_json() { return rows_json("parameters", parameters()); }

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
  return {
      {"technology", json_list(rows, [](const TechnologyRow* row) { return record<TechnologyRow>().json(*row); })}};
}

OrderedJson metrics_json() { return rows_json("metrics", metrics()); }

OrderedJson fields_json(std::vector<FieldRecord> more) {
  more.insert(more.begin(), {record<StageReport>().words(), record<InstructionCost>().words()});
  return rows_json("records", more);
}

OrderedJson presets_json() { return rows_json("presets", presets()); }

OrderedJson baselines_json() { return rows_json("baselines", devices()); }

void add_table_schemas(OrderedJson& schemas) {
  add_schemas<Doc, ParameterRow, TechnologyRow, MetricRow, Preset, DeviceField, DeviceFigure, Device>(schemas);
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
