// Runs a target on changed inputs for some seconds: fuzz_front TARGET SECONDS SEED [FOLDER OF model.onnx FILES]; or
// on one file: fuzz_front TARGET FILE. The targets are those that it is linked with.
// An input of which something new came is kept and changed further. Ends with 1 after a finding, whose input is
// left in finding-TARGET.bin; a crash or a hang leaves it there, too.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "core/base/error.h"
#include "tests/core/base/full_run.h"
#include "tests/fuzz/target.h"

namespace sdip::fuzz {
namespace {

constexpr unsigned longest_run_s = 20;  // of one input, with sanitizers and a loaded machine
constexpr std::uintmax_t largest_seed_bytes = 1 << 16;

std::vector<std::string> models_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const bool small = entry.is_regular_file() && entry.file_size() <= largest_seed_bytes;
    if (small && entry.path().extension() == ".onnx") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> models;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    models.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return models;
}

/// The last input stays in a file while it runs: what is found there after a crash is what crashed. The file is
/// opened once, since each truncation by opening waits for the disk.
struct Run {
  const Target& target;
  std::string path;
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);

  std::string outcome(const std::string& input) const {
    if (::pwrite(file, input.data(), input.size(), 0) != std::ssize(input) ||
        ::ftruncate(file, std::ssize(input)) != 0)
      throw Bug("fuzz: " + path + " cannot be written");
    ::alarm(longest_run_s);
    std::string found = target.run(input);
    ::alarm(0);
    return found;
  }
};

/// One input again, as when a finding is looked at.
int run_once(const Target& target, const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string input(std::istreambuf_iterator<char>(file), {});
  std::printf("%s\n", target.run(input).c_str());
  return 0;
}

int fuzz(const Target& target, std::int64_t seconds, unsigned seed, const char* folder) {
  Random random(seed);
  const Run run{target, "finding-" + std::string(target.name) + ".bin"};
  std::vector<std::string> pool = target.seeds();
  if (folder != nullptr) {
    for (std::string& model : models_below(folder)) pool.push_back(std::move(model));
  }
  std::map<std::string, std::int64_t> outcomes;
  std::int64_t runs = 0;
  try {
    for (const std::string& input : pool) outcomes[run.outcome(input)] += 1;
    const std::size_t seeds = pool.size();
    for (const std::time_t end = std::time(nullptr) + seconds; std::time(nullptr) < end; ++runs) {
      const std::string input = target.changed(pool[below(random, pool.size())], random);
      std::int64_t& count = outcomes[run.outcome(input)];
      // What is rare is worth changing further; the pool stays as large as its seeds and a thousand more.
      if (++count % 64 != 1 || input.size() > largest_seed_bytes) continue;
      if (pool.size() < seeds + 1000) {
        pool.push_back(input);
      } else {
        pool[seeds + below(random, 1000)] = input;
      }
    }
  } catch (const std::exception& finding) {
    std::printf("%s: after %lld runs: %s (input in %s)\n", target.name.data(), static_cast<long long>(runs),
                finding.what(), run.path.c_str());
    return 1;
  }
  std::filesystem::remove(run.path);
  std::printf("%s: %lld inputs, seed %u\n", target.name.data(), static_cast<long long>(runs), seed);
  for (const auto& [outcome, count] : outcomes) {
    std::printf("  %-22s %lld\n", outcome.c_str(), static_cast<long long>(count));
  }
  return 0;
}

}  // namespace
}  // namespace sdip::fuzz

int main(int count, char** arguments) {
  if (count >= 3 && count <= 5) {
    for (const auto& target : sdip::fuzz::targets()) {
      if (target.name != arguments[1]) continue;
      if (count == 3) return sdip::fuzz::run_once(target, arguments[2]);
      const std::int64_t seconds = std::atoll(arguments[2]) * (sdip::full_run() ? 5 : 1);
      return sdip::fuzz::fuzz(target, seconds, static_cast<unsigned>(std::atoi(arguments[3])),
                              count == 5 ? arguments[4] : nullptr);
    }
  }
  std::fprintf(stderr, "usage: %s TARGET SECONDS SEED [FOLDER], or TARGET FILE\ntargets:", arguments[0]);
  for (const auto& target : sdip::fuzz::targets()) std::fprintf(stderr, " %s", target.name.data());
  std::fprintf(stderr, "\n");
  return 2;
}
