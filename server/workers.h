// The threads that serve connections, with a queue that ends.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sdip {

/// A task that finds the queue full runs at once on the caller's thread, where overloaded() is true: it refuses.
class Workers : public httplib::TaskQueue {
 public:
  Workers(int threads, int most_waiting);
  void enqueue(std::function<void()> task) override;
  void shutdown() override;

  int waiting() const;
  static bool overloaded();

 private:
  void work();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::size_t most_waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sdip
