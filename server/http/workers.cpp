// A bounded pool of threads.
#include "server/http/workers.h"

#include "core/base/index.h"
#include "server/http/job_queue.h"

namespace sdip {

Workers::Workers(int threads, int most_waiting, bool gives_way) : most_(as_size(threads + most_waiting)) {
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this, gives_way] {
      if (gives_way) give_way(-5);
      work();
    });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

bool Workers::add(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (tasks_.size() + running_ >= most_) return false;
  tasks_.push_back(std::move(task));
  wake_.notify_one();
  return true;
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    {
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      ++running_;
      lock.unlock();
      task();
    }
    lock.lock();
    --running_;
  }
}

}  // namespace sdip
