// Opening files of external data below a folder.
#include "server/io/external_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/base/words.h"

namespace sdip {
namespace {

/// An open file, closed again unless released.
class OpenFile {
 public:
  explicit OpenFile(int file) : file_(file) {}
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return file_; }
  int release() { return std::exchange(file_, -1); }
  void become(int file) {
    if (file_ >= 0) ::close(file_);
    file_ = file;
  }

 private:
  int file_;
};

[[noreturn]] void refuse(const std::string& location, const std::string& why) {
  throw Error("file_unreadable", location, why);
}

[[noreturn]] void refuse_open(const std::string& location, int number) {
  if (number == ENOENT) throw Error("file_not_found", location, "cannot open: no such file");
  if (number == ELOOP || number == EXDEV) refuse(location, "cannot open: it is a symbolic link, or leads outside");
  refuse(location, std::string("cannot open: ") + std::strerror(number));
}

std::vector<std::string> parts_of(const std::string& location) {
  if (location.find('\0') != std::string::npos) refuse(location, "expected a plain name: it holds a zero byte");
  std::vector<std::string> parts;
  for (const std::string_view part : split(location, '/')) {
    if (part.empty() || part == "." || part == "..")
      refuse(location, "expected a plain name, or a path of such, inside the model's own folder");
    parts.emplace_back(part);
  }
  return parts;
}

constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;  // nor wait for a pipe's other end

/// -1 with errno.
int open_by_kernel(int folder, const std::string& location) {
  open_how how{};
  how.flags = flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, folder, location.c_str(), &how, sizeof how));
}

int open_by_directory(OpenFile& folder, const std::vector<std::string>& parts) {
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const int next = ::openat(folder.number(), parts[i].c_str(), flags | O_DIRECTORY);
    if (next < 0) return -1;
    folder.become(next);
  }
  return ::openat(folder.number(), parts.back().c_str(), flags);
}

}  // namespace

std::shared_ptr<const MappedFile> map_external_file(const std::filesystem::path& folder,
                                                    const std::string& location, PathWalk walk) {
  const std::vector<std::string> parts = parts_of(location);
  const char* start = folder.empty() ? "." : folder.c_str();
  OpenFile at(::open(start, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (at.number() < 0) refuse_open(location, errno);
  OpenFile file(walk == PathWalk::by_kernel ? open_by_kernel(at.number(), location) : -1);
  // An older kernel has no such call, and some sandboxes forbid it as one they do not know.
  const bool absent = walk == PathWalk::by_kernel && file.number() < 0 && (errno == ENOSYS || errno == EPERM);
  if (walk == PathWalk::by_directory || absent) file.become(open_by_directory(at, parts));
  if (file.number() < 0) refuse_open(location, errno);
  struct stat facts {};
  if (::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) refuse(location, "not a regular file");
  if (facts.st_nlink > 1) refuse(location, "the file has another name, too: a hard link may lead outside");
  return std::make_shared<MappedFile>(file.release(), folder / location);
}

}  // namespace sdip
