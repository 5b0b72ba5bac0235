// Random (program, machine) pairs, what is found on each, and what is counted of all.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/program/tiling/mapping_cache.h"
#include "tests/witness/cases.h"
#include "tests/witness/compare.h"

namespace sdip::witness {

/// A drawn pair: one stage on a machine; where `compiled`, the stages of a small network compiled for it.
struct Pair {
  std::uint64_t seed = 0;
  bool compiled = false;
  Machine machine;
  std::vector<CompiledStage> stages;
  Role role = Role::network;  // of a compiled one: its network, and what was found compiling it
  std::int64_t blocks = 0;
  std::shared_ptr<MappingCache> mappings{};
};

/// The pair of a seed: the same one always. Three in ten are compiled.
Pair drawn_pair(std::uint64_t seed);
inline bool is_compiled(std::uint64_t seed) { return seed % 10 < 3; }

/// Instructions of a pair's program: of its longest stage, parts of one network together; what is hoisted out of it
/// is another program.
std::int64_t program_length(const std::vector<CompiledStage>& stages);

/// What a pair exercises.
enum class Trait {
  stalls_on_weights,
  overflows_an_sram,
  ragged_tiles,
  fills_psram,
  several_cores,
  pushes_nested,
  count
};
inline constexpr std::size_t trait_count = static_cast<std::size_t>(Trait::count);
std::string_view trait_text(Trait trait);
using Traits = std::array<bool, trait_count>;
Traits traits_of(const Pair& pair, const std::vector<Comparison>& runs);

/// A difference with all that is needed to see it again.
struct Finding {
  std::uint64_t seed = 0;
  std::string change;  // "as drawn", "linear_lanes_m 3 -> 7"
  Difference difference;
};

/// Counts over many pairs.
struct Census {
  std::int64_t pairs = 0, compiled = 0, instructions = 0, least_instructions = 1 << 30, tile_operations = 0;
  std::int64_t repeats = 0, reported = 0;  // of the pairs' stages
  std::int64_t stages = 0, changes = 0;    // compared; with one row changed
  std::int64_t shared_groups = 0;          // pairs with weights of groups that several cores share
  std::array<std::int64_t, trait_count> traits{};
  std::map<std::string, std::int64_t, std::less<>> tried, changed;       // by row: changed; of them a counter did
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> choices;  // by row and choice: changed from or to it
  std::vector<bool> together;  // settings() in force in one pair: a row of the matrix each, the later row above
  std::vector<Finding> findings;

  void count(const Pair& pair, const std::vector<Comparison>& runs);
  /// The length of a program that was compared, as drawn or changed.
  void count_program(const Pair& pair) {
    least_instructions = std::min(least_instructions, program_length(pair.stages));
  }
  /// What is in force in a pair that was compared.
  void count_settings(const Pair& pair);
  /// A row changed from one value to another, and whether a counter changed.
  void count_change(const ParameterRow& row, std::int64_t from, std::int64_t to, bool counter);
  /// Cases of rows that act on the pair, those that changed counters least often first.
  std::vector<const ValidationCase*> least_proved(const Pair& pair) const;
  void add(const Census& other);
};

/// Rows changed one at a time on a pair, each of which changes a counter: enough for 500 of every row in 10,000.
inline constexpr std::int64_t changes_of_a_pair = 7;

/// Gives the row another value, and compiles the pair again where it is compiled. False where that is no machine,
/// none that can run the program, or makes it shorter than `least_instructions`; the pair is then not to be used.
bool change_row(Dice& dice, const ParameterRow& row, const ValidationCase& one, Pair& pair);

/// Draws the pair of a seed, compares it, then changes rows one by one, those least proved so far in `census`
/// first, until `changes` of them did change a counter, and compares again.
void witness_pair(std::uint64_t seed, std::int64_t changes, Census& census);

/// Settings of rows: each choice of a choice or flag; of a number, its default or another. An `option` is a choice,
/// or a number that is not its default.
struct Setting {
  std::string row, text;
  bool option = true;
};
const std::vector<Setting>& settings();

/// Options of two rows, both possible at once, that no pair had in force together: "a=x, b=y".
std::vector<std::string> missing_pairs(const Census& census);

/// The census as a table for docs/model/counting.md.
std::string census_table(const Census& census);

}  // namespace sdip::witness
