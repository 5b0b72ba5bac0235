// Exports of sweeps.
#include "server/jobs/exports.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/workload/workload.h"
#include "server/io/files.h"
#include "server/io/version.h"

namespace sdip {
namespace {

std::string sha256_of_bytes(const std::string& bytes) { return sha256_hex(std::as_bytes(std::span(bytes))); }

OrderedJson pair_json(const IndexRange& range) { return {range.first, range.end}; }

OrderedJson column_json(const ExportColumn& column) { return {{"name", column.name}, {"unit", column.unit}}; }

/// A column that was asked for twice stands once.
template <class Column>
std::vector<Column> each_once(const std::vector<Column>& columns) {
  std::vector<Column> once;
  for (const Column& one : columns)
    if (std::ranges::find(once, one) == once.end()) once.push_back(one);
  return once;
}

}  // namespace

std::vector<Measure> measures_for_people(const SweepSpec& spec) {
  std::vector<Measure> measures = measures_of(spec.objectives);
  for (const Formula& formula : spec.formulas)
    if (std::ranges::find(measures, formula.name, &Measure::name) == measures.end()) measures.emplace_back(formula);
  return measures;
}

OrderedJson model_files(const Store& store, const std::string& model) {
  OrderedJson files = OrderedJson::array();
  const auto add = [&](const std::string& name, const std::string& sha256) {
    OrderedJson file = {{"name", name}, {"sha256", sha256}};
    if (std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
  };
  for (const MixPart& part : mix_of_text(model, "model")) {
    if (const auto stored = store.model(part.model))
      add(part.model, stored->sha256);
    else if (is_built_in(part.model))
      for (const Member& member : Catalog().members(part.model, "/model"))
        add(member.name, sha256_of_bytes(write_model(member.name, {})));
  }
  return files;
}

std::string machine_sha256(const Machine& machine) { return sha256_of_bytes(json_text(machine_json(machine))); }

ExportFormat export_format_named(std::string_view name, const std::string& where, bool text) {
  std::string names;
  for (const ExportFormatRow& row : export_formats()) {
    if (text && !row.text) {
      if (row.name == name)
        throw Error("value_invalid", where, std::string(name) + " is written into a file: use `sdip export`");
      continue;
    }
    if (row.name == name) return row.format;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error("value_invalid", where, std::string(name.substr(0, 80)) + ": expected one of " + names);
}

ExportFormat export_format_of(std::string_view file) {
  for (const ExportFormatRow& row : export_formats())
    if (file.ends_with("." + std::string(row.suffix))) return row.format;
  return ExportFormat::csv;
}

ExportQuery export_query(const Store& store, SweepRecord& sweep, ExportFormat format, std::string_view fields,
                         bool front, const std::string& where) {
  const Fields chosen = fields_of(sweep.spec, fields, where);
  ExportQuery query;
  query.format = format;
  query.axes = each_once(chosen.axes);
  query.measures = each_once(chosen.metrics);
  query.accuracies = each_once(chosen.accuracies);
  if (fields.empty() && (format == ExportFormat::markdown || format == ExportFormat::latex)) {
    query.measures = measures_for_people(sweep.spec);
    query.accuracies.clear();
  }
  const std::int64_t id = sweep.row.id;
  sweep.row = store.sweep(id, query.stored.emplace());
  if (!front) return query;
  query.only = front_points(store, sweep, sweep.spec.objectives);
  if (store.stored_ranges(id) != query.stored) query.stored.reset();  // of which of them it is, nobody can say
  return query;
}

OrderedJson manifest_json(const Store& store, const SweepRecord& sweep, const ExportQuery& query,
                          const std::string& command) {
  const SweepRow& row = sweep.row;
  OrderedJson spec = OrderedJson::parse(row.spec_json);
  if (!sweep.spec.formulas.empty())
    spec["metrics"] = spec_json(sweep.spec)["metrics"];  // those of this export, too
  return {{"manifest", 1},
          {"version", program_version},
          {"signature", row.signature.empty() ? OrderedJson() : OrderedJson(row.signature)},
          {"command", command},
          {"model", {{"name", row.model}, {"files", model_files(store, row.model)}}},
          {"machine_sha256", machine_sha256(sweep.spec.space.base)},
          {"sweep",
           {{"id", row.id},
            {"name", row.name},
            {"created", row.created},
            {"total", row.total},
            {"done", row.done},
            {"feasible", row.feasible},
            {"stored", query.stored ? json_list(*query.stored, pair_json) : OrderedJson()},
            {"revision", row.revision},
            {"parent", row.origin ? OrderedJson(row.origin->parent) : OrderedJson()},
            {"change", row.origin ? OrderedJson::parse(row.origin->revision_json) : OrderedJson()}}},
          {"points", query.only ? "front" : "all"},
          {"columns", json_list(export_columns(sweep.spec.space, query), column_json)},
          {"spec", std::move(spec)}};
}

}  // namespace sdip
