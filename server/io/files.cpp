// Files over POSIX calls, each failure as an Error with the system's reason.
#include "server/io/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"

namespace sdip {
namespace {

std::string system_reason(int number) { return std::strerror(number); }

[[noreturn]] void refuse_write(const std::filesystem::path& path, int number) {
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  throw Error(full ? "disk_full" : "file_unwritable", path.string(), "cannot write: " + system_reason(number));
}

constexpr std::string_view unfinished = ".new-";

/// Makes a rename in `folder` durable.
void sync_folder(const std::filesystem::path& folder) {
  const int file = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

namespace {

/// The name of a kind of path that holds no bytes to be mapped.
std::string kind_text(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

[[noreturn]] void refuse_kind(const std::filesystem::path& path, mode_t mode) {
  throw Error("file_unreadable", path.string(), "not a regular file but " + kind_text(mode));
}

/// Opened without waiting for the other end of a pipe.
int opened(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) return file;
  const int number = errno;
  struct stat facts {};
  if (number == ENXIO && ::stat(path.c_str(), &facts) == 0) refuse_kind(path, facts.st_mode);
  throw Error(number == ENOENT ? "file_not_found" : "file_unreadable", path.string(),
              "cannot open: " + system_reason(number));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : MappedFile(opened(path), path) {}

MappedFile::MappedFile(int file, const std::filesystem::path& path) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    ::close(file);
    refuse_kind(path, facts.st_mode);
  }
  size_ = as_size(facts.st_size);
  void* data = size_ == 0 ? nullptr : ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  const int number = errno;
  ::close(file);
  if (data == MAP_FAILED) throw Error("file_unreadable", path.string(), "cannot map: " + system_reason(number));
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

NewFile::NewFile(std::filesystem::path final_name) : final_name_(std::move(final_name)) {
  std::error_code unseen;  // what cannot be looked at cannot be opened either, which says why
  if (std::filesystem::is_other(final_name_,
                                unseen)) {  // a device or a pipe: renaming a file onto it would take its place
    file_ = ::open(final_name_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) refuse_write(final_name_, errno);
    return;
  }
  if (std::filesystem::is_symlink(final_name_, unseen))
    if (const auto target = std::filesystem::canonical(final_name_, unseen); !unseen) final_name_ = target;
  std::string pattern = (final_name_.parent_path() / (std::string(unfinished) + "XXXXXX")).string();
  file_ = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (file_ < 0) refuse_write(final_name_, errno);
  path_ = pattern;
}

NewFile::~NewFile() {
  if (file_ >= 0) ::close(file_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

void NewFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse_write(final_name_, errno);
    bytes.remove_prefix(as_size(written));
  }
}

void NewFile::keep_as(const std::filesystem::path& name) {
  if (path_.empty()) return;  // written where it goes
  if (::fsync(file_) != 0) refuse_write(name, errno);
  const int file = std::exchange(file_, -1);
  if (::close(file) != 0) refuse_write(name, errno);
  ::chmod(path_.c_str(), 0644);
  if (::rename(path_.c_str(), name.c_str()) != 0) refuse_write(name, errno);
  path_.clear();
  sync_folder(name.parent_path());
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  NewFile file(path);
  file.write(bytes);
  file.keep();
}

void remove_unfinished(const std::filesystem::path& folder) {
  std::error_code ignored;  // a folder that is not there holds nothing
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(unfinished)) found.push_back(entry.path());
  for (const auto& path : found) std::filesystem::remove(path, ignored);
}

std::string read_text(const std::filesystem::path& path) {
  const MappedFile file(path);
  if (file.text().size() > (std::size_t{16} << 20))
    throw Error("too_large", path.string(), "expected at most 16 MiB");
  return std::string(file.text());
}

void require_folder(const std::filesystem::path& path) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) throw Error("data_folder_unusable", path.string(), "cannot create the folder: " + problem.message());
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    throw Error("data_folder_unusable", path.string(), "cannot write into the folder: " + system_reason(errno));
}

}  // namespace sdip
