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

#include "server/io/sandbox.h"

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
    write_text(sdip::said_text(sdip::Saying::no_memory, ""));
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
  if (how == "lie") write_text(sdip::said_text(sdip::Saying::answer, "short").substr(0, 12));
  if (how == "twice")
    write_text(sdip::said_text(sdip::Saying::answer, "{}") + sdip::said_text(sdip::Saying::answer, "{}"));
  if (how == "unasked")
    write_text(sdip::said_text(sdip::Saying::shown, "half") + sdip::said_text(sdip::Saying::answer, ""));
  if (how == "error") write_text(sdip::said_text(sdip::Saying::error, "[\"Not a code\", \"\", \"\"]"));
  if (how == "answer") write_text(sdip::said_text(sdip::Saying::answer, "+{\"name\": \"m\"}"));
  if (how == "deep") write_text(sdip::said_text(sdip::Saying::answer, "+" + std::string(1 << 20, '[')));
  if (how == "points")
    write_text(sdip::said_text(sdip::Saying::shown, std::string(100, '\1')) +
               sdip::said_text(sdip::Saying::answer, ""));
  if (how == "flood") write_text(sdip::said_text(sdip::Saying::answer, std::string(2 << 20, '\0')));
  if (how == "exit") ::_exit(3);
  ::_exit(0);
}

}  // namespace

int main(int, char** argv) {
  sdip::ChildLimits limits;
  limits.memory_bytes = std::int64_t{512} << 20;
  const std::string how = std::filesystem::path(argv[0]).filename().string();
  limits.cpu_s = how == "spin" ? 1 : 30;
  sdip::confine(limits, 0);
  misbehave(how);
}
