// A file system for SQLite around the system's own: pages get checksums as they are written, and are held to them.
#include "db/checked_pages.h"

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <new>

#include "core/base/error.h"
#include "core/base/index.h"
#include "db/checksum.h"
#include "db/migrations.h"

namespace sdip {
namespace {

/// The file that SQLite sees; the system's file lies behind it.
struct CheckedFile {
  sqlite3_file head{};
  bool checked = false;
};

constexpr int header_bytes = 100, largest_page = 65536;
constexpr int reserved_at = 20, version_at = 60, application_at = 68;  // in an SQLite file's header

sqlite3_vfs* system_files() {
  static sqlite3_vfs* const files = sqlite3_vfs_find(nullptr);
  return files;
}

CheckedFile* checked(sqlite3_file* file) { return reinterpret_cast<CheckedFile*>(file); }
sqlite3_file* system_file(sqlite3_file* file) { return reinterpret_cast<sqlite3_file*>(checked(file) + 1); }

/// Calls the same method of the system's file.
template <auto method>
struct Passed;
template <class Result, class... Arguments, Result (*sqlite3_io_methods::*method)(sqlite3_file*, Arguments...)>
struct Passed<method> {
  static Result on(sqlite3_file* file, Arguments... arguments) {
    sqlite3_file* const behind = system_file(file);
    return (behind->pMethods->*method)(behind, arguments...);
  }
};

/// SQLite reads and writes a database by whole pages, but for its header.
bool is_page(int bytes, sqlite3_int64 offset) {
  return bytes >= 512 && bytes <= largest_page && (bytes & (bytes - 1)) == 0 && offset % bytes == 0;
}

std::array<char, page_checksum_bytes> checksum_of_page(const char* page, int bytes, sqlite3_int64 offset) {
  const auto summed = as_size(bytes - page_checksum_bytes);
  const std::uint64_t sum = checksum_of({page, summed}, static_cast<std::uint64_t>(offset / bytes + 1));
  std::array<char, page_checksum_bytes> text{};
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(sum >> (8 * i) & 0xff);
  return text;
}

int read(sqlite3_file* file, void* buffer, int bytes, sqlite3_int64 offset) {
  const int status = Passed<&sqlite3_io_methods::xRead>::on(file, buffer, bytes, offset);
  if (status != SQLITE_OK || !checked(file)->checked || !is_page(bytes, offset)) return status;
  const auto* const page = static_cast<const char*>(buffer);
  const auto sum = checksum_of_page(page, bytes, offset);
  const bool same = std::memcmp(page + bytes - page_checksum_bytes, sum.data(), sum.size()) == 0;
  return same ? SQLITE_OK : SQLITE_IOERR_DATA;
}

int write(sqlite3_file* file, const void* buffer, int bytes, sqlite3_int64 offset) {
  if (!checked(file)->checked || !is_page(bytes, offset))
    return Passed<&sqlite3_io_methods::xWrite>::on(file, buffer, bytes, offset);
  std::array<char, largest_page> page;
  std::memcpy(page.data(), buffer, as_size(bytes));
  if (offset == 0 && page[reserved_at] != page_checksum_bytes) return SQLITE_IOERR_WRITE;  // no room was left
  const auto sum = checksum_of_page(page.data(), bytes, offset);
  std::memcpy(page.data() + bytes - page_checksum_bytes, sum.data(), sum.size());
  return Passed<&sqlite3_io_methods::xWrite>::on(file, page.data(), bytes, offset);
}

/// Parts of pages are never read: their sum could not be checked (an ability that SQLite 3.47 asks for).
int characteristics(sqlite3_file* file) {
  constexpr int subpage_read = 0x00008000;
  return Passed<&sqlite3_io_methods::xDeviceCharacteristics>::on(file) & ~subpage_read;
}

constexpr sqlite3_io_methods methods = {
    .iVersion = 2,  // with shared memory for the log, without pages mapped
    .xClose = Passed<&sqlite3_io_methods::xClose>::on,
    .xRead = read,
    .xWrite = write,
    .xTruncate = Passed<&sqlite3_io_methods::xTruncate>::on,
    .xSync = Passed<&sqlite3_io_methods::xSync>::on,
    .xFileSize = Passed<&sqlite3_io_methods::xFileSize>::on,
    .xLock = Passed<&sqlite3_io_methods::xLock>::on,
    .xUnlock = Passed<&sqlite3_io_methods::xUnlock>::on,
    .xCheckReservedLock = Passed<&sqlite3_io_methods::xCheckReservedLock>::on,
    .xFileControl = Passed<&sqlite3_io_methods::xFileControl>::on,
    .xSectorSize = Passed<&sqlite3_io_methods::xSectorSize>::on,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = Passed<&sqlite3_io_methods::xShmMap>::on,
    .xShmLock = Passed<&sqlite3_io_methods::xShmLock>::on,
    .xShmBarrier = Passed<&sqlite3_io_methods::xShmBarrier>::on,
    .xShmUnmap = Passed<&sqlite3_io_methods::xShmUnmap>::on,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

std::uint32_t big_endian(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

/// Whether a file's pages have checksums, or will. One damaged place does not make a store of ours look like one
/// without: its header says it twice.
bool has_checksums(sqlite3_file* file) {
  std::array<unsigned char, header_bytes> header{};
  if (file->pMethods->xRead(file, header.data(), header_bytes, 0) != SQLITE_OK) return true;  // empty, or too short
  return header[reserved_at] == page_checksum_bytes ||
         (big_endian(&header[application_at]) == store_application_id &&
          big_endian(&header[version_at]) >= first_checked_version);
}

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
    return system_files()->xOpen(system_files(), name, file, flags, flags_out);
  CheckedFile* const mine = new (file) CheckedFile;
  sqlite3_file* const behind = system_file(file);
  const int status = system_files()->xOpen(system_files(), name, behind, flags, flags_out);
  if (status != SQLITE_OK) return status;
  mine->checked = has_checksums(behind);
  mine->head.pMethods = &methods;
  return SQLITE_OK;
}

}  // namespace

const char* checked_pages() {
  static const char* const name = [] {
    static sqlite3_vfs files = *system_files();
    files.zName = "sdip";
    files.szOsFile += static_cast<int>(sizeof(CheckedFile));
    files.xOpen = open;
    check(sqlite3_vfs_register(&files, 0) == SQLITE_OK, "checked_pages: SQLite takes it");
    return files.zName;
  }();
  return name;
}

}  // namespace sdip
