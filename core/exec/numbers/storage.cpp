// Bytes of a memory.
#include "core/exec/numbers/storage.h"

#include <sys/mman.h>

#include <new>

#include "core/base/index.h"

namespace sdip::exec {
namespace {

constexpr std::int64_t page_bytes = 4096;
constexpr std::int64_t much_bytes = std::int64_t{32} << 20;  // a page of 2 MiB more or less is nothing beside it

}  // namespace

Storage::~Storage() {
  if (data_ != nullptr) ::munmap(data_, as_size(size_));
}

void Storage::grow(std::int64_t bytes) {
  if (bytes <= size_) return;
  if (bytes > INT64_MAX - page_bytes) throw std::bad_alloc();
  const std::int64_t size = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  void* data = data_ == nullptr ? ::mmap(nullptr, as_size(size), PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                : ::mremap(data_, as_size(size_), as_size(size), MREMAP_MAYMOVE);
  if (data == MAP_FAILED) throw std::bad_alloc();
  if (size >= much_bytes) ::madvise(data, as_size(size), MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(data);
  size_ = size;
}

}  // namespace sdip::exec
