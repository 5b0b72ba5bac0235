// Exported graphs on random machines by the thousand, and what is found:
// build/dev/tests/exports --combinations 2000 --seed 1 [--only NAME] [--write FOLDER] [--shrink FOLDER] [--dim N=3
// FILE...].
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/exports/book.h"
#include "tests/exports/combinations.h"
#include "tests/generate/census.h"
#include "tests/generate/shrink.h"

namespace {

using namespace sdip::exports;

struct Request {
  std::uint64_t combinations = 2000, jobs = 1, seed = 1;
  std::string write, shrink;
  Graphs graphs = book_graphs();
};

int usage() {
  std::fputs(
      "exports [--combinations N] [--jobs N] [--seed FIRST] [--only NAME] [--shrink FOLDER] [--write FOLDER]\n"
      "        [--dim NAME=SIZE] [FILE.onnx ...]\n"
      "  --only    graphs whose names have this in them\n"
      "  --shrink  writes the smallest model of each class of findings there, and the command that repeats it\n"
      "  --write   writes the graphs there, each with the sizes of its dimensions, and runs nothing\n"
      "  FILE      these in place of the book's graphs\n",
      stderr);
  return 2;
}

bool read(int count, char** arguments, Request& request) {
  std::vector<std::string> files;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (!name.starts_with("--")) {
      files.push_back(name);
      continue;
    }
    if (++i == count) return false;
    const std::string value = arguments[i];
    if (name == "--combinations")
      request.combinations = std::stoull(value);
    else if (name == "--jobs")
      request.jobs = std::stoull(value);
    else if (name == "--seed")
      request.seed = std::stoull(value);
    else if (name == "--write")
      request.write = value;
    else if (name == "--shrink")
      request.shrink = value;
    else if (name == "--only")
      request.graphs = book_graphs(value);
    else if (name == "--dim")
      request.graphs.dims[value.substr(0, value.find('='))] = std::stoll(value.substr(value.find('=') + 1));
    else
      return false;
  }
  if (!files.empty()) request.graphs.names = files, request.graphs.files = true;
  return request.jobs > 0 && !request.graphs.names.empty();
}

void write_all(const Request& request) {
  std::filesystem::create_directories(request.write);
  const std::uint64_t count = request.graphs.names.size();
  for (std::uint64_t seed = request.seed; seed < request.seed + count; ++seed) {
    const auto given = graph_of(request.graphs, seed);
    const std::string& name = name_of_seed(request.graphs, seed);
    std::ofstream(request.write + "/" + name + ".onnx", std::ios::binary) << given.model.SerializeAsString();
    std::printf("%s/%s.onnx", request.write.c_str(), name.c_str());
    for (const auto& [dim, size] : given.dims)
      std::printf(" --dim %s=%lld", dim.c_str(), static_cast<long long>(size));
    std::printf("\n");
  }
}

}  // namespace

int main(int count, char** arguments) {
  Request request;
  if (!read(count, arguments, request)) return usage();
  if (!request.write.empty()) {
    write_all(request);
    return 0;
  }
  sdip::generate::Census census;
  std::set<std::string> refused;
  const auto began = std::chrono::steady_clock::now();
  const auto check = [&](std::uint64_t seed, const sdip::generate::PhaseObserver& phase) {
    return check_combination(request.graphs, seed, phase);
  };
  sdip::generate::check_apart(request.seed, request.combinations, request.jobs, check, [&](const auto& checked) {
    census.count(checked);
    const auto verdict = checked.outcome.verdict;
    if (verdict == sdip::generate::Verdict::passed) return;
    const std::string name = name_of_seed(request.graphs, checked.seed);
    const std::string line = std::string(verdict_text(verdict)) + " " + name + ": " + checked.outcome.code + ": " +
                             checked.outcome.detail;
    if (verdict == sdip::generate::Verdict::finding || refused.insert(line).second)
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(checked.seed), line.c_str());
    std::fflush(stdout);
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("%s%zu graphs, %.1f combinations a second\n", census.text().c_str(), request.graphs.names.size(),
              static_cast<double>(census.models) / seconds);
  for (const auto& [code, seeds] : census.seeds) {
    if (request.shrink.empty() || code.ends_with(" draw")) continue;
    const std::uint64_t seed = seeds.front();
    const sdip::generate::Shown shown{graph_of(request.graphs, seed), machine_of(seed), seed};
    std::printf("%s\n", shrink_into(request.shrink, shown, code).c_str());
    std::fflush(stdout);
  }
  return census.unexpected().empty() ? 0 : 1;
}
