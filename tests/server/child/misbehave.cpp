// A child that confines itself as the real one does and then misbehaves, as its name says: tests link it under the
// names of what it can do.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "server/read_model.h"

namespace {

void write_text(const std::string& text) {
  if (::write(1, text.data(), text.size()) < 0) std::abort();
}

/// Allocates until it may not; says so as the real child does.
void allocate() {
  std::vector<std::vector<char>> held;
  try {
    for (;;) held.emplace_back(std::size_t{16} << 20, 'x');
  } catch (const std::bad_alloc&) {
    held.clear();
    write_text("\x02");
    ::_exit(0);
  }
}

void misbehave(const std::string& how) {
  if (how == "allocate") allocate();
  std::atomic<unsigned> turns = 0;
  while (how == "spin") ++turns;
  if (how == "sleep") ::raise(SIGSTOP);
  if (how == "socket") ::socket(AF_INET, SOCK_STREAM, 0);
  if (how == "open") ::open("/etc/passwd", O_RDONLY);
  if (how == "execute") ::execl("/bin/true", "true", nullptr);
  if (how == "fork") ::fork();
  if (how == "code") ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (how == "signal") ::kill(::getppid(), 0);
  if (how == "abort") std::abort();
  if (how == "crash") *static_cast<volatile int*>(nullptr) = 1;
  if (how == "garbage") write_text(std::string(5000, '\x5a'));
  if (how == "lie") write_text(std::string("\x00\x00\xff\xff\xff\xff\x0f", 7));
  if (how == "flood")
    for (;;) write_text(std::string(65536, '\0'));
  if (how == "exit") ::_exit(3);
  ::_exit(0);
}

/// A survey that says how many bytes it saw.
sdip::ModelSurvey made_survey(std::span<const std::byte> bytes, const sdip::ImportOptions& options) {
  sdip::ModelSurvey survey;
  survey.nodes = static_cast<std::int64_t>(bytes.size());
  survey.graph = options.label;
  survey.inputs = {{"x", "float32", true, {"1", "batch"}}};
  survey.operators = {{"", "Relu", 3, "first", "because"}};
  survey.functions = {{"d", "f", "", 2, 1}};
  survey.domains = {{"", 17}};
  return survey;
}

}  // namespace

int main(int, char** argv) {
  sdip::ChildLimits limits;
  limits.memory_bytes = std::int64_t{512} << 20;
  limits.cpu_s = 1;
  const std::string how = std::filesystem::path(argv[0]).filename().string();
  if (how == "survey") return sdip::run_read_model(made_survey);
  sdip::confine(limits, 0);
  misbehave(how);
}
