// The text language of formats.
#include "core/program/form/format_text.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/escaped.h"
#include "core/base/list_text.h"
#include "core/program/kinds.h"
#include "core/program/tiling/mapping_text.h"
#include "core/program/tiling/rule_reader.h"

namespace sdip {
namespace {

struct FormatField {
  std::string_view name;
  std::optional<NumberFormat> FormatRule::*format;
};
constexpr FormatField format_fields[] = {{"weights", &FormatRule::weights},
                                         {"activations", &FormatRule::activations},
                                         {"accumulators", &FormatRule::accumulators}};

NumberFormat format_of(const RuleReader& reader, std::string_view text) {
  const auto* row = std::ranges::find(number_formats, text, &NumberFormatRow::name);
  if (row != std::end(number_formats)) return static_cast<NumberFormat>(row - std::begin(number_formats));
  const std::string all = list_text(number_formats, [](const NumberFormatRow& one) { return one.name; });
  reader.refuse(fmt::format("expected one of {}; found '{}'", all, printable(text.substr(0, 40))));
}

Family family_of(const RuleReader& reader, std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < pair_families; ++i) {
    const auto family = static_cast<Family>(i);
    if (family_text(family) == text) return family;
    all += (all.empty() ? "" : ", ") + std::string(family_text(family));
  }
  reader.refuse(fmt::format("expected one of {}; found '{}'", all, printable(text.substr(0, 40))));
}

/// "density=X" or "dense", taken; false for any other word.
bool take_density(const RuleReader& reader, std::string_view word, FormatRule& rule) {
  const bool dense = word == "dense";
  if (!dense && !word.starts_with("density=")) return false;
  if (rule.density_hundredths) reader.refuse("expected one density");
  if (rule.family && !is_nest(*rule.family))
    reader.refuse(
        fmt::format("a layer of family={} has no product with weights for a density", family_text(*rule.family)));
  rule.density_hundredths = dense ? 100 : density_of(word.substr(8));
  if (!rule.density_hundredths)
    reader.refuse("expected a density from 0.01 to 1; found '" + printable(word.substr(8, 40)) + "'");
  return true;
}

FormatRule parse_line(RuleReader& reader) {
  FormatRule rule;
  rule.line = reader.number;
  if (reader.line[reader.at] == '"')
    rule.pattern = reader.pattern();
  else if (const std::string_view word = reader.word(); word.starts_with("family="))
    rule.family = family_of(reader, word.substr(7));
  else
    reader.refuse("expected a pattern in double quotes, or family=");
  while (!reader.done()) {
    const std::string_view word = reader.word();
    if (take_density(reader, word, rule)) continue;
    const std::size_t equals = std::min(word.find('='), word.size());
    const auto field = std::ranges::find(format_fields, word.substr(0, equals), &FormatField::name);
    if (field == std::end(format_fields) || rule.*field->format || equals == word.size())
      reader.refuse("expected weights=, activations=, accumulators= and density=, once each; found '" +
                    printable(word.substr(0, 60)) + "'");
    rule.*field->format = format_of(reader, word.substr(equals + 1));
    if (field->format != &FormatRule::weights && is_block_format(*(rule.*field->format)))
      reader.refuse("blocks that share a scale are of weights alone; found '" + printable(word.substr(0, 60)) +
                    "'");
  }
  ++reader.field;
  const bool any =
      std::ranges::any_of(format_fields, [&](const FormatField& one) { return (rule.*one.format).has_value(); });
  if (!any && !rule.density_hundredths)
    reader.refuse("weights=, activations=, accumulators= or density= is missing");
  return rule;
}

}  // namespace

std::vector<FormatRule> parse_formats(std::string_view text, std::string_view where) {
  return parse_rules("formats_invalid", text, where, parse_line);
}

std::string format_rule_text(const FormatRule& rule) {
  std::string text = rule.family ? "family=" + std::string(family_text(*rule.family)) : "\"" + rule.pattern + "\"";
  for (const FormatField& field : format_fields)
    if (const auto& said = rule.*field.format) text += fmt::format(" {}={}", field.name, format_text(*said));
  if (rule.density_hundredths) text += " density=" + density_text(*rule.density_hundredths);
  return text;
}

std::string density_text(std::int64_t hundredths) {
  return value_text(*find_parameter("weight_density"), hundredths);
}

std::optional<std::int64_t> density_of(std::string_view text) {
  try {
    return parse_value(*find_parameter("weight_density"), text, "density");
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool matches(const FormatRule& rule, std::string_view stage, std::string_view name, Family family) {
  return rule.family ? *rule.family == family : names_layer(rule.pattern, stage, name);
}

}  // namespace sdip
