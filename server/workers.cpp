// A bounded thread pool for the HTTP library.
#include "server/workers.h"

namespace sdip {
namespace {
thread_local bool refusing = false;
}

Workers::Workers(int threads, int most_waiting) : most_waiting_(static_cast<std::size_t>(most_waiting)) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

void Workers::enqueue(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.size() < most_waiting_) {
      tasks_.push_back(std::move(task));
      wake_.notify_one();
      return;
    }
  }
  refusing = true;
  task();
  refusing = false;
}

void Workers::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

int Workers::waiting() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(tasks_.size());
}

bool Workers::overloaded() { return refusing; }

void Workers::work() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace sdip
