// sdip tiling: what the best tiling of each convolution and product moves, beside the bound.
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "server/cli/commands.h"
#include "server/io/text.h"
#include "server/studies/tiling_report.h"

namespace sdip {
namespace {

struct TilingArguments {
  std::string model, format = "text";
  std::vector<std::int64_t> words;
  FileOptions files;
  MachineOptions machine;
  bool on_machine = false;
};

int run_tiling(TilingArguments arguments) {
  const Catalog catalog(file_models(arguments.files));
  if (arguments.format == "markdown") {
    if (!arguments.model.empty() || !arguments.words.empty() || arguments.on_machine)
      throw Error("value_conflict", "--format", "markdown is the fixed table of docs/model/tiling.md");
    print_tilings_markdown(std::cout, catalog);
    return exit_ok;
  }
  if (arguments.words.empty())
    for (std::int64_t size = 1 << 16; size <= 1 << 24; size *= 2) arguments.words.push_back(size);
  for (const std::int64_t size : arguments.words)
    if (size < 1 || size > most_words)
      throw Error("value_out_of_range", "--words", "expected 1 to 2^60, found " + std::to_string(size));
  const Machine machine = machine_of(arguments.machine);
  const auto layers = tile_models(catalog, arguments.model.empty() ? tiled_models() : std::vector{arguments.model},
                                  arguments.words, arguments.on_machine ? &machine : nullptr);
  if (arguments.format == "json")
    std::cout << json_text(tilings_json(layers), 2) << "\n";
  else if (arguments.format == "csv")
    print_tilings_csv(std::cout, layers);
  else
    print_tilings(std::cout, layers, colour_out());
  return exit_ok;
}

}  // namespace

void add_tiling_command(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<TilingArguments>();
  auto* command = app.add_subcommand(
      "tiling", "Words that the best tiling of each layer moves, beside the least that any schedule could");
  command->add_option("MODEL", arguments->model,
                      "A built-in model or an ONNX file; else the networks of SD 1.5, and ResNet-50");
  command
      ->add_option(
          "--words", arguments->words,
          "Words of one memory, single-buffered; several, or repeated. Else powers of two from 64 Ki to 16 Mi")
      ->allow_extra_args(false);
  command
      ->add_option("--format", arguments->format, "text, csv, json, or markdown: the table of docs/model/tiling.md")
      ->check(CLI::IsMember({"text", "csv", "json", "markdown"}))
      ->capture_default_str();
  add_machine_options(*command, arguments->machine);
  add_file_options(*command, arguments->files);
  command->footer("With --preset, --machine or --set also the bytes of the mapping that this machine takes.");
  command->callback([&action, arguments, command] {
    for (const char* option : {"--preset", "--machine", "--set"})
      arguments->on_machine = arguments->on_machine || command->count(option) > 0;
    action = [=] { return run_tiling(*arguments); };
  });
}

}  // namespace sdip
