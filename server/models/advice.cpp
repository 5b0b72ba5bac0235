// Advice on what a user still has to give for a model.
#include "server/models/advice.h"

#include <algorithm>
#include <set>

#include "server/io/text.h"

namespace sdip {
namespace {

constexpr std::size_t most_advised = 64;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '/' || c == ':' || c == '=';
}

std::string percent_encoded(const std::string& word) {
  std::string text;
  for (const char c : word) {
    const auto code = static_cast<unsigned char>(c);
    text += is_plain(c) ? std::string(1, c)
                        : std::string{'%', "0123456789ABCDEF"[code >> 4], "0123456789ABCDEF"[code & 15]};
  }
  return text;
}

void add_given(std::string& text, const char* key, const std::string& word, Asking asking) {
  if (asking == Asking::options)
    text += (text.empty() ? "--" : " --") + std::string(key) + " " +
            (std::ranges::all_of(word, is_plain) ? word : shell_quoted(word));
  else
    text += (text.empty() ? "" : "&") + std::string(key) + "=" + percent_encoded(word);
}

/// Dimensions that nothing gives a size, those that are assumed among them.
std::vector<std::string> open_dimensions(const ModelSurvey& survey, const GivenSoFar& so_far) {
  std::set<std::string> known;
  for (const SurveyedValue& input : survey.inputs)
    if (so_far.inputs.contains(input.name)) known.insert(input.dims.begin(), input.dims.end());
  std::vector<std::string> names = survey.free_dimensions;
  std::erase_if(names, [&](const std::string& name) { return so_far.dims.contains(name) || known.contains(name); });
  return names;
}

std::string dims_to_give(const ModelSurvey& survey, const GivenSoFar& so_far, Asking asking) {
  std::set<std::string> first;
  for (const SurveyedValue& input : survey.inputs)
    if (!input.dims.empty()) first.insert(input.dims.front());
  std::string text;
  std::size_t said = 0;
  for (const std::string& name : open_dimensions(survey, so_far)) {
    if (++said > most_advised) return text + (asking == Asking::options ? " ..." : "&...");
    const bool channels = name.find("channel") != std::string::npos;  // of a latent image: 4
    add_given(text, "dim", name + (first.contains(name) ? "=1" : channels ? "=4" : "=64"), asking);
  }
  return text;
}

/// The input that `where`, "FILE: NAME", ends with.
std::string input_of(const ModelSurvey& survey, const std::string& where) {
  for (const SurveyedValue& input : survey.inputs)
    if (where.ends_with(": " + input.name)) return input.name;
  return "";
}

}  // namespace

std::vector<std::string> unbound_dimensions(const ModelSurvey& survey, const GivenSoFar& so_far) {
  std::vector<std::string> names = open_dimensions(survey, so_far);
  const std::set<std::string> assumed(survey.assumed.begin(), survey.assumed.end());
  std::erase_if(names, [&](const std::string& name) { return assumed.contains(name); });
  return names;
}

std::string to_give(const ModelSurvey& survey, const GivenSoFar& so_far, const Error& error, Asking asking) {
  if (error.code == "unbound_dimension") return dims_to_give(survey, so_far, asking);
  std::string text;
  const std::string input = error.code == "input_needed" ? input_of(survey, error.where) : "";
  if (!input.empty()) add_given(text, "input", input + "=VALUE", asking);
  return text;
}

bool takes_advice(const Error& error) {
  return error.code == "unbound_dimension" || error.code == "input_needed" || error.code == "shape_mismatch";
}

Error advised(const Error& error, const ModelSurvey& survey, const GivenSoFar& so_far, Asking asking) {
  const std::string give = to_give(survey, so_far, error, asking);
  const auto with = [&](const std::string& more) { return Error(error.code, error.where, error.what() + more); };
  if (!give.empty()) {
    const bool sizes = error.code == "unbound_dimension";
    return with((asking == Asking::options ? "; add " : "; add to the query ") + give +
                (sizes ? ", with sizes of yours: 64 is an example" : ", with a value of yours"));
  }
  std::string sizes;
  for (const auto& [name, size] : so_far.dims)
    sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ", ", name, size);
  for (const std::string& name : survey.assumed) sizes += (sizes.empty() ? "" : ", ") + name + "=1 (assumed)";
  if (error.code != "shape_mismatch" || sizes.empty()) return error;
  return with("; perhaps because of a size that the file leaves open: " + sizes.substr(0, 1000));
}

}  // namespace sdip
