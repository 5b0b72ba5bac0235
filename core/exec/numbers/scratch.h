// Memory that threads work in, kept from one task to the next.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/exec/kernels/kernels.h"
#include "core/exec/numbers/numbers.h"
#include "core/exec/numbers/storage.h"

namespace sdip::exec {

/// Memory for one task at a time.
struct Scratch {
  Buffer<float> sums{}, floats{};
  Buffer<std::int32_t> code_sums{};
  Buffer<double> doubles{};
  Workspace products{};
  Storage left{};
  std::array<std::int64_t, 3> packed{-1, -1, -1};  // whose right operand `products` has
};

/// As many as tasks had at once. Example: two threads and 100 tasks use two.
class Scratches {
 public:
  Storage filters{}, windows{};  // of the product at hand, for all its tasks

  template <class Task>
  void lend(const Task& task) {
    std::unique_ptr<Scratch> own;
    {
      const std::scoped_lock lock(mutex_);
      if (!free_.empty()) own = std::move(free_.back()), free_.pop_back();
    }
    if (!own) own = std::make_unique<Scratch>();
    task(*own);
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(own));
  }

 private:
  std::mutex mutex_{};
  std::vector<std::unique_ptr<Scratch>> free_{};
};

}  // namespace sdip::exec
