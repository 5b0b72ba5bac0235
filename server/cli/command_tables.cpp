// sdip parameters, metrics, presets, openapi, signature: the tables, printed.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "core/base/list_text.h"
#include "core/machine/shown.h"
#include "core/study/signature.h"
#include "server/api/openapi.h"
#include "server/cli/commands.h"
#include "server/io/text.h"
#include "server/json/tables_json.h"
#include "server/models/operator_files.h"
#include "server/models/request.h"

namespace sdip {
namespace {

struct TableOptions {
  std::string group, node;
  std::vector<std::string> operators, described;
  bool json = false;
};

std::string range_text(const ParameterRow& row) {
  if (row.type == ParameterType::flag) return "true false";
  if (row.type != ParameterType::choice) return value_text(row, row.least) + " .. " + value_text(row, row.most);
  return list_text(row.choices, std::identity(), " ");
}

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
                    std::string(row.unit), range_text(row), shown_text(row), std::string(row.en)});
  }
  if (!found) throw Error("value_invalid", "--group", "no parameter is in group " + options.group.substr(0, 80));
  if (options.json) return print_json({{"parameters", kept}});
  print_table(std::cout,
              {{"parameter"}, {"group"}, {"default", Align::right}, {"unit"}, {"values"}, {"with"}, {""}}, rows,
              colour_out());
  return exit_ok;
}

/// Six digits at most.
std::string short_text(double value) {
  return value == std::floor(value) ? fixed_text(value, 0) : significant_text(value, 6);
}

int print_technology(const TableOptions& options) {
  const auto wanted = rows_of_node(options.node, "--node");
  if (options.json) return print_json(technology_json(wanted));
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

std::vector<std::string> predicted_cells(const Predicted& predicted) {
  const auto digits = [](double value) { return significant_text(value, 3); };
  if (!(predicted.value > 0)) return {"-", "-", "-", "-"};
  std::vector<std::string> cells = {digits(predicted.value),
                                    digits(predicted.least) + " .. " + digits(predicted.most)};
  if (!predicted.published) return cells.insert(cells.end(), {"-", "-"}), cells;
  const long error = std::lround(100 * (*predicted.error() - 1));
  cells.push_back(digits(*predicted.published) + " " + std::string(predicted.kind));
  cells.push_back(fmt::format("{}{} %", error > 0 ? "+" : "", error));
  return cells;
}

/// A chip in words "node_nm=7", "weights=bf16", "scope=chip", "macs_per_clk=65536": what a chip of the table is
/// described by. Throws Error("value_invalid", "--describe", ...).
struct DescribedChip {
  std::vector<ChipFigure> figures;
  Chip chip{"described",        "described",        ChipUse::predict, 7,          NumberFormat::bf16,
            NumberFormat::bf16, NumberFormat::fp32, ChipScope::chip,  "described"};

  explicit DescribedChip(const std::vector<std::string>& words) {
    for (const std::string& word : words) add(word);
    chip.described = figures;
  }
  DescribedChip(const DescribedChip&) = delete;
  DescribedChip& operator=(const DescribedChip&) = delete;

 private:
  void add(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), text = equals < word.size() ? word.substr(equals + 1) : "";
    const auto format = std::ranges::find(number_formats, text, &NumberFormatRow::name);
    const bool known_format = format != std::end(number_formats);
    const auto as = static_cast<NumberFormat>(format - std::begin(number_formats));
    if (known_format && name == "weights") return void(chip.weights = as);
    if (known_format && name == "activations") return void(chip.activations = as);
    if (known_format && name == "sums") return void(chip.sums = as);
    constexpr std::string_view scopes[] = {"chip", "die", "core"};
    const auto scope = std::ranges::find(scopes, text);
    if (name == "scope" && scope != std::end(scopes))
      return void(chip.scope = static_cast<ChipScope>(scope - std::begin(scopes)));
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto row = std::ranges::find(chip_figures(), name, &ChipFigure::name);
    const bool whole = error == std::errc() && end == text.data() + text.size() && number >= 0 && number < 1e9;
    if (whole && name == "node_nm" && number > 0) return void(chip.node_nm = number);
    if (!whole || row == chip_figures().end())
      throw Error("value_invalid", "--describe",
                  word.substr(0, 80) +
                      ": expected node_nm, weights, activations, sums, scope or a figure of `sdip chips --json`, "
                      "and its value");
    figures.push_back({"described", row->name, number, "described", "the command line"});
  }
};

int print_chips(const TableOptions& options) {
  const DescribedChip described(options.described);
  const std::span<const Chip> others(&described.chip, options.described.empty() ? 0 : 1);
  const std::vector<ChipPrediction> predictions = predict_chips(others);
  if (options.json) return print_json(chips_json(predictions));
  std::vector<TextRow> rows;
  for (const ChipPrediction& one : predictions) {
    TextRow row = {std::string(one.chip->name), short_text(one.chip->node_nm),
                   std::string(chip_use_text(one.chip->use))};
    for (const Predicted* predicted : {&one.area_mm2, &one.power_w})
      for (std::string& cell : predicted_cells(*predicted)) row.push_back(std::move(cell));
    row.push_back(short_text(std::floor(one.clock_limit_mhz)));
    row.push_back(one.clock_mhz ? short_text(*one.clock_mhz) : "-");
    rows.push_back(std::move(row));
  }
  print_table(std::cout,
              {{"chip"},
               {"nm", Align::right},
               {"use"},
               {"mm2", Align::right},
               {"range"},
               {"published"},
               {"error", Align::right},
               {"W", Align::right},
               {"range"},
               {"published"},
               {"error", Align::right},
               {"MHz at most", Align::right},
               {"shipped", Align::right}},
              rows, colour_out());
  std::cout << "\n  fit: constants were fitted on it; predict: they were not; check: a chip described in part.\n"
               "  --json has every figure that a chip is described by, and its source.\n";
  return exit_ok;
}

int print_metrics(const TableOptions& options) {
  if (options.json) return print_json(metrics_json());
  std::vector<TextRow> rows;
  for (const auto& row : metrics())
    rows.push_back(
        {std::string(row.name), std::string(row.unit), std::string(better_text(row.better)), std::string(row.en)});
  print_table(std::cout, {{"metric"}, {"unit"}, {"better"}, {""}}, rows, colour_out());
  return exit_ok;
}

int print_presets(const TableOptions& options) {
  if (options.json) return print_json(presets_json());
  for (const auto& preset : presets()) {
    print_heading(std::cout, fmt::format("{}: {}", preset.name, preset.en), colour_out());
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
  if (options.json) return print_json(all);
  std::vector<TextRow> rows;
  for (const auto& row : all["operators"])
    rows.push_back({row["domain"], row["type"], row["mnemonic"], row["since"], row["family"],
                    row["origin"] == "file" ? "from a file" : ""});
  print_table(std::cout, {{"domain"}, {"operator"}, {"mnemonic"}, {"changed in opsets"}, {"family"}, {""}}, rows,
              colour_out());
  return exit_ok;
}

struct SignatureArguments {
  bool text = false, of_devices = false;
};

int print_signature(const SignatureArguments& a) {
  if (a.of_devices)
    std::cout << (a.text ? devices_signature_text() : devices_signature() + "\n");
  else
    std::cout << (a.text ? signature_text() : signature() + "\n");
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
  add("chips", "Published chips: area, power and clock as priced here, and as published", print_chips)
      ->add_option("--describe", options->described,
                   "One more chip: node_nm=7 weights=bf16 macs_per_clk=65536 sram_mib=144 clock_mhz=1050 ...");
  add("metrics", "Every metric of a design point", print_metrics);
  add("presets", "Named machines", print_presets);
  add_operators_option(*add("operators", "Every operator that a model may use", print_operators),
                       options->operators);
  app.add_subcommand("openapi", "The OpenAPI 3.1 document of `sdip serve`")->callback([&action] {
    action = [] { return print_json(openapi_json()); };
  });
  const auto [mark, signed_text] = add_command<SignatureArguments>(
      app, action, "signature", "One hash over what the engine says of a fixed set of cases", print_signature);
  mark.add_flag("--text", signed_text.text, "The hashed text instead, to compare two versions");
  mark.add_flag("--devices", signed_text.of_devices, "Of what the models of published machines say, instead");
}

}  // namespace sdip
