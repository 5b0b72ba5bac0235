// Results that compilations for machines with different memories have in common. Internal to its room.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/base/number_hash.h"
#include "core/base/shared_cache.h"
#include "core/program/schedule.h"
#include "core/program/tiling/draft.h"

namespace sdip {

/// A stage as far as passes come that ask nothing of memories: its graph changed, or single operators fused.
struct Front {
  std::shared_ptr<const Graph> graph;
  List<ValueId> roots;
  List<Draft> drafts;
  Joined joined;
  std::shared_ptr<const Graph> made_again;  // as Compilation's
};

/// Fronts of stages, and orders of scheduling problems, made so far. Threads may share it.
struct FrontCache {
  /// The graph is kept, so that no other has its address.
  using Key = std::tuple<std::shared_ptr<const Graph>, Role, std::vector<std::int64_t>>;

  SharedCache<std::map<Key, std::shared_ptr<const Front>>> fronts{512};
  SharedCache<std::unordered_map<std::vector<std::int64_t>, std::shared_ptr<const ScheduleChoices>, NumberHash>>
      choices{2048};
  const std::shared_ptr<KnownWindows> windows = std::make_shared<KnownWindows>();

  /// least_live_schedule's; what it chooses from is found once for each problem, whatever the capacity.
  OperationOrder order_of(const ScheduleProblem& problem, std::int64_t capacity_bytes,
                          const ScheduleEffort& effort);
};

/// A key of all that a stage's graph depends on behind the passes that change it alone.
FrontCache::Key graph_key(const Stage& stage, const Machine& machine);

/// A key of all that a front depends on: that graph, and of the machine the rows that the passes behind read. They
/// are no others where no layer has formats of its own and nothing is made again (skip_handling=recompute).
FrontCache::Key front_key(const std::shared_ptr<const Graph>& graph, Role role, const Machine& machine);

}  // namespace sdip
