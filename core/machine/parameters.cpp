// The parameter table: rows made from parameters.def, and their text and JSON forms.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/machine/dram.h"
#include "core/machine/former.h"
#include "core/machine/machine.h"
#include "core/machine/stage_rows.h"

namespace sdip {
namespace {

#define SET(type) constexpr std::string_view type##_values[] = {
#define VALUE(identifier, text) text,
#define END \
  }         \
  ;
#include "core/machine/choices.def"
#undef SET
#undef VALUE
#undef END

template <class Choice>
constexpr std::span<const std::string_view> values_of() {
  static_assert(sizeof(Choice) == 0, "a choice without a set in choices.def");
  return {};
}

#define SET(type)                                                 \
  template <>                                                     \
  constexpr std::span<const std::string_view> values_of<type>() { \
    return type##_values;                                         \
  }
#define VALUE(identifier, text)
#define END
#include "core/machine/choices.def"
#undef SET
#undef VALUE
#undef END

constexpr auto format_values = [] {
  std::array<std::string_view, std::size(number_formats)> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = number_formats[i].name;
  return values;
}();

template <>
constexpr std::span<const std::string_view> values_of<NumberFormat>() {
  return format_values;
}

template <class Choice>
constexpr std::int64_t last_of() {
  return static_cast<std::int64_t>(values_of<Choice>().size()) - 1;
}

/// A row whose member is of that type.
template <auto member>
constexpr std::int64_t read_row(const Machine& m) {
  return coded(m.*member);
}
template <auto member>
constexpr void write_row(Machine& m, std::int64_t value) {
  using Field = std::remove_reference_t<decltype(m.*member)>;
  if constexpr (std::is_same_v<Field, Decimal>)
    m.*member = Decimal{value};
  else
    m.*member = static_cast<Field>(value);
}

#define MADE(type, group, effect, change, gives, name, standard, least, most, choices, unit, en, ja) \
  {#name,                                                                                            \
   ParameterType::type,                                                                              \
   #group,                                                                                           \
   unit,                                                                                             \
   standard,                                                                                         \
   least,                                                                                            \
   most,                                                                                             \
   choices,                                                                                          \
   en,                                                                                               \
   ja,                                                                                               \
   read_row<&Machine::name>,                                                                         \
   write_row<&Machine::name>,                                                                        \
   ParameterEffect::effect,                                                                          \
   ChangeKind::change,                                                                               \
   Gives::gives},
constexpr std::span<const std::string_view> none;
constexpr ParameterRow rows[] = {
#define COUNT(group, effect, change, gives, name, standard, least, most, unit, en, ja) \
  MADE(count, group, effect, change, gives, name, standard, least, most, none, unit, en, ja)
#define DECIMAL(group, effect, change, name, standard, least, most, unit, en, ja) \
  MADE(decimal, group, effect, change, nothing, name, standard, least, most, none, unit, en, ja)
#define CHOICE(group, effect, change, name, type, standard, en, ja)                                              \
  MADE(choice, group, effect, change, nothing, name, coded(standard), 0, last_of<type>(), values_of<type>(), "", \
       en, ja)
#define FLAG(group, effect, change, name, standard, en, ja) \
  MADE(flag, group, effect, change, nothing, name, standard, 0, 1, none, "", en, ja)
#include "core/machine/parameters.def"
#undef MADE
};

std::string expected(const ParameterRow& row) {
  switch (row.type) {
    case ParameterType::choice: {
      std::string text = "one of";
      for (const std::string_view choice : row.choices) text += " " + std::string(choice);
      return text;
    }
    case ParameterType::flag:
      return "true or false";
    case ParameterType::real:
      return "a number from " + value_text(row, row.least) + " to " + value_text(row, row.most);
    default:
      return std::string(row.type == ParameterType::count ? "a whole number" : "a number in hundredths") +
             " from " + value_text(row, row.least) + " to " + value_text(row, row.most);
  }
}

[[noreturn]] void refuse(const char* code, const ParameterRow& row, std::string_view text,
                         const std::string& where) {
  throw Error(code, where,
              std::string(row.name) + " = " + std::string(text.substr(0, 80)) + ": expected " + expected(row));
}

std::int64_t in_range(const ParameterRow& row, std::int64_t value, std::string_view text,
                      const std::string& where) {
  if (value < row.least || value > row.most) refuse("value_out_of_range", row, text, where);
  return value;
}

std::int64_t choice_index(const ParameterRow& row, std::string_view text, const std::string& where) {
  const auto found = std::ranges::find(row.choices, text);
  if (found == row.choices.end()) refuse("value_invalid", row, text, where);
  return found - row.choices.begin();
}

/// All of `digits`, which are the text or made of it.
template <class Number>
Number number_in(std::string_view digits, const ParameterRow& row, std::string_view text,
                 const std::string& where) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem == std::errc::result_out_of_range) refuse("value_out_of_range", row, text, where);
  if (problem != std::errc() || end != digits.data() + digits.size()) refuse("value_invalid", row, text, where);
  return value;
}

/// "12.34" as 1234; at most two digits after the point.
std::int64_t hundredths(const ParameterRow& row, std::string_view text, const std::string& where) {
  const auto point = std::min(text.find('.'), text.size());
  const std::string fraction(text.substr(std::min(point + 1, text.size())));
  if (fraction.size() > 2 || text.ends_with('.')) refuse("value_invalid", row, text, where);
  const std::string digits = std::string(text.substr(0, point)) + (fraction + "00").substr(0, 2);
  if (point == 0) refuse("value_invalid", row, text, where);
  return number_in<std::int64_t>(digits, row, text, where);
}

constexpr const char* technology_key = "technology";  // of machines in JSON

}  // namespace

std::span<const ParameterRow> parameters() { return rows; }

const ParameterRow* find_parameter(std::string_view name) {
  const auto row = std::ranges::find(rows, name, &ParameterRow::name);
  return row == std::end(rows) ? nullptr : &*row;
}

const ParameterRow* find_setting(std::string_view name) {
  if (!name.starts_with(technology_prefix)) {
    if (const ParameterRow* row = find_parameter(name)) return row;
    const FormerRow* former = find_former(name);
    return former == nullptr ? nullptr : &former->row;
  }
  const auto own = technology_parameters();
  const auto row = std::ranges::find(own, name, &ParameterRow::name);
  return row == own.end() ? nullptr : &*row;
}

std::string value_text(const ParameterRow& row, std::int64_t value) {
  switch (row.type) {
    case ParameterType::choice:
      return std::string(row.choices[at(value)]);
    case ParameterType::flag:
      return value != 0 ? "true" : "false";
    case ParameterType::decimal: {
      std::string text = std::to_string(value / 100);
      if (value % 100 == 0) return text;
      text += '.';
      text += static_cast<char>('0' + value % 100 / 10);
      if (value % 10 != 0) text += static_cast<char>('0' + value % 10);
      return text;
    }
    case ParameterType::real:
      return shortest_text(std::bit_cast<double>(value));
    case ParameterType::count:
      break;
  }
  return std::to_string(value);
}

namespace {

/// A number above 0 as its bits; all others lie below those.
std::int64_t real_bits(const ParameterRow& row, std::string_view text, const std::string& where) {
  const auto value = number_in<double>(text, row, text, where);
  if (!std::isfinite(value)) refuse("value_invalid", row, text, where);
  return value > 0 ? std::bit_cast<std::int64_t>(value) : 0;
}

}  // namespace

std::int64_t parse_value(const ParameterRow& row, std::string_view text, const std::string& where) {
  switch (row.type) {
    case ParameterType::choice:
      return choice_index(row, text, where);
    case ParameterType::flag:
      if (text != "true" && text != "false") refuse("value_invalid", row, text, where);
      return text == "true";
    case ParameterType::decimal:
      return in_range(row, hundredths(row, text, where), text, where);
    case ParameterType::real:
      return in_range(row, real_bits(row, text, where), text, where);
    case ParameterType::count:
      break;
  }
  return in_range(row, number_in<std::int64_t>(text, row, text, where), text, where);
}

nlohmann::json value_json(const ParameterRow& row, std::int64_t value) {
  switch (row.type) {
    case ParameterType::choice:
      return value_text(row, value);
    case ParameterType::flag:
      return value != 0;
    case ParameterType::decimal:
      return Decimal{value}.value();
    case ParameterType::real:
      return std::bit_cast<double>(value);
    case ParameterType::count:
      break;
  }
  return value;
}

std::int64_t value_from_json(const ParameterRow& row, const nlohmann::json& value, const std::string& where) {
  const bool fits = row.type == ParameterType::choice ? value.is_string()
                    : row.type == ParameterType::flag ? value.is_boolean()
                                                      : value.is_number();
  if (!fits)
    refuse("value_invalid", row, value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), where);
  return parse_value(row, value.is_string() ? value.get<std::string>() : value.dump(), where);
}

namespace {

void read_technology(const nlohmann::json& object, const std::string& pointer, std::vector<Setting>& settings) {
  if (!object.is_object())
    throw Error("value_invalid", pointer, "figures of one's own: expected a JSON object of rows and numbers");
  for (const auto& [name, value] : object.items()) {
    const ParameterRow* row = find_setting(std::string(technology_prefix) + name);
    if (!row)
      throw Error("unknown_parameter", pointer + "/" + name.substr(0, 80),
                  "no such row of the technology table; `sdip technology` lists them all");
    settings.push_back({row, value_from_json(*row, value, pointer + "/" + name)});
  }
}

}  // namespace

std::vector<std::string> assign_json(Machine& machine, const nlohmann::json& object, const std::string& pointer) {
  if (!object.is_object()) throw Error("value_invalid", pointer, "a machine: expected a JSON object of parameters");
  std::vector<Setting> settings;
  for (const auto& [name, value] : object.items()) {
    if (name == technology_key) {
      read_technology(value, pointer + "/" + name, settings);
      continue;
    }
    const ParameterRow* row = name.starts_with(technology_prefix) ? nullptr : find_setting(name);
    if (!row)
      throw Error("unknown_parameter", pointer + "/" + name.substr(0, 80),
                  "no such parameter; `sdip parameters` lists them all");
    settings.push_back({row, value_from_json(*row, value, pointer + "/" + name)});
  }
  return assign_settings(machine, settings);
}

nlohmann::ordered_json machine_json(const Machine& machine) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& row : rows) object[std::string(row.name)] = value_json(row, row.read(machine));
  for (const OwnFigure& own : machine.technology.figures()) {
    const std::string_view name = technology_parameters()[own.row].name;
    object[technology_key][std::string(name.substr(technology_prefix.size()))] = own.value;
  }
  return object;
}

std::vector<std::int64_t> compile_key(const Machine& machine) {
  Machine its = machine;  // of the kind of DRAM a program knows the size of an access alone
  its.dram_burst_bytes = dram_channels(machine).access_bytes;
  its.dram_kind = Machine().dram_kind;
  std::vector<std::int64_t> key;
  key.reserve(std::size(rows));
  // Row by row in the source: a sweep asks for the key of each machine.
#define ROW(effect, name) \
  if (ParameterEffect::effect <= ParameterEffect::program) key.push_back(coded(its.name));
#include "core/machine/parameters.def"
  const bool by_cores = machine.core_weights == CoreWeights::per_core || machine.branches != Branches::serial;
  key.push_back(by_cores ? machine.cores : 0);                            // else they do not change a program
  key.push_back(by_cores && says_rows(machine, OwnStage::text_encoder));  // it is one core then, whatever the row
  return key;
}

std::vector<std::int64_t> key_but_psram(Machine machine) {
  machine.psram_bytes = Machine().psram_bytes;
  return compile_key(machine);
}

}  // namespace sdip
