// Random models of every operator by the thousand, each on a random machine, and what is found:
// build/dev/tests/generate --models 100000 --jobs 2 --seed 1 [--shrink FOLDER]. See tests/generate/README.md.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/generate/census.h"
#include "tests/generate/machines.h"
#include "tests/generate/model.h"
#include "tests/generate/rows/rows.h"
#include "tests/generate/shrink.h"

namespace {

using namespace sdip::generate;

struct Request {
  std::uint64_t models = 1000, jobs = 1, seed = 1;
  std::string shrink, write;
  bool coverage = false, import_only = false;
};

int usage() {
  std::fputs(
      "generate [--models N] [--jobs N] [--seed FIRST] [--shrink FOLDER] [--write FILE] [--coverage yes]\n"
      "         [--import-only yes]\n"
      "  --shrink  writes the smallest model of each class of findings there, and the command that repeats it\n"
      "  --coverage     says how often each operator came with each type, and not of the rarest alone\n"
      "  --import-only  draws and imports models, and does not compile them\n"
      "  --write   writes the model of the first seed and says its machine\n",
      stderr);
  return 2;
}

bool read(int count, char** arguments, Request& request) {
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i], value = arguments[i + 1];
    if (name == "--shrink")
      request.shrink = value;
    else if (name == "--write")
      request.write = value;
    else if (name == "--coverage")
      request.coverage = true;
    else if (name == "--import-only")
      request.import_only = true;
    else if (name == "--models")
      request.models = std::stoull(value);
    else if (name == "--jobs")
      request.jobs = std::stoull(value);
    else if (name == "--seed")
      request.seed = std::stoull(value);
    else
      return false;
  }
  return count % 2 == 1 && request.jobs > 0;
}

}  // namespace

int main(int count, char** arguments) {
  Request request;
  if (!read(count, arguments, request)) return usage();
  if (!request.write.empty()) {
    const Generated given = drawn_model(request.seed);
    std::ofstream(request.write, std::ios::binary) << given.model.SerializeAsString();
    std::printf("%s\n", command_of(given, drawn_machine(request.seed), request.write).c_str());
    return 0;
  }
  Census census;
  const auto began = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  const Checker checker = request.import_only ? import_seed : check_seed;
  check_apart(request.seed, request.models, request.jobs, checker, [&](const Checked& checked) {
    census.count(checked);
    if (checked.outcome.verdict == Verdict::finding)
      std::printf("seed %llu: %s: %s\n", static_cast<unsigned long long>(checked.seed),
                  checked.outcome.code.c_str(), checked.outcome.detail.c_str());
    if (census.models % 1000 == 0)
      std::printf("%llu models, %.0f s\n", static_cast<unsigned long long>(census.models), seconds());
    std::fflush(stdout);
  });
  std::printf("%s%.1f models a second\n", census.text().c_str(), static_cast<double>(census.models) / seconds());
  if (request.coverage)
    for (const auto& [drawn, choice] : census.coverage())
      std::printf("%7llu %s\n", static_cast<unsigned long long>(drawn), choice.c_str());
  if (!request.shrink.empty())
    for (const auto& [code, seeds] : census.seeds) {
      const std::string said = shrink_into(request.shrink, seeds.front(), code);
      std::printf("%s\n", said.c_str());
      std::fflush(stdout);
    }
  return census.unexpected().empty() ? 0 : 1;
}
