// The parts of a Store: the lock, the connection that writes, and the readers that wait to be used again. Internal
// to its room.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "db/bounds.h"
#include "db/chunk.h"
#include "db/sqlite.h"
#include "db/store.h"

namespace sdip {

/// A file that only one process holds; let go when the process ends, however it ends.
class FileLock {
 public:
  /// Throws Error("store_locked" | "store_readonly" | "disk_full" | "store_failed", path, ...).
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_;
};

/// The id of each metric in the table `metric`.
using MetricIds = Array<std::int64_t, metric_count>;

/// As they are; -1 of a metric that the store has never seen.
MetricIds metric_ids_in(Connection& connection);

/// The front of a sweep's chunks up to one.
struct KeptFront {
  std::mutex growing = {};
  std::int64_t last_chunk = 0;
  Columns points = {};  // without `feasible`, ascending by index
};

/// The keys between which those of a chunk's points lie in an order (db/store_page.cpp); NaN where none has one.
struct ChunkKeys {
  std::int64_t id = 0, first = 0;
  std::int32_t count = 0, feasible = 0;  // points
  bool some_without = false;             // feasible ones have no key
  double least = 0, most = 0;
};

/// Those of a sweep's chunks up to one, in any order.
struct KeptOrder {
  std::mutex growing = {};
  std::int64_t last_chunk = 0;
  std::vector<ChunkKeys> chunks = {};
};

/// The points that pass a filter in an order, of a sweep's chunks up to one: what pages amid it are found by, once
/// that takes reading many chunks. 4 bytes a point.
struct KeptRanks {
  std::mutex growing = {};
  bool slow = false;  // a page was
  std::int64_t last_chunk = 0;
  std::vector<std::uint32_t> points = {};
};

/// Remembers answers about sweeps, so that a question takes up what was stored since it was last asked. Keys begin
/// with the sweep's number and a line's end.
template <class Kept>
class Remembered {
 public:
  explicit Remembered(std::size_t most) : most_(most) {}

  /// The value kept under the key, empty at first. Where too much is kept, all of it is let go.
  std::shared_ptr<Kept> of(const std::string& key) {
    const std::scoped_lock lock(remembering_);
    if (kept_.size() >= most_ && !kept_.contains(key)) kept_.clear();
    std::shared_ptr<Kept>& entry = kept_[key];
    if (!entry) entry = std::make_shared<Kept>();
    return entry;
  }

  /// Forgets all of a sweep that is removed.
  void forget(std::int64_t sweep) {
    const std::scoped_lock lock(remembering_);
    const std::string of_sweep = std::to_string(sweep) + '\n';
    std::erase_if(kept_, [&](const auto& entry) { return entry.first.starts_with(of_sweep); });
  }

 private:
  std::size_t most_;
  std::mutex remembering_;
  std::map<std::string, std::shared_ptr<Kept>> kept_;
};

struct Store::Parts {
  Parts(const std::string& store_path, StoreAccess access);
  ~Parts();

  std::string path;
  std::unique_ptr<FileLock> lock;  // none where it is only read
  std::mutex writing;
  Connection writer;  // which SQLite lets write nothing where the store is only read
  MetricIds metric_ids{};
  std::mutex pooling;
  std::vector<std::unique_ptr<Connection>> idle;
  Remembered<KeptFront> fronts{64};  // by sweep, objectives and constraints
  Remembered<KeptOrder> orders{16};  // by sweep and what is sorted by: 1.9 MB each of 10,000,000 points
  Remembered<KeptRanks> ranks{3};    // by sweep, order and filter: 40 MB each of 10,000,000 points
};

/// A read-only connection of the store in a transaction: one snapshot for as long as this lives.
class ReadConnection {
 public:
  explicit ReadConnection(std::mutex& pooling, std::vector<std::unique_ptr<Connection>>& idle,
                          const std::string& path);
  ~ReadConnection();
  ReadConnection(const ReadConnection&) = delete;
  ReadConnection& operator=(const ReadConnection&) = delete;
  Connection& connection() { return *connection_; }

 private:
  std::mutex& pooling_;
  std::vector<std::unique_ptr<Connection>>& idle_;
  std::unique_ptr<Connection> connection_;
};

/// A chunk without its columns.
struct ChunkHead {
  std::int64_t id = 0, sweep = 0, first = 0, count = 0;
  std::vector<std::uint8_t> feasible;
  std::string reason, reasons;
  std::optional<std::string> checksums;  // none: it was stored before there were any
};

/// A chunk's place and counts. `bounds`: nothing where none are kept, NaN where the metric has no values.
struct ChunkBoundsRow {
  std::int64_t id = 0, first = 0, count = 0, feasible = 0;
  std::optional<MetricBounds> bounds{};
};

/// Reads the chunks of a sweep, one after the other or one by one, and the columns of each. A chunk with a checksum
/// is held to it: throws Error("store_corrupt", path, ...) saying which points.
class ChunkReader {
 public:
  ChunkReader(Connection& connection, const MetricIds& metric_ids);
  /// All chunks that end after `after`, in index order; `visit` returns false to stop.
  void each(std::int64_t sweep, std::int64_t after, const std::function<bool(const ChunkHead&)>& visit);
  /// All chunks that were stored after the one of that id; 0: all, in any order.
  void each_since(std::int64_t sweep, std::int64_t chunk, const std::function<void(const ChunkHead&)>& visit);
  /// The same without what a chunk's row holds besides, and with the bounds of a metric of that number in the
  /// store; -1: of none.
  void each_bounds_since(std::int64_t sweep, std::int64_t chunk, std::int64_t metric_id,
                         const std::function<void(const ChunkBoundsRow&)>& visit);
  /// A metric's number in the store.
  std::int64_t id_of(Metric metric) const { return metric_ids_[metric]; }
  /// The chunk that holds a point, if it is stored.
  std::optional<ChunkHead> holding(std::int64_t sweep, std::int64_t index);
  /// Appends a metric of each point of a chunk.
  void column(const ChunkHead& chunk, Metric metric, std::vector<double>& values);
  /// The same of a metric or a formula.
  void measure(const ChunkHead& chunk, const Space& space, const Measure& measure, std::vector<double>& values);
  /// The same of the metric of that number in the store, which may be none of today's.
  void column_of_id(const ChunkHead& chunk, std::int64_t metric_id, std::vector<double>& values);
  /// Why each point of a chunk cannot be; "" where it can.
  std::vector<std::string> reasons(const ChunkHead& chunk);
  /// The points of a chunk, whole.
  std::vector<StoredPoint> points(const ChunkHead& chunk);
  /// Those of its points that lie in the range, of which there is one.
  PointBatch batch(const ChunkHead& chunk, const IndexRange& range);

 private:
  void read_column(const ChunkHead& chunk, std::int64_t metric_id, std::vector<double>& values);

  Connection& connection_;
  const MetricIds& metric_ids_;
  Statement column_;
};

/// The id of a metric's column in a chunk: the columns of a chunk lie together, in order.
constexpr std::int64_t column_id(std::int64_t chunk, std::int64_t metric) { return chunk * 256 + metric; }

/// The state of that name. Throws Error("store_corrupt", path, ...).
SweepState state_of(std::string_view text, const std::string& path);

/// Throws Error("conflict", "WHAT ID", ...) unless one state of a sweep or validation follows another, as
/// SweepState lists.
void require_follows(const std::string& what, std::int64_t id, SweepState from, SweepState to);

/// Binds a state's problem: code, place and message, or nulls.
void bind_problem(Statement& statement, SweepState state, const std::optional<Problem>& problem);

/// Validations and searches are asked for and answered alike: their tables, of these names, have a state, a
/// problem, a summary and a result. Each throws Error("not_found", "TABLE ID", ...) where there is no such row;
/// those that change one are called in a transaction, and throw Error("conflict", ...) where the states do not
/// follow, or it runs and is to go.
std::string asked_result(Connection& connection, const std::string& table, std::int64_t id);
void set_asked_state(Connection& connection, const std::string& table, std::int64_t id, SweepState state,
                     const std::optional<Problem>& problem);
void end_asked(Connection& connection, const std::string& table, std::int64_t id, SweepState state,
               std::string_view summary_json, std::string_view result_json);
void remove_asked(Connection& connection, const std::string& table, std::int64_t id);
/// The error of a row that is not there.
Error no_such(const std::string& table, std::int64_t id);

/// As Store::point_accuracies.
std::map<std::int64_t, StoredAccuracy> point_accuracies_in(Connection& connection, std::int64_t sweep);

/// The analyses of a row of `kept_point`: their packed text and its length. Throws Error("store_corrupt", path,
/// ...).
std::string unpacked_analyses(std::string_view blob, std::int64_t text_bytes, const std::string& path);

/// Which of a sweep's points are stored, ascending.
std::vector<IndexRange> stored_in(Connection& connection, std::int64_t sweep);

/// Throws Error("not_found", ...) unless the sweep exists; returns its number of points.
std::int64_t total_of(Connection& connection, std::int64_t sweep);

}  // namespace sdip
