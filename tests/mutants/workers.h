// Mutants tried in processes of their own: one that never ends or ends its process takes no other with it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sdip::mutants {

/// What became of a mutant.
enum class Fate : std::uint8_t { alive, differs, throws, crashes, hangs, fails };
inline constexpr std::size_t fate_count = 6;
const char* fate_text(Fate fate);

/// Shared by the processes, by mutant. `by`: the pair or test that caught it.
struct Ledger {
  Fate* fates = nullptr;
  std::int32_t* by = nullptr;
};
/// For `count` mutants, all alive.
Ledger shared_ledger(std::size_t count);

/// What workers are given: `jobs` numbers, taken in order. A job tries mutants by rising number; before each it
/// calls `trying(mutant, seconds)`, which says whether to try it, after it `trying(-1, 0)`. A process that ends, or
/// does not go on for that long, is replaced, its mutant marked as crashed or hanging (`by` the job), and the job
/// done again. A process that ends between two mutants has had its memory broken by one before: fewer and fewer are
/// then tried in one, until it is found. What `trying` throws to end a process is the job's to let pass.
using Trying = std::function<bool(int mutant, double seconds)>;
void run_jobs(std::int64_t jobs, int workers, const Ledger& ledger,
              const std::function<void(std::int64_t job, const Trying& trying)>& job);

}  // namespace sdip::mutants
