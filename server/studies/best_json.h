// Searches as JSON (docs/api.md#searches).
#pragma once

#include "core/explore/front.h"
#include "db/store.h"
#include "server/json/explain_json.h"
#include "server/studies/best.h"

namespace sdip {

/// Machines of an answer that are listed at most: of a longer front every so-manieth, its ends among them; but all
/// of a part of a search, so that it can be merged.
inline constexpr std::size_t most_listed_machines = 200;

template <>
struct Written<Knee> : WrittenNames<knee_text, Knee::greatest> {};

/// The answer, as the `result` of GET /searches/{id} and `sdip best --json` have it.
OrderedJson best_json(const BestAnswer& answer);
/// The summary of a search in a list.
OrderedJson best_summary_json(const BestAnswer& answer);

/// How far a search for that goal is; and the same read back. Throws Json::exception, and Error value_invalid, for
/// what is none.
OrderedJson best_progress_json(const SearchGoal& goal, const BestProgress& progress);
BestProgress best_progress_from_json(const SearchGoal& goal, const Json& json);

/// Where a search is, and back; nothing of what is no such text, or of another engine.
std::string best_state_text(const SearchGoal& goal, const BestState& state);
std::optional<BestState> best_state_of_text(const SearchGoal& goal, const std::string& text);

/// The schemas of these and their parts.
void add_search_schemas(OrderedJson& schemas);

/// A stored search without its result.
OrderedJson search_row_json(const SearchRow& row, const std::optional<BestProgress>& progress);

/// The rows that are searched unless they are fixed, and their values.
OrderedJson searched_rows_json(bool narrow = false);

}  // namespace sdip
