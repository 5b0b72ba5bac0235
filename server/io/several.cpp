// Options that take several values after one flag.
#include "server/io/several.h"

#include <algorithm>
#include <string_view>

#include "core/baseline/roofline.h"
#include "core/cost/price/estimate.h"
#include "core/program/compile/passes.h"

namespace sdip {
namespace {

using Looks = bool (*)(std::string_view word);

bool is_assignment(std::string_view word) {
  return word.find('=') != std::string_view::npos && !word.ends_with(".onnx");
}
bool is_json_file(std::string_view word) { return word.ends_with(".json"); }
bool is_any(std::string_view) { return true; }
bool is_number(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

bool has_star(std::string_view word) { return word.find('*') != std::string_view::npos; }
bool is_pass(std::string_view word) { return std::ranges::find(passes(), word, &Pass::name) != passes().end(); }
bool is_device(std::string_view word) { return find_device(word) != nullptr; }
bool is_metric(std::string_view word) {
  const bool directed = word.starts_with("max:") || word.starts_with("min:");
  return directed || find_metric(word) != nullptr;
}

struct SeveralRow {
  std::string_view flag;
  Looks looks;
};
constexpr SeveralRow several_rows[] = {
    {"--set", is_assignment},    {"--dim", is_assignment},   {"--input", is_assignment},
    {"--output", is_assignment}, {"--axis", is_assignment},  {"--operators", is_json_file},
    {"--program", is_any},       {"--layers", has_star},     {"--words", is_number},
    {"--print-after", is_pass},  {"--baselines", is_device}, {"--objectives", is_metric},
    {"--metric", is_assignment}};

/// The look of an option's further values; nullptr where it takes one value a flag.
Looks further_values(const CLI::App& command, const std::string& flag) {
  const CLI::Option* option = command.get_option_no_throw(flag);
  const auto row = std::ranges::find(several_rows, std::string_view(flag), &SeveralRow::flag);
  const bool several = option != nullptr && option->get_expected_max() > 1;
  return several && row != std::end(several_rows) ? row->looks : nullptr;
}

}  // namespace

std::vector<std::string> with_repeated_flags(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> spelled;
  const CLI::App* command = &app;
  std::string flag;
  Looks looks = nullptr;
  bool first = false, ended = false;  // whether the flag's own value comes next; whether "--" was met
  for (const std::string& word : arguments) {
    const bool is_flag = !ended && word.size() > 1 && word.starts_with('-') && !first;
    if (is_flag) {
      const auto equals = word.find('=');
      flag = word.substr(0, equals);
      looks = further_values(*command, flag);
      first = looks != nullptr && equals == std::string::npos;
      ended = word == "--";
    } else if (first) {
      first = false;
    } else if (looks != nullptr && !ended && looks(word)) {
      spelled.push_back(flag);
    } else {
      looks = nullptr;
      const auto named = command->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
      if (!ended && !named.empty()) command = named.front();
    }
    spelled.push_back(word);
  }
  return spelled;
}

}  // namespace sdip
