// The parameters of an SDIP and of what it is asked to run: one value that holds every row of parameters.def.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/number_format.h"
#include "core/machine/own_technology.h"

namespace sdip {

#define SET(type) enum class type : std::int64_t {
#define VALUE(identifier, text) identifier,
#define END \
  }         \
  ;
#include "core/machine/choices.def"
#undef SET
#undef VALUE
#undef END

/// A fixed-point parameter in hundredths: Decimal{150} is 1.50.
struct Decimal {
  std::int64_t hundredths = 0;
  friend constexpr auto operator<=>(Decimal, Decimal) = default;
  constexpr double value() const { return static_cast<double>(hundredths) / 100.0; }
};

/// A design point. Every field is a row of parameters.def, at its default; and rows of the technology table.
struct Machine {
#define COUNT(group, effect, change, gives, name, standard, ...) std::int64_t name = standard;
#define DECIMAL(group, effect, change, name, standard, ...) Decimal name{standard};
#define CHOICE(group, effect, change, name, type, standard, ...) type name = standard;
#define FLAG(group, effect, change, name, standard, ...) bool name = standard;
#include "core/machine/parameters.def"
  OwnTechnology technology;
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// The value of a field in the coding of ParameterRow.
template <class Field>
constexpr std::int64_t coded(Field value) {
  if constexpr (std::is_same_v<Field, Decimal>)
    return value.hundredths;
  else
    return static_cast<std::int64_t>(value);
}

enum class ParameterType { count, decimal, real, choice, flag };

/// The first thing that a row changes; all that comes after it may change, too. results: which numbers are
/// computed, or where they are rounded; program: the program that computes them; cost: what its instructions take
/// in cycles and bytes; chip: area, and energies of events; frame: the channel, clocks, and how often things are
/// done, none of those.
enum class ParameterEffect { results, program, cost, chip, frame };

/// The kind of change that another value of a row is. design: the chip, priced by the area model; unpriced: the
/// chip or its board, whose cost no term of that model has; task: what is asked for; results: what is computed
/// differs; assumption: of the process, the weights or what is left out.
enum class ChangeKind { design, unpriced, task, results, assumption };

/// The gain of a greater value of a row. rate: cycles or seconds, of instructions, transfers or a clock that it
/// allows. room: for what is held, or for area. nothing: it has no such end, or is an assumption, which is never
/// offered as a gain; choices and flags have no more.
enum class Gives { rate, room, nothing };

/// One row of parameters.def, or a figure of the technology table. `read` and `write` use one integer coding for
/// every type: a count is itself, a decimal its hundredths, a real above 0 its bits (they have its order), a choice
/// its index, a flag 0 or 1.
struct ParameterRow {
  std::string_view name;
  ParameterType type;
  std::string_view group;
  std::string_view unit;
  std::int64_t standard, least, most;         // in that coding, both ends included
  std::span<const std::string_view> choices;  // empty unless type is choice
  std::string_view en, ja;
  std::int64_t (*read)(const Machine&);
  void (*write)(Machine&, std::int64_t);
  ParameterEffect effect = ParameterEffect::cost;
  ChangeKind change = ChangeKind::design;
  Gives gives = Gives::nothing;
};

/// Whether the row can change a program, not only what it costs.
constexpr bool changes_program(const ParameterRow& row) { return row.effect <= ParameterEffect::program; }

/// All rows, in the order of parameters.def.
std::span<const ParameterRow> parameters();

/// The row of that name, or nullptr.
const ParameterRow* find_parameter(std::string_view name);

/// All rows of the technology table as parameters, "technology." and the row's name: the table's figure until one
/// is written.
std::span<const ParameterRow> technology_parameters();
inline constexpr std::string_view technology_prefix = "technology.";

/// The row of either, or one of the version before (core/machine/former.h), or nullptr: `--set` and the axes of a
/// sweep may name all of them.
const ParameterRow* find_setting(std::string_view name);

/// The value as text, as in JSON and on the command line: "16", "1.5", "0.07", "int8", "true".
std::string value_text(const ParameterRow& row, std::int64_t value);

/// Reads such a text. Throws Error("value_invalid" | "value_out_of_range", where, ...).
std::int64_t parse_value(const ParameterRow& row, std::string_view text, const std::string& where);

/// The value as a JSON value (number, string or boolean), and back; same errors as parse_value.
nlohmann::json value_json(const ParameterRow& row, std::int64_t value);
std::int64_t value_from_json(const ParameterRow& row, const nlohmann::json& value, const std::string& where);

/// Sets fields of `machine` from a JSON object {name: value}, its own figures from {"technology": {row: value}}.
/// Unknown keys throw Error("unknown_parameter", pointer, ...). Returns warnings of names of the version before.
std::vector<std::string> assign_json(Machine& machine, const nlohmann::json& object,
                                     const std::string& pointer = "");

/// Every field, as a JSON object in row order; last "technology", where there are figures of its own.
nlohmann::ordered_json machine_json(const Machine& machine);

/// Rules between fields that single rows cannot say (accumulators as wide as operands, DRAM rate representable,
/// shares that leave the cores some bandwidth). Throws Error("value_conflict", name, ...).
void check_machine(const Machine& machine);

/// The values of the rows that can change a program, in row order, and the number of cores where these share a
/// frame (branches=parallel): equal keys compile to equal programs.
std::vector<std::int64_t> compile_key(const Machine& machine);

/// The same without the capacity of PSRAM, of which an application says its range.
std::vector<std::int64_t> key_but_psram(Machine machine);

/// A named machine.
struct Preset {
  std::string_view name;
  std::string_view en, ja;
  Machine machine;
};
/// "essay" (the seed essay's machine), "edge" (8 MB of SRAM), "stream" (many cores, streaming),
/// "balanced" (what one would build), and "pynq-attention", whose memories hold no other model than its own. All
/// pass check_machine.
std::span<const Preset> presets();
/// Those that hold any model.
std::span<const Preset> diffusion_presets();
const Preset* find_preset(std::string_view name);
/// The one that a request or a command gets that names none.
inline constexpr std::string_view default_preset = "balanced";

}  // namespace sdip
