// Pages of a database that end with a checksum, checked whenever SQLite reads one. Internal to its room.
#pragma once

namespace sdip {

/// Bytes at the end of each page that SQLite leaves to the checksum.
inline constexpr int page_checksum_bytes = 8;

/// First version of the store whose pages have checksums.
inline constexpr int first_checked_version = 4;

/// The name, for sqlite3_open_v2, of the file system that keeps and checks them: the system's own, but each page of
/// a database ends with the checksum of the bytes before it, seeded with the page's number, little endian. A page
/// that is damaged, or stands in another's place, is refused as it is read, with SQLITE_IOERR_DATA. The log of
/// writes has checksums of SQLite's own. A database from before checksums, or of another program, passes as it is.
const char* checked_pages();

}  // namespace sdip
