// sdip compare: machines of ours beside published ones, as a table for reading, or for a paper.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <span>

#include "core/base/error.h"
#include "core/base/escaped.h"
#include "core/base/nearest_names.h"
#include "server/cli/commands.h"
#include "server/io/files.h"
#include "server/io/said_formats.h"
#include "server/io/text.h"
#include "server/studies/comparison.h"

namespace sdip {
namespace {

struct CompareArguments {
  std::string model, formats, format = "table";
  FileOptions files;
  std::vector<std::string> baselines, device_files, presets;
  std::vector<std::int64_t> batches = {1, 8};
  MachineOptions machine;
  bool json = false, sources = false;
};

/// A metric of a row, and how the table calls it.
struct ComparedColumn {
  const char* title;
  const char* metric;
  const char* unit;
};
constexpr ComparedColumn compared_columns[] = {{"latency", "latency_s", "s"},
                                               {"throughput", "throughput_fps", "frame/s"},
                                               {"energy a frame", "energy_j_per_frame", "J"},
                                               {"frames a joule", "frames_per_j", "frame/J"},
                                               {"area", "area_mm2", "mm2"},
                                               {"throughput a mm2", "fps_per_mm2", "frame/s/mm2"},
                                               {"utilization", "utilization", "x"},
                                               {"DRAM a frame", "dram_bytes_per_frame", "B"},
                                               {"on-chip memory", "sram_bytes", "B"},
                                               {"price", "price_usd", "USD"}};

/// The factors of compiled software, and errors with them of predictions that fitted nothing.
std::string checked_text(const std::vector<Compared>& measured) {
  std::int64_t checked = 0;
  std::vector<double> factors, errors;
  for (const Compared& one : measured) {
    if (is_eager(*one.measurement)) continue;
    (one.fitted ? factors : errors).push_back(one.fitted ? one.factor : one.error());
    checked += !one.fitted;
  }
  const auto percent = [](double share) {
    return (share < 0 ? "-" : "+") + std::to_string(std::llround(std::abs(share) * 100)) + " %";
  };
  if (factors.empty()) return "unvalidated";
  const auto [low, high] = std::ranges::minmax(factors);
  std::string text = "measured " + quantity_text(low, "x");
  if (high > low) text += " to " + quantity_text(high, "x");
  if (checked == 0) return text + ", else unvalidated";
  const auto [least, most] = std::ranges::minmax(errors);
  return text + ", with it " + percent(least) + (most > least ? " to " + percent(most) : "") + " off";
}

std::string kind_text(const ComparisonRow& row) {
  switch (row.kind) {
    case RowKind::model:
      return "modelled";
    case RowKind::device:
      return "predicted";
    case RowKind::roofline:
      return "bound";
    case RowKind::unpublished:
      break;
  }
  return "unpublished";
}

struct Table {
  std::vector<std::string> titles;
  std::vector<TextRow> rows;
};

/// `raw`: numbers as they are, in base units, for programs; else quantities for people.
Table table_of(const std::vector<ComparisonRow>& rows, const std::map<std::string, std::vector<Compared>>& measured,
               bool raw) {
  Table table{{"machine", "kind", "format", "batch"}, {}};
  for (const ComparedColumn& column : compared_columns)
    table.titles.push_back(raw ? std::string(column.metric) + " [" + column.unit + "]" : column.title);
  table.titles.insert(table.titles.end(), {"energy basis", "measured over predicted"});
  for (const ComparisonRow& row : rows) {
    TextRow cells = {row.name, kind_text(row), row.format, std::to_string(row.batch)};
    for (const ComparedColumn& column : compared_columns) {
      const auto value = row.value(column.metric);
      cells.push_back(!value ? (raw ? "" : "-")
                      : raw  ? OrderedJson(*value).dump()
                             : quantity_text(*value, column.unit));
    }
    cells.push_back(row.energy);
    const auto known = measured.find(row.id);
    cells.push_back(known == measured.end() || row.kind != RowKind::device ? "" : checked_text(known->second));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : printable(text)) cell += c == '|' ? "\\|" : std::string(1, c);
  return cell;
}

std::string latex_cell(const std::string& text) {
  constexpr std::string_view special = "&%$#_{}";
  std::string cell;
  for (const char c : printable(text)) {
    if (special.find(c) != special.npos)
      cell += '\\';
    else if (c == '~' || c == '^' || c == '\\') {
      cell += c == '\\' ? "\\textbackslash{}" : std::string("\\") + c + "{}";
      continue;
    }
    cell += c;
  }
  return cell;
}

/// Cells of a row between what a format puts before, between and behind them.
void write_cells(std::ostream& out, const TextRow& cells, std::string (*cell)(const std::string&),
                 const char* before, const char* between, const char* behind) {
  out << before;
  for (std::size_t i = 0; i < cells.size(); ++i) out << (i > 0 ? between : "") << cell(cells[i]);
  out << behind;
}

void write_csv(std::ostream& out, const Table& table) {
  const auto cell = [](const std::string& text) { return csv_cell(printable(text)); };
  write_cells(out, table.titles, cell, "", ",", "\n");
  for (const TextRow& row : table.rows) write_cells(out, row, cell, "", ",", "\n");
}

void write_markdown(std::ostream& out, const Table& table) {
  write_cells(out, table.titles, markdown_cell, "| ", " | ", " |\n");
  write_cells(out, TextRow(table.titles.size(), "---"), markdown_cell, "| ", " | ", " |\n");
  for (const TextRow& row : table.rows) write_cells(out, row, markdown_cell, "| ", " | ", " |\n");
}

void write_latex(std::ostream& out, const Table& table) {
  out << "\\begin{tabular}{llll" << std::string(std::size(compared_columns), 'r') << "ll}\n\\hline\n";
  write_cells(out, table.titles, latex_cell, "", " & ", " \\\\\n\\hline\n");
  for (const TextRow& row : table.rows) write_cells(out, row, latex_cell, "", " & ", " \\\\\n");
  out << "\\hline\n\\end{tabular}\n";
}

/// Who is better than our first machine at the same batch, and by what.
void print_losses(const std::vector<ComparisonRow>& rows) {
  struct Aim {
    const char* metric;
    const char* words;
    bool more;
  };
  constexpr Aim aims[] = {{"latency_s", "latency", false},
                          {"throughput_fps", "frames a second", true},
                          {"frames_per_j", "frames a joule", true},
                          {"fps_per_mm2", "frames a second and mm2", true}};
  std::vector<std::string> lines;
  for (const ComparisonRow& own : rows) {
    if (own.id != rows.front().id) continue;
    for (const Aim& aim : aims) {
      const auto ours = own.value(aim.metric);
      std::vector<std::pair<double, std::string>> better;
      for (const ComparisonRow& row : rows) {
        const auto theirs = row.value(aim.metric);
        if (row.kind == RowKind::model || row.batch != own.batch || !ours || !theirs) continue;
        const double times = aim.more ? *theirs / *ours : *ours / *theirs;
        if (times > 1) better.emplace_back(times, row.name + (row.kind == RowKind::roofline ? " (a bound)" : ""));
      }
      std::ranges::sort(better, std::greater<>());
      if (better.empty()) continue;
      std::string line = "batch " + std::to_string(own.batch) + ", " + aim.words + ": behind ";
      for (std::size_t i = 0; i < std::min<std::size_t>(better.size(), 4); ++i)
        line += (i > 0 ? ", " : "") + better[i].second + " by " + quantity_text(better[i].first, "x");
      if (better.size() > 4) line += " and " + std::to_string(better.size() - 4) + " more";
      lines.push_back(std::move(line));
    }
  }
  if (lines.empty()) return;
  std::cout << "\n";
  print_heading(std::cout, "Where " + rows.front().name + " loses", colour_out());
  for (const std::string& line : lines) std::cout << "  " << printable(line) << "\n";
}

void print_measured(const std::map<std::string, std::vector<Compared>>& measured) {
  std::vector<TextRow> rows;
  for (const auto& [id, all] : measured)
    for (const Compared& one : all)
      rows.push_back(
          {one.device->name, one.measurement->software,
           one.measurement->model + (one.measurement->stage == "all" ? "" : " " + one.measurement->stage),
           std::to_string(*one.measurement->batch), quantity_text(one.measured_s, "s"),
           quantity_text(one.predicted_s, "s"), quantity_text(one.factor, "x"),
           one.fitted ? "fitted"
                      : (one.error() > 0 ? "+" : "") + std::to_string(std::llround(one.error() * 100)) + " %"});
  if (rows.empty()) return;
  std::cout << "\n";
  print_heading(std::cout, "Measured beside predicted; one factor a software is fitted on its smallest batch",
                colour_out());
  print_table(std::cout,
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

/// Of each machine the first row, which it has at each batch.
std::vector<const ComparisonRow*> machines_of(const std::vector<ComparisonRow>& rows) {
  std::vector<const ComparisonRow*> firsts;
  for (const ComparisonRow& row : rows)
    if (row.batch == rows.front().batch) firsts.push_back(&row);
  return firsts;
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
  std::cout << "\n";
  print_heading(std::cout, "Figures used", colour_out());
  print_table(std::cout, {{"device"}, {"figure"}, {"value"}, {"confidence"}, {"source", Align::left, true}}, lines,
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
  std::cout << "\n";
  print_heading(std::cout, "How they are built", colour_out());
  print_table(
      std::cout,
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

int run_comparison(const CompareArguments& arguments) {
  std::vector<Device> own;
  for (const std::string& file : arguments.device_files) {
    own.push_back(read_device(read_text(file), file));
    require_own_id(own, file + "/id");
  }
  ComparisonAsked asked{
      .model = arguments.model,
      .machines = {{"sdip",
                    "SDIP " + arguments.machine.preset +
                        (arguments.machine.changes.empty() && arguments.machine.file.empty() ? "" : ", changed"),
                    machine_of(arguments.machine)}}};
  for (const std::string& name : arguments.presets)
    asked.machines.push_back({"sdip:" + name, "SDIP " + name, require_preset(name, "--presets").machine});
  for (const std::string& id : arguments.baselines) asked.devices.push_back(&device_named(id));
  if (arguments.baselines.empty())
    for (const Device& device : devices()) asked.devices.push_back(&device);
  for (const Device& device : own) asked.devices.push_back(&device);
  for (const std::int64_t batch : arguments.batches)
    if (batch < 1 || batch > most_frames_at_once)
      throw Error("value_out_of_range", "--batches", "expected 1 to " + std::to_string(most_frames_at_once));
  asked.batches = arguments.batches;
  asked.formats = formats_of_file(arguments.formats);
  const Catalog catalog(file_models(arguments.files));
  if (arguments.json) return std::cout << json_text(comparison_json(catalog, asked), 2) << "\n", exit_ok;
  const std::vector<ComparisonRow> rows = comparison_rows(catalog, asked);
  std::map<std::string, std::vector<Compared>> measured;
  for (const Device* device : asked.devices) measured[device->id] = measured_beside_model(*device);
  if (arguments.format == "csv") return write_csv(std::cout, table_of(rows, measured, true)), exit_ok;
  const Table table = table_of(rows, measured, false);
  if (arguments.format == "markdown") return write_markdown(std::cout, table), exit_ok;
  if (arguments.format == "latex") return write_latex(std::cout, table), exit_ok;
  std::vector<Column> columns;
  for (std::size_t i = 0; i < table.titles.size(); ++i)
    columns.push_back({table.titles[i], i < 3 || i + 2 >= table.titles.size() ? Align::left : Align::right,
                       i + 2 == table.titles.size()});
  print_table(std::cout, columns, table.rows, colour_out());
  print_losses(rows);
  print_measured(measured);
  print_architectures(rows);
  if (arguments.sources || asked.devices.size() <= 3) print_sources(rows);
  std::vector<std::string> said;
  for (const ComparisonRow& row : rows)
    for (const std::string& note : row.notes) {
      const std::string line = row.name + ": " + note;
      if (std::ranges::find(said, line) != said.end()) continue;
      said.push_back(line);
      if (row.kind == RowKind::model || arguments.sources || asked.devices.size() <= 3)
        std::cout << "  - " << printable(line) << "\n";
    }
  if (!arguments.sources && asked.devices.size() > 3)
    std::cout << "\n--sources lists every figure with its source, and what each device's model assumes.\n";
  return exit_ok;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<CompareArguments>();
  auto* command = app.add_subcommand("compare", "Machines of ours beside published ones");
  command->add_option("MODEL", arguments->model, "A built-in model or an ONNX file")->required();
  add_machine_options(*command, arguments->machine);
  add_file_options(*command, arguments->files);
  add_formats_option(*command, arguments->formats);
  command->add_option("--baselines", arguments->baselines, "Devices, comma separated; all when not given")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--device", arguments->device_files, "A device of your own: a file as docs/formats.md has it")
      ->allow_extra_args(false);
  command->add_option("--presets", arguments->presets, "Presets beside the machine, comma separated")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--batches", arguments->batches, "Frames at once, comma separated; 1,8 when not given")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--format", arguments->format, "table, csv, markdown or latex")
      ->check(CLI::IsMember({"table", "csv", "markdown", "latex"}));
  command->add_flag("--sources", arguments->sources, "Every figure with its source, and what the models assume");
  command->add_flag("--json", arguments->json, "JSON instead of tables");
  command->callback([&action, arguments] { action = [=] { return run_comparison(*arguments); }; });
}

}  // namespace sdip
