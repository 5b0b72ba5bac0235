// sdip accuracy: what a machine's number formats do to a model, by layer, by step and at the end.
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "server/cli/commands.h"
#include "server/io/said_formats.h"
#include "server/io/text.h"
#include "server/studies/accuracy.h"

namespace sdip {
namespace {

struct AccuracyArguments {
  std::string model, calibration = "minmax", sampler, formats;
  FileOptions files;
  MachineOptions machine;
  std::int64_t steps = 0, samples = 4, worst = 10;
  double percentile = 99.9;
  std::uint64_t seed = 0;
  bool json = false, layers = false, any_size = false;
};

std::string figure_text(double x, int places) {
  if (std::isnan(x)) return "-";
  if (std::isinf(x)) return x > 0 ? "exact" : "-inf";
  return fixed_text(x, places);
}

TextRow with_figures(TextRow row, const Deviation& deviation) {
  row.push_back(figure_text(deviation.sqnr_db(), 2));
  row.push_back(figure_text(deviation.cosine(), 6));
  return row;
}

constexpr const char* sqnr_title = "SQNR dB";

void print_stages(const AccuracyReport& report) {
  std::vector<TextRow> rows;
  for (const StageAccuracy& stage : report.stages)
    rows.push_back(with_figures(
        {stage.name, std::string(role_text(stage.role)),
         stage.steps.empty() ? "1" : std::to_string(stage.steps.size()), count_text(std::ssize(stage.layers))},
        stage.output));
  print_table(std::cout,
              {{"stage"},
               {"role"},
               {"passes", Align::right},
               {"results", Align::right},
               {sqnr_title, Align::right},
               {"cosine", Align::right}},
              rows, colour_out());
}

void print_steps(const StageAccuracy& stage) {
  if (stage.steps.empty()) return;
  print_heading(std::cout, "The latent of " + printable(stage.name) + " behind each step:", colour_out());
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < stage.steps.size(); ++i)
    rows.push_back(with_figures({std::to_string(i + 1), figure_text(stage.steps[i].t, 0)}, stage.steps[i].latent));
  print_table(std::cout,
              {{"step", Align::right}, {"t", Align::right}, {sqnr_title, Align::right}, {"cosine", Align::right}},
              rows, colour_out());
}

/// All, or those with the least signal to noise.
void print_layers(const StageAccuracy& stage, bool all, std::int64_t worst) {
  std::vector<const LayerAccuracy*> shown;
  for (const LayerAccuracy& layer : stage.layers) shown.push_back(&layer);
  if (!all) {
    std::ranges::stable_sort(shown, {}, [](const LayerAccuracy* one) {
      const double db = one->deviation.sqnr_db();
      return std::isnan(db) ? -HUGE_VAL : db;
    });
    shown.resize(std::min(shown.size(), as_size(worst)));
  }
  if (shown.empty()) return;
  print_heading(std::cout,
                (all ? "Results of " : "Results with the least signal to noise of ") + printable(stage.name) +
                    (stage.steps.empty() ? ":" : ", first step:"),
                colour_out());
  std::vector<TextRow> rows;
  for (const LayerAccuracy* layer : shown)
    rows.push_back(with_figures({layer->instruction, layer->op}, layer->deviation));
  print_table(std::cout,
              {{"instruction", Align::left, true}, {"op"}, {sqnr_title, Align::right}, {"cosine", Align::right}},
              rows, colour_out());
}

void print_report(const AccuracyArguments& arguments, const AccuracyPlan& plan, const AccuracyReport& report) {
  const Machine& machine = plan.request.machine;
  const auto name = [](NumberFormat format) { return std::string(format_text(format)); };
  print_heading(std::cout,
                printable(plan.request.model) + " with weights in " + name(machine.weight_format) +
                    ", activations in " + name(machine.activation_format) + ", sums in " +
                    name(machine.accumulator_format) +
                    (arguments.formats.empty() ? "" : ", layers as " + printable(arguments.formats) + " says") +
                    ", against its graph in fp32; " +
                    (plan.random_weights ? "random weights and inputs" : "its own weights, random inputs") +
                    ", seed " + std::to_string(arguments.seed) + ", " + arguments.calibration,
                colour_out());
  print_stages(report);
  for (const StageAccuracy& stage : report.stages) print_steps(stage);
  for (const StageAccuracy& stage : report.stages) print_layers(stage, arguments.layers, arguments.worst);
}

/// A line on a terminal's standard error.
std::function<bool(double)> progress_line() {
  if (::isatty(2) != 1) return {};
  return [](double share) {
    std::cerr << "\r\x1b[K" << (share < 1 ? share_text(share) : "") << std::flush;
    return true;
  };
}

AccuracyRequest request_of(const AccuracyArguments& arguments) {
  MachineOptions machine = arguments.machine;
  if (arguments.steps != 0) machine.changes.push_back("steps=" + std::to_string(arguments.steps));
  if (!arguments.sampler.empty()) machine.changes.push_back("sampler=" + arguments.sampler);
  AccuracyRequest request{arguments.model, machine_of(machine), {}, formats_of_file(arguments.formats)};
  request.options.seed = arguments.seed;
  request.options.samples = arguments.samples;
  request.options.rule = {calibration_named(arguments.calibration, "--calibration"), arguments.percentile};
  request.options.go_on = progress_line();
  check_accuracy_options(request.options, "--");
  return request;
}

int run_accuracy(const AccuracyArguments& arguments) {
  const Catalog catalog(file_models(arguments.files));
  const AccuracyPlan plan = accuracy_plan(catalog, request_of(arguments));
  if (!plan.application.feasible) return say_infeasible(plan.application.reason);
  if (!arguments.any_size) require_measurable(plan);
  const AccuracyReport report = measure(catalog, plan);
  if (arguments.json) return print_json(accuracy_json(plan, report));
  print_report(arguments, plan, report);
  return exit_ok;
}

}  // namespace

void add_accuracy_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<AccuracyArguments>(
      app, action, "accuracy",
      "What a machine's number formats do to a model's results: signal to noise of every layer, behind "
      "every diffusion step and at the end",
      run_accuracy);
  command.add_option("MODEL", a.model, "A built-in model or an ONNX file")->required();
  command.add_option("--steps", a.steps, "Diffusion steps, as --set steps=T")->check(CLI::Range(1, 1000));
  command.add_option("--sampler", a.sampler, "ddpm, ddim or euler, as --set sampler=S");
  command
      .add_option("--calibration", a.calibration,
                  "How scales of integer formats are chosen: minmax, percentile or mse")
      ->capture_default_str();
  command.add_option("--percentile", a.percentile, "Of --calibration percentile")->capture_default_str();
  command.add_option("--samples", a.samples, "Inputs to calibrate from")->capture_default_str();
  add_seed_option(command, a.seed,
                  "Seed of random inputs, of noise, and of the random weights of a built-in model");
  command.add_option("--worst", a.worst, "Layers to print: those with the least signal to noise")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_flag("--layers", a.layers, "Print every layer");
  command.add_flag("--json", a.json, "JSON instead of tables; it has every layer");
  command.add_flag("--any-size", a.any_size, "However long it takes");
  add_machine_options(command, a.machine);
  add_formats_option(command, a.formats);
  add_file_options(command, a.files);
}

}  // namespace sdip
