// Bytes of a memory: one behind the other, 0 until they are written.
//
// The system gives what is touched, when it is touched, in large pages where there is much: of a memory of 256 MiB
// in which a program uses 2 MiB, 2 MiB are taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sdip::exec {

class Storage {
 public:
  Storage() = default;
  Storage(Storage&& other) noexcept { *this = std::move(other); }
  Storage& operator=(Storage&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Storage();

  std::byte* data() const { return data_; }
  std::int64_t size() const { return size_; }

  /// Makes it at least `bytes` large; what was written stays, but may stand elsewhere then. Throws std::bad_alloc.
  void grow(std::int64_t bytes);

 private:
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace sdip::exec
