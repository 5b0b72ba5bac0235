// Work that threads share.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace sdip {

/// Does it for 0 to count - 1, each on one of the threads. `work` throws nothing.
template <class Work>
void on_threads(int threads, std::int64_t count, const Work& work) {
  std::atomic<std::int64_t> next{0};
  const auto some = [&] {
    for (std::int64_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> workers;
  for (int i = 1; i < threads; ++i) workers.emplace_back(some);
  some();
}

}  // namespace sdip
