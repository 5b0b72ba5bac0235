// sdip analyze: one design point, printed.
#include <algorithm>
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "core/baseline/chips.h"
#include "core/cost/price/fpga.h"
#include "server/cli/commands.h"
#include "server/cli/text/explain_text.h"
#include "server/cli/text/sensitivity_text.h"
#include "server/io/said_formats.h"
#include "server/io/text.h"
#include "server/json/explain_json.h"
#include "server/json/program_files.h"
#include "server/models/request.h"
#include "server/studies/analysis.h"

namespace sdip {
namespace {

struct PointArguments {
  std::string model, formats;
  std::vector<std::string> programs;
  FileOptions files;
  MachineOptions machine;
  std::int64_t layers = 0, top = 10, explained = 0;
  std::vector<std::string> metrics;
  bool json = false, explains = false;
};

/// A formula's value of a machine alone.
double value_of(const Formula& formula, const Analysis& analysis) {
  const Outcome& outcome = analysis.report.outcome;
  Space space;
  space.base = analysis.machine;
  return measure_of(Measure(formula), space, 0, outcome.values, outcome.feasible);
}

OrderedJson formulas_of_analysis(const std::vector<Formula>& formulas, const Analysis& analysis) {
  OrderedJson values = OrderedJson::object();
  for (const Formula& formula : formulas) values[formula.name] = number_or_null(value_of(formula, analysis));
  return values;
}

void print_metrics(const Analysis& analysis, const std::vector<Formula>& formulas) {
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < metric_count; ++i) {
    const auto& row = metrics()[i];
    rows.push_back(
        {std::string(row.name), quantity_text(analysis.report.outcome.values[i], row.unit), std::string(row.en)});
  }
  for (const Formula& formula : formulas)
    rows.push_back(
        {formula.name, quantity_text(value_of(formula, analysis), formula.unit), printable(formula.text)});
  print_table(std::cout, {{""}, {"", Align::right}, {""}}, rows, colour_out());
}

/// A stage a column: short enough for a terminal of 100.
void print_stages(const Report& report) {
  std::vector<Column> columns = {{""}};
  for (const auto& s : report.stages) columns.push_back({printable(s.name), Align::right});
  std::vector<TextRow> rows;
  for (const auto& field : record<StageReport>().fields()) {
    TextRow row = {std::string(field.words.en)};
    for (const auto& s : report.stages) {
      const OrderedJson figure = field.json(s);
      if (figure.is_number())
        row.push_back(quantity_text(figure.get<double>(), field.words.unit));
      else if (figure.is_string() && field.key != "name")
        row.push_back(figure.get<std::string>());
    }
    if (row.size() > 1) rows.push_back(std::move(row));
  }
  print_heading(std::cout, "Stages, a pass each", colour_out());
  print_table(std::cout, columns, rows, colour_out());
}

/// `ranges`: nullptr where every figure is what it is.
void print_breakdown(const char* title, const Breakdown& parts, std::string_view unit,
                     const Ranges* ranges = nullptr) {
  const double total = total_of(parts);
  const auto range_text = [&](double least, double most) {
    return quantity_text(least, unit) + " to " + quantity_text(most, unit);
  };
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [part, value] = parts[i];
    rows.push_back({part, quantity_text(value, unit), share_text(total > 0 ? value / total : 0)});
    if (ranges) rows.back().push_back(range_text(ranges->least[i].second, ranges->most[i].second));
  }
  std::vector<Column> columns = {{""}, {"", Align::right}, {"", Align::right}};
  std::string heading = std::string(title) + ": " + quantity_text(total, unit);
  if (ranges) {
    columns.push_back({""});
    heading += " (" + range_text(total_of(ranges->least), total_of(ranges->most)) + ")";
  }
  print_section(std::cout, heading, columns, rows, colour_out());
}

/// The stages' shares of a frame's energy, and what no layer has of it.
void print_energy_by_stage(const Report& report) {
  const auto with_stages = [&](const Breakdown& waiting, EnergyParts RangedEnergy::*end) {
    Breakdown parts;
    for (const StageReport& stage : report.stages)
      parts.emplace_back(printable(stage.name), total_of(stage.frame_energy.*end));
    for (const auto& [what, joules] : waiting) parts.emplace_back("waiting: " + printable(what), joules);
    return parts;
  };
  const Ranges ranges = {with_stages(report.waiting_energy_ranges_j.least, &RangedEnergy::least),
                         with_stages(report.waiting_energy_ranges_j.most, &RangedEnergy::most)};
  print_breakdown("Energy of one frame, by stage", with_stages(report.waiting_energy_j, &RangedEnergy::value), "J",
                  &ranges);
}

/// A memory a row, in the order they are filled; of an FPGA its configuration first, which no cycle counts.
void print_load(const Load& load) {
  const auto seconds = [](double value) { return quantity_text(value, "s"); };
  std::vector<TextRow> rows;
  if (const auto& part = load.configuration)
    rows.push_back({"configuration", quantity_text(part->bytes.value, "B"), "-", seconds(part->seconds.value),
                    seconds(part->seconds.least) + " to " + seconds(part->seconds.most)});
  for (const LoadPart& part : load.parts) {
    rows.push_back({std::string(part.memory), quantity_text(static_cast<double>(part.bytes.value), "B"),
                    count_text(part.cycles.value), seconds(part.seconds), ""});
  }
  print_section(std::cout,
                fmt::format("Before processing: {}, of them {} of loading", seconds(load.seconds),
                            quantity_text(static_cast<double>(load.cycles.value), "cycles")),
                {{""}, {"bytes", Align::right}, {"cycles", Align::right}, {"time", Align::right}, {""}}, rows,
                colour_out());
  if (load.kept > Bytes(0))
    std::cout << "  the first pass brings " << quantity_text(static_cast<double>(load.kept.value), "B")
              << " of weights that stay in PSRAM\n";
}

void print_clock_limit(const ClockLimit& limit) {
  const auto mhz = [](double value) { return count_text(std::llround(value)) + " MHz"; };
  std::cout << "\n  fastest clock: " << mhz(limit.mhz) << " (" << mhz(limit.least_mhz) << " to "
            << mhz(limit.most_mhz) << "), of " << limit.circuit;
  if (limit.supply_mv > 0) std::cout << "; the chip runs at " << count_text(limit.supply_mv) << " mV";
  std::cout << "\n";
}

void print_heat(const Heat& heat) {
  std::cout << "  the die gives off " << quantity_text(heat.watts_per_mm2, "W/mm2") << " of at most "
            << quantity_text(heat.most_watts_per_mm2, "W/mm2") << " and reaches "
            << count_text(std::llround(heat.celsius)) << " of at most "
            << count_text(std::llround(heat.most_celsius)) << " C\n";
}

/// How far to believe energy and area: what they lean on, and how known chips come out.
void print_trust(const Report& report) {
  const auto errors = [](const ChipErrors& e) {
    const auto percent = [](double share) {
      return std::string(share < 0 ? "-" : "+") + count_text(std::llround(std::abs(share) * 100)) + " %";
    };
    return fmt::format("{} to {} of {}", percent(e.least), percent(e.most), count_text(e.chips));
  };
  const KnownChipErrors& known = known_chip_errors();
  std::cout
      << "\n  " << share_text(report.assumed.energy) << " of the energy and " << share_text(report.assumed.area)
      << " of the area grow with assumptions (sdip technology)\n  known chips that nothing was fitted on: power "
      << errors(known.power) << ", area " << errors(known.area) << " (sdip chips)\n";
}

void print_dies(const std::vector<DieReport>& dies) {
  for (const DieReport& die : dies)
    std::cout << "  " << count_text(die.count) << (die.count == 1 ? " die of " : " dies of ")
              << quantity_text(die.area_mm2.value, "mm2") << " (" << quantity_text(die.area_mm2.least, "mm2")
              << " to " << quantity_text(die.area_mm2.most, "mm2") << "), yield " << share_text(die.yield) << "\n";
}

void print_fpga(const FpgaUse& use) {
  std::vector<TextRow> rows;
  for (const FpgaUse::Resource& one : use.resources)
    rows.push_back({std::string(one.name), count_text(std::llround(one.needed)),
                    count_text(std::llround(one.available)),
                    one.available > 0 ? share_text(one.needed / one.available) : "-"});
  const std::string limit =
      use.limit == no_fefet ? "no part has FeFET memories" : std::string(use.limit) + " limits";
  print_section(
      std::cout,
      std::string(use.fits ? "The machine fits its part" : "The machine does not fit its part") + ": " + limit,
      {{""}, {"needed", Align::right}, {"available", Align::right}, {"", Align::right}}, rows, colour_out());
}

/// The part that takes most of an instruction's energy.
std::string largest_part(const InstructionCost& cost) {
  const auto most = std::ranges::max_element(cost.energy_parts);
  return std::string(energy_part_text(static_cast<EnergyPart>(most - cost.energy_parts.begin())));
}

struct Layer {
  std::size_t stage, index;
  std::int64_t cycles;
};

/// The report's layers, in program order.
std::vector<Layer> layers_of(const Report& report) {
  std::vector<Layer> layers;
  for (std::size_t s = 0; s < report.stages.size(); ++s)
    for (std::size_t i = 0; i < report.stages[s].instructions.size(); ++i) {
      const auto& cost = report.stages[s].instructions[i];
      layers.push_back({s, i, (cost.end - cost.start).value});
    }
  return layers;
}

void print_layers(const Analysis& analysis, std::string_view title, const std::vector<Layer>& layers) {
  const double frame_j = total_of(analysis.report.energy_j);
  std::vector<TextRow> rows;
  for (const auto& layer : layers) {
    const auto& stage = analysis.report.stages[layer.stage];
    const auto& cost = stage.instructions[layer.index];
    const auto& instruction = analysis.application.stages[layer.stage].program.instructions[layer.index];
    const double share = static_cast<double>(layer.cycles) /
                         static_cast<double>(std::max<std::int64_t>(stage.steady_cycles.value, 1));
    const double of_frame = total_of(cost.frame_energy.value);
    rows.push_back({printable(stage.name), std::to_string(layer.index), printable(instruction.name),
                    printable(instruction.mnemonic), shape_text(output_shape(analysis, layer.stage, layer.index)),
                    count_text(layer.cycles), share_text(share), std::string(resource_text(cost.limiter)),
                    count_text((cost.stall_weights + cost.stall_activations + cost.stall_program).value),
                    quantity_text(cost.energy_j, "J"), largest_part(cost), quantity_text(of_frame, "J"),
                    share_text(frame_j > 0 ? of_frame / frame_j : 0)});
  }
  print_section(std::cout, title,
                {{"stage"},
                 {"#", Align::right},
                 {"node", Align::left, true},
                 {"operation", Align::left, true},
                 {"output", Align::left, true},
                 {"cycles", Align::right},
                 {"of pass", Align::right},
                 {"limited by", Align::left, true},
                 {"stalled", Align::right},
                 {"J a pass", Align::right},
                 {"mostly", Align::left, true},
                 {"J a frame", Align::right},
                 {"of frame", Align::right}},
                rows, colour_out());
}

void print_analysis(const Analysis& analysis, const PointArguments& arguments,
                    const std::vector<Formula>& formulas) {
  const auto& report = analysis.report;
  print_heading(std::cout,
                printable(analysis.model) + " on " + arguments.machine.preset +
                    (arguments.machine.file.empty() && arguments.machine.changes.empty() ? "" : ", changed"),
                colour_out());
  if (!report.outcome.feasible)
    std::cout << "  infeasible: " << printable(report.outcome.reason) << "\n";
  else
    print_metrics(analysis, formulas);
  if (!report.stages.empty()) std::cout << "\n", print_stages(report);
  if (report.outcome.feasible) {
    print_breakdown("Latency of one frame", report.latency_s, "s");
    print_breakdown("Energy of one frame", report.energy_j, "J", &report.energy_ranges_j);
    print_energy_by_stage(report);
    print_breakdown("Area", report.area_mm2, "mm2", &report.area_ranges_mm2);
    print_dies(report.dies);
    print_trust(report);
    if (!report.price_usd.empty()) {
      print_breakdown("Price", report.price_usd, "USD", &report.price_ranges_usd);
      print_breakdown("A million images", report.million_images_usd, "USD");
    }
    print_breakdown("Leakage", report.leakage_w, "W");
    print_clock_limit(report.clock_limit);
    if (report.heat) print_heat(*report.heat);
    print_load(report.load);
  }
  if (report.fpga) print_fpga(*report.fpga);
  auto layers = layers_of(report);
  if (arguments.layers != 0) {
    auto listed = layers;
    if (arguments.layers > 0) listed.resize(std::min(listed.size(), as_size(arguments.layers)));
    if (!listed.empty()) print_layers(analysis, "Layers, in program order", listed);
  }
  std::ranges::stable_sort(layers, std::ranges::greater{}, &Layer::cycles);
  layers.resize(std::min(layers.size(), as_size(std::max<std::int64_t>(arguments.top, 0))));
  if (!layers.empty()) print_layers(analysis, "Slowest layers, steady pass", layers);
  if (!report.notes.empty()) std::cout << "\n", print_heading(std::cout, "Notes", colour_out());
  for (const auto& note : report.notes) std::cout << "  - " << printable(note) << "\n";
}

OrderedJson explained_json(const Catalog& catalog, const Analysis& analysis, const PointArguments& arguments) {
  OrderedJson object =
      explanation_json(analysis, explain(analysis.application, analysis.machine, as_size(arguments.explained)));
  if (arguments.programs.empty())
    object["sensitivities"] = sensitivities_json(
        arguments.model,
        analyze_changes(catalog, {{arguments.model, 1}}, analysis.machine, formats_of_file(arguments.formats)));
  return object;
}

void print_explained(const Catalog& catalog, const Analysis& analysis, const PointArguments& arguments) {
  const Explanation explanation = explain(analysis.application, analysis.machine, as_size(arguments.explained));
  if (!explanation.feasible) std::cout << "  infeasible: " << printable(explanation.reason) << "\n";
  print_explanation(std::cout, analysis, explanation, colour_out());
  if (arguments.programs.empty())  // a program is of one machine's memories and formats
    print_sensitivities(
        std::cout,
        analyze_changes(catalog, {{arguments.model, 1}}, analysis.machine, formats_of_file(arguments.formats)),
        colour_out());
}

int run_analysis(const PointArguments& arguments) {
  if (arguments.explains && (arguments.explained < 1 || arguments.explained > most_explained_layers))
    throw Error("value_out_of_range", "--explain", "expected 1 to " + std::to_string(most_explained_layers));
  const Machine machine = machine_of(arguments.machine);
  const std::vector<Formula> formulas = formulas_of(arguments.metrics);
  require_model_or_program(arguments.model, !arguments.programs.empty(), arguments.files);
  const Catalog catalog(file_models(arguments.files));
  const Analysis analysis = arguments.programs.empty()
                                ? analyze(catalog, arguments.model, machine, formats_of_file(arguments.formats))
                                : analyze_programs(arguments.programs, machine, catalog.operators());
  if (arguments.json) {
    OrderedJson object = arguments.explains ? explained_json(catalog, analysis, arguments)
                                            : analysis_json(analysis, arguments.layers != 0);
    if (!formulas.empty()) object["formulas"] = formulas_of_analysis(formulas, analysis);
    print_json(object);
  } else if (arguments.explains) {
    print_explained(catalog, analysis, arguments);
  } else {
    print_analysis(analysis, arguments, formulas);
  }
  return analysis.report.outcome.feasible ? exit_ok : exit_infeasible;
}

}  // namespace

void add_point_command(CLI::App& app, Action& action) {
  const auto [command, a] =
      add_command<PointArguments>(app, action, "analyze", "What a model costs on a machine", run_analysis);
  command.add_option("MODEL", a.model, "A built-in model or an ONNX file");
  add_machine_options(command, a.machine);
  add_file_options(command, a.files);
  add_formats_option(command, a.formats);
  command.add_flag("--json", a.json, "JSON instead of tables");
  add_several(command, "--program", a.programs,
              "A program instead of a model: .graph text or its binary form, a stage each; several, or repeated");
  auto* layers =
      command.add_option("--layers", a.layers, "Every layer in program order, or the first N")->expected(0, 1);
  add_formula_option(command, a.metrics);
  command.add_option("--top", a.top, "How many of the slowest layers to list")->capture_default_str();
  auto* explained =
      command
          .add_option("--explain", a.explained,
                      "Instead: what limits, every formula filled in, of the worst N kinds of layers; 5")
          ->expected(0, 1);
  command.parse_complete_callback([&a = a, layers, explained] {
    if (explained->count() > 0 && explained->results().front().empty()) a.explained = usual_explained_layers;
    a.explains = explained->count() > 0;
    if (layers->count() > 0 && layers->results().front().empty()) a.layers = -1;
  });
}

}  // namespace sdip
