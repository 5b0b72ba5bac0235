// Merging parts of sweeps.
#include "server/jobs/merge.h"

#include <algorithm>
#include <bit>

#include "core/base/error.h"
#include "server/io/files.h"
#include "server/jobs/data_folder.h"
#include "server/jobs/service.h"

namespace sdip {
namespace {

/// Points first to end - 1 of a batch.
PointBatch slice(const PointBatch& batch, const IndexRange& range) {
  PointBatch piece;
  piece.first = range.first;
  for (std::int64_t i = range.first; i < range.end; ++i) append(piece, outcome_at(batch, as_size(i - batch.first)));
  return piece;
}

/// Whether two batches have the same points, bit by bit; NaN is like NaN.
bool same_points(const PointBatch& a, const PointBatch& b) {
  if (a.feasible != b.feasible) return false;
  for (std::size_t i = 0; i < a.feasible.size(); ++i)
    if (a.reasons[a.reason[i]] != b.reasons[b.reason[i]]) return false;
  for (std::size_t m = 0; m < metric_count; ++m)
    for (std::size_t i = 0; i < a.feasible.size(); ++i)
      if (std::bit_cast<std::uint64_t>(a.values[m][i]) != std::bit_cast<std::uint64_t>(b.values[m][i]))
        return false;
  return true;
}

/// The parts of `range` that lie in `ranges`, or those that do not.
std::vector<IndexRange> cut(const IndexRange& range, std::span<const IndexRange> ranges, bool inside) {
  std::vector<IndexRange> pieces;
  std::int64_t next = range.first;
  for (const IndexRange& one : ranges) {
    const IndexRange both{std::max(one.first, range.first), std::min(one.end, range.end)};
    if (both.first >= both.end) continue;
    if (inside)
      pieces.push_back(both);
    else if (next < both.first)
      pieces.push_back({next, both.first});
    next = both.end;
  }
  if (!inside && next < range.end) pieces.push_back({next, range.end});
  return pieces;
}

std::string points_text(const IndexRange& range) {
  return fmt::format("points {} to {}", range.first, range.end - 1);
}

void require_agreement(const Store& store, std::int64_t id, const PointBatch& batch, const IndexRange& range,
                       const std::string& part) {
  store.each_batch(id, range, [&](PointBatch&& stored) {
    if (!same_points(stored, slice(batch, stored.range())))
      throw Error("conflict", part,
                  points_text(stored.range()) + " are not those that are merged already: two parts differ");
  });
}

/// An uploaded model, its file first.
void take_model(Store& store, const std::filesystem::path& into, const StoredModel& model,
                const std::filesystem::path& part) {
  if (const auto known = store.model(model.name)) {
    if (known->sha256 != model.sha256 || known->facts_json != model.facts_json)
      throw Error("conflict", part.string(), "its model " + model.name + " is another than the one merged already");
    return;
  }
  const std::filesystem::path file = into / model.file;
  require_folder(file.parent_path());
  const MappedFile source(part / model.file);
  require_model_bytes(model, source);
  write_file(file, source.text());
  store.add_model(model);
}

/// The sweep that those of this spec become, made where it is missing: cancelled, so that no server goes on with
/// it.
std::int64_t target_of(Store& store, const SweepRow& row) {
  if (const auto known = sweep_of_spec(store, row.spec_json)) return known->id;
  SweepRow fresh = row;
  fresh.origin.reset();  // a number of another store
  const std::int64_t id = store.add_sweep(fresh);
  store.set_state(id, SweepState::cancelled);
  return id;
}

void require_engine(Store& store, std::int64_t id, const SweepRow& row, const std::string& part) {
  const SweepRow known = store.sweep(id);
  if (row.signature.empty() || (known.done > 0 && known.signature != row.signature))
    throw Error(
        "engine_changed", part,
        fmt::format("its points are of {}, and those merged already of {}: evaluate every part by one version",
                    row.signature.empty() ? "a version that kept no signature" : "signature " + row.signature,
                    known.done > 0 ? known.signature : "none"));
  store.set_signature(id, row.signature);
}

void merge_sweep(Store& store, const Store& from, const SweepRow& row, const std::string& part,
                 MergedSweep& merged) {
  require_engine(store, merged.id, row, part);
  const std::vector<IndexRange> missing = store.missing_ranges(merged.id);
  from.each_batch(row.id, {0, row.total}, [&](PointBatch&& batch) {
    for (const IndexRange& stored : cut(batch.range(), missing, false)) {
      require_agreement(store, merged.id, batch, stored, part);
      merged.agreeing += stored.end - stored.first;
    }
    for (const IndexRange& fresh : cut(batch.range(), missing, true)) {
      store.append(merged.id, slice(batch, fresh));
      merged.added += fresh.end - fresh.first;
    }
  });
}

/// Merges what was measured of number formats, and of which of these points: a front of a part is none of the whole
/// sweep, but what was measured of a point stays its own.
void merge_accuracies(Store& store, const Store& from, std::int64_t row, std::int64_t id) {
  for (const auto& [key, accuracy] : from.accuracies()) store.add_accuracy(key, accuracy);
  for (const auto& [index, key] : from.accuracy_keys(row)) store.set_point_accuracy(id, index, key);
}

/// The validation of a front that is the whole sweep's.
void merge_validation(Store& store, const Store& from, const SweepRow& row, std::int64_t id) {
  const auto validated = from.validation_of(row.id);
  if (row.done < row.total || !validated || validated->state != SweepState::done || store.validation_of(id)) return;
  ValidationRow copy = *validated;
  copy.sweep = id;
  const std::int64_t number = store.add_validation(copy);
  store.set_validation_state(number, SweepState::running);
  store.end_validation(number, validated->summary_json, from.validation_result(validated->id));
}

/// Says of a whole sweep that it is done.
void end_merge(Store& store, MergedSweep& merged) {
  merged.gaps = store.missing_ranges(merged.id);
  merged.row = store.sweep(merged.id);
  if (!merged.gaps.empty() || merged.row.state == SweepState::done) return;
  if (merged.row.state != SweepState::queued) store.set_state(merged.id, SweepState::queued);
  store.set_state(merged.id, SweepState::running);
  store.set_state(merged.id, SweepState::done);
  merged.row = store.sweep(merged.id);
}

}  // namespace

IndexRange range_of(const WorkPart& part, std::int64_t total) {
  return {total * (part.part - 1) / part.parts, total * part.part / part.parts};
}

std::optional<SweepRow> sweep_of_spec(const Store& store, std::string_view spec_json) {
  for (SweepRow& row : store.sweeps())
    if (row.spec_json == spec_json) return std::move(row);
  return std::nullopt;
}

void require_parts(const std::filesystem::path& into, std::span<const std::filesystem::path> parts) {
  for (const std::filesystem::path& part : parts) {
    std::error_code ignored;
    const auto file = kept_store_file(part);
    if (std::filesystem::equivalent(part, into, ignored))
      throw Error("value_invalid", part.string(), "is the folder that is merged into");
    Store(file.string());  // one that cannot be read is told before anything is made
  }
}

std::vector<MergedSweep> merge_parts(Store& store, const std::filesystem::path& into,
                                     std::span<const std::filesystem::path> parts) {
  require_parts(into, parts);
  std::vector<MergedSweep> all;
  for (const std::filesystem::path& part : parts) {
    const Store from(store_file(part).string());
    std::vector<SweepRow> rows = from.sweeps();
    std::ranges::reverse(rows);  // oldest first
    for (const SweepRow& row : rows) {
      if (row.done == 0) continue;
      for (const MixPart& workload : mix_of_text(row.model, part.string()))
        if (const auto model = from.model(workload.model)) take_model(store, into, *model, part);
      const bool made = !sweep_of_spec(store, row.spec_json);
      const std::int64_t id = target_of(store, row);
      auto merged = std::ranges::find(all, id, &MergedSweep::id);
      if (merged == all.end())
        merged = all.insert(all.end(), MergedSweep{.id = id, .made = made, .from = part.string()});
      merge_sweep(store, from, row, part.string(), *merged);
      merge_accuracies(store, from, row.id, id);
      merge_validation(store, from, row, id);
    }
  }
  for (MergedSweep& merged : all) end_merge(store, merged);
  return all;
}

}  // namespace sdip
