// sdip validate: estimate against executor, and tensors against the reference.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "core/base/error.h"
#include "server/cli/commands.h"
#include "server/io/said_formats.h"
#include "server/io/text.h"
#include "server/studies/validation.h"
#include "server/studies/validation_json.h"

namespace sdip {
namespace {

struct ValidateArguments {
  std::string model, formats;
  FileOptions files;
  MachineOptions machine;
  ValidationRequest request;
  bool json = false;
};

constexpr std::size_t most_listed = 10;

/// One number where both sides have it; else both, in full.
std::string both_text(const Both& both, std::string_view unit) {
  const bool plain = unit.empty() || unit == "beats";
  if (both.estimated == both.executed) {
    const std::string text =
        plain ? count_text(both.estimated) : quantity_text(static_cast<double>(both.estimated), unit);
    return text.substr(0, text.find(unit == "cycles" ? " cycles" : "\n"));  // the counters are named so
  }
  return count_text(both.estimated) + " / " + count_text(both.executed);
}

/// Without its unit, so that four stages fit a terminal of 80: bytes say theirs, the rest are cycles and beats.
std::string short_name(std::string_view name) {
  for (const std::string_view unit : {"_bytes", "_cycles"})
    if (name.ends_with(unit)) name.remove_suffix(unit.size());
  return std::string(name);
}

std::string cell_text(Verdict verdict) {
  return verdict == Verdict::not_compared ? "left out" : std::string(verdict_text(verdict));
}

/// A row a stage.
void print_stages(const Validation& validation) {
  std::vector<TextRow> rows;
  for (const StageCounters& stage : validation.counters)
    rows.push_back({stage.stage, cell_text(verdict_of(stage)),
                    count_text(std::ssize(stage.compared)) + " of " + count_text(stage.instructions),
                    count_text(std::ssize(stage.passes)), count_text(stage.tile_operations),
                    count_text(stage.values), count_text(stage.differences)});
  print_heading(std::cout, "Counters: the estimate beside the clock", colour_out());
  print_table(std::cout,
              {{"stage", Align::left, true},
               {""},
               {"instructions", Align::right},
               {"passes", Align::right},
               {"tile operations", Align::right},
               {"values", Align::right},
               {"differ", Align::right}},
              rows, colour_out());
  for (const StageCounters& stage : validation.counters)
    if (!stage.left_out.empty())
      std::cout << "  " << printable(stage.stage) << " was left out: " << printable(stage.left_out) << "\n";
}

/// The last pass stepped, a stage a column.
void print_totals(const Validation& validation) {
  std::vector<Column> columns = {{""}};
  for (const StageCounters& stage : validation.counters) columns.push_back({stage.stage, Align::right, true});
  std::vector<TextRow> rows;
  for (std::size_t r = 0; r < counter_rows().size(); ++r) {
    const CounterRow& counter = counter_rows()[r];
    if (counter.in_pass == InPass::nothing) continue;
    TextRow row = {short_name(counter.name)};
    for (const StageCounters& stage : validation.counters) {
      const auto total = stage.passes.empty() ? std::nullopt : stage.passes.back().totals[r];
      row.push_back(total ? both_text(*total, counter.unit) : "-");
    }
    rows.push_back(std::move(row));
  }
  const auto stepped = std::ranges::find_if(validation.counters, [](const auto& s) { return !s.peaks.empty(); });
  for (std::size_t p = 0; stepped != validation.counters.end() && p < stepped->peaks.size(); ++p) {
    TextRow row = {short_name(stepped->peaks[p].name)};
    for (const StageCounters& stage : validation.counters) {
      const Peak* peak = p < stage.peaks.size() ? &stage.peaks[p] : nullptr;
      row.push_back(!peak             ? "-"
                    : !peak->executed ? "not counted"
                                      : both_text({peak->estimated, *peak->executed}, "B"));
    }
    rows.push_back(std::move(row));
  }
  print_section(std::cout, "The last pass, in cycles, beats and bytes: estimate / clock where they differ", columns,
                rows, colour_out());
}

void print_tensors(const Validation& validation) {
  std::vector<TextRow> rows;
  std::vector<std::string> said;
  for (const StageTensors& stage : validation.tensors) {
    std::int64_t elements = 0;
    for (const LayerTensors& layer : stage.layers) elements += layer.result.elements;
    rows.push_back({stage.stage, cell_text(verdict_of(stage.compared, stage.differences)),
                    count_text(stage.compared) + " of " + count_text(stage.classes), count_text(elements),
                    count_text(stage.differences), count_text(stage.overflows)});
  }
  print_section(std::cout, "Tensors: one layer of each kind, executed beside its graph on seeded numbers",
                {{"stage", Align::left, true},
                 {""},
                 {"kinds of layer", Align::right},
                 {"elements", Align::right},
                 {"differ", Align::right},
                 {"overflow", Align::right}},
                rows, colour_out());
}

/// How many kinds of layer a stage left out, and each of the first few reasons.
void print_left_out(const Validation& validation) {
  for (const StageTensors& stage : validation.tensors) {
    std::map<std::string, std::int64_t> reasons;
    for (const LayerTensors& layer : stage.layers)
      if (!layer.left_out.empty()) ++reasons[layer.left_out];
    std::size_t listed = 0;
    for (const auto& [reason, kinds] : reasons) {
      if (listed++ == most_listed) {
        std::cout << "  " << printable(stage.stage) << ": and others for " << reasons.size() - most_listed
                  << " more reasons\n";
        break;
      }
      std::cout << "  " << printable(stage.stage) << ": " << kinds << (kinds == 1 ? " kind" : " kinds")
                << " left out: " << printable(reason) << "\n";
    }
  }
}

/// The first few layers whose tensors differ or overflow.
void print_layers(const Validation& validation) {
  std::size_t listed = 0, more = 0;
  for (const StageTensors& stage : validation.tensors)
    for (const LayerTensors& layer : stage.layers) {
      if (layer.failure.empty() && layer.result.differing == 0) continue;
      if (listed++ >= most_listed) {
        ++more;
        continue;
      }
      std::cout << "  " << printable(stage.stage) << " " << printable(layer.layer) << " ("
                << printable(layer.mnemonic) << "): ";
      if (!layer.failure.empty())
        std::cout << printable(layer.failure) << "\n";
      else
        std::cout << (layer.overflows ? "the accumulator overflows; " : "") << "element "
                  << layer.result.first->element << " is " << significant_text(layer.result.first->executed, 6)
                  << ", not " << significant_text(layer.result.first->expected, 6) << " within "
                  << significant_text(layer.result.allowed, 6) << "\n";
    }
  if (more > 0) std::cout << "  and " << more << " more\n";
}

std::string headline_of(const Validation& validation) {
  const Verdict verdict = verdict_of(validation);
  if (verdict == Verdict::not_compared) return "nothing could be compared";
  return verdict == Verdict::pass ? "pass" : count_text(coverage_of(validation).differences) + " differences";
}

void print_first(const Validation& validation) {
  const OrderedJson first = first_difference_json(validation);
  if (first.is_null()) return;
  std::cout << "First difference: " << printable(first["stage"].get<std::string>());
  if (!first["pass"].is_null()) std::cout << ", pass " << first["pass"];
  if (!first["instruction"].is_null())
    std::cout << ", instruction " << first["instruction"] << " (" << printable(first["layer"].get<std::string>())
              << ")";
  std::cout << ": " << printable(first["what"].get<std::string>());
  if (!first["estimated"].is_null())
    std::cout << (first["kind"] == "counter" ? ": estimate " : ": expected ") << first["estimated"] << ", executor "
              << first["executed"];
  std::cout << "\n";
}

int run_validate(const ValidateArguments& arguments) {
  ValidationRequest request = arguments.request;
  request.model = arguments.model;
  request.machine = machine_of(arguments.machine);
  request.formats = formats_of_file(arguments.formats);
  const Catalog catalog(file_models(arguments.files));
  const Validation validation = validate(catalog, request);
  if (arguments.json) {
    std::cout << json_text(validation_json(validation)) << "\n";
  } else if (validation.feasible) {
    print_heading(std::cout, "Validation of " + printable(request.model) + ": " + headline_of(validation),
                  colour_out());
    print_first(validation);
    std::cout << "\n";
    print_stages(validation);
    print_totals(validation);
    if (request.tensors) print_tensors(validation);
    print_left_out(validation);
    print_layers(validation);
  }
  if (!validation.feasible) return say_infeasible(validation.reason);
  return verdict_of(validation) == Verdict::pass ? exit_ok : exit_input;
}

}  // namespace

void add_validate_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<ValidateArguments>(
      app, action, "validate",
      "Compare the estimate with the executor, counter by counter, and the executor's tensors with the graph's; "
      "ends with 1 where something differs, or nothing could be compared",
      run_validate);
  command.add_option("MODEL", a.model, "A built-in model or an ONNX file")->required();
  add_several(command, "--layers", a.request.layers,
              "PATTERN of layers' names, * for any text, as in --mapping files; the others are not compared. "
              "Several, or repeated");
  command
      .add_option("--passes", a.request.passes,
                  "Passes to step; 0: as many as the estimate simulates until its state repeats")
      ->check(CLI::Range(std::int64_t{0}, most_validation_passes))
      ->capture_default_str();
  command.add_flag("--tensors,!--no-tensors", a.request.tensors,
                   "Also execute a layer of each kind and compare its result (the default)");
  add_seed_option(command, a.request.seed, "Seed of random inputs and weights");
  command
      .add_option("--seconds", a.request.seconds,
                  "Time for all of it, compiling apart; what does not fit is left out and said to be")
      ->check(CLI::Range(std::int64_t{1}, most_validation_seconds))
      ->capture_default_str();
  command.add_flag("--json", a.json, "As GET /validations/{id} gives its result");
  add_machine_options(command, a.machine);
  add_formats_option(command, a.formats);
  add_file_options(command, a.files);
}

}  // namespace sdip
