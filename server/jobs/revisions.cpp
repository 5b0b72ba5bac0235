// Revisions of sweeps.
#include "server/jobs/revisions.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/study/signature.h"

namespace sdip {
namespace {

/// Whether points of equal axes are points of equal worth.
bool same_settings(const SweepSpec& a, const SweepSpec& b) {
  return a.model == b.model && a.formats == b.formats && a.space.base == b.space.base &&
         a.space.links == b.space.links;
}

bool is_retry(const std::string& change) {
  return Json::parse(change).at("kind") == revision_name(RevisionKind::retry);
}

}  // namespace

std::int64_t add_revision(Store& store, const Catalog& catalog, std::int64_t parent, const Revision& revision) {
  const SweepSpec spec = revised(sweep_record(store, parent).spec, revision);
  return add_sweep(store, catalog, spec, SweepOrigin{parent, json_text(revision_json(revision))});
}

namespace {

/// The sweep of the same points of which most are stored, whatever else was asked of it. Nothing for an upload,
/// whose child is told what to leave out before it begins: were the other sweep removed meanwhile, this one would
/// fail.
std::optional<std::int64_t> equal_sweep(const Store& store, const SweepRow& row, const SweepSpec& spec) {
  for (const MixPart& part : mix_of_text(spec.model, "/model"))
    if (!is_built_in(part.model)) return std::nullopt;
  std::optional<std::int64_t> found;
  std::int64_t most = 0;
  for (const SweepRow& other : store.sweeps()) {
    if (other.id == row.id || other.model != row.model || other.total != row.total || other.done <= most) continue;
    if (other.signature != signature()) continue;
    const SweepSpec of = sweep_record(store, other.id).spec;
    if (of.formats != spec.formats || !(of.space == spec.space)) continue;
    found = other.id;
    most = other.done;
  }
  return found;
}

/// The stored batch that holds a point; nothing where it is damaged, so that the point is evaluated.
std::optional<PointBatch> sound_batch(const Store& store, std::int64_t sweep, std::int64_t index) {
  try {
    return store.batch_holding(sweep, index);
  } catch (const Error& error) {
    if (error.code != "store_corrupt") throw;
    return std::nullopt;
  }
}

}  // namespace

std::unique_ptr<TakenPoints> TakenPoints::of(const Store& store, const SweepRow& row, const SweepSpec& spec) {
  try {
    const auto giver = row.origin ? std::optional(row.origin->parent) : equal_sweep(store, row, spec);
    if (!giver) return nullptr;
    const std::int64_t parent = *giver;
    SweepRecord from = sweep_record(store, parent);
    if (from.row.done == 0 || from.row.signature != signature() || !same_settings(from.spec, spec)) return nullptr;
    return std::unique_ptr<TakenPoints>(new TakenPoints(store, parent, std::move(from.spec), spec,
                                                        row.origin && is_retry(row.origin->revision_json)));
  } catch (const Error& error) {
    if (error.code != "not_found") throw;
    return nullptr;  // it was removed: all is evaluated
  }
}

TakenPoints::TakenPoints(const Store& store, std::int64_t parent, SweepSpec parent_spec, const SweepSpec& spec,
                         bool feasible_alone)
    : store_(store),
      parent_(parent),
      parent_spec_(std::move(parent_spec)),
      spec_(spec),
      feasible_alone_(feasible_alone),
      index_(parent_spec_.space, store.stored_ranges(parent), spec_.space),
      taken_(as_size(point_count(spec_.space))) {}

/// The batch that holds a point of the parent; null where it is no more, or damaged.
std::shared_ptr<const PointBatch> TakenPoints::batch_of(std::int64_t index) {
  constexpr std::size_t most_recent = 64;  // some 5 MB
  const std::scoped_lock lock(mutex_);
  const auto holds = [&](const auto& batch) { return batch->range().first <= index && index < batch->range().end; };
  if (const auto found = std::ranges::find_if(recent_, holds); found != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, found);
    return recent_.front();
  }
  auto batch = sound_batch(store_, parent_, index);
  if (!batch) return nullptr;
  recent_.push_front(std::make_shared<const PointBatch>(std::move(*batch)));
  if (recent_.size() > most_recent) recent_.pop_back();
  return recent_.front();
}

std::vector<std::optional<Outcome>> TakenPoints::in(const IndexRange& range) {
  std::vector<std::optional<Outcome>> outcomes(as_size(range.end - range.first));
  std::shared_ptr<const PointBatch> batch;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto index = index_.find(range.first + static_cast<std::int64_t>(i));
    if (!index) continue;
    if (!batch || *index < batch->range().first || *index >= batch->range().end) batch = batch_of(*index);
    if (!batch) continue;
    Outcome outcome = outcome_at(*batch, as_size(*index - batch->first));
    if (outcome.feasible || !feasible_alone_) outcomes[i] = std::move(outcome);
  }
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < outcomes.size(); ++i) taken_[as_size(range.first) + i] = outcomes[i].has_value();
  return outcomes;
}

PointBatch TakenPoints::completed(const PointBatch& batch) {
  const std::int64_t left_out = count(batch.range());
  const auto known = in(batch.range());
  if (count(batch.range()) != left_out)
    throw Error("conflict", "sweep " + std::to_string(parent_),
                "it was removed while its points were taken over: resume the sweep, which then evaluates them");
  PointBatch whole;
  whole.first = batch.first;
  for (std::size_t i = 0; i < known.size(); ++i) append(whole, known[i] ? *known[i] : outcome_at(batch, i));
  return whole;
}

std::int64_t TakenPoints::count(const IndexRange& range) const {
  const std::scoped_lock lock(mutex_);
  return std::count(taken_.begin() + range.first, taken_.begin() + range.end, true);
}

std::string taken_text(TakenPoints& taken, const std::vector<IndexRange>& ranges) {
  constexpr std::int64_t at_a_time = 256;
  std::string text;
  for (const IndexRange& range : ranges)
    for (std::int64_t first = range.first; first < range.end; first += at_a_time)
      for (const auto& outcome : taken.in({first, std::min(first + at_a_time, range.end)}))
        text += outcome ? '1' : '0';
  return text;
}

KnownPoints left_out(std::string text, std::vector<IndexRange> ranges) {
  if (text.find('1') == std::string::npos) return nullptr;
  return [text = std::move(text), ranges = std::move(ranges)](const IndexRange& asked) {
    List<std::optional<Outcome>> known(as_size(asked.end - asked.first));
    std::int64_t before = 0;
    for (const IndexRange& range : ranges) {
      for (std::int64_t i = std::max(range.first, asked.first); i < std::min(range.end, asked.end); ++i)
        if (text.at(as_size(before + i - range.first)) == '1') known[i - asked.first] = Outcome{};
      before += range.end - range.first;
    }
    return known;
  };
}

}  // namespace sdip
