// sdip parameters, metrics, presets, openapi, signature: the tables, printed.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

#include "core/base/error.h"
#include "server/api/openapi.h"
#include "server/cli/commands.h"
#include "server/io/text.h"
#include "server/json/tables_json.h"
#include "server/models/operator_files.h"
#include "server/models/request.h"
#include "server/studies/signature.h"

namespace sdip {
namespace {

struct TableOptions {
  std::string group, node;
  std::vector<std::string> operators;
  bool json = false;
};

std::string range_text(const ParameterRow& row) {
  if (row.type == ParameterType::flag) return "true false";
  if (row.type != ParameterType::choice) return value_text(row, row.least) + " .. " + value_text(row, row.most);
  std::string text;
  for (const std::string_view choice : row.choices) text += (text.empty() ? "" : " ") + std::string(choice);
  return text;
}

void print_json(const OrderedJson& value) { std::cout << json_text(value, 2) << "\n"; }

int print_parameters(const TableOptions& options) {
  bool found = options.group.empty();
  OrderedJson kept = OrderedJson::array();
  std::vector<TextRow> rows;
  const OrderedJson all = parameters_json()["parameters"];
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    const auto& row = parameters()[i];
    if (!options.group.empty() && row.group != options.group) continue;
    found = true;
    kept.push_back(all[i]);
    rows.push_back({std::string(row.name), std::string(row.group), value_text(row, row.standard),
                    std::string(row.unit), range_text(row), std::string(row.en)});
  }
  if (!found) throw Error("value_invalid", "--group", "no parameter is in group " + options.group.substr(0, 80));
  if (options.json) return print_json({{"parameters", kept}}), exit_ok;
  print_table(std::cout, {{"parameter"}, {"group"}, {"default", Align::right}, {"unit"}, {"values"}, {""}}, rows,
              colour_out());
  return exit_ok;
}

/// Six digits at most.
std::string short_text(double value) {
  std::ostringstream text;
  if (value == std::floor(value)) text << std::fixed << std::setprecision(0);  // a whole number whole
  text << value;
  return text.str();
}

int print_technology(const TableOptions& options) {
  const auto wanted = rows_of_node(options.node, "--node");
  if (options.json) return print_json(technology_json(wanted)), exit_ok;
  std::vector<TextRow> rows;
  for (const TechnologyRow* row : wanted) {
    const std::string range =
        row->least == row->most ? "" : short_text(row->least) + " .. " + short_text(row->most);
    rows.push_back({std::string(row->name), short_text(row->value), range, std::string(row->unit),
                    std::string(confidence_text(row->confidence)), std::string(row->source)});
  }
  print_table(std::cout,
              {{"row"}, {"value", Align::right}, {"range", Align::right}, {"unit"}, {"confidence"}, {"source"}},
              rows, colour_out());
  std::cout << "\n  --set technology.ROW=VALUE puts a figure of yours in a row's place.\n";
  return exit_ok;
}

int print_metrics(const TableOptions& options) {
  if (options.json) return print_json(metrics_json()), exit_ok;
  std::vector<TextRow> rows;
  for (const auto& row : metrics())
    rows.push_back(
        {std::string(row.name), std::string(row.unit), std::string(better_text(row.better)), std::string(row.en)});
  print_table(std::cout, {{"metric"}, {"unit"}, {"better"}, {""}}, rows, colour_out());
  return exit_ok;
}

int print_presets(const TableOptions& options) {
  if (options.json) return print_json(presets_json()), exit_ok;
  for (const auto& preset : presets()) {
    print_heading(std::cout, std::string(preset.name) + ": " + std::string(preset.en), colour_out());
    std::vector<TextRow> rows;
    for (const auto& row : parameters())
      if (row.read(preset.machine) != row.standard)
        rows.push_back({std::string(row.name), value_text(row, row.read(preset.machine)), std::string(row.unit)});
    if (rows.empty())
      std::cout << "  every parameter at its default\n";
    else
      print_table(std::cout, {{""}, {"", Align::right}, {""}}, rows, colour_out());
    std::cout << "\n";
  }
  return exit_ok;
}

int print_operators(const TableOptions& options) {
  const OrderedJson all = operators_json(operators_of(options.operators));
  if (options.json) return print_json(all), exit_ok;
  std::vector<TextRow> rows;
  for (const auto& row : all["operators"])
    rows.push_back({row["domain"], row["type"], row["mnemonic"], row["since"], row["family"],
                    row["origin"] == "file" ? "from a file" : ""});
  print_table(std::cout, {{"domain"}, {"operator"}, {"mnemonic"}, {"changed in opsets"}, {"family"}, {""}}, rows,
              colour_out());
  return exit_ok;
}

}  // namespace

void add_table_commands(CLI::App& app, Action& action) {
  const auto options = std::make_shared<TableOptions>();
  const auto add = [&](const char* name, const char* doc, int (*print)(const TableOptions&)) {
    auto* command = app.add_subcommand(name, doc);
    command->add_flag("--json", options->json, "JSON instead of a table");
    command->callback([&action, options, print] { action = [=] { return print(*options); }; });
    return command;
  };
  add("parameters", "Every parameter of a machine", print_parameters)
      ->add_option("--group", options->group, "Only this group: cores, arithmetic, sram, ...");
  add("technology", "Every figure of energy, area, clock and programmable logic, and its source", print_technology)
      ->add_option("--node", options->node, "Only rows that this node's or part's figures are made of: n7, ...");
  add("metrics", "Every metric of a design point", print_metrics);
  add("presets", "Named machines", print_presets);
  add_operators_option(*add("operators", "Every operator that a model may use", print_operators),
                       options->operators);
  app.add_subcommand("openapi", "The OpenAPI 3.1 document of `sdip serve`")->callback([&action] {
    action = [] { return print_json(openapi_json()), exit_ok; };
  });
  auto* mark = app.add_subcommand("signature", "One hash over what the engine says of a fixed set of cases");
  const auto text = std::make_shared<bool>(false);
  mark->add_flag("--text", *text, "The hashed text instead, to compare two versions");
  mark->callback([&action, text] {
    action = [text] {
      std::cout << (*text ? signature_text() : signature() + "\n");
      return exit_ok;
    };
  });
}

}  // namespace sdip
