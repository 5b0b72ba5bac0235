// Stages compiled so far, shared by compilations: one that differs in another stage's rows alone finds the rest.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/shared_cache.h"
#include "core/program/compile/passes.h"
#include "core/program/program.h"

namespace sdip {

struct FrontCache;

/// Stages that were placed, by what compile() makes them of: graph, role, and the stage's own machine.
/// All that share a cache say the same options, and no mappings or formats of layers. Threads may share it. When it
/// is full it starts again.
class StageCache {
 public:
  static constexpr std::size_t usual_entries = 256;
  explicit StageCache(std::size_t most_entries = usual_entries);

  /// The result of compile() for a stage, and the capacities of its PSRAM for which all of it would be the same.
  struct Entry {
    std::shared_ptr<const CompiledStage> compiled;
    CapacityRange psram_bytes;
  };
  std::optional<Entry> find(const Stage& stage, const Machine& its);
  void keep(const Stage& stage, const Machine& its, const Entry& entry);

  /// Whether the stage fits a machine on the memory stair, and what its program then asks for.
  struct Rung {
    bool fits = false;
    PassNeeds needs{};
  };
  std::optional<Rung> find_rung(const Stage& stage, const Machine& its) const;
  void keep_rung(const Stage& stage, const Machine& its, const Rung& rung);

  /// How many stages were asked for, and how many of them had to be compiled.
  struct Counts {
    std::size_t asked = 0, kept = 0;
  };
  Counts counts() const;

  /// The results that compiled stages have in common (core/program/compile/front_cache.h).
  FrontCache& fronts() const { return *fronts_; }

 private:
  // The graph is kept, so that no other has its address; the rows of the machine that decide.
  using Key = std::tuple<std::shared_ptr<const Graph>, Role, std::string, std::vector<std::int64_t>>;
  static Key key_of(const Stage& stage, std::vector<std::int64_t> rows) {
    return {stage.graph, stage.role, stage.name, std::move(rows)};
  }

  const std::size_t most_entries_;
  const std::shared_ptr<FrontCache> fronts_;
  mutable std::mutex mutex_;
  std::map<Key, std::map<std::int64_t, Entry>> entries_;  // by the least capacity
  std::size_t size_ = 0;
  SharedCache<std::map<Key, Rung>> rungs_{1 << 14};
  Counts counts_;
};

}  // namespace sdip
