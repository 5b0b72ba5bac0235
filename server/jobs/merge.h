// Parts of one sweep, evaluated apart, made into one store again.
#pragma once

#include <filesystem>

#include "db/store.h"
#include "server/io/work_part.h"

namespace sdip {

/// The k-th of n runs of a sweep's points, as even as can be.
IndexRange range_of(const WorkPart& part, std::int64_t total);

/// The sweep of that spec, if the store has it: the newest.
std::optional<SweepRow> sweep_of_spec(const Store& store, std::string_view spec_json);

struct MergedSweep {
  std::int64_t id = 0;             // in the store merged into
  bool made = false;               // there was none of its spec
  std::string from{};              // the first part with points of it
  std::int64_t added = 0;          // points that it had not
  std::int64_t agreeing = 0;       // points that it had already, with these values
  std::vector<IndexRange> gaps{};  // that it still misses
  SweepRow row{};                  // as it is now
};

/// Throws Error file_not_found for a part without a store, value_invalid for the folder that is merged into, and
/// what Store() throws of one that cannot be read.
void require_parts(const std::filesystem::path& into, std::span<const std::filesystem::path> parts);

/// Takes what the data folders `parts` hold into the one of `into`: sweeps of one spec are one, an uploaded model
/// comes with them. Each batch is kept whole or not, and what is there already is compared, so that the same again
/// changes nothing. Throws Error engine_changed where the points of one spec are of two engines, conflict where two
/// parts, or two models of one name, differ, store_corrupt where a model's file is damaged, and what require_parts
/// does, before anything is merged.
std::vector<MergedSweep> merge_parts(Store& store, const std::filesystem::path& into,
                                     std::span<const std::filesystem::path> parts);

}  // namespace sdip
