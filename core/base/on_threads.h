// Work that threads share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace sdip {

/// Does it for 0 to count - 1, each on one of the threads. When `work` throws, no more is begun, and the first that
/// it threw is thrown on when all threads have ended.
template <class Work>
void on_threads(int threads, std::int64_t count, const Work& work) {
  std::atomic<std::int64_t> next{0};
  std::mutex failing;
  std::exception_ptr failure;
  const auto some = [&] {
    for (std::int64_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (...) {
        next = count;
        const std::scoped_lock lock(failing);
        if (!failure) failure = std::current_exception();
      }
  };
  {
    std::vector<std::jthread> workers;
    for (std::int64_t i = 1; i < std::min<std::int64_t>(threads, count); ++i) workers.emplace_back(some);
    some();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sdip
