// Random (program, machine) pairs by the million: build/dev/tests/witness --pairs 1000000 --jobs 2 --seed 1
// Prints progress, the census and every difference; --seed goes on where another run stopped. To see one again:
// --pairs 1 --seed SEED --changes 100 changes every row that acts, each to the value that it always has there.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include "tests/witness/pairs.h"

namespace {

using namespace sdip::witness;

struct Request {
  std::uint64_t pairs = 10000, jobs = 1, seed = 1, changes = static_cast<std::uint64_t>(changes_of_a_pair);
};

int usage() {
  std::fputs("witness [--pairs N] [--jobs N] [--seed FIRST] [--changes ROWS_A_PAIR]\n", stderr);
  return 2;
}

bool read(int count, char** arguments, Request& request) {
  for (int i = 1; i + 1 < count; i += 2) {
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(arguments[i + 1], &end, 10);
    if (*end != '\0') return false;
    const std::string name = arguments[i];
    if (name == "--pairs")
      request.pairs = value;
    else if (name == "--jobs")
      request.jobs = value;
    else if (name == "--seed")
      request.seed = value;
    else if (name == "--changes")
      request.changes = value;
    else
      return false;
  }
  return count % 2 == 1 && request.jobs > 0;
}

constexpr std::uint64_t block = 100;  // pairs that a job takes at once

}  // namespace

int main(int count, char** arguments) {
  Request request;
  if (!read(count, arguments, request)) return usage();
  std::mutex mutex;
  Census total;
  std::uint64_t next = request.seed, printed = 0;
  const std::uint64_t end = request.seed + request.pairs;
  const auto began = std::chrono::steady_clock::now();
  const auto work = [&] {
    Census mine;
    for (;;) {
      std::uint64_t first = 0, last = 0;
      {
        const std::lock_guard lock(mutex);
        first = next;
        last = next = std::min(end, next + block);
      }
      if (first == last) break;
      for (std::uint64_t seed = first; seed < last; ++seed)
        witness_pair(seed, static_cast<std::int64_t>(request.changes), mine);
      const std::lock_guard lock(mutex);
      for (const Finding& f : mine.findings)
        std::printf("seed %llu, %s: %s: estimate %lld, executor %lld\n", static_cast<unsigned long long>(f.seed),
                    f.change.c_str(), f.difference.where.c_str(), static_cast<long long>(f.difference.estimated),
                    static_cast<long long>(f.difference.executed));
      total.findings.insert(total.findings.end(), mine.findings.begin(), mine.findings.end());
      mine.findings.clear();
      printed += last - first;
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      if (printed % 1000 == 0 || printed == request.pairs)
        std::printf("%llu pairs, %.0f s, %zu differences, next seed %llu\n",
                    static_cast<unsigned long long>(printed), seconds, total.findings.size(),
                    static_cast<unsigned long long>(next));
      std::fflush(stdout);
    }
    const std::lock_guard lock(mutex);
    total.add(mine);
  };
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < request.jobs; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  std::fputs(census_table(total).c_str(), stdout);
  const std::vector<std::string> missing = missing_pairs(total);
  std::printf("\n%zu pairs of settings missing\n", missing.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(missing.size(), 20); ++i) std::puts(missing[i].c_str());
  return total.findings.empty() ? 0 : 1;
}
