// The places of a source that mutants change, collected as edits. Internal to the rewriting.
#pragma once

#include "tests/mutants/rewrite.h"

namespace sdip::mutants {

/// `open` put before and `close` behind the tokens of `range`; or, with `replaces`, `open` in their place.
struct Edit {
  std::size_t begin = 0, end = 0;  // positions
  std::string open, close;
  bool replaces = false;
};

class Sites {
 public:
  Sites(const Reading& reading, std::string file, int first)
      : reading_(reading), file_(std::move(file)), next_(first) {}

  /// A number for a mutant at token `at`.
  int add(std::size_t at, std::string change, bool typed);
  void wrap(Range range, std::string open, std::string close);
  void replace(Range range, std::string text);

  std::string text() const;
  const std::vector<Mutant>& mutants() const { return mutants_; }

 private:
  const Reading& reading_;
  std::string file_;
  int next_ = 0;
  std::vector<Mutant> mutants_;
  std::vector<Edit> edits_;
};

void add_operators(const Reading& reading, Sites& sites);
void add_values(const Reading& reading, Sites& sites);
void add_statements(const Reading& reading, Sites& sites);

}  // namespace sdip::mutants
