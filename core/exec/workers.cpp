// Threads that share independent tasks.
#include "core/exec/workers.h"

#include <utility>

namespace sdip::exec {

Workers::Workers(std::int64_t threads) {
  for (std::int64_t i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::take_tasks() {
  std::unique_lock lock(mutex_);
  while (next_ < count_) {
    const std::int64_t number = next_++;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      (*task_)(number);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (!thrown) continue;
    if (!thrown_ || number < thrown_at_) thrown_ = thrown, thrown_at_ = number;
    next_ = count_;  // tasks before this one have begun
  }
}

void Workers::serve() {
  std::int64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return over_ || round_ != seen; });
      if (over_) return;
      seen = round_;
    }
    take_tasks();
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) end_.notify_one();
  }
}

void Workers::run(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  if (threads_.empty() || count <= 1) {
    for (std::int64_t i = 0; i < count; ++i) task(i);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    task_ = &task, count_ = count, next_ = 0, busy_ = std::ssize(threads_), thrown_ = nullptr;
    ++round_;
  }
  begin_.notify_all();
  take_tasks();
  std::unique_lock lock(mutex_);
  end_.wait(lock, [&] { return busy_ == 0; });
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

}  // namespace sdip::exec
