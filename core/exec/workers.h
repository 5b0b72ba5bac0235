// Threads that share independent tasks.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sdip::exec {

/// `threads` in all, the caller's among them. What tasks write must be apart; results do not depend on how many
/// threads there are.
class Workers {
 public:
  explicit Workers(std::int64_t threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Runs tasks 0 to count - 1, in any order and at once, and waits for all. A task that throws ends the rest: of
  /// those that threw, the exception of the one of the lowest number is thrown here.
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task);
  std::int64_t threads() const { return std::ssize(threads_) + 1; }

 private:
  void serve();
  void take_tasks();

  std::vector<std::thread> threads_{};
  std::mutex mutex_{};
  std::condition_variable begin_{}, end_{};
  const std::function<void(std::int64_t)>* task_ = nullptr;
  std::int64_t count_ = 0, next_ = 0, busy_ = 0, round_ = 0, thrown_at_ = 0;
  std::exception_ptr thrown_{};
  bool over_ = false;
};

}  // namespace sdip::exec
