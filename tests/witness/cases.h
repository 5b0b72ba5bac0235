// What proves each row of parameters.def: one validation case a row, and how its values are drawn.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/program.h"
#include "tests/core/cost/random_program.h"

namespace sdip::witness {

/// How a row is proved. toggled: the same program on a machine with another value. compiled: what the row shapes is
/// compiled again. The others say why no counter of a pass can change: it is seconds, energy, area or price, or
/// which stages a frame sums.
enum class Proof { toggled, compiled, seconds, energy, area, frames, price };
std::string_view proof_text(Proof proof);

/// A row of the table. Numbers are drawn as multiples of `unit` between `least` and `most`.
struct ValidationCase {
  std::string_view name;
  Proof proof;
  std::int64_t least = 0, most = 0, unit = 1;
  /// Whether the row can act on that stage at all; nullptr: on any.
  bool (*acts)(const Machine&, const CompiledStage&) = nullptr;
  /// What makes a compiled row act.
  void (*prepare)(Machine&, Dice&) = nullptr;
  bool changes_counters() const { return proof == Proof::toggled || proof == Proof::compiled; }
};
std::span<const ValidationCase> validation_cases();
/// How often so many pairs change a counter by it, at least: a twentieth of them, but a row of one stage, or of one
/// operator's DSRAM, acts in few.
std::int64_t wanted_changes(const ValidationCase& one, std::int64_t pairs);
const ValidationCase* find_case(std::string_view name);

/// What the table of parameters has and the cases have not, a sentence each: rows without a case, cases without a
/// row. Empty when all is well.
std::vector<std::string> missing_cases(std::span<const ParameterRow> rows, std::span<const ValidationCase> cases);

/// A value of the row; the default one in five times.
std::int64_t drawn_value(Dice& dice, const ParameterRow& row, const ValidationCase& one);

/// A machine with every row drawn, memories apart, which check_machine accepts.
Machine drawn_machine(Dice& dice);

/// Where rows exclude each other, those that are not `kept` give way.
void reconcile(Machine& machine, std::string_view kept = {});

/// Whether a machine can be, for check_machine, and is on no FPGA part, which holds few of those drawn.
bool is_possible(const Machine& machine);

}  // namespace sdip::witness
