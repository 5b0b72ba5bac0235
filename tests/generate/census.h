// What is counted over many models.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/generate/apart.h"

namespace sdip::generate {

/// Findings that are known, "class | reason" a line of expected.txt; a class stands for all that begin with it.
/// The file of another folder has the same lines.
std::vector<std::pair<std::string, std::string>> expected_findings(
    const std::string& path = "tests/generate/expected.txt");
bool is_expected(const std::string& code);

struct Census {
  std::uint64_t models = 0;
  std::map<Verdict, std::uint64_t> verdicts;
  std::map<std::string, std::uint64_t> refusals, findings;  // by code, by class
  std::map<std::string, std::uint64_t> refused_details;     // by code and message
  std::map<std::string, std::vector<std::uint64_t>> seeds;  // the first of each class
  std::map<std::string, std::uint64_t> drawn;               // by operator and type
  std::map<std::int64_t, std::uint64_t> nodes;              // models by number of nodes
  std::uint64_t values = 0, executed = 0, tensors = 0;
  std::int64_t instructions = 0;

  void count(const Checked& checked);
  std::int64_t median_nodes() const;
  /// The share of models that a program was made of, or that need none.
  double compiled_share() const;
  /// Findings that are not expected, by class.
  std::map<std::string, std::uint64_t> unexpected() const;
  /// How often each operator of the table came with each of its types, the rarest first.
  std::vector<std::pair<std::uint64_t, std::string>> coverage() const;
  std::string text() const;
};

}  // namespace sdip::generate
