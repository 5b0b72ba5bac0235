// A library before the C library (LD_PRELOAD): the store's write of a given number, and each that follows, fails,
// or the process ends in its midst. SDIP_FAIL_AT is the number, from 1; SDIP_FAIL_WITH an errno, or 0 to end it.
#include <dlfcn.h>
#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {

long number_of(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

template <class Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Counts a write; whether it is to fail.
bool is_due() {
  static const long due = number_of("SDIP_FAIL_AT");
  static std::atomic<long> writes{0};
  return ++writes >= due && due > 0;
}

/// Fails, or ends the process.
int failed() {
  static const int error = static_cast<int>(number_of("SDIP_FAIL_WITH"));
  if (error == 0) raise(SIGKILL);
  errno = error;
  return -1;
}

}  // namespace

// What SQLite writes with. A process that ends leaves half of the write behind.
extern "C" ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  static auto* const next = behind<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  if (!is_due()) return next(file, bytes, count, offset);
  next(file, bytes, count / 2, offset);
  return failed();
}

extern "C" int fdatasync(int file) {
  static auto* const next = behind<int(int)>("fdatasync");
  return is_due() ? failed() : next(file);
}

extern "C" int ftruncate64(int file, off64_t length) noexcept {
  static auto* const next = behind<int(int, off64_t)>("ftruncate64");
  return is_due() ? failed() : next(file, length);
}
