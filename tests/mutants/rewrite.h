// A source with every mutation in it at once: each place that can go wrong asks for the number of the mutant that
// is chosen (tests/mutants/choice.h), so that one build holds them all.
//
// Worked example (rewrite_test.cpp). `return a + b;` has three mutants: `a - b`, and one more or less than the sum:
//   return mutant::off<1, true>(a + mutant::Plus<0>{} + b);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/mutants/reading.h"

namespace sdip::mutants {

/// One change of one place. `line`: the source's line there, trimmed; `change`: what stands there, and what
/// instead. `typed`: it exists only when the types have it, which the build finds out.
struct Mutant {
  int number = 0;
  std::string file, line, change;
  bool typed = false;
};

struct Rewritten {
  std::string text;
  std::vector<Mutant> mutants;
  std::vector<LeftAlone> left_alone;
};

/// `source` of `file` with its mutants numbered from `first`. Throws std::runtime_error when it cannot be read.
Rewritten rewrite(std::string_view source, const std::string& file, int first);

}  // namespace sdip::mutants
