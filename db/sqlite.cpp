// SQLite, hardened; and its failures as our errors.
#include "db/sqlite.h"

#include <sqlite3.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/base/index.h"
#include "db/checked_pages.h"

namespace sdip {
namespace {

constexpr int busy_timeout_ms = 5000;
constexpr int largest_value_bytes = 64 << 20;  // of one text or blob

bool out_of_space(int status, int system_error) {
  if ((status & 0xff) == SQLITE_FULL) return true;
  // SQLite calls only ENOSPC full; a quota and a file size limit are the same to a user.
  return (status & 0xff) == SQLITE_IOERR &&
         (system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG);
}

/// The operating system's error of the last failed write, 0 if it cannot be known. A failed commit leaves the
/// connection's own note at 0, but the files remember: the database, and the log of writes.
int system_error_of(sqlite3* connection) {
  int error = sqlite3_system_errno(connection);
  if (error != 0 || (sqlite3_extended_errcode(connection) & 0xff) != SQLITE_IOERR) return error;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &error);
  if (error != 0) return error;
  sqlite3_file* log = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log != nullptr && log->pMethods != nullptr) log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &error);
  return error;
}

const char* code_of(int status, int system_error) {
  if (status == SQLITE_IOERR_DATA || status == SQLITE_IOERR_SHORT_READ) return "store_corrupt";
  if (out_of_space(status, system_error)) return "disk_full";
  switch (status & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "store_corrupt";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "store_locked";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "store_readonly";
    case SQLITE_CANTOPEN:
      return system_error == EACCES || system_error == EROFS ? "store_readonly" : "store_failed";
    default:
      return "store_failed";
  }
}

}  // namespace

Connection::Connection(const std::string& path, Access access) : path_(path) {
  const int mode = access == Access::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int opened =
      sqlite3_open_v2(path.c_str(), &handle_, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, checked_pages());
  try {
    if (opened != SQLITE_OK) fail();
    for (const int off :
         {SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL, SQLITE_DBCONFIG_TRUSTED_SCHEMA,
          SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW})
      sqlite3_db_config(handle_, off, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, largest_value_bytes);
    sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 1);  // VACUUM INTO attaches its target
    sqlite3_busy_timeout(handle_, busy_timeout_ms);
    int reserved = page_checksum_bytes;  // of a file that is made, and of the copies that VACUUM INTO makes
    sqlite3_file_control(handle_, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    execute("PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON");
    if (access == Access::read_only) execute("PRAGMA query_only = ON");
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Connection::~Connection() { sqlite3_close(handle_); }

void Connection::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t Connection::integer(const char* sql) {
  Statement statement(*this, sql);
  check(statement.step(), "Connection::integer: a row");
  return statement.integer(0);
}

std::string Connection::text(const char* sql) {
  Statement statement(*this, sql);
  check(statement.step(), "Connection::text: a row");
  return std::string(statement.text(0));
}

void Connection::check_whole() {
  const std::string found = text("PRAGMA quick_check(1)");
  if (found != "ok") throw Error("store_corrupt", path_, "damaged: " + found);
}

void Connection::fail() const {
  if (handle_ == nullptr) throw Error("store_failed", path_, "no memory to open the store");
  const int status = sqlite3_extended_errcode(handle_);
  const int system_error = system_error_of(handle_);
  const std::string code = code_of(status, system_error);
  std::string message = sqlite3_errmsg(handle_);
  if (code == "disk_full") message = "no space left on the disk; nothing of this write was kept";
  if (code == "store_corrupt")
    message = status == SQLITE_IOERR_DATA ? "damaged: a page is not what was written"
                                          : "not a store, or damaged: " + message;
  if (code == "store_failed" && system_error != 0) message += fmt::format(" ({})", std::strerror(system_error));
  throw Error(code, path_, message);
}

Statement::Statement(Connection& connection, const char* sql) : connection_(connection) {
  const int status = sqlite3_prepare_v3(connection.handle(), sql, -1, 0, &handle_, nullptr);
  if (status != SQLITE_OK) connection.fail();
}

Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::bound(int status) {
  if (status != SQLITE_OK) connection_.fail();
  ++next_;
}

Statement& Statement::bind(std::int64_t value) {
  bound(sqlite3_bind_int64(handle_, next_, value));
  return *this;
}

Statement& Statement::bind(double value) {
  bound(sqlite3_bind_double(handle_, next_, value));
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  const auto copied =
      std::bit_cast<sqlite3_destructor_type>(std::intptr_t{-1});  // SQLITE_TRANSIENT without its cast
  const char* const data = text.empty() ? "" : text.data();
  bound(sqlite3_bind_text64(handle_, next_, data, text.size(), copied, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  const auto copied = std::bit_cast<sqlite3_destructor_type>(std::intptr_t{-1});
  const char* const data = bytes.empty() ? "" : bytes.data();
  bound(sqlite3_bind_blob64(handle_, next_, data, bytes.size(), copied));
  return *this;
}

Statement& Statement::bind_null() {
  bound(sqlite3_bind_null(handle_, next_));
  return *this;
}

bool Statement::step() {
  const int status = sqlite3_step(handle_);
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  connection_.fail();
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::reset() {
  sqlite3_reset(handle_);
  next_ = 1;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

double Statement::real(int column) const {
  return null(column) ? std::numeric_limits<double>::quiet_NaN() : sqlite3_column_double(handle_, column);
}

std::string_view Statement::text(int column) const { return blob(column); }

std::string_view Statement::blob(int column) const {
  const void* const data = sqlite3_column_blob(handle_, column);
  const auto bytes = as_size(sqlite3_column_bytes(handle_, column));
  return bytes == 0 ? std::string_view() : std::string_view(static_cast<const char*>(data), bytes);
}

bool Statement::null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

Transaction::Transaction(Connection& connection, Kind kind) : connection_(connection), kind_(kind) {
  if (kind == Kind::durable_write) connection.execute("PRAGMA synchronous = FULL");
  connection.execute(kind == Kind::read ? "BEGIN" : "BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // A failed write may have ended the transaction already.
  if (sqlite3_get_autocommit(connection_.handle()) == 0)
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  if (kind_ == Kind::durable_write)
    sqlite3_exec(connection_.handle(), "PRAGMA synchronous = NORMAL", nullptr, nullptr, nullptr);
}

void Transaction::commit() { connection_.execute("COMMIT"); }

}  // namespace sdip
