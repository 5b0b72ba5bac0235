// Models checked in processes of their own, so that a crash is one finding and the run goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/generate/check.h"

namespace sdip::generate {

/// What became of the model of a seed.
struct Checked {
  std::uint64_t seed = 0;
  Outcome outcome;
  std::vector<std::string> drawn;  // as Generated::drawn
};

/// Checks a model of a seed, telling its phases. Runs in a child.
using Checker = std::function<Checked(std::uint64_t seed, const PhaseObserver& phase)>;

/// The generated model of the seed on the seed's machine.
Checked check_seed(std::uint64_t seed, const PhaseObserver& phase);
/// The same for its import alone.
Checked import_seed(std::uint64_t seed, const PhaseObserver& phase);

inline constexpr unsigned longest_model_s = 60;  // of one model; beyond it hangs
inline constexpr std::uint64_t batch_size = 50;  // models of a child

/// Seeds [first, first + count), `jobs` children at a time. `each` is told of every one, in no order. A model that
/// ends its child is a finding, "crash 8 compile", and one that takes too long, "hang compile".
void check_apart(std::uint64_t first, std::uint64_t count, std::uint64_t jobs, const Checker& checker,
                 const std::function<void(const Checked&)>& each);

}  // namespace sdip::generate
