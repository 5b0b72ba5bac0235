// sdip traffic: what each option of the compiler does to a model's traffic.
#include <iostream>
#include <memory>

#include "core/study/traffic.h"
#include "server/cli/commands.h"
#include "server/io/json_in.h"
#include "server/io/text.h"

namespace sdip {
namespace {

struct TrafficArguments {
  std::string model, format = "text";
  FileOptions files;
  MachineOptions machine;
};

OrderedJson row_json(const TrafficRow& row) {
  return {{"options", row.options},
          {"stacked", row.stacked},
          {"infeasible", row.infeasible.empty() ? OrderedJson(nullptr) : OrderedJson(row.infeasible)},
          {"instructions", row.instructions},
          {"dram_weights_bytes", row.dram_weights_bytes},
          {"dram_activations_in_bytes", row.dram_activations_in_bytes},
          {"dram_activations_out_bytes", row.dram_activations_out_bytes},
          {"macs", row.macs},
          {"steady_cycles", row.cycles}};
}

void print_csv(const std::vector<TrafficRow>& rows) {
  std::cout << "options,stacked,feasible,instructions,dram_weights_bytes,dram_activations_in_bytes,"
               "dram_activations_out_bytes,macs,steady_cycles\n";
  for (const TrafficRow& row : rows)
    std::cout << row.options << ',' << row.stacked << ',' << row.infeasible.empty() << ',' << row.instructions
              << ',' << row.dram_weights_bytes << ',' << row.dram_activations_in_bytes << ','
              << row.dram_activations_out_bytes << ',' << row.macs << ',' << row.cycles << '\n';
}

void print_rows(const std::vector<TrafficRow>& all) {
  const auto [rows, no_change] = shortened(all);
  std::vector<TextRow> cells;
  const auto first = static_cast<double>(rows.at(0).dram_bytes());
  const auto bytes = [](std::int64_t count) { return quantity_text(static_cast<double>(count), "B"); };
  bool stacked = false;
  for (const TrafficRow& row : rows) {
    if (row.stacked && !stacked) cells.push_back({"one on top of the other:", "", "", "", "", "", "", ""});
    stacked = row.stacked;
    if (!row.infeasible.empty()) {
      cells.push_back({row.options, "infeasible", "", "", "", "", "", ""});
      continue;
    }
    cells.push_back({row.options, count_text(row.instructions), bytes(row.dram_weights_bytes),
                     bytes(row.dram_activations_in_bytes), bytes(row.dram_activations_out_bytes),
                     first > 0 ? share_text(static_cast<double>(row.dram_bytes()) / first) : "-",
                     quantity_text(static_cast<double>(row.macs), "MAC"),
                     quantity_text(static_cast<double>(row.cycles), "cycles")});
  }
  print_table(std::cout,
              {{"options"},
               {"instructions", Align::right},
               {"DRAM, weights", Align::right},
               {"activations in", Align::right},
               {"out", Align::right},
               {"of the first", Align::right},
               {"MACs", Align::right},
               {"steady pass", Align::right}},
              cells, colour_out());
  for (std::size_t i = 0; i < no_change.size(); ++i)
    std::cout << (i == 0 ? "\nNo change from the first row with " : ", ") << no_change[i];
  if (!no_change.empty()) std::cout << "\n";
}

int run_traffic(const TrafficArguments& arguments) {
  const Machine machine = machine_of(arguments.machine);
  const Catalog catalog(file_models(arguments.files));
  const std::vector<TrafficRow> rows = traffic_rows(catalog.workloads(), arguments.model, machine);
  if (arguments.format == "json")
    return print_json({{"model", arguments.model}, {"rows", json_list(rows, row_json)}});
  if (arguments.format == "csv")
    print_csv(rows);
  else
    print_rows(rows);
  return exit_ok;
}

}  // namespace

void add_traffic_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<TrafficArguments>(
      app, action, "traffic", "What each option of the compiler does to a model's DRAM traffic", run_traffic);
  command.add_option("MODEL", a.model, "A built-in model or an ONNX file")->required();
  add_format_option(command, a.format, "text, csv or json", {"text", "csv", "json"});
  add_machine_options(command, a.machine);
  add_file_options(command, a.files);
}

}  // namespace sdip
