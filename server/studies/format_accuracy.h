// The effect of sets of number formats on a model, measured before a search so that it can weigh them: each set of
// what the search varies of weights, activations and sums, on the base machine with memories that hold everything.
// Internal to its room.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/explore/mix.h"
#include "core/explore/space/formula.h"
#include "core/explore/space/space.h"
#include "db/store.h"
#include "server/studies/accuracy.h"

namespace sdip {

/// The accuracies measured before, by accuracy_key(); called from one thread at a time.
struct KnownAccuracies {
  std::function<std::optional<StoredAccuracy>(const std::string& key)> find;
  std::function<void(const std::string& key, const StoredAccuracy&)> add;
};

inline constexpr std::string_view sqnr_name = "sqnr_db";
/// Where nothing differs.
inline constexpr double most_sqnr_db = 200;

struct FormatAccuracies {
  std::vector<const ParameterRow*> rows;  // formats that the search varies
  std::vector<TabledValue> sets;          // of these rows, with their dB: of a mix its worst workload's
  bool random_weights = false;
  std::int64_t measured = 0;  // of the sets and workloads, here and now: the others were known

  /// The formula sqnr_db of machines that have one of the sets.
  Formula formula() const { return tabled_formula(sqnr_name, "dB", rows, sets); }
};

/// Measures what is not known. A value with which the widest others come below `least_db` is in no set: narrower
/// others hardly take noise away. `stop` ends it with Error cancelled. Throws Error limit_exceeded for a model too
/// large to be measured, and what the catalog throws.
FormatAccuracies format_accuracies(const Catalog& catalog, const Mix& mix, const Machine& base,
                                   std::span<const Axis> axes, std::optional<double> least_db,
                                   const KnownAccuracies& known, int threads, const Stop& stop);

/// dB of one machine as it is, its worst workload's: minus infinity where not all is finite, nothing where it
/// cannot be measured.
std::optional<double> sqnr_of_machine(const Catalog& catalog, const Mix& mix, const Machine& machine,
                                      const KnownAccuracies& known, const Stop& stop);
/// A key of all that the accuracies follow from.
std::string accuracies_key(const Mix& mix, const Machine& machine);

}  // namespace sdip
