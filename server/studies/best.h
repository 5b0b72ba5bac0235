// "Which machine should I build?": a search over the whole space, and what there is to say of its answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/explore/search/rows.h"
#include "core/explore/search/search.h"
#include "core/explore/sensitivity.h"
#include "server/io/work_part.h"
#include "server/json/report_json.h"
#include "server/studies/format_accuracy.h"
#include "server/studies/validation.h"

namespace sdip {

struct BestRequest {
  std::string model, preset;       // a model, or a mix of them
  Machine base;                    // with what is fixed; checked, and mended by rows that are searched
  std::vector<std::string> fixed;  // names of rows that are not searched
  std::vector<Axis> asked;         // in place of the table's values
  std::vector<Link> links{};       // rows that follow others, and are not searched
  SearchGoal goal;
  std::vector<Formula> formulas;       // metrics of the user's that the goal may name
  std::int64_t seconds = 60;           // of searching; it ends before with `evaluations`
  std::int64_t evaluations = 0;        // 0: as many as the time lets it; else the answer repeats bit for bit
  std::int64_t validate_seconds = 30;  // 0: the answer is not validated
  std::uint64_t seed = 1;
  WorkPart part{};  // of so many independent searches, each with a seed of its own
  Optimiser optimiser = Optimiser::families;
  std::int64_t islands = 1;
  std::optional<double> sqnr_db{};  // at least, as measured: then formats below 8 bits are searched, too
  std::string sqnr_model{};         // measured in place of `model`, which may be too large; "": itself

  bool is_part() const { return part.parts > 1; }  // then nothing is looked at around the best: its merging does
  /// The seed of its part: the first part has `seed` itself, the others have one drawn from both.
  std::uint64_t own_seed() const;
  bool measures_formats() const;  // for the limit, or an objective sqnr_db
};
inline constexpr std::int64_t most_search_seconds = 86'400, most_evaluations = 1'000'000'000;
inline constexpr std::size_t most_search_objectives = 8;
inline constexpr std::size_t most_measured_as_they_are = 8;

/// The body of POST /searches (docs/api.md). Throws Error as spec_from_json does.
BestRequest best_request(const Json& body);
/// The same request, spelled out: best_request(best_request_json(r)) is r.
OrderedJson best_request_json(const BestRequest& request);

/// The space of a search: the rows of the table, less those that are fixed.
SearchSpace search_space(const BestRequest& request);

/// The best so far, when it had just been found.
struct BestSoFar {
  std::int64_t evaluated = 0;
  std::vector<double> costs;       // of the goal's objectives
  std::optional<double> volume{};  // of a front (SearchProgress)
};
/// Each better one of a search, or, of many, every so-manieth, the last among them.
using BestTrace = std::vector<BestSoFar>;
inline constexpr std::size_t longest_trace = 256;
/// Adds what is best now, where that differs from the last.
void trace_best(BestTrace& trace, const SearchProgress& progress);

/// How far a request is.
struct BestProgress {
  std::string doing;  // "accuracy" (of formats), "search", "changes" (around the best machine), "validation"
  double seconds = 0;
  SearchProgress search;
  BestTrace trace;
};
using ShowBest = std::function<void(const BestProgress&)>;

/// Where a request is, to go on from (SearchState).
struct BestState {
  BestProgress progress;
  SearchState search;
};
/// Where it begins, if it was begun before; and who keeps where it is, so often.
struct BestKeeping {
  std::optional<BestState> from{};
  std::function<void(const BestState&)> keep{};
  double between_s = 5;
};

struct BestAnswer {
  BestRequest request;
  SearchGoal goal;    // the request's, and what was measured of formats
  SearchSpace space;  // what was searched: without rows of stages that the model has not
  SearchResult found;
  BestTrace trace;
  double seconds = 0;              // of searching
  Mix mix;                         // of the request's model
  std::vector<Analysis> analyses;  // of the best machine, by workload; none where none keeps the conditions
  Sensitivities around;            // likewise
  Validation validation;           // likewise, of all workloads
  FormatAccuracies formats;        // where the request measures them
  std::optional<double> sqnr_db;   // of the best machine as it is
  bool cancelled = false;

  const std::string& measured_model() const {
    return request.sqnr_model.empty() ? request.model : request.sqnr_model;
  }
  /// The best machine keeps the limit by its set of formats alone, not as it is.
  bool misses_limit() const { return sqnr_db && request.sqnr_db && *sqnr_db < *request.sqnr_db; }
  bool keeps() const { return !found.best.empty() && found.best[0].score.violation == 0; }
};

/// The answer on machines that searches of a request found: looks around the best, and validates it. Throws Error
/// unknown_model. Cancelled, it says what it knew until then.
BestAnswer answer_of(const Catalog& catalog, const BestRequest& request, SearchResult found, double seconds,
                     const std::atomic<bool>* cancel);

/// Searches, then looks around the best machine and validates it. Throws Error unknown_model, and what importing
/// throws. Cancelled, it says what was best until then. One that goes on finds what it would have found at once,
/// where it ends by evaluations.
BestAnswer find_best(const Catalog& catalog, const BestRequest& request, int threads,
                     const std::atomic<bool>* cancel = nullptr, const ShowBest& progress = {},
                     const KnownAccuracies& known = {}, const BestKeeping& keeping = {});

}  // namespace sdip
