// sdip tiling: what the best tiling of each convolution and product moves, beside the bound.
#include <algorithm>
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/base/words.h"
#include "core/program/tiling/chain_words.h"
#include "core/program/tiling/tiling.h"
#include "server/cli/commands.h"
#include "server/io/text.h"
#include "server/studies/tiling_report.h"

namespace sdip {
namespace {

struct TilingArguments {
  std::string model, format = "text";
  std::vector<std::int64_t> words;
  std::vector<std::string> chains;
  FileOptions files;
  MachineOptions machine;
  bool on_machine = false;
};

/// "4096x320x2560x320": rows, inputs, hidden features, outputs.
ProductChain chain_of(const std::string& text) {
  constexpr std::int64_t most_size = 1 << 24;
  std::vector<std::int64_t> sizes;
  for (const std::string_view word : split(text, 'x')) sizes.push_back(whole_number(word).value_or(0));
  if (sizes.size() != 4 ||
      std::ranges::any_of(sizes, [](std::int64_t size) { return size < 1 || size > most_size; }))
    throw Error("value_invalid", "--chain",
                text.substr(0, 80) + ": expected ROWSxINPUTSxHIDDENxOUTPUTS, each from 1 to 2^24");
  return {sizes[0], sizes[1], sizes[2], sizes[3]};
}

/// Words that two products move one after the other; nothing where there is no room.
std::optional<std::int64_t> words_apart(const ProductChain& chain, std::int64_t words) {
  const auto moved = [&](std::int64_t sums, std::int64_t channels) {
    Nest nest;
    nest.loops.out_h = nest.loops.in_h = chain.rows;
    nest.loops.in_channels = sums, nest.loops.out_channels = channels;
    nest.weighted = true;
    return best_tiling(nest, words);
  };
  const auto first = moved(chain.inputs, chain.hidden), second = moved(chain.hidden, chain.outputs);
  return first && second ? std::optional(first->price + second->price) : std::nullopt;
}

std::string schedule_text(const ProductChain& chain, const ChainSchedule& schedule) {
  const std::string held = count_text(schedule.held) + " of " + count_text(chain.hidden) + " features held";
  if (schedule.order == ChainOrder::features) return "rows pass " + held;
  return fmt::format("{} strips of {} rows, {}", count_text(ceil_div(chain.rows, schedule.strip)),
                     count_text(schedule.strip), held);
}

int run_chains(const TilingArguments& arguments) {
  OrderedJson all = OrderedJson::array();
  std::vector<TextRow> rows;
  for (const std::string& text : arguments.chains) {
    const ProductChain chain = chain_of(text);
    for (const std::int64_t words : arguments.words) {
      const auto apart = words_apart(chain, words);
      const auto joined = least_chain(chain, words);
      const auto number = [](const auto& value) { return value ? count_text(*value) : std::string("-"); };
      all.push_back({{"chain", text},
                     {"words", words},
                     {"apart", apart ? OrderedJson(*apart) : OrderedJson()},
                     {"joined", joined ? OrderedJson(joined->words) : OrderedJson()},
                     {"strip", joined ? OrderedJson(joined->strip) : OrderedJson()},
                     {"held", joined ? OrderedJson(joined->held) : OrderedJson()},
                     {"least", least_chain_words(chain)}});
      rows.push_back({text, count_text(words), number(apart), joined ? count_text(joined->words) : "-",
                      count_text(least_chain_words(chain)), joined ? schedule_text(chain, *joined) : ""});
    }
  }
  if (arguments.format == "json") return print_json(all);
  print_table(std::cout,
              {{"chain"},
               {"words", Align::right},
               {"one by one", Align::right},
               {"middle on chip", Align::right},
               {"at least", Align::right},
               {"how"}},
              rows, colour_out());
  return exit_ok;
}

int run_tiling(const TilingArguments& given) {
  TilingArguments arguments = given;
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
  if (!arguments.chains.empty()) {
    if (!arguments.model.empty() || arguments.on_machine || arguments.format == "csv")
      throw Error("value_conflict", "--chain", "stands for itself: expected no model, no machine, text or json");
    return run_chains(arguments);
  }
  const Machine machine = machine_of(arguments.machine);
  const auto layers = tile_models(catalog, arguments.model.empty() ? tiled_models() : std::vector{arguments.model},
                                  arguments.words, arguments.on_machine ? &machine : nullptr);
  if (arguments.format == "json") return print_json(tilings_json(layers));
  if (arguments.format == "csv")
    print_tilings_csv(std::cout, layers);
  else
    print_tilings(std::cout, layers, colour_out());
  return exit_ok;
}

}  // namespace

void add_tiling_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<TilingArguments>(
      app, action, "tiling",
      "Words that the best tiling of each layer moves, beside the least that any schedule could", run_tiling);
  command.add_option("MODEL", a.model,
                     "A built-in model or an ONNX file; else the networks of SD 1.5, and ResNet-50");
  add_several(command, "--words", a.words,
              "Words of one memory, single-buffered; several, or repeated. Else powers of two from 64 Ki to 16 Mi");
  add_several(command, "--chain", a.chains,
              "Instead of a model: ROWSxINPUTSxHIDDENxOUTPUTS, two products in a row whose middle never leaves "
              "the memory, beside one after the other; repeated");
  add_format_option(command, a.format, "text, csv, json, or markdown: the table of docs/model/tiling.md",
                    {"text", "csv", "json", "markdown"});
  add_machine_options(command, a.machine);
  add_file_options(command, a.files);
  command.footer("With --preset, --machine or --set also the bytes of the mapping that this machine takes.");
  command.parse_complete_callback([&command = command, &on_machine = a.on_machine] {
    for (const char* option : {"--preset", "--machine", "--set"})
      on_machine = on_machine || command.count(option) > 0;
  });
}

}  // namespace sdip
