// sdip compare: machines of ours beside published ones, as a table for reading, or for a paper.
#include <algorithm>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <span>

#include "core/base/error.h"
#include "core/base/escaped.h"
#include "core/base/nearest_names.h"
#include "core/baseline/device_space.h"
#include "server/cli/commands.h"
#include "server/cli/text/comparison_table.h"
#include "server/io/files.h"
#include "server/io/said_formats.h"
#include "server/io/text.h"

namespace sdip {
namespace {

struct CompareArguments {
  std::string model, formats, format = "table";
  FileOptions files;
  std::vector<std::string> baselines, device_files, presets, vary;
  std::vector<std::int64_t> batches = {1, 8};
  MachineOptions machine;
  std::string node;
  bool json = false, sources = false;
};

/// One row for each machine, though it has one at each batch; measurements and our bounds are no machines.
std::vector<const ComparisonRow*> machines_of(const std::vector<ComparisonRow>& rows) {
  std::vector<const ComparisonRow*> firsts;
  for (const ComparisonRow& row : rows) {
    const bool machine = row.device ? row.kind != RowKind::measured : is_own_machine(row);
    if (machine && row.batch == rows.front().batch) firsts.push_back(&row);
  }
  return firsts;
}

void print_measured(const std::vector<ComparisonRow>& compared) {
  std::vector<TextRow> rows;
  for (const ComparisonRow* row : machines_of(compared))
    for (const Compared& one : row->measured)
      rows.push_back(
          {one.device->name, one.measurement->software,
           one.measurement->model + (one.measurement->stage == "all" ? "" : " " + one.measurement->stage),
           std::to_string(*one.measurement->batch), quantity_text(one.measured_s, "s"),
           quantity_text(one.predicted_s, "s"), quantity_text(one.factor, "x"),
           one.fitted ? "fitted"
                      : fmt::format("{}{} %", one.error() > 0 ? "+" : "", std::llround(one.error() * 100))});
  if (rows.empty()) return;
  print_section(std::cout, "Measured beside predicted; one factor a software is fitted on its smallest batch",
                {{"device"},
                 {"software", Align::left, true},
                 {"model"},
                 {"batch", Align::right},
                 {"measured", Align::right},
                 {"predicted", Align::right},
                 {"factor", Align::right},
                 {"error", Align::right}},
                rows, colour_out());
}

void print_sources(const std::vector<ComparisonRow>& rows) {
  std::vector<TextRow> lines;
  for (const ComparisonRow* row : machines_of(rows)) {
    if (!row->device) continue;
    for (const DeviceField& field : row->fields)
      lines.push_back({row->name, field.name, field.value + " " + field.unit, field.confidence, field.source});
    for (const DeviceFigure& figure : row->device->figures)
      lines.push_back({row->name, figure.key, quantity_text(figure.value, "") + " " + figure.unit,
                       figure.confidence, figure.source});
  }
  if (lines.empty()) return;
  print_section(std::cout, "Figures used",
                {{"device"}, {"figure"}, {"value"}, {"confidence"}, {"source", Align::left, true}}, lines,
                colour_out());
}

std::string field_of_row(const ComparisonRow& row, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    for (const DeviceField& field : row.fields)
      if (field.name == name) return field.unit.empty() ? field.value : field.value + " " + field.unit;
  return "-";
}

/// How each machine is built: control, caches, ways between cores.
void print_architectures(const std::vector<ComparisonRow>& rows) {
  std::vector<TextRow> lines;
  for (const ComparisonRow* row : machines_of(rows))
    lines.push_back({row->name, field_of_row(*row, {"control"}), field_of_row(*row, {"cache"}),
                     field_of_row(*row, {"interconnect", "communication"}),
                     field_of_row(*row, {"compute", "cores"})});
  print_section(
      std::cout, "How they are built",
      {{"machine"}, {"control"}, {"cache"}, {"between cores", Align::left, true}, {"compute", Align::left, true}},
      lines, colour_out());
}

const Device& device_named(const std::string& id) {
  if (const Device* device = find_device(id)) return *device;
  std::vector<std::string_view> ids;
  for (const Device& device : devices()) ids.push_back(device.id);
  const std::string hint = nearest_names(id, ids);
  std::string all = "expected one of";
  for (const auto known : ids) all += " " + std::string(known);
  throw Error("unknown_baseline", "--baselines",
              "no device " + id.substr(0, 80) + "; " + (hint.empty() ? all : hint));
}

ComparisonAsked asked_of(const CompareArguments& arguments, std::span<const Device> own) {
  const Machine machine = machine_of(arguments.machine);
  const bool changed = machine != require_preset(arguments.machine.preset, "--preset").machine;
  ComparisonAsked asked{
      .model = arguments.model,
      .machines = {{"sdip", "SDIP " + arguments.machine.preset + (changed ? ", changed" : ""), machine}}};
  require_once(arguments.presets, [&](std::size_t i) { return "--presets " + arguments.presets[i]; });
  require_once(arguments.baselines, [&](std::size_t i) { return "--baselines " + arguments.baselines[i]; });
  require_once(arguments.batches,
               [&](std::size_t i) { return "--batches " + std::to_string(arguments.batches[i]); });
  for (const std::string& name : arguments.presets) add_preset(asked, require_preset(name, "--presets"));
  for (const std::string& id : arguments.baselines) asked.devices.push_back(&device_named(id));
  if (arguments.baselines.empty())
    for (const Device& device : devices()) asked.devices.push_back(&device);
  for (const Device& device : own) asked.devices.push_back(&device);
  for (const std::int64_t batch : arguments.batches)
    if (batch < 1 || batch > most_frames_at_once)
      throw Error("value_out_of_range", "--batches", "expected 1 to " + std::to_string(most_frames_at_once));
  asked.batches = arguments.batches;
  asked.formats = formats_of_file(arguments.formats);
  if (!arguments.node.empty()) asked.node = node_named(arguments.node, "--node");
  return asked;
}

/// Prints what the rows lean on, each note once: of ours, and of few devices.
void print_notes(const std::vector<ComparisonRow>& rows, bool of_devices) {
  std::vector<std::string> said;
  for (const ComparisonRow& row : rows)
    for (const std::string& note : row.notes) {
      const std::string line = row.name + ": " + note;
      if (std::ranges::find(said, line) != said.end()) continue;
      said.push_back(line);
      if (row.kind == RowKind::model || of_devices) std::cout << "  - " << printable(line) << "\n";
    }
}

/// "tpu_v4i.array_rows=64,128" of each, as the request has them.
Json varied_figures(const std::vector<std::string>& texts) {
  Json all = Json::object();
  for (const std::string& text : texts) {
    const auto dot = text.find('.'), equals = text.find('=');
    const std::string where = "--vary " + text.substr(0, 80);
    if (dot == std::string::npos || equals == std::string::npos || dot > equals)
      throw Error("value_invalid", where, "expected DEVICE.FIGURE=VALUE,VALUE,...");
    Json& values = all[text.substr(0, dot)][text.substr(dot + 1, equals - dot - 1)];
    if (!values.is_null()) throw Error("value_invalid", where, "varied twice");
    values = parse_json("[" + text.substr(equals + 1) + "]");
  }
  return all;
}

int run_comparison(const CompareArguments& arguments) {
  std::vector<Device> own;
  for (const std::string& file : arguments.device_files) {
    own.push_back(read_device(read_text(file), file));
    require_own_id(own, file + "/id");
  }
  add_device_spaces(varied_figures(arguments.vary), own, "--vary");
  const ComparisonAsked asked = asked_of(arguments, own);
  const Catalog catalog(file_models(arguments.files));
  if (arguments.json) return print_json(comparison_json(catalog, asked));
  const std::vector<ComparisonRow> rows = comparison_rows(catalog, asked);
  if (arguments.format == "csv") return write_comparison_csv(std::cout, rows), exit_ok;
  if (arguments.format == "markdown") return write_comparison_markdown(std::cout, rows, asked.node), exit_ok;
  if (arguments.format == "latex") return write_comparison_latex(std::cout, rows, asked.node), exit_ok;
  print_comparison(std::cout, rows, asked.node, colour_out());
  print_losses(std::cout, rows, colour_out());
  print_measured(rows);
  print_architectures(rows);
  const bool of_devices = arguments.sources || asked.devices.size() <= 3;
  if (of_devices) print_sources(rows);
  print_notes(rows, of_devices);
  if (!of_devices)
    std::cout << "\n--sources lists every figure with its source, and what each device's model assumes.\n";
  return exit_ok;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<CompareArguments>(app, action, "compare",
                                                          "Machines of ours beside published ones", run_comparison);
  command.add_option("MODEL", a.model, "A built-in model or an ONNX file")->required();
  add_machine_options(command, a.machine);
  add_file_options(command, a.files);
  add_formats_option(command, a.formats);
  add_several(command, "--baselines", a.baselines, "Devices, comma separated; all when not given")->delimiter(',');
  add_several(command, "--device", a.device_files, "A device of your own: a file as docs/formats.md has it");
  add_several(
      command, "--vary", a.vary,
      "DEVICE.FIGURE=VALUE,VALUE,...: variants of a device beside it (tpu_v4i.array_rows=64,128); repeated: "
      "every combination of a device's");
  add_several(command, "--presets", a.presets, "Presets beside the machine, comma separated")->delimiter(',');
  add_several(command, "--batches", a.batches, "Frames at once, comma separated; 1,8 when not given")
      ->delimiter(',');
  auto* const format = command.add_option("--format", a.format, "table, csv, markdown or latex")
                           ->check(CLI::IsMember({"table", "csv", "markdown", "latex"}));
  command.add_option("--node", a.node, "Draws all in this process of the technology table: n7, ...");
  command.add_flag("--sources", a.sources, "Every figure with its source, and what the models assume");
  command.add_flag("--json", a.json, "JSON instead of tables")->excludes(format);
}

}  // namespace sdip
