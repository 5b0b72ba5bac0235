// Mutants that nothing catches: which are known, and why each is no different program.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

#include "tests/mutants/rewrite.h"

namespace sdip::mutants {

/// The list that `mutate` wrote.
std::vector<Mutant> read_mutants(std::istream& in);

/// What names a mutant whatever the line's number: file, the line's text, the change, between tabs.
std::string key_of(const Mutant& m);

/// Proofs by key: lines "key TAB proof". Lines that begin with # are comments.
std::map<std::string, std::string> read_known(std::istream& in);

struct Verdict {
  bool good = false;
  std::string text;
};
/// Good when each mutant that is alive has a proof; and, where `whole` says that these are all mutants, 95 of 100
/// are caught.
Verdict judge(std::size_t mutants, bool whole, const std::vector<Mutant>& alive,
              const std::map<std::string, std::string>& known);

}  // namespace sdip::mutants
