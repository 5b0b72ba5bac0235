// A pool of threads with a queue that ends. Internal to its room.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sdip {

class Workers {
 public:
  /// `gives_way`: its threads run at a lower priority than those that answer quickly.
  Workers(int threads, int most_waiting, bool gives_way = false);
  /// Runs what waits, and ends.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// False when every thread is at work and as many tasks wait as may.
  bool add(std::function<void()> task);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::size_t most_;  // tasks waiting and running
  std::size_t running_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sdip
