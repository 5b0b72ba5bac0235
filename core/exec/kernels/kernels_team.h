// Threads that wait for tasks, for products shared by several.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/exec/kernels/kernels.h"

namespace sdip::exec {

/// The caller's thread and `threads` - 1 of its own. Example: 2 threads and 5 tasks: each takes the next one when
/// it is done with its last. The caller's asks `stop` before each of its own.
class Team {
 public:
  explicit Team(std::int64_t threads, Stop stop = {});
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  std::int64_t threads() const { return std::ssize(members_) + 1; }
  const Stop& stop() const { return stop_; }

  /// Runs every task and returns when all are done. Throws what one of them threw, and begins no others then.
  /// Requires that no task calls it.
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task);

  /// For KernelOptions; must not outlive the team.
  Share share() {
    return [this](std::int64_t count, const std::function<void(std::int64_t)>& task) { run(count, task); };
  }

 private:
  void take_tasks(const Stop* stop);

  const Stop stop_;
  std::vector<std::thread> members_{};
  const std::function<void(std::int64_t)>* task_ = nullptr;
  std::int64_t count_ = 0;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<std::uint32_t> round_ = 0, busy_ = 0;
  std::atomic<bool> ends_ = false;
  std::mutex thrown_mutex_{};
  std::exception_ptr thrown_{};
};

}  // namespace sdip::exec
