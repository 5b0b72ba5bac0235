// SQLite as values: a connection, a statement, a transaction; every failure is an Error with one of the store's
// codes. Internal to its room.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace sdip {

/// One connection, for one thread at a time. Hardened: no extensions, no double-quoted strings, no trusted schema,
/// foreign keys on, cells checked, and pages, too (db/checked_pages.h). Throws Error("disk_full" | "store_corrupt"
/// | "store_locked" | "store_readonly" | "store_failed", path, ...), as does everything below.
class Connection {
 public:
  enum class Access { read_write, read_only };
  Connection(const std::string& path, Access access);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Runs statements that give no rows.
  void execute(const char* sql);
  /// The integer that a statement of one row and one column gives.
  std::int64_t integer(const char* sql);
  std::string text(const char* sql);
  /// Throws Error("store_corrupt", path, ...) where SQLite finds its tables damaged.
  void check_whole();
  /// Throws for the connection's last error.
  [[noreturn]] void fail() const;

  const std::string& path() const { return path_; }
  sqlite3* handle() const { return handle_; }

 private:
  std::string path_;
  sqlite3* handle_ = nullptr;
};

/// A prepared statement. Values are bound in the order of its question marks; strings are copied.
class Statement {
 public:
  Statement(Connection& connection, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind_blob(std::string_view bytes);
  Statement& bind_null();

  /// Fetches the next row; false after the last one.
  bool step();
  /// Runs to the end and makes ready to be bound again.
  void run();
  void reset();

  std::int64_t integer(int column) const;
  double real(int column) const;            // NaN where there is none
  std::string_view text(int column) const;  // valid until the next step
  std::string_view blob(int column) const;  // valid until the next step
  bool null(int column) const;

 private:
  void bound(int status);
  Connection& connection_;
  sqlite3_stmt* handle_ = nullptr;
  int next_ = 1;
};

/// Everything between construction and commit() happens or nothing of it does. A durable one is on the disk when
/// commit() returns; any other survives the end of the process, but the last ones may be lost when the machine
/// loses power.
class Transaction {
 public:
  enum class Kind { read, write, durable_write };
  Transaction(Connection& connection, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection& connection_;
  Kind kind_;
};

}  // namespace sdip
