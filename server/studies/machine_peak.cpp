// The most instructions that this processor retires, and those that a command takes.
#include "server/studies/machine_peak.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr int additions_a_turn = 32;

/// Adds in registers; the compiler can neither leave additions out nor join two of one sum.
void add_apart(std::int64_t turns) {
  std::uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
  for (std::int64_t turn = 0; turn < turns; ++turn)
    for (int i = 0; i < additions_a_turn / 8; ++i) {
      a += 3, b += 3, c += 3, d += 3, e += 3, f += 3, g += 3, h += 3;
      asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    }
}

struct ClosePipe {
  void operator()(std::FILE* pipe) const { ::pclose(pipe); }
};

}  // namespace

double peak_instructions_per_second() {
  constexpr std::int64_t turns = 1'000'000;
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    const auto start = std::chrono::steady_clock::now();
    add_apart(turns);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, additions_a_turn * turns / seconds.count());
  }
  return best;
}

std::optional<std::int64_t> counted_instructions(const std::string& command) {
  check(std::ranges::all_of(command, [](char c) { return c == ' ' || c == '-' || std::isalnum(c) != 0; }),
        "a command of words is counted");
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  if (program.find('\'') != std::string::npos) return std::nullopt;
  const std::string line =
      fmt::format("valgrind --tool=callgrind --callgrind-out-file=/dev/null '{}' {} 2>&1", program, command);
  const std::unique_ptr<std::FILE, ClosePipe> pipe(::popen(line.c_str(), "r"));
  if (!pipe) return std::nullopt;
  std::string said;
  for (int c = 0; (c = std::fgetc(pipe.get())) != EOF;) said += static_cast<char>(c);
  constexpr std::string_view before = "Collected : ";
  const std::size_t place = said.find(before);
  if (place == std::string::npos) return std::nullopt;
  std::int64_t counted = 0;
  const char* const end = said.data() + said.size();
  if (std::from_chars(said.data() + place + before.size(), end, counted).ec != std::errc()) return std::nullopt;
  return counted;
}

}  // namespace sdip
