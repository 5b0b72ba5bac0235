// Files: read-only maps, and whole writes that are there or not there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/sha256.h"

namespace sdip {

/// Bytes as text is kept.
inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A file mapped read-only. Throws Error file_not_found, file_unreadable.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  /// Takes an open file over; `path` is how errors name it.
  MappedFile(int file, const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return text_of(bytes()); }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A file being written beside its final name: `keep` syncs it and renames it into place; without that it is
/// removed. A device or a pipe of that name is written as it is, and what a link leads to stays under its own name.
/// Throws Error disk_full, file_unwritable.
class NewFile {
 public:
  /// Opened in the final name's folder, for the owner alone.
  explicit NewFile(std::filesystem::path final_name);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  void keep() { keep_as(final_name_); }
  /// Under another name of the same folder.
  void keep_as(const std::filesystem::path& name);
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path final_name_, path_;
  int file_ = -1;
};

/// Writes a whole file. Throws as NewFile.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Removes from a folder what NewFiles left there that were killed. Requires that none is open in it.
void remove_unfinished(const std::filesystem::path& folder);

/// The text of a small file (at most 16 MiB). Throws as MappedFile, and too_large.
std::string read_text(const std::filesystem::path& path);

/// Creates the folder and its parents where missing. Throws Error data_folder_unusable when it cannot be written.
void require_folder(const std::filesystem::path& path);

}  // namespace sdip
