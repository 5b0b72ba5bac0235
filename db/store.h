// Where models and sweeps are kept: one SQLite file, one process that writes it, any number of readers within it
// and beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/explore/space/measure.h"
#include "core/explore/space/points.h"
#include "db/export.h"

namespace sdip {

/// An uploaded model. Its ONNX bytes lie in a file of the caller's; the store keeps the name.
struct StoredModel {
  std::string name;
  std::string sha256;  // of the bytes, 64 hexadecimal digits
  std::string file;    // relative to the data folder
  std::int64_t size_bytes = 0;
  std::string facts_json;  // what the importer found, with the dimensions bound at upload
  std::string created;     // RFC 3339, given by the caller
};

/// queued -> running -> done; queued, running -> cancelled, failed; running -> interrupted (the process was
/// stopped); cancelled, failed, interrupted -> queued (resume).
enum class SweepState { queued, running, done, cancelled, failed, interrupted };
std::string_view sweep_state_text(SweepState state);

/// Why a sweep failed.
struct Problem {
  std::string code, where, message;
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// Which sweep this one was made of, and how. Numbers are never used again, so that this stays true when that one
/// is removed.
struct SweepOrigin {
  std::int64_t parent = 0;
  std::string revision_json;  // revision_json(revision), as text
};

struct SweepRow {
  std::int64_t id = 0;
  std::string name, model;
  std::string spec_json;  // spec_json(spec), as text
  SweepState state = SweepState::queued;
  std::int64_t total = 0, done = 0, feasible = 0;  // done, feasible: of the points stored
  std::int64_t unchecked = 0;                      // of them, stored before there were checksums
  std::string signature;                           // of the engine that computes the points; "": not known
  std::string created;                             // RFC 3339, given by the caller
  std::optional<Problem> error;
  std::optional<SweepOrigin> origin;
  std::int64_t revision = 1;  // how many sweeps lead to it, it among them
  std::int64_t taken = 0;     // of the points stored, those taken over from another sweep
};

/// A validation: of a design point that was asked for, or of the front of a sweep. States are those of sweeps, but
/// none is resumed.
struct ValidationRow {
  std::int64_t id = 0;
  std::optional<std::int64_t> sweep{};
  std::string model, request_json;
  SweepState state = SweepState::queued;
  std::string created;       // RFC 3339, given by the caller
  std::string summary_json;  // "" before it ends
  std::optional<Problem> error{};
};

/// A search for the best machine. States are those of sweeps; one that was interrupted is queued again, and goes on
/// where it was kept.
struct SearchRow {
  std::int64_t id = 0;
  std::string model, request_json;
  SweepState state = SweepState::queued;
  std::string created;       // RFC 3339, given by the caller
  std::string summary_json;  // "" before it ends
  std::optional<Problem> error{};
};

struct StoredPoint {
  std::int64_t index = 0;
  bool feasible = false;
  std::string reason;
  MetricValues values{};  // NaN when infeasible, or when the sweep was made before the metric existed
};

/// Points as columns, ascending by index.
struct Columns {
  std::vector<std::int64_t> index;
  std::vector<std::uint8_t> feasible;
  std::vector<std::vector<double>> values;  // as the measures were asked for
};

/// Some consecutive points, and of each the value of what was asked for.
struct PointRun {
  std::int64_t first = 0;
  std::span<const std::uint8_t> feasible;
  std::span<const double> values;
};

struct PageQuery {
  std::int64_t limit = 100;        // 1 to 10000
  std::string cursor{};            // Page::next of the page before, or ""
  std::string sort = "index";      // index, a metric, a formula or an axis of the space; a leading '-' reverses
  std::optional<bool> feasible{};  // only these
  std::vector<Formula> formulas{};
};

/// A page. The cursor names the last row, not its place: rows stored meanwhile neither repeat nor hide others.
struct Page {
  std::vector<StoredPoint> points;
  std::string next;        // "" after the last page
  std::int64_t total = 0;  // points that pass the filter
};

/// The measured effect of a machine's number formats on a model's result.
struct StoredAccuracy {
  double sqnr_db = 0, cosine = 0;  // sqnr_db infinite: nothing differs; NaN: not every element is finite
  bool random_weights = false;
};

/// A stored point whose analyses, layer by layer, are kept as they were made.
struct KeptPoint {
  std::int64_t index = 0;
  std::string created, signature;  // when, RFC 3339; of the engine that made them
  std::int64_t text_bytes = 0;     // of the analyses, unpacked
};

struct KeptAnalyses {
  KeptPoint point;
  std::string text;
};

/// So many points of a sweep can be kept: 160 KB each of sd15.
inline constexpr std::int64_t most_kept_analyses = 1000;

/// Who reads alone holds no lock: a process that writes goes on beside it, and what it has stored by then is read.
enum class StoreAccess { write, read };

/// Every method may be called from any thread; writes take turns. Every method throws Error("disk_full" |
/// "store_corrupt" | "store_failed", path, ...), and Error("not_found", ...) for a sweep that is not there. A write
/// happens whole or not at all.
class Store {
 public:
  /// Opens or creates the file and brings it to the newest version; sweeps found running become interrupted. After
  /// an unclean stop the file is checked first. Whatever is read later is held to its checksums. To be read alone,
  /// the file must be there; nothing of it changes, but an older one is brought up first, and what would write
  /// throws store_readonly. Throws also Error("store_locked" | "store_newer" | "store_foreign" | "store_readonly",
  /// path, ...).
  explicit Store(const std::string& path, StoreAccess access = StoreAccess::write);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Adds a model. Throws Error("conflict", ...) when the name is taken.
  void add_model(const StoredModel& row);
  std::vector<StoredModel> models() const;  // by name
  std::optional<StoredModel> model(std::string_view name) const;
  bool remove_model(std::string_view name);  // false: there was none

  /// Adds a sweep in state queued and returns its id; id, state, done, feasible, error, revision and taken of `row`
  /// are not read. Throws Error("not_found", ...) for a parent that is not there.
  std::int64_t add_sweep(const SweepRow& row);
  std::vector<SweepRow> sweeps() const;  // newest first
  SweepRow sweep(std::int64_t id) const;
  /// The same, and into `stored` which points are stored, ascending, both at one moment.
  SweepRow sweep(std::int64_t id, std::vector<IndexRange>& stored) const;
  /// Throws Error("conflict", ...) for a step that SweepState does not list. `problem` is kept with failed only.
  void set_state(std::int64_t id, SweepState state, const std::optional<Problem>& problem = std::nullopt);
  /// Queues interrupted sweeps again; oldest first. One that was three times, and kept no point since, stays.
  std::vector<std::int64_t> resume_interrupted();
  /// Says which engine computes the points from now on. Those of two never lie in one sweep, where they would share
  /// a front: throws Error("engine_changed", ...) when points of another, or of one not known, are stored.
  void set_signature(std::int64_t id, std::string_view signature);
  /// Removes a sweep and its points. Throws Error("conflict", ...) while it runs.
  void remove_sweep(std::int64_t id);

  /// Adds a validation in state queued and returns its id; id, state, summary and error of `row` are not read.
  std::int64_t add_validation(const ValidationRow& row);
  std::vector<ValidationRow> validations() const;         // those of no sweep, newest first
  std::vector<ValidationRow> queued_validations() const;  // of sweeps, too, oldest first
  ValidationRow validation(std::int64_t id) const;
  /// The newest of a sweep's front.
  std::optional<ValidationRow> validation_of(std::int64_t sweep) const;
  std::string validation_result(std::int64_t id) const;  // "" before it ends
  /// Throws Error("conflict", ...) for a step that SweepState does not list.
  void set_validation_state(std::int64_t id, SweepState state,
                            const std::optional<Problem>& problem = std::nullopt);
  /// Keeps the result of one that runs: it is done.
  void end_validation(std::int64_t id, std::string_view summary_json, std::string_view result_json);
  /// Throws Error("conflict", ...) while it runs.
  void remove_validation(std::int64_t id);

  /// Adds a search in state queued and returns its id; id, state, summary and error of `row` are not read.
  std::int64_t add_search(const SearchRow& row);
  std::vector<SearchRow> searches() const;  // newest first
  SearchRow search(std::int64_t id) const;
  std::string search_result(std::int64_t id) const;  // "" before it ends
  /// Keeps where a search is, until it ends; "" of one that kept nothing.
  void keep_search_progress(std::int64_t id, std::string_view progress_json);
  std::string search_progress(std::int64_t id) const;
  /// Queues interrupted searches again. One during which the process was killed three times stays as it is.
  void restart_searches();
  /// Throws Error("conflict", ...) for a step that SweepState does not list.
  void set_search_state(std::int64_t id, SweepState state, const std::optional<Problem>& problem = std::nullopt);
  /// Keeps the result of one that runs, which is then done or cancelled.
  void end_search(std::int64_t id, SweepState state, std::string_view summary_json, std::string_view result_json);
  /// Throws Error("conflict", ...) while it runs.
  void remove_search(std::int64_t id);

  /// Keeps a batch. The same batch again changes nothing; one that overlaps another, or differs from what is stored
  /// at its place, throws Error("conflict", ...). `taken`: how many of its points are the parent's.
  void append(std::int64_t id, const PointBatch& batch, std::int64_t taken = 0);
  /// The points that are stored, and those not stored yet, ascending.
  std::vector<IndexRange> stored_ranges(std::int64_t id) const;
  std::vector<IndexRange> missing_ranges(std::int64_t id) const;

  /// The batch that a stored point lies in, as far as it was kept at once; nothing where the point is not stored.
  std::optional<PointBatch> batch_holding(std::int64_t id, std::int64_t index) const;

  /// The stored points of a range as batches, in index order; one snapshot. No batch lies in two chunks.
  void each_batch(std::int64_t id, const IndexRange& range, const std::function<void(PointBatch&&)>& visit) const;

  /// `space` must be the sweep's own, here and below.
  Columns columns(std::int64_t id, const Space& space, std::span<const Measure> measures) const;
  std::optional<StoredPoint> point(std::int64_t id, std::int64_t index) const;
  /// Indices of the Pareto front of the stored points that keep the constraints, best in the first objective first,
  /// ties as pareto_front has them. It is remembered, and then takes only what was stored since. Requires an
  /// objective.
  std::vector<std::int64_t> front(std::int64_t id, const Space& space, std::span<const Objective> objectives,
                                  std::span<const Formula> constraints) const;
  /// Throws Error("value_invalid" | "value_out_of_range" | "unknown_metric", "sort" | "limit" | "cursor", ...).
  Page page(std::int64_t id, const Space& space, const PageQuery& query) const;

  /// The accuracy measured under a key of all that it follows from. Kept once; the same key again changes nothing.
  std::optional<StoredAccuracy> accuracy(std::string_view key) const;
  void add_accuracy(std::string_view key, const StoredAccuracy& accuracy);
  /// Says that a stored point's is that of the key. Throws Error("not_found", ...) for a key that is not there.
  void set_point_accuracy(std::int64_t id, std::int64_t index, std::string_view key);
  /// By index, the accuracies of the points for which one was measured.
  std::map<std::int64_t, StoredAccuracy> point_accuracies(std::int64_t id) const;
  /// Their keys.
  std::map<std::int64_t, std::string> accuracy_keys(std::int64_t id) const;
  /// Everything that was measured, by key.
  std::map<std::string, StoredAccuracy> accuracies() const;

  /// Keeps the analyses of a stored point in place of those kept before; `text_bytes` of `row` is not read. Throws
  /// Error("not_found", ...) for a point that is not stored, Error("limit_exceeded", ...) for a text above 256 MiB
  /// or one point too many.
  void keep_point(std::int64_t id, const KeptPoint& row, std::string_view analyses);
  std::vector<KeptPoint> kept_points(std::int64_t id) const;  // ascending by index
  std::optional<KeptPoint> kept_point(std::int64_t id, std::int64_t index) const;
  /// Throws Error("not_found", ...) for a point that is not kept.
  KeptAnalyses kept_analyses(std::int64_t id, std::int64_t index) const;
  void let_go_of_point(std::int64_t id, std::int64_t index);

  /// Stored points as text, handed to `sink` in pieces; docs/exports.md says what they look like. One snapshot,
  /// whatever is written meanwhile. Stops when `sink` returns false. Requires a format that is text.
  void export_points(std::int64_t id, const Space& space, const ExportQuery& query,
                     const std::function<bool(std::string_view)>& sink) const;
  /// The same as an SQLite database at `path`, where nothing or an empty file is; on a failure it is left
  /// half-made.
  void export_database(std::int64_t id, const Space& space, const ExportQuery& query,
                       const std::string& path) const;

 private:
  friend class StoredPoints;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// A sweep's points as they were when this was made, whatever is written meanwhile: they can be read again and
/// again, and little of them is held at a time. For one thread. Throws as Store does.
class StoredPoints {
 public:
  /// `space`, the sweep's own, outlives it.
  StoredPoints(const Store& store, std::int64_t id, const Space& space);
  ~StoredPoints();
  StoredPoints(const StoredPoints&) = delete;
  StoredPoints& operator=(const StoredPoints&) = delete;

  /// Visits the points in index order; `visit` returns false to stop.
  void each(const std::optional<Measure>& measure, const std::function<bool(const PointRun&)>& visit) const;
  /// Likewise, a chunk at a time, the values of each of these measures. Requires one at least.
  void each_of(std::span<const Measure> measures,
               const std::function<void(const std::vector<std::vector<double>>& values)>& visit) const;
  /// Reads these of all points, so that damage is found before an answer begins; returns how many there are.
  std::int64_t check(std::span<const Measure> wanted) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The findings of reading everything in a store.
struct StoreCheck {
  std::int64_t version = 0, sweeps = 0, points = 0;
  std::int64_t unchecked = 0;        // points from before there were checksums
  std::vector<std::string> damages;  // in words
  std::vector<StoredModel> models;   // name, sha256 and file, which lies beside the store and is not read
};
/// Reads everything, as it is at one moment, and changes nothing: an older store stays what it is, and a process
/// that writes goes on. Throws as Store does for a file of which nothing can be read.
StoreCheck check_store(const std::string& path);

}  // namespace sdip
