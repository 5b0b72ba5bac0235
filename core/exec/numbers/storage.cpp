// Bytes of a memory.
#include "core/exec/numbers/storage.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "core/base/index.h"

namespace sdip::exec {
namespace {

constexpr std::int64_t page_bytes = 4096;
constexpr std::int64_t much_bytes = std::int64_t{32} << 20;  // a page of 2 MiB more or less is nothing beside it

void* mapped(std::size_t size) {
  return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void* mapped_again(void* data, std::size_t size, std::size_t wanted) {
#ifdef __SANITIZE_THREAD__
  // The thread sanitizer does not see mremap, and would take the addresses' last user for one of today.
  void* const moved = mapped(wanted);
  if (moved != MAP_FAILED) {
    std::memcpy(moved, data, size);
    ::munmap(data, size);
  }
  return moved;
#else
  return ::mremap(data, size, wanted, MREMAP_MAYMOVE);
#endif
}

}  // namespace

Storage::~Storage() {
  if (data_ != nullptr) ::munmap(data_, as_size(size_));
}

void Storage::grow(std::int64_t bytes) {
  if (bytes <= size_) return;
  if (bytes > INT64_MAX - page_bytes) throw std::bad_alloc();
  const std::int64_t size = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  void* data = data_ == nullptr ? mapped(as_size(size)) : mapped_again(data_, as_size(size_), as_size(size));
  if (data == MAP_FAILED) throw std::bad_alloc();
  if (size >= much_bytes) ::madvise(data, as_size(size), MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(data);
  size_ = size;
}

}  // namespace sdip::exec
