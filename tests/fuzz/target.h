// What is fuzzed: one function of bytes each, with seeds and a way to change an input.
#pragma once

#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdip::fuzz {

using Random = std::minstd_rand;  // small, and the same numbers everywhere

/// A number below `end`, which must be above 0.
inline std::size_t below(Random& random, std::size_t end) { return random() % end; }

struct Target {
  std::string_view name;
  /// Reads an input as the product does. Returns what came of it in short ("graph", or an error's code); an
  /// exception other than Error leaves it: a finding.
  std::string (*run)(std::string_view input);
  std::string (*changed)(const std::string& input, Random& random);
  std::vector<std::string> (*seeds)();
};

/// In targets.cpp bytes: any bytes; models: sound models with fields changed; external: descriptors of external
/// data. In programs.cpp program_text and program_binary: programs with words changed.
std::span<const Target> targets();

/// Bytes set, inserted, removed, doubled; numbers at the ends of their ranges.
std::string changed_bytes(const std::string& input, Random& random);

/// A few fields of a model changed: types, sizes, attributes, names; nodes doubled, removed, put into subgraphs and
/// functions. Bytes that are no model are changed as bytes.
std::string changed_model(const std::string& input, Random& random);

/// Small models of each construct: products, shape chains, branches, loops, scans, functions, narrow types.
std::vector<std::string> small_models();

}  // namespace sdip::fuzz
