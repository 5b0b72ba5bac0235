// The parent's side: starting a child, reading its answer before a deadline, and saying how it ended.
#include "server/io/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "core/base/error.h"
#include "core/base/index.h"

namespace sdip {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void unavailable(const std::string& what, int number) {
  throw Error("sandbox_unavailable", "", "cannot " + what + " to work on a model in: " + std::strerror(number));
}

/// A descriptor, above those that a child finds its own at.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int low) { take(low); }
  void take(int low) {
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
    if (written > 0) left.remove_prefix(as_size(written));
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

[[noreturn]] void failed(const ChildTask& task, const std::string& why) {
  const std::string doing = task.failure == "import_failed" ? "reading this model " : "evaluating this model ";
  throw Error(task.failure, task.label, task.label + ": " + doing + why);
}

[[noreturn]] void failed_late(const ChildTask& task) {
  const std::string cpu = task.limits.cpu_s > 0 ? std::to_string(task.limits.cpu_s) + " s of a processor, " : "";
  failed(task, fmt::format("took longer than the time limit allows: {}{} s in all", cpu, task.limits.wall_s));
}

/// Takes what a child says apart, and no more of it than the limit.
class Hearing {
 public:
  explicit Hearing(const ChildTask& task) : task_(task) {}

  void add(std::string_view bytes) {
    while (!bytes.empty()) {
      std::string& part = head_.size() < head_bytes ? head_ : body_;
      const std::size_t wanted = head_.size() < head_bytes ? head_bytes - head_.size() : length_ - body_.size();
      const std::size_t taken = std::min(wanted, bytes.size());
      part.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (head_.size() == head_bytes && &part == &head_) begin();
      if (head_.size() == head_bytes && body_.size() == length_) end();
    }
  }
  /// The last message, when all were said.
  std::pair<Saying, std::string> last() {
    if (!last_ || !head_.empty()) failed(task_, "gave no valid answer: it ends early");
    return std::move(*last_);
  }

 private:
  static constexpr std::size_t head_bytes = 9;

  void begin() {
    length_ = 0;
    for (std::size_t i = head_bytes; i-- > 1;) length_ = length_ << 8 | static_cast<unsigned char>(head_[i]);
    if (std::string_view("paemb").find(head_[0]) == std::string_view::npos || last_)
      failed(task_, "gave no valid answer");
    if (length_ > static_cast<std::uint64_t>(task_.limits.answer_bytes))
      failed(task_, fmt::format("gave an answer of more than {} bytes", task_.limits.answer_bytes));
  }
  void end() {
    const auto kind = static_cast<Saying>(head_[0]);
    if (kind != Saying::shown)
      last_ = {kind, std::move(body_)};
    else if (task_.show)
      task_.show(body_);
    else
      failed(task_, "gave no valid answer: it was not asked to show anything");
    head_.clear();
    body_.clear();
  }

  const ChildTask& task_;
  std::string head_, body_;
  std::uint64_t length_ = 0;
  std::optional<std::pair<Saying, std::string>> last_;
};

/// Until the child has said all. Whatever it says gives it its time again.
void read_reports(int pipe, const ChildTask& task, Hearing& hearing, Clock::time_point& deadline) {
  const std::chrono::seconds patience(task.limits.wall_s);
  constexpr std::int64_t glance_ms = 50;  // how long it looks away from whether it is to stop
  std::string piece(1 << 16, '\0');
  for (deadline = Clock::now() + patience;;) {
    end_if(task.stop, task.label);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) failed_late(task);
    pollfd wait{pipe, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::min(left, glance_ms)));
    if (ready < 0 && errno != EINTR) unavailable("wait for a child", errno);
    if (ready <= 0) continue;
    const ssize_t size = ::read(pipe, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) unavailable("hear a child", errno);
    if (size == 0) return;
    hearing.add({piece.data(), as_size(size)});
    if (task.show) deadline = Clock::now() + patience;
  }
}

void judge(int status, const ChildTask& task) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == exit_unconfined)
    throw Error("sandbox_unavailable", task.label, "a child process cannot limit itself on this system");
  if (WIFEXITED(status)) failed(task, "ended with exit code " + std::to_string(WEXITSTATUS(status)));
  const int signal = WTERMSIG(status);
  if (signal == SIGXCPU) failed_late(task);
  if (signal == SIGSYS) failed(task, "made a system call that this does not need, and was killed");
  if (signal == SIGKILL) failed(task, "was killed, as the system does when memory runs out");
  failed(task, fmt::format("crashed (signal {}, {})", signal, ::sigabbrev_np(signal)));
}

}  // namespace

std::string said_text(Saying kind, std::string_view bytes) {
  std::string text(1, static_cast<char>(kind));
  for (std::uint64_t i = 0, left = bytes.size(); i < 8; ++i, left >>= 8) text += static_cast<char>(left & 255);
  return text.append(bytes);
}

std::pair<Saying, std::string> answer_of_child(const ChildTask& task) {
  const Descriptor model(model_file(task.file));
  const Descriptor asked(request_file(task.request));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) unavailable("open a pipe", errno);
  Descriptor answered, write_end;
  try {
    answered.take(ends[0]);
  } catch (...) {
    ::close(ends[1]);
    throw;
  }
  write_end.take(ends[1]);
  Child child(task.program, asked.number(), write_end.number(), model.number());
  write_end.close();
  Hearing hearing(task);
  Clock::time_point deadline;
  read_reports(answered.number(), task, hearing, deadline);
  int status = 0;
  if (!child.ends_by(deadline, status)) failed_late(task);
  judge(status, task);
  return hearing.last();
}

}  // namespace sdip
