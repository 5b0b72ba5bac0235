// Exported graphs on drawn machines: one combination a seed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/machine/machine.h"
#include "tests/generate/apart.h"

namespace sdip::exports {

/// What combinations are made of: all rows of the book, those whose names have `only` in them, or files (.onnx,
/// .onnx.gz) with sizes for their free dimensions.
struct Graphs {
  std::vector<std::string> names;  // of rows, or paths
  bool files = false;
  std::map<std::string, std::int64_t> dims;
};
Graphs book_graphs(const std::string& only = "");

/// The graph of a seed: each in turn, so that as many combinations as there are graphs have each once. Throws
/// std::runtime_error for a file that is not there.
generate::Generated graph_of(const Graphs& graphs, std::uint64_t seed);
const std::string& name_of_seed(const Graphs& graphs, std::uint64_t seed);

/// The machine of a seed: one that the generator draws, or a preset with up to twelve rows of the table set to what
/// somebody would try.
Machine machine_of(std::uint64_t seed);

/// The graph of a seed on the machine of the seed, from bytes to counters and tensors.
generate::Checked check_combination(const Graphs& graphs, std::uint64_t seed, const generate::PhaseObserver& phase);

/// Whether a refusal is one of refused.txt, "code: message | reason" a line, or a finding one that is expected.
bool is_listed(const generate::Outcome& outcome);

}  // namespace sdip::exports
