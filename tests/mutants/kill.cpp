// Tries every mutant of core/cost until something catches it: first random pairs, on which the executor counted
// what an estimate must say, then the tests of core/cost. Usage: tests/mutants/run, which says more.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include "tests/mutants/choice.h"
#include "tests/mutants/known.h"
#include "tests/mutants/pairs.h"
#include "tests/mutants/suite.h"
#include "tests/mutants/workers.h"

namespace sdip::mutants {
namespace {

constexpr double pair_seconds = 0.5;  // of the processor

struct Options {
  std::string mutants, known, survivors, only, filter = "*-differential.*:counted_frame.*:extreme.any_*:options.*";
  std::int64_t pairs = 3000, first_pairs = 300, sample = 1, seed = 0, workers = 2;
  double longest_seconds = 0.3;  // of a test: longer ones are for what is left
  double test_seconds = 0.2;     // of one mutant's tests, without it
  double last_seconds = 60;  // the same of one that all else has left alive, though nothing proves it equivalent
};

Options options_of(int count, char** words) {
  Options o;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto equal = word.find('=');
    const std::string name = word.substr(0, equal), value = equal == word.npos ? "" : word.substr(equal + 1);
    if (name == "--mutants")
      o.mutants = value;
    else if (name == "--known")
      o.known = value;
    else if (name == "--survivors")
      o.survivors = value;
    else if (name == "--only")
      o.only = value;
    else if (name == "--seed")
      o.seed = std::stoll(value);
    else if (name == "--test-seconds")
      o.test_seconds = std::stod(value);
    else if (name == "--last-seconds")
      o.last_seconds = std::stod(value);
    else if (name == "--first-pairs")
      o.first_pairs = std::stoll(value);
    else if (name == "--tests")
      o.filter = value;
    else if (name == "--pairs")
      o.pairs = std::stoll(value);
    else if (name == "--sample")
      o.sample = std::stoll(value);
    else if (name == "--workers")
      o.workers = std::stoll(value);
    else
      throw std::runtime_error("unknown option " + word);
  }
  return o;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool caught(const Ledger& ledger, const Mutant& m) { return ledger.fates[m.number] != Fate::alive; }

Fate fate_on(const std::function<bool()>& agrees, const Mutant& m, const Trying& trying) {
  if (!trying(m.number, pair_seconds)) return Fate::alive;
  mutant::chosen = m.number;
  Fate fate = Fate::alive;
  try {
    if (!agrees()) fate = Fate::differs;
  } catch (const std::exception&) {
    fate = Fate::throws;
  }
  mutant::chosen = -1;
  trying(-1, 0);
  return fate;
}

/// All mutants that are alive and reached, on one pair. Drawn anew where an earlier mutant wrote over it: else all
/// that come after would seem caught.
void try_pair(std::int64_t job, const std::vector<Mutant>& mutants, const Ledger& ledger, const Trying& trying) {
  mutant::chosen = -1;
  std::function<bool()> agrees = drawn_sample(static_cast<std::uint64_t>(job) + 1);
  std::fill(std::begin(mutant::reached), std::end(mutant::reached), static_cast<unsigned char>(0));
  if (!agrees()) throw std::runtime_error("estimate and executor differ without a mutant");
  const std::vector<unsigned char> reached(std::begin(mutant::reached), std::end(mutant::reached));
  for (const Mutant& m : mutants) {
    if (caught(ledger, m) || !reached[static_cast<std::size_t>(m.number)]) continue;
    Fate fate = fate_on(agrees, m, trying);
    if (fate != Fate::alive && !agrees()) {
      agrees = drawn_sample(static_cast<std::uint64_t>(job) + 1);
      fate = fate_on(agrees, m, trying);
    }
    if (fate == Fate::alive) continue;
    ledger.by[m.number] = static_cast<std::int32_t>(job);
    ledger.fates[m.number] = fate;
  }
}

/// One mutant by the tests that reach it: first those that caught the most for their time. `catches`: by test.
void try_tests(double most_seconds, const Mutant& m, const std::vector<TestRun>& suite, std::int32_t* catches,
               const Ledger& ledger, const Trying& trying) {
  std::vector<const TestRun*> tests;
  double seconds = 0;
  for (const TestRun& test : suite)
    if (test.reached[static_cast<std::size_t>(m.number)]) tests.push_back(&test);
  std::ranges::stable_sort(tests, std::ranges::greater(), [&](const TestRun* test) {
    return (1 + catches[test - suite.data()]) / (0.002 + test->seconds);
  });
  std::size_t taken = 0;
  while (taken < tests.size() && seconds < most_seconds) seconds += tests[taken++]->seconds;
  tests.resize(taken);
  if (tests.empty()) return;
  if (!trying(m.number, 0.5 + 4 * seconds)) return;
  mutant::chosen = m.number;
  const int failed = first_failure(tests);
  mutant::chosen = -1;
  trying(-1, 0);
  if (failed < 0) return;
  ledger.by[m.number] = static_cast<std::int32_t>(tests[static_cast<std::size_t>(failed)] - suite.data());
  ++catches[ledger.by[m.number]];
  ledger.fates[m.number] = Fate::fails;
}

/// Those that the run is about.
std::vector<Mutant> chosen_mutants(const Options& o) {
  std::map<std::string, bool> only;
  std::ifstream wanted(o.only), list(o.mutants);
  for (std::string line; std::getline(wanted, line);) only[line] = true;
  std::mt19937_64 dice(static_cast<std::uint64_t>(o.seed));
  std::vector<Mutant> mutants;
  for (const Mutant& m : read_mutants(list)) {
    if (m.typed && !mutant::exists[m.number]) continue;
    if (dice() % static_cast<std::uint64_t>(o.sample) != 0) continue;
    if (o.only.empty() || only.contains(key_of(m))) mutants.push_back(m);
  }
  return mutants;
}

std::vector<Mutant> alive(const std::vector<Mutant>& mutants, const Ledger& ledger) {
  std::vector<Mutant> left;
  for (const Mutant& m : mutants)
    if (!caught(ledger, m)) left.push_back(m);
  return left;
}

/// One job a pair; an exception in a job without a mutant ends the worker, and so the run.
void by_pairs(const Options& o, std::int64_t first, std::int64_t last, const std::vector<Mutant>& mutants,
              const Ledger& ledger) {
  const auto start = std::chrono::steady_clock::now();
  run_jobs(last - first, static_cast<int>(o.workers), ledger,
           [&](std::int64_t job, const Trying& trying) { try_pair(first + job, mutants, ledger, trying); });
  std::cout << "random samples " << first + 1 << " to " << last << ": " << alive(mutants, ledger).size()
            << " left, " << seconds_since(start) << " s\n"
            << std::flush;
}

/// The fastest first.
std::vector<TestRun> timed_suite(const Options& o) {
  std::vector<TestRun> suite = run_suite(o.filter, mutant::most_mutants);
  std::ranges::sort(suite, {}, &TestRun::seconds);
  double all = 0;
  for (const TestRun& test : suite) all += test.seconds;
  std::cout << suite.size() << " tests, " << all << " s";
  if (!suite.empty()) std::cout << "; the longest: " << suite.back().name << ", " << suite.back().seconds << " s";
  std::cout << '\n' << std::flush;
  return suite;
}

void by_tests(const Options& o, double most_seconds, const std::vector<TestRun>& suite,
              const std::vector<Mutant>& mutants, const Ledger& ledger) {
  const auto start = std::chrono::steady_clock::now();
  const Ledger catches = shared_ledger(suite.size());
  run_jobs(std::ssize(mutants), static_cast<int>(o.workers), ledger, [&](std::int64_t job, const Trying& trying) {
    const Mutant& m = mutants[static_cast<std::size_t>(job)];
    if (!caught(ledger, m)) try_tests(most_seconds, m, suite, catches.by, ledger, trying);
  });
  std::map<std::string, int> by;
  for (const Mutant& m : mutants)
    if (ledger.fates[m.number] == Fate::fails) ++by[suite[static_cast<std::size_t>(ledger.by[m.number])].name];
  for (const auto& [name, count] : by) std::cout << "  " << count << " by " << name << '\n';
  std::cout << "tests, up to " << most_seconds << " s: " << alive(mutants, ledger).size() << " left of "
            << mutants.size() << ", " << seconds_since(start) << " s\n"
            << std::flush;
}

void write_survivors(const Options& o, const std::vector<Mutant>& left) {
  std::ofstream survivors(o.survivors);
  for (const Mutant& m : left) survivors << key_of(m) << '\n';
}

int run(const Options& o) {
  const std::vector<Mutant> mutants = chosen_mutants(o);
  std::cout << mutants.size() << " mutants\n" << std::flush;
  const Ledger ledger = shared_ledger(mutant::most_mutants);
  const std::int64_t first = std::min(o.pairs, o.first_pairs);
  by_pairs(o, 0, first, mutants, ledger);
  write_survivors(o, alive(mutants, ledger));
  std::vector<TestRun> suite = timed_suite(o);
  const auto longer = std::ranges::upper_bound(suite, o.longest_seconds, {}, &TestRun::seconds);
  by_tests(o, o.test_seconds, {suite.begin(), longer}, alive(mutants, ledger), ledger);
  write_survivors(o, alive(mutants, ledger));
  if (o.pairs > first) by_pairs(o, first, o.pairs, mutants, ledger);
  std::ifstream list(o.known);
  const auto known = read_known(list);
  std::vector<Mutant> left = alive(mutants, ledger);
  std::erase_if(left, [&](const Mutant& m) { return known.contains(key_of(m)); });
  by_tests(o, o.last_seconds, suite, left, ledger);
  std::map<Fate, int> fates;
  for (const Mutant& m : mutants) ++fates[ledger.fates[m.number]];
  for (const auto& [fate, count] : fates) std::cout << "  " << fate_text(fate) << ": " << count << '\n';
  left = alive(mutants, ledger);
  write_survivors(o, left);
  const Verdict verdict = judge(mutants.size(), o.sample == 1 && o.only.empty(), left, known);
  std::cout << verdict.text;
  return verdict.good ? 0 : 1;
}

}  // namespace
}  // namespace sdip::mutants

int main(int count, char** words) try {
  testing::InitGoogleTest(&count, words);
  return sdip::mutants::run(sdip::mutants::options_of(count, words));
} catch (const std::exception& error) {
  std::cerr << "mutants: " << error.what() << '\n';
  return 2;
}
