// The parent's side: starting a child, reading its answer before a deadline, and saying how it ended.
#include "server/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/base/error.h"

namespace sdip {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void unavailable(const std::string& what, int number) {
  throw Error("sandbox_unavailable", "", "cannot " + what + " to read a model in: " + std::strerror(number));
}

/// A descriptor, above those that a child finds its own at.
class Descriptor {
 public:
  explicit Descriptor(int low) {
    if (low < 0) unavailable("open what a child needs", errno);
    file_ = ::fcntl(low, F_DUPFD_CLOEXEC, 10);
    const int number = errno;
    ::close(low);
    if (file_ < 0) unavailable("open what a child needs", number);
  }
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return file_; }
  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }

 private:
  int file_ = -1;
};

int request_file(const std::string& request) {
  const int file = ::memfd_create("request", MFD_CLOEXEC);
  std::string_view left = request;
  while (file >= 0 && !left.empty()) {
    const ssize_t written = ::write(file, left.data(), left.size());
    if (written < 0 && errno != EINTR) {
      const int number = errno;
      ::close(file);
      unavailable("write a request", number);
    }
    if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file >= 0) ::lseek(file, 0, SEEK_SET);
  return file;
}

int model_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    throw Error(errno == ENOENT ? "file_not_found" : "file_unreadable", path.string(),
                std::string("cannot open: ") + std::strerror(errno));
  return file;
}

/// A child that is gone with this value.
class Child {
 public:
  Child(const std::filesystem::path& program, int request, int answer, int file) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&actions, request, 0);
    ::posix_spawn_file_actions_adddup2(&actions, answer, 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, file, child_file);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, child_file + 1);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const std::string path = program.string();
    std::string name = path, command = child_command;
    const std::array<char*, 3> words = {name.data(), command.data(), nullptr};
    const std::array<char*, 1> environment = {nullptr};
    const int problem =
        ::posix_spawn(&process_, path.c_str(), &actions, &attributes, words.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (problem != 0) unavailable("start a process", problem);
  }
  ~Child() {
    if (!ended_) ::kill(process_, SIGKILL);
    int ignored = 0;
    while (!ended_ && ::waitpid(process_, &ignored, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Its status, or nothing when it has not ended by the deadline.
  bool ends_by(Clock::time_point deadline, int& status) {
    for (;;) {
      const pid_t found = ::waitpid(process_, &status, WNOHANG);
      ended_ = found == process_;
      if (ended_ || Clock::now() >= deadline) return ended_;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

 private:
  pid_t process_ = -1;
  bool ended_ = false;
};

enum class Reading { whole, late, too_long };

Reading read_answer(int pipe, Clock::time_point deadline, std::size_t most, std::string& answer) {
  std::string piece(1 << 16, '\0');
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Reading::late;
    pollfd wait{pipe, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) unavailable("wait for a child", errno);
    if (ready <= 0) continue;
    const ssize_t size = ::read(pipe, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) unavailable("hear a child", errno);
    if (size == 0) return Reading::whole;
    if (answer.size() + static_cast<std::size_t>(size) > most) return Reading::too_long;
    answer.append(piece.data(), static_cast<std::size_t>(size));
  }
}

[[noreturn]] void failed(const std::string& label, const std::string& why) {
  throw Error("import_failed", label, label + ": reading this model " + why);
}

[[noreturn]] void failed_late(const std::string& label, const ChildLimits& limits) {
  failed(label, "took longer than the time limit allows: " + std::to_string(limits.cpu_s) + " s of a processor, " +
                    std::to_string(limits.wall_s) + " s in all");
}

void judge(int status, const std::string& label, const ChildLimits& limits) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == exit_unconfined)
    throw Error("sandbox_unavailable", label, "a child process cannot limit itself on this system");
  if (WIFEXITED(status)) failed(label, "ended with exit code " + std::to_string(WEXITSTATUS(status)));
  const int signal = WTERMSIG(status);
  if (signal == SIGXCPU) failed_late(label, limits);
  if (signal == SIGSYS) failed(label, "made a system call that reading a model does not need, and was killed");
  if (signal == SIGKILL) failed(label, "was killed, as the system does when memory runs out");
  failed(label, "crashed (signal " + std::to_string(signal) + ", " + ::sigabbrev_np(signal) + ")");
}

}  // namespace

std::string answer_of_child(const std::filesystem::path& program, const std::filesystem::path& file,
                            const std::string& request, const std::string& label, const ChildLimits& limits) {
  const Descriptor model(model_file(file));
  const Descriptor asked(request_file(request));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) unavailable("open a pipe", errno);
  const int read_end = ends[0];
  Descriptor write_end(ends[1]);
  const Descriptor answered(read_end);
  Child child(program, asked.number(), write_end.number(), model.number());
  write_end.close();
  const auto deadline = Clock::now() + std::chrono::seconds(limits.wall_s);
  std::string answer;
  switch (read_answer(answered.number(), deadline, static_cast<std::size_t>(limits.answer_bytes), answer)) {
    case Reading::late:
      failed_late(label, limits);
    case Reading::too_long:
      failed(label, "gave an answer of more than " + std::to_string(limits.answer_bytes) + " bytes");
    case Reading::whole:
      break;
  }
  int status = 0;
  if (!child.ends_by(deadline, status)) failed_late(label, limits);
  judge(status, label, limits);
  return answer;
}

}  // namespace sdip
