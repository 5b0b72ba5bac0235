// Mutants tried in processes of their own.
#include "tests/mutants/workers.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace sdip::mutants {
namespace {

constexpr int failed = 4, more_to_try = 5;
constexpr int most_deaths = 5;  // of one worker at one job, without a mutant
// Sanitizers reserve terabytes of addresses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool limits_memory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool limits_memory = false;
#else
constexpr bool limits_memory = true;
#endif
#else
constexpr bool limits_memory = true;
#endif
constexpr rlim_t most_memory_bytes = rlim_t{6} << 30;

template <class T>
T* shared(std::size_t count) {
  void* const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  return static_cast<T*>(memory);  // all zero
}

struct Progress {
  std::atomic<std::int64_t> job;  // in work
  std::atomic<int> mutant, last;  // in work, or -1; the last that was
  std::atomic<int> tried;         // by this process
  // Where a process has died: of the job's, those below `first` are done, and one process tries `most` of the
  // others.
  std::atomic<int> first, most;
};
struct EnoughTried {};  // by one process
constexpr int all_of_them = std::numeric_limits<int>::max();

/// Beyond it the process dies of SIGPROF; the thread sanitizer keeps handlers from a loop that calls nothing.
void limit(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
  setitimer(ITIMER_PROF, &timer, nullptr);
}

/// A child's life: the job left undone, then others until none is left.
[[noreturn]] void work(std::int64_t unfinished, std::int64_t jobs, std::atomic<std::int64_t>& next, Progress& mine,
                       const std::function<void(std::int64_t, const Trying&)>& job) {
  const rlimit memory{most_memory_bytes, most_memory_bytes}, core{0, 0};
  if (limits_memory) setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &core);
  const int errors = dup(2), quiet = open("/dev/null", O_WRONLY);
  dup2(quiet, 1);
  dup2(quiet, 2);
  const Trying trying = [&](int mutant, double seconds) {
    if (mutant < 0) limit(0);  // first, so that its end is not another's
    if (mutant >= 0) {
      if (mutant < mine.first) return false;
      if (mine.tried == mine.most) throw EnoughTried();
      mine.last = mutant, ++mine.tried;
    }
    mine.mutant = mutant;
    if (mutant >= 0) limit(seconds);
    return true;
  };
  for (std::int64_t j = unfinished >= 0 ? unfinished : next++; j < jobs; j = next++) {
    mine.job = j;
    try {
      job(j, trying);
      mine.first = 0, mine.most = all_of_them;
    } catch (const EnoughTried&) {
      _exit(more_to_try);
    } catch (const std::exception& error) {
      dprintf(errors, "job %lld: %s\n", static_cast<long long>(j), error.what());
      _exit(failed);
    }
  }
  _exit(0);
}

}  // namespace

const char* fate_text(Fate fate) {
  constexpr const char* texts[fate_count] = {"alive", "differs", "throws", "crashes", "hangs", "fails"};
  return texts[static_cast<std::size_t>(fate)];
}

Ledger shared_ledger(std::size_t count) { return {shared<Fate>(count), shared<std::int32_t>(count)}; }

void run_jobs(std::int64_t jobs, int workers, const Ledger& ledger,
              const std::function<void(std::int64_t, const Trying&)>& job) {
  auto* const next = shared<std::atomic<std::int64_t>>(1);
  auto* const progress = shared<Progress>(static_cast<std::size_t>(workers));
  std::vector<pid_t> pids(static_cast<std::size_t>(workers));
  const auto start = [&](std::size_t w, std::int64_t unfinished) {
    progress[w].mutant = -1;
    progress[w].tried = 0;
    pids[w] = fork();
    if (pids[w] == 0) work(unfinished, jobs, *next, progress[w], job);
  };
  struct Deaths {
    std::int64_t job = -1;
    int count = 0;
  };
  std::vector<Deaths> deaths(pids.size());  // without a mutant
  for (std::size_t w = 0; w < pids.size(); ++w) {
    progress[w].most = all_of_them;
    start(w, -1);
  }
  for (std::size_t left = pids.size(); left > 0;) {
    int status = 0;
    const pid_t ended = wait(&status);
    std::size_t w = 0;
    while (w < pids.size() && pids[w] != ended) ++w;
    if (w == pids.size()) continue;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    if (code == 0) {
      --left;
      continue;
    }
    Progress& its = progress[w];
    if (code == more_to_try) {
      its.first = its.last + 1;
      its.most = std::min(all_of_them / 2, its.most.load()) * 2;
    } else if (its.mutant >= 0 && its.tried > 1 && !hung) {  // was it this one?
      its.first = its.mutant.load();
    } else if (its.mutant >= 0 || its.tried == 1) {
      const int mutant = its.mutant >= 0 ? its.mutant : its.last;
      ledger.by[mutant] = static_cast<std::int32_t>(its.job);
      ledger.fates[mutant] = hung ? Fate::hangs : Fate::crashes;
      its.first = mutant + 1;
    } else if (its.tried > 1) {  // one of them broke memory: fewer in a process, until it is found
      its.most = std::max(1, std::min(its.tried.load(), its.most.load()) / 8);
    } else {
      if (deaths[w].job != its.job) deaths[w] = {its.job, 0};
      if (++deaths[w].count > most_deaths)
        throw std::runtime_error("a worker ends without a mutant again and again, at job " +
                                 std::to_string(its.job));
    }
    start(w, its.job);
  }
}

}  // namespace sdip::mutants
