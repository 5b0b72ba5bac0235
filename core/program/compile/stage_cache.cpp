// Stages compiled so far.
#include "core/program/compile/stage_cache.h"

#include <iterator>

#include "core/program/compile/front_cache.h"

namespace sdip {

StageCache::StageCache(std::size_t most_entries)
    : most_entries_(most_entries), fronts_(std::make_shared<FrontCache>()) {}

namespace {

/// Rows of a stage's own machine that its program follows from, but for PSRAM.
std::vector<std::int64_t> rows_read(const Stage& stage, Machine its) {
  its.vae_stage = Machine().vae_stage;  // its rows have taken their places
  if (!shares_cores(stage.role, stage.part)) its.cores = 1;
  return key_but_psram(std::move(its));
}

}  // namespace

std::optional<StageCache::Entry> StageCache::find(const Stage& stage, const Machine& its) {
  const Key key = key_of(stage, rows_read(stage, its));
  const std::lock_guard lock(mutex_);
  ++counts_.asked;
  const auto of_stage = entries_.find(key);
  if (of_stage == entries_.end()) return std::nullopt;
  const auto above = of_stage->second.upper_bound(its.psram_bytes);
  if (above == of_stage->second.begin()) return std::nullopt;
  const Entry& entry = std::prev(above)->second;
  return entry.psram_bytes.holds(its.psram_bytes) ? std::optional(entry) : std::nullopt;
}

void StageCache::keep(const Stage& stage, const Machine& its, const Entry& entry) {
  Key key = key_of(stage, rows_read(stage, its));
  const std::lock_guard lock(mutex_);
  ++counts_.kept;
  if (size_ >= most_entries_) entries_.clear(), size_ = 0;
  size_ += entries_[std::move(key)].insert_or_assign(entry.psram_bytes.least, entry).second;
}

std::optional<StageCache::Rung> StageCache::find_rung(const Stage& stage, const Machine& its) const {
  return rungs_.find(key_of(stage, compile_key(its)));
}

void StageCache::keep_rung(const Stage& stage, const Machine& its, const Rung& rung) {
  rungs_.keep(key_of(stage, compile_key(its)), rung);
}

StageCache::Counts StageCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace sdip
